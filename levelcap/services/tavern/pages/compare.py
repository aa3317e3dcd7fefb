"""`/compare/<a>/<b>…`: two to five checkpoints side by side, who is better, their curves."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Annotated, Any

from pydantic import Field

from levelcap.campaign.story import curves
from levelcap.campaign.story.strength import difference
from levelcap.kit.db import Connection, reading
from levelcap.kit.errors import BadValue, refuse
from levelcap.services.tavern import plots
from levelcap.services.tavern.pulse import Moment
from levelcap.services.tavern.view import Asked, View
from levelcap.vault.ask import resolve
from levelcap.vault.ledger import LOWER, Entry

MEASURES = (
    ("Step", "step"),
    ("Elo", "elo"),
    ("Train loss", "train_loss"),
    ("Held-out loss", "val_loss"),
    ("ACC", "accuracy"),
    ("Decisions learned from", "total_examples_trained"),
    ("Core-seconds so far", "cost_core_seconds"),
    ("Bytes", "size_bytes"),
)
UNJUDGED = ("step", "total_examples_trained")  # more of these is neither better nor worse
LEAST, MOST = 2, 5
Figure = tuple[float, float, float]


class CompareAsked(Asked):
    """ids: checkpoints, or names of some (champion, latest), with strokes between them."""

    path, one = "/compare", "ids"
    ids: Annotated[str, Field(max_length=600)] = ""


@dataclass(frozen=True)
class Shown:
    """What the template shows; gains: of each over the first, None: not in the same games."""

    rows: list[Entry]
    gains: list[Figure | None]
    chart: dict[str, Any] | None
    measures: tuple[tuple[str, str], ...] = MEASURES

    def mark(self, column: str, row: Entry) -> str:
        """best, worst or nothing: how a value stands among those shown."""
        known = [getattr(one, column) for one in self.rows if getattr(one, column) is not None]
        value = getattr(row, column)
        if column in UNJUDGED or value is None or min(known) == max(known):
            return ""
        ends = {min(known): "best", max(known): "worst"}
        if column not in LOWER:
            ends = {min(known): "worst", max(known): "best"}
        return ends.get(value, "")


class CompareView(View[CompareAsked]):
    """A table, then the losses of their runs in one picture."""

    asked = CompareAsked

    def read(self, moment: Moment, asked: CompareAsked) -> Shown:
        """Two to five rows."""
        named = [name for name in asked.ids.split("/") if name]
        if not LEAST <= len(set(named)) == len(named) <= MOST:
            remedy = "Choose them with the scales in the Vault"
            raise BadValue(refuse(f"{LEAST} to {MOST} different checkpoints", asked.ids, remedy))
        engine = self.tavern.realm.engine
        rows = [resolve(engine, name) for name in named]
        with reading(engine) as connection:
            gains = [difference(connection, row.id, rows[0].id) for row in rows]
            return Shown(rows, gains, _overlaid(connection, rows))


def loss_of(connection: Connection, run: str | None) -> dict[str, Any] | None:
    """The loss of a run as a chart's data; None: there is no curve of it."""
    known = [] if run is None else curves.metrics_of(connection, run)
    metric = next((name for name in ("loss", "value_loss") if name in known), None)
    if run is None or metric is None:
        return None
    found = curves.read(connection, run, metric, "all")
    return found if len(found["step"]) > 1 else None


def _overlaid(connection: Connection, rows: list[Entry]) -> dict[str, Any] | None:
    found = {row.run: loss_of(connection, row.run) for row in rows if row.run}
    shown = [(str(run), data) for run, data in found.items() if data is not None]
    return plots.overlaid(shown) if shown else None
