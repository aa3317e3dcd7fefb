"""A run's folder: what was asked, what happened, what came out.

<run>/config.json      the resolved configuration; the same command again must give the same
      metrics.jsonl    one row an iteration
      events.jsonl     started, resumed, paused, checkpoint, snapshot, rolled back, stopped
      checkpoints/     to go on from (`state.py`), the newest two
      snapshots/       EMA weights + meta, to play, rate and keep
      pause, stop      files: a run waits while `pause` exists and ends when `stop` does
"""

from __future__ import annotations

import fcntl
import os
import time
from collections.abc import Mapping
from dataclasses import fields, is_dataclass, replace
from pathlib import Path
from types import TracebackType
from typing import Any, Self, TypeVar

from levelcap.kit.errors import Busy, Conflict, refuse
from levelcap.kit.files import append_jsonl, dump_json, parse_json, read_json, write_json
from levelcap.kit.log import MetricsWriter

CONFIG, METRICS, EVENTS = "config.json", "metrics.jsonl", "events.jsonl"
PAUSE, STOP, LOCK = "pause", "stop", ".lock"
# Runs that were started before a setting had its present name, or existed at all, can be continued.
RENAMED = {"parts": "minibatches"}
BEFORE = {
    "family": "flat",
    "options": [],
    "config.segment": 32,
    "config.burn_in": 16,
    "config.teacher": "",
    "config.teacher_coef": 1.0,
    "config.steady_aim": 1.0,
    "config.replay": 0,
    "config.replay_updates": 1,
    "config.mouse_coef": 0.3,
    "config.mode_evenness": 0.0,
    "config.team_reward": 0.0,
    "config.pseudo_final": 0.0,
}

T = TypeVar("T")


class RunFolder:
    """Opened by one process at a time; use as a context manager."""

    def __init__(self, path: Path) -> None:
        self.path = path
        self.checkpoints = path / "checkpoints"
        self.snapshots = path / "snapshots"
        self.metrics = MetricsWriter(path / METRICS)
        self._lock: int | None = None

    def __enter__(self) -> Self:
        self.path.mkdir(parents=True, exist_ok=True)
        self._lock = os.open(self.path / LOCK, os.O_RDWR | os.O_CREAT, 0o644)
        try:
            fcntl.flock(self._lock, fcntl.LOCK_EX | fcntl.LOCK_NB)
        except BlockingIOError as error:
            os.close(self._lock)
            remedy = "Wait for it, stop it with a file named stop, or give another --out"
            raise Busy(
                refuse("another process trains in this run", str(self.path), remedy)
            ) from error
        return self

    def __exit__(
        self,
        kind: type[BaseException] | None,
        error: BaseException | None,
        trace: TracebackType | None,
    ) -> None:
        self.metrics.close()
        assert self._lock is not None
        os.close(self._lock)

    def claim(self, config: Mapping[str, object]) -> bool:
        """Write the configuration of a new run, or compare with it; True if the run existed.

        Raises:
            Conflict: the run was started with another configuration.
        """
        path = self.path / CONFIG
        if not path.exists():
            write_json(path, config)
            self.event("started")
            return False
        have = BEFORE | leaves(read_json(path))
        want = BEFORE | leaves(parse_json(dump_json(config)))
        for name in sorted(set(have) | set(want)):
            if have.get(name) != want.get(name):
                what = f"this run was started with {name} = {have.get(name)!r}"
                remedy = f"Give the same value, or another --out than {self.path}"
                raise Conflict(refuse(what, want.get(name), remedy))
        return True

    def event(self, kind: str, **values: Any) -> None:
        """Append one event with its time."""
        row = {"time": round(time.time(), 3), "event": kind, **values}
        append_jsonl(self.path / EVENTS, [row], sync=True)

    def asked_to_stop(self) -> bool:
        """Is there a file named stop? It is removed when the run ends by it."""
        return (self.path / STOP).exists()

    def clear_stop(self) -> None:
        """Forget the request, so that the same command goes on."""
        (self.path / STOP).unlink(missing_ok=True)

    def paused(self) -> bool:
        """Is there a file named pause?"""
        return (self.path / PAUSE).exists()


def is_training(run: Path) -> bool:
    """Does a process train in this folder now?"""
    try:
        with (run / LOCK).open("rb") as file:
            fcntl.flock(file, fcntl.LOCK_SH | fcntl.LOCK_NB)
    except FileNotFoundError:
        return False
    except BlockingIOError:
        return True
    return False


def as_begun(run: Path, config: T) -> T:
    """The settings that a run in this folder was begun with; a new run: these.

    Defaults may change while a run goes on and on: what nobody asked to be changed stays.
    """
    place = run / CONFIG
    return _filled(config, read_json(place)["config"]) if place.exists() else config


def _filled(like: T, values: dict[str, Any]) -> T:
    """A dataclass with the values that are there; lists become tuples, as they were."""
    named = {RENAMED.get(key, key): value for key, value in values.items()}
    changes: dict[str, Any] = {}
    for field in fields(like):  # type: ignore[arg-type]
        if field.name not in named:
            continue
        now, then = getattr(like, field.name), named[field.name]
        if is_dataclass(now):
            then = _filled(now, then)
        changes[field.name] = tuple(then) if isinstance(now, tuple) else then
    return replace(like, **changes)  # type: ignore[type-var]


def leaves(values: object, prefix: str = "") -> dict[str, object]:
    """Nested settings as flat names: to compare them one by one, and to show them."""
    if not isinstance(values, dict):
        return {prefix: values}
    found: dict[str, object] = {}
    for key, inner in values.items():
        name = RENAMED.get(key, key)
        found |= leaves(inner, f"{prefix}.{name}" if prefix else str(name))
    return found
