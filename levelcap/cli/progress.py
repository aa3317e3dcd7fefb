"""What one sees of a run: a bar in a terminal, a line every ten seconds elsewhere."""

from __future__ import annotations

import time

from rich.console import Console
from rich.progress import BarColumn, Progress, TaskID, TextColumn, TimeRemainingColumn

EVERY_S = 10.0
SHOWN = (
    ("steps_per_s", "{:,.0f} steps/s"), ("lag_min", "lag {:.0f}"), ("lag", "/ {:.1f}"),
    ("lag_max", "/ {:.0f}"), ("reuse", "reuse {:.3g}"), ("loss", "loss {:.3f}"),
    ("policy_loss", "policy {:+.3f}"), ("value_loss", "value {:.3f}"), ("entropy", "H {:.2f}"),
    ("kl", "KL {:.3f}"), ("epochs", "epoch {:.1f}"),
)  # fmt: skip


def describe(metrics: dict[str, float]) -> str:
    """One line: speed, policy lag, losses, and the running score against each bot."""
    parts = [text.format(metrics[name]) for name, text in SHOWN if name in metrics]
    scores = {n.removeprefix("score_"): v for n, v in metrics.items() if n.startswith("score_")}
    parts += [f"{name} {100 * value:.0f} %" for name, value in scores.items()]
    if metrics.get("skipped"):
        parts.append(f"{metrics['skipped']:.0f} updates skipped")
    return " · ".join(parts).replace(" · /", " /")


class Report:
    """Shows the metrics of a run as they come; use as a context manager."""

    def __init__(self, console: Console, title: str, minutes: float | None) -> None:
        """minutes: how long the run will take; None: not known."""
        self.console, self.title = console, title
        self.seconds = None if minutes is None else minutes * 60
        self._bar: Progress | None = None
        self._task: TaskID | None = None
        self._last = time.monotonic()

    def __enter__(self) -> Report:
        if self.console.is_terminal:
            columns = (TextColumn("{task.description}"), BarColumn(20), TimeRemainingColumn())
            self._bar = Progress(*columns, console=self.console)
            self._bar.start()
            self._task = self._bar.add_task(self.title, total=self.seconds)
        return self

    def __exit__(self, *error: object) -> None:
        if self._bar is not None:
            self._bar.stop()

    def __call__(self, metrics: dict[str, float]) -> None:
        """Take in the numbers of one iteration."""
        if self._bar is not None and self._task is not None:
            text = f"{self.title} · {describe(metrics)}"
            self._bar.update(self._task, completed=metrics["seconds"], description=text)
        elif time.monotonic() - self._last >= EVERY_S:
            self._last = time.monotonic()
            left = ""
            if self.seconds is not None:
                left = f" · {max(0.0, self.seconds - metrics['seconds']):.0f} s left"
            self.console.print(
                f"{self.title} · {metrics['seconds']:.0f} s · {describe(metrics)}{left}"
            )
