"""`Kind`: everything that differs between an arena hero and a text hero, in one object each.

Whoever meets a hero, a checkpoint or a campaign asks its kind; nobody else asks which kind it is.
The table is in `heroes.py`.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass, field
from pathlib import Path
from typing import Annotated, Any, Literal, Protocol

from pydantic import AfterValidator, BaseModel, ConfigDict, Field

from levelcap.campaign.story.campaigns import Campaign
from levelcap.campaign.story.runs import Run
from levelcap.jobs.store import Store
from levelcap.kit.db import Connection
from levelcap.kit.ids import check_words
from levelcap.nets.meta import Meta
from levelcap.trials.verdict import Verdict
from levelcap.vault.ledger import Entry

Progress = Callable[[int, int, str], None]
Words = Annotated[str, AfterValidator(check_words)]


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
class Asked:
    """What a checkpoint is asked in an evaluation; a kind reads what concerns it."""

    games: int
    seed: int
    skill_id: str | None
    preset: str | None
    level: int | None
    passives: str


@dataclass(frozen=True)
class Noted:
    """What an evaluation says: for the quest, and in words."""

    result: dict[str, Any]
    words: str
    data: dict[str, Any]


class Kind(Protocol):
    """One kind of hero."""

    name: str
    hero_file: type[HeroFile]
    role: str  # of its checkpoints in the ledger
    first_hero: str  # who gets its quests while a hero of another kind is chosen
    accuracy: str  # what ACC is
    eval_kind: str  # of its evaluations in the vault

    def owns(self, meta: Meta) -> bool:
        """Is this a checkpoint of this kind?"""

    def next_recipe(
        self, connection: Connection, hero: Any, campaign: Campaign, stopped: Callable[[str], bool]
    ) -> dict[str, Any] | None:
        """What should run next; None: there is work already. stopped: is this quest halted?"""

    def settle(self, store: Store, campaign: Campaign) -> None:
        """Was it worth it? Write gains and costs of what was judged."""

    def judge_best(self, connection: Connection, hero: str) -> Verdict | None:
        """The verdict on the best checkpoint that is not champion; None: there is none."""

    def learned(self, connection: Connection, campaign: Campaign | None) -> Learned:
        """Level and XP."""

    def facts(self, run: Run | None, metrics: dict[str, float]) -> dict[str, Any]:
        """What the ledger says of a checkpoint besides what it says of every one."""

    def questions(self, entry: Entry) -> dict[str, Any]:
        """What a checkpoint is asked by default, as part of an evaluation's payload."""

    def judge(self, place: Path, asked: Asked, on_progress: Progress) -> dict[str, Any]:
        """Evaluate the checkpoint in a folder (with torch)."""

    def note_result(self, connection: Connection, entry: Entry, result: dict[str, Any]) -> Noted:
        """Write what an evaluation says into the checkpoint's row and its campaign."""

    def take_notes(self, connection: Connection, run: Run, hero: HeroFile) -> None:
        """Take in what a run has written about itself since the last time."""
