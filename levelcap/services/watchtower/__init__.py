"""Watchtower: measures the realm from outside, shows it to Prometheus, raises and clears alarms."""
