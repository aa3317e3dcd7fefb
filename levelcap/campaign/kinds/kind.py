"""`Kind`: everything that differs between an arena hero and a text hero, in one object each.

Whoever meets a hero, a checkpoint or a campaign asks its kind; nobody else asks which kind it is.
The table is in `heroes.py`.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass, field
from pathlib import Path
from typing import Annotated, Any, ClassVar, Literal, Protocol

from pydantic import AfterValidator, BaseModel, ConfigDict, Field

from levelcap.campaign.story.campaigns import Campaign
from levelcap.campaign.story.runs import Run
from levelcap.jobs.store import Store
from levelcap.kit.db import Connection
from levelcap.kit.ids import check_words, sha256_bytes
from levelcap.nets.meta import Meta
from levelcap.trials.verdict import TRIAL_VERSION, Verdict
from levelcap.vault.ledger import Entry, row_of

Progress = Callable[[int, int, str], None]
Words = Annotated[str, AfterValidator(check_words)]


class Asked(Protocol):
    """What a checkpoint is asked in an evaluation (its payload); a kind reads what concerns it."""

    games: int
    seed: int
    skill_id: str | None
    preset: str | None
    level: int | None
    passives: Literal["lite", "full"]


class HeroFile(BaseModel):
    """A hero's file: what every kind of hero has in it."""

    model_config = ConfigDict(extra="forbid", frozen=True)

    id: str = Field(pattern=r"^[a-z][a-z0-9-]{1,30}$")
    name: Words = Field(min_length=1, max_length=40)
    kind: str
    subtitle: Words = Field("", max_length=80)
    portrait: Literal["kestrel", "dio", "flo"] = "kestrel"
    """who the Tavern draws"""

    @property
    def plays(self) -> str:
        """The world it lives in."""
        raise NotImplementedError

    @property
    def weights(self) -> str:
        """Weights of others that it needs; heroes that need none come first."""
        return ""

    def why_not(self) -> str | None:
        """Why the realm cannot train it; None: it can."""
        return None


@dataclass(frozen=True)
class Stat:
    """One number of the sheet with its formula and the raw number in it."""

    value: float | int | None
    formula: str
    raw: float | int | None


@dataclass(frozen=True)
class Learned:
    """What a hero has learned in a campaign; skills: skill -> level it works on."""

    level: Stat
    xp: Stat
    skills: dict[str, int] = field(default_factory=dict)


@dataclass(frozen=True)
class Noted:
    """What an evaluation says: for the quest, and in words."""

    result: dict[str, Any]
    words: str
    data: dict[str, Any]


class Kind:
    """One kind of hero; what it does not say is as below."""

    name: ClassVar[str]
    hero_file: ClassVar[type[HeroFile]]
    role: ClassVar[str]  # of its checkpoints in the ledger
    first_hero: ClassVar[str]  # who gets its quests while a hero of another kind is chosen
    accuracy: ClassVar[str]  # what ACC is
    eval_kind: ClassVar[str]  # of its evaluations in the vault

    def owns(self, meta: Meta) -> bool:
        """Is this a checkpoint of this kind?"""
        raise NotImplementedError

    def next_recipe(
        self, connection: Connection, hero: Any, campaign: Campaign, stopped: Callable[[str], bool]
    ) -> dict[str, Any] | None:
        """What should run next; None: there is work already. stopped: is this quest halted?"""
        raise NotImplementedError

    def settle(self, store: Store, campaign: Campaign) -> None:
        """Was it worth it? Write gains and costs of what was judged."""

    def judge_best(self, connection: Connection, hero: str) -> Verdict | None:
        """The verdict on the best checkpoint that is not champion; None: there is none."""
        raise NotImplementedError

    def trial_of(self, connection: Connection, verdict: Verdict) -> dict[str, Any] | None:
        """The trial that a passed verdict still has to stand before a promotion.

        None: it was one, or the throne is empty: the first crown is provisional.
        """
        if verdict.version >= TRIAL_VERSION or verdict.champion is None:
            return None
        entry, before = (row_of(connection, n) for n in (verdict.candidate, verdict.champion))
        assert entry is not None and before is not None  # both were judged
        return self.trial_order(connection, entry, before)

    def trial_order(self, connection: Connection, entry: Entry, before: Entry) -> dict[str, Any]:
        """The payload of a trial of a checkpoint against another."""
        costs = [row.cost_core_seconds or 0.0 for row in (entry, before)]
        return {
            "checkpoint": entry.id,
            "champion": before.id,
            # What the gain cost: what was spent since the champion.
            "core_seconds": max(0.0, costs[0] - costs[1]),
            # Fresh matches and a fresh panel for every pair.
            "seed": int(sha256_bytes(f"{entry.id} {before.id}".encode())[:12], 16),
        }

    def learned(self, connection: Connection, campaign: Campaign | None) -> Learned:
        """Level and XP."""
        raise NotImplementedError

    def facts(self, run: Run | None, metrics: dict[str, float]) -> dict[str, Any]:
        """What the ledger says of a checkpoint besides what it says of every one."""
        return {}

    def questions(self, entry: Entry) -> dict[str, Any]:
        """What a checkpoint is asked by default, as part of an evaluation's payload."""
        return {}

    def judge(self, place: Path, asked: Asked, on_progress: Progress) -> dict[str, Any]:
        """Evaluate the checkpoint in a folder (with torch)."""
        raise NotImplementedError

    def note_result(self, connection: Connection, entry: Entry, result: dict[str, Any]) -> Noted:
        """Write what an evaluation says into the checkpoint's row and its campaign."""
        raise NotImplementedError

    def take_notes(self, connection: Connection, run: Run, hero: HeroFile) -> None:
        """Take in what a run has written about itself since the last time."""
