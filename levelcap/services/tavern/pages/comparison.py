"""Two checkpoints side by side: what was measured of each, and the difference with its interval."""

from __future__ import annotations

from typing import Any

from levelcap.services.tavern import lore
from levelcap.services.tavern.page import table
from levelcap.services.tavern.tags import Tag, div, paragraph, span

ROWS = (
    ("Step", "step"), ("Elo", "elo"), ("Train loss", "train_loss"), ("Held-out loss", "val_loss"),
    ("ACC", "accuracy"), ("Decisions learned from", "total_examples_trained"),
    ("Core-seconds so far", "cost_core_seconds"), ("Bytes", "size_bytes"),
)  # fmt: skip
ELO = ("elo", "elo_low", "elo_high", "elo_bound")


def show_comparison(found: dict[str, Any]) -> None:
    """The answer of `GET /api/compare` as a table, and one line that can be copied."""
    a, b = found["a"], found["b"]

    def draw(what: tuple[str, str]) -> Tag:
        title, column = what
        with Tag("tr") as made:
            Tag("td", text=title)
            for row in (a, b):
                known = lore.elo_text(*(row[name] for name in ELO)) if column == "elo" else None
                Tag("td", "num", known or lore.number(row[column], 4))
        return made

    columns = (("", ""), (a["id"], "num mono"), (b["id"], "num mono"))
    table(div("table-wrap"), columns, {row[1]: row for row in ROWS}, draw, classes="compare")
    gain = found["elo_difference"]
    if gain is None:
        paragraph("Not both were judged in the same world yet.", "empty")
        return
    value, low, high = gain
    certain = "better" if low > 0 else ("worse" if high < 0 else "not certainly different")
    colour = {"better": "done", "worse": "failed"}.get(certain, "plain")
    with div("row"):
        span(f"chip {colour}", f"the first is {certain}")
        span("figure-value", f"{value:+.0f} Elo ({low:+.0f} to {high:+.0f})")
