"""`/vault`: every checkpoint that was kept: look for one, sort, verify, promote, pack, pin, delete.

`/vault/<id>` is one of them: what was measured, why it does not reign, notes and tags.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import Annotated, Any, Literal

from pydantic import Field

from levelcap.campaign.sheet.strength import why_not_crowned
from levelcap.export.bundle import bundle_name
from levelcap.kit.db import Connection, reading
from levelcap.kit.paths import folder
from levelcap.services.clients.keeper import KeeperClient
from levelcap.services.tavern import plots
from levelcap.services.tavern.orders import OrderBody, Said, asks
from levelcap.services.tavern.pages.compare import MEASURES, loss_of
from levelcap.services.tavern.pulse import Moment
from levelcap.services.tavern.view import Asked, View
from levelcap.vault import champion, evals, notes, removals
from levelcap.vault.champion import Promotion
from levelcap.vault.evals import Mark
from levelcap.vault.ledger import Entry, get_ledger
from levelcap.vault.notes import Note
from levelcap.vault.search import Wanted, choices, search

PAGE = 25
UNDO_S = 30
MOST_CHOSEN = 5
TARGETS = ("onnx", "torchserve", "tensorrt", "mobile")
Name = Annotated[str, Field(max_length=100)]


class VaultAsked(Asked):
    """What is looked for, its order and page; chosen: checkpoints to compare; id: which is open."""

    path, one = "/vault", "id"

    id: Name = ""
    q: Name = ""
    hero: Name = ""
    world: Name = ""
    role: Name = ""
    tag: Name = ""
    sort: Literal["seq", "step", "elo", "train_loss", "accuracy", "size_bytes"] = "seq"
    ascending: bool = False
    page: Annotated[int, Field(ge=0)] = 0
    chosen: Annotated[str, Field(max_length=600)] = ""

    @property
    def picked(self) -> list[str]:
        """The chosen ones, one by one."""
        return [one for one in self.chosen.split(",") if one]

    def sorted_by(self, column: str) -> str:
        """The address of the other order; the one at first is from the top down."""
        turned = column == self.sort and not self.ascending
        return self.to(sort=column, ascending=turned, page=0)

    def choosing(self, checkpoint: str) -> str:
        """The address with this one chosen, or no longer; of more than five the oldest goes."""
        kept = [one for one in self.picked if one != checkpoint]
        if checkpoint not in self.picked:
            kept = [*kept, checkpoint][-MOST_CHOSEN:]
        return self.to(chosen=",".join(kept))


@dataclass(frozen=True)
class Opened:
    """One checkpoint, and what is known of it."""

    entry: Entry
    why_not: str
    verdict: dict[str, Any] | None
    note: Note
    run_note: Note | None
    curve: dict[str, Any] | None
    bundles: tuple[str, ...]
    """targets it was exported to, under exports/"""
    measures: tuple[tuple[str, str], ...] = MEASURES


@dataclass(frozen=True)
class Shown:
    """What the template shows."""

    rows: list[Entry]
    total: int
    pages: int
    going: dict[str, str]  # checkpoint -> when it is removed
    lines: list[Promotion]  # newest first
    marks: dict[str, tuple[Mark, ...]]  # checkpoint -> its trial and its hunt
    notes: dict[str, Note]
    choices: dict[str, list[str]]  # of the filters
    opened: Opened | None

    @property
    def champion(self) -> str | None:
        """Who reigns."""
        return self.lines[0].checkpoint if self.lines else None

    @property
    def by_hand(self) -> bool:
        """Was the last promotion a person's, which may have been a slip?"""
        return bool(self.lines) and "override" in self.lines[0].verdict

    def options(self, name: str) -> dict[str, str]:
        """What a filter offers."""
        return {"": "any"} | {one: one for one in self.choices[name]}

    @staticmethod
    def plot(curve: dict[str, Any]) -> dict[str, Any]:
        """A run's curve as a chart."""
        return plots.curve(curve)

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


def _write(keeper: KeeperClient, given: OrderBody) -> Said:
    tags = str(given.values.get("tags", "")).replace(",", " ").split()
    body = {"text": str(given.values.get("text", "")), "tags": tags}
    keeper.call("POST", f"/api/notes/{given.id}", body)
    return Said("Written down")


def _export(keeper: KeeperClient, given: OrderBody) -> Said:
    asked = {"quest": "export", "checkpoint": given.id, **given.values}
    return Said("A bundle is made of it", keeper.add_quest(asked)["title"])


class VaultView(View[VaultAsked]):
    """The ledger, the champions, a window for one checkpoint."""

    asked = VaultAsked
    orders = {
        "promote": asks("POST", "/api/champion"),
        "verify": _verify,
        "note": _write,
        "export": _export,
        "pin": asks("POST", "/api/checkpoints/{id}/pin", "Pinned"),
        "unpin": asks("POST", "/api/checkpoints/{id}/pin", "Unpinned"),
        "delete": asks("DELETE", "/api/checkpoints/{id}", f"Goes in {UNDO_S} s", delay_s=UNDO_S),
        "restore": asks("POST", "/api/checkpoints/{id}/restore", "It stays"),
        "rollback": asks("POST", "/api/champion/rollback", "The champion before is back"),
    }

    def read(self, moment: Moment, asked: VaultAsked) -> Shown:
        """One page of the ledger and what is known of its rows."""
        engine = self.tavern.realm.engine
        wanted = Wanted(asked.q, asked.hero, asked.world, asked.role, asked.tag)
        opened = get_ledger(engine).get(asked.id) if asked.id else None
        with reading(engine) as connection:
            at, down = asked.page * PAGE, not asked.ascending
            rows, total = search(
                connection, wanted, asked.sort, descending=down, offset=at, limit=PAGE
            )
            tags = {"tag": notes.all_tags(connection)}
            return Shown(
                rows,
                total,
                max(1, -(-total // PAGE)),
                removals.waiting(connection),
                champion.history(connection, moment.hero.id, 12),
                evals.marks(connection, [row.id for row in rows]),
                notes.notes_of(connection, [row.id for row in rows]),
                choices(connection) | tags,
                None if opened is None else _open(connection, opened),
            )


def _open(connection: Connection, entry: Entry) -> Opened:
    trials = evals.evaluations(connection, entry.id, (evals.TRIAL,))
    found = notes.notes_of(connection, [entry.id, entry.run])
    place = folder("exports")
    return Opened(
        entry,
        why_not_crowned(connection, entry),
        trials[-1] if trials else None,
        found.get(entry.id, Note(entry.id)),
        found.get(entry.run, Note(entry.run)) if entry.run else None,
        loss_of(connection, entry.run),
        tuple(to for to in TARGETS if (place / bundle_name(entry.id, to)).is_dir()),
    )
