"""One logger (JSON lines to a file, readable lines to the console) and one metrics writer.

configure(level="info", file=folder("state") / "levelcap.log")
log = get_logger("arena")
log.info("round done", round=3, seconds=1.2)
"""

import logging
import math
import sys
import time
from collections.abc import Mapping
from pathlib import Path
from typing import Any, Self

import structlog

from levelcap.kit.errors import BadValue, refuse
from levelcap.kit.files import append_jsonl, keep_private, sync

ROOT = "levelcap"
SYNC_EVERY_S = 1.0


def configure(level: str = "info", file: Path | None = None, console: bool = True) -> None:
    """Sets up logging for this process; a second call replaces the first.

    Args:
        level: debug, info, warning or error; less severe messages are dropped.
        file: where JSON lines are appended; None for no file.
        console: True to write readable lines to standard error, coloured on a terminal.
    """
    shared: list[Any] = [
        structlog.contextvars.merge_contextvars,
        structlog.stdlib.add_logger_name,
        structlog.stdlib.add_log_level,
        structlog.processors.TimeStamper(fmt="iso", utc=True),
    ]
    root = logging.getLogger(ROOT)
    for handler in list(root.handlers):
        root.removeHandler(handler)
        handler.close()
    root.setLevel(level.upper())
    root.propagate = False
    if file is not None:
        file.parent.mkdir(parents=True, exist_ok=True)
        render = [structlog.processors.format_exc_info, structlog.processors.JSONRenderer()]
        handler = logging.FileHandler(keep_private(file), encoding="utf-8")
        root.addHandler(_handler(handler, shared, render))
    if console:
        readable = structlog.dev.ConsoleRenderer(
            colors=sys.stderr.isatty(),
            # The other formatters show local variables, tokens among them.
            exception_formatter=structlog.dev.plain_traceback,
        )
        root.addHandler(_handler(logging.StreamHandler(sys.stderr), shared, [readable]))
    structlog.configure(
        processors=[
            structlog.stdlib.filter_by_level,
            *shared,
            structlog.stdlib.ProcessorFormatter.wrap_for_formatter,
        ],
        logger_factory=structlog.stdlib.LoggerFactory(),
        wrapper_class=structlog.stdlib.BoundLogger,
        cache_logger_on_first_use=False,
    )


def _handler(handler: logging.Handler, shared: list[Any], render: list[Any]) -> logging.Handler:
    drop = structlog.stdlib.ProcessorFormatter.remove_processors_meta
    handler.setFormatter(
        structlog.stdlib.ProcessorFormatter(foreign_pre_chain=shared, processors=[drop, *render])
    )
    return handler


def get_logger(name: str) -> Any:
    """Returns the logger `levelcap.<name>`; its methods take a sentence and named values."""
    return structlog.get_logger(f"{ROOT}.{name}")


class MetricsWriter:
    """Appends rows to a run's metrics.jsonl.

    A row is `{"step": …, "time": …, <name>: <number>, …}`, time in seconds since 1970. Each row
    is one write, so a killed process loses nothing that `write` returned from; it is fsynced at
    most once a second and on `close`, so a power cut loses at most the last second. A value that
    is not finite is stored as null and its name is listed in the row's `non_finite`: a curve then
    shows a gap, and a watcher can stop the run.
    """

    def __init__(self, path: Path) -> None:
        path.parent.mkdir(parents=True, exist_ok=True)
        self.path = path
        self._synced_s = time.monotonic()

    def write(self, step: int, values: Mapping[str, float]) -> None:
        """Appends one row.

        Args:
            step: the update or step the values belong to.
            values: name -> number; `step`, `time` and `non_finite` are taken.

        Raises:
            BadValue: a taken name, or a value that is no number.
        """
        row: dict[str, Any] = {"step": int(step), "time": round(time.time(), 3)}
        bad = []
        for name, value in values.items():
            if name in ("step", "time", "non_finite"):
                raise BadValue(refuse("this name is taken in metrics", name, "Rename the value"))
            row[name] = _number(name, value)
            if not math.isfinite(row[name]):
                row[name] = None
                bad.append(name)
        if bad:
            row["non_finite"] = bad
        due = time.monotonic() - self._synced_s >= SYNC_EVERY_S
        append_jsonl(self.path, [row], sync=due)
        if due:
            self._synced_s = time.monotonic()

    def close(self) -> None:
        """Makes everything written so far durable; the writer may be used again."""
        if self.path.exists():
            sync(self.path)

    def __enter__(self) -> Self:
        return self

    def __exit__(self, *_: object) -> None:
        self.close()


def _number(name: str, value: Any) -> float | int:
    if isinstance(value, bool | int):
        return int(value)
    try:
        return float(value)
    except (TypeError, ValueError) as error:
        what = f"metric {name!r} must be one number"
        raise BadValue(refuse(what, value, "Give a float or an int")) from error
