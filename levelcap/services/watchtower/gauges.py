"""A reading as Prometheus gauges, in a registry of our own: nothing appears that is not here.

| metric | labels | unit |
|---|---|---|
| levelcap_jobs | type, status | jobs |
| levelcap_oldest_queued_seconds | | s |
| levelcap_workers | state (busy, idle) | workers |
| levelcap_leader | | 1: a Weaver runs |
| levelcap_service_up, levelcap_service_restarts, levelcap_service_memory_bytes | service | |
| levelcap_training_steps_per_second, …_loss, …_updates, …_steps | run | |
| levelcap_elo | hero | Elo |
| levelcap_disk_bytes | kind (used, free, cap) | bytes |
| levelcap_alarm | alarm | 1: raised |
"""

import threading
from collections.abc import Collection, Iterable

from prometheus_client import CollectorRegistry, Gauge, generate_latest

from levelcap.services.watchtower.readings import Jobs, Reading, Training

CONTENT_TYPE = "text/plain; version=0.0.4; charset=utf-8"


class Gauges:
    """One set of gauges; `show` replaces all values, so that what ended is no longer shown."""

    def __init__(self) -> None:
        self.registry = CollectorRegistry()
        self._all: list[Gauge] = []
        self._lock = threading.Lock()  # nobody reads a half replaced page
        self.jobs = self._gauge("jobs", "jobs in the queue", "type", "status")
        self.oldest = self._gauge("oldest_queued_seconds", "how long the oldest ready job waits")
        self.workers = self._gauge("workers", "workers heard lately", "state")
        self.leader = self._gauge("leader", "1 while a Weaver leads this realm")
        self.up = self._gauge("service_up", "1 while a service is up", "service")
        self.restarts = self._gauge("service_restarts", "restarts by this Weaver", "service")
        self.memory = self._gauge(
            "service_memory_bytes", "resident memory, with its children", "service"
        )
        self.speed = self._gauge("training_steps_per_second", "agent-steps a second", "run")
        self.loss = self._gauge("training_loss", "the newest loss", "run")
        self.updates = self._gauge("training_updates", "optimizer updates so far", "run")
        self.steps = self._gauge("training_steps", "agent-steps so far", "run")
        self.elo = self._gauge("elo", "newest rating", "hero")
        self.disk = self._gauge("disk_bytes", "disk of the realm", "kind")
        self.alarm = self._gauge("alarm", "1 while an alarm is raised", "alarm")

    def _gauge(self, name: str, text: str, *labels: str) -> Gauge:
        gauge = Gauge(f"levelcap_{name}", text, labels, registry=self.registry)
        if labels:
            self._all.append(gauge)
        return gauge

    def show(self, reading: Reading, alarms: Iterable[str], raised: Collection[str]) -> None:
        """Takes over a reading and the alarms."""
        with self._lock:
            for gauge in self._all:
                gauge.clear()
            self._show_services(reading)
            if reading.jobs is not None:
                self._show_jobs(reading.jobs)
            for training in reading.training:
                self._show_training(training)
            for name in alarms:
                self.alarm.labels(name).set(name in raised)

    def _show_services(self, reading: Reading) -> None:
        self.leader.set(reading.leader)
        for service in reading.services.values():
            self.up.labels(service.name).set(service.up)
            self.restarts.labels(service.name).set(service.restarts)
            self.memory.labels(service.name).set(service.memory_bytes)
        for kind in ("used", "free", "cap"):
            self.disk.labels(kind).set(getattr(reading.disk, kind))

    def _show_jobs(self, jobs: Jobs) -> None:
        for kind, counts in jobs.types.items():
            for status, count in counts.items():
                self.jobs.labels(kind, status).set(count)
        self.oldest.set(jobs.oldest_queued_s)
        self.workers.labels("idle").set(jobs.idle_workers)
        self.workers.labels("busy").set(jobs.live_workers - jobs.idle_workers)
        for hero, elo in jobs.elo.items():
            self.elo.labels(hero).set(elo)

    def _show_training(self, training: Training) -> None:
        self.speed.labels(training.run).set(training.steps_per_s)
        self.updates.labels(training.run).set(training.updates)
        self.steps.labels(training.run).set(training.steps)
        if training.losses:
            self.loss.labels(training.run).set(training.losses[-1])

    def text(self) -> bytes:
        """The page Prometheus reads."""
        with self._lock:
            return generate_latest(self.registry)
