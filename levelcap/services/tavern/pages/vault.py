"""`/vault`: every checkpoint that was kept: sort, compare, verify, promote, pack, pin, delete."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Annotated, Any, Literal

from pydantic import Field

from levelcap.kit.db import reading
from levelcap.kit.paths import folder
from levelcap.services.clients.keeper import KeeperClient
from levelcap.services.tavern.orders import OrderBody, Said, asks
from levelcap.services.tavern.pulse import Moment
from levelcap.services.tavern.view import Asked, View
from levelcap.vault import champion, evals, removals
from levelcap.vault.champion import Promotion
from levelcap.vault.evals import Mark
from levelcap.vault.ledger import Entry, get_ledger

PAGE = 25
UNDO_S = 30
COMPARED = (
    ("Step", "step"), ("Elo", "elo"), ("Train loss", "train_loss"), ("Held-out loss", "val_loss"),
    ("ACC", "accuracy"), ("Decisions learned from", "total_examples_trained"),
    ("Core-seconds so far", "cost_core_seconds"), ("Bytes", "size_bytes"),
)  # fmt: skip
Name = Annotated[str, Field(max_length=100)]


class VaultAsked(Asked):
    """Order and page of the ledger; a, b: chosen checkpoints; compare: they are side by side.

    verdict: the checkpoint whose trial is read.
    """

    sort: Literal["seq", "step", "elo", "train_loss", "accuracy", "size_bytes"] = "seq"
    ascending: bool = False
    page: Annotated[int, Field(ge=0)] = 0
    a: Name = ""
    b: Name = ""
    compare: bool = False
    verdict: Name = ""

    def sorted_by(self, column: str) -> str:
        """The address of the other order; the one at first is from the top down."""
        turned = column == self.sort and not self.ascending
        return self.to(sort=column, ascending=turned, page=0)

    def choosing(self, checkpoint: str) -> str:
        """The address with this one chosen, or no longer; of more than two the oldest goes."""
        kept = [one for one in (self.a, self.b) if one and one != checkpoint]
        if checkpoint not in (self.a, self.b):
            kept = [*kept[-1:], checkpoint]
        a, b = [*kept, "", ""][:2]
        return self.to(a=a, b=b, compare=False)


@dataclass(frozen=True)
class Shown:
    """What the template shows."""

    rows: list[Entry]
    total: int
    pages: int
    going: dict[str, str]  # checkpoint -> when it is removed
    lines: list[Promotion]  # newest first
    marks: dict[str, tuple[Mark, ...]]  # checkpoint -> its trial and its hunt
    compared: dict[str, Any] | None
    verdict: dict[str, Any] | None
    measures: tuple[tuple[str, str], ...] = COMPARED

    @property
    def champion(self) -> str | None:
        """Who reigns."""
        return self.lines[0].checkpoint if self.lines else None

    @staticmethod
    def replay_of(breach: dict[str, Any]) -> str:
        """The match of a breach, if it was kept on this machine."""
        name = str(breach.get("replay") or "")
        return name if name and (folder("replays") / f"{name}.lcr").is_file() else ""


def _verify(keeper: KeeperClient, given: OrderBody) -> Said:
    said = keeper.call("POST", f"/api/checkpoints/{given.id}/verify")
    if said.get("problem") is None:
        return Said("Every byte is as it was saved", said["id"])
    return Said("Damaged", said["problem"], "error")


class VaultView(View[VaultAsked]):
    """The ledger, the champions, a window to compare in."""

    asked = VaultAsked
    orders = {
        "promote": asks("POST", "/api/champion"),
        "verify": _verify,
        "pin": asks("POST", "/api/checkpoints/{id}/pin", "Pinned"),
        "unpin": asks("POST", "/api/checkpoints/{id}/pin", "Unpinned"),
        "delete": asks("DELETE", "/api/checkpoints/{id}", f"Goes in {UNDO_S} s", delay_s=UNDO_S),
        "restore": asks("POST", "/api/checkpoints/{id}/restore", "It stays"),
        "rollback": asks("POST", "/api/champion/rollback", "The champion before is back"),
    }

    def read(self, moment: Moment, asked: VaultAsked) -> Shown:
        """One page of the ledger and what is known of its rows."""
        engine = self.tavern.realm.engine
        ledger = get_ledger(engine)
        rows = ledger.page(
            asked.sort, descending=not asked.ascending, offset=asked.page * PAGE, limit=PAGE
        )
        total, compared = ledger.count(), None
        if asked.compare:
            compared = self.tavern.keeper.call("GET", "/api/compare", a=asked.a, b=asked.b)
        with reading(engine) as connection:
            trials = evals.evaluations(connection, asked.verdict, (evals.TRIAL,))
            return Shown(
                rows,
                total,
                max(1, -(-total // PAGE)),
                removals.waiting(connection),
                champion.history(connection, moment.hero.id, 12),
                evals.marks(connection, [row.id for row in rows]),
                compared,
                trials[-1] if trials else None,
            )
