"""Weaver: starts, watches, mends and stops the services of a realm; one leader a realm."""
