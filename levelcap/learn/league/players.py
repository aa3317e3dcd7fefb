"""Members of a league: three kinds that learn, their frozen snapshots, and scripted bots."""

from __future__ import annotations

from dataclasses import asdict, dataclass, field, replace
from typing import Any, Self

from levelcap.learn.league.config import BOT


@dataclass(frozen=True)
class Player:
    """One member. A learner's `checkpoint` is where it stood after its last turn."""

    player_id: str
    agent_type: str
    """main, main_exploiter, league_exploiter, sibling or bot"""
    checkpoint: str | None
    """folder of the snapshot under the season's; of a bot: its name"""
    sha256: str
    trainable: bool = False
    parent_id: str | None = None
    """whom it was frozen from, or (a learner) began as"""
    born: int = 0
    """turn in which it came in"""
    created_at_step: int = 0
    steps_since_snapshot: int = 0
    frozen_at: int = 0
    """of its turns, when it was last frozen"""
    dead: bool = False
    """its file is gone or damaged: it is met no more, its results stay"""
    run: str | None = None
    """a learner's run folder under players/"""
    start: str | None = None
    """the snapshot its present life began from, pi_sup of its KL"""
    life: int = 0
    """times it started anew"""
    turns: int = 0
    """turns taken in all"""
    updates: int = 0
    """of the present life, as its run folder counts them"""
    steps: int = 0
    """of the present life"""
    slots: tuple[str, ...] = ()
    """opponents of matches that its last checkpoint holds"""
    ahead: int = 0
    """steps its own count is above its run's: it has taken over a run with fewer"""
    factors: dict[str, float] = field(default_factory=dict)
    """population-based tuning: its settings over the season's own"""

    @property
    def key(self) -> str:
        """Name and content: a learner's opponents meet one fixed snapshot of another learner."""
        return self.player_id if self.agent_type == BOT else f"{self.player_id}@{self.sha256[:12]}"

    def with_(self, **changes: Any) -> Self:
        """The same player with some fields changed."""
        return replace(self, **changes)

    def as_json(self) -> dict[str, Any]:
        """Plain values."""
        return asdict(self)

    @classmethod
    def from_json(cls, values: dict[str, Any]) -> Player:
        """Read what `as_json` wrote."""
        return cls(**{**values, "slots": tuple(values["slots"])})


def id_of_key(key: str) -> str:
    """The player a key names."""
    return key.partition("@")[0]
