"""The state of a season on disk, committed as a whole after every turn. No torch.

    <season>/league_state.json   players, payoff, config, where it stands: the truth
             matches.jsonl       rated matches between fixed weights: each can be played again
             turns.jsonl         who trained, against whom, why, with what results and cost
             players/<run>/      ordinary run folders of the learners' lives
             frozen/<sha256>/    snapshots by content, opponents of turns
             snapshots/step-…/   those of the main player: what the season gives to others

A kill at any moment costs the turn it came in: what was written after the last commit is taken back
when the season is opened again (`tidy.py`).
"""

from __future__ import annotations

from dataclasses import asdict, dataclass, field
from pathlib import Path
from typing import Any

from levelcap.kit.errors import BadFile, refuse
from levelcap.kit.files import append_jsonl, read_json, write_json
from levelcap.learn.league.config import LEARNERS, SIBLING, LeagueConfig
from levelcap.learn.league.payoff import Payoff
from levelcap.learn.league.players import Player

STATE, MATCHES, TURNS = "league_state.json", "matches.jsonl", "turns.jsonl"
PLAYERS, FROZEN, SNAPSHOTS = "players", "frozen", "snapshots"
VERSION = 1


@dataclass
class League:
    """Everything that is known of a season."""

    place: Path
    world: str
    config: LeagueConfig
    players: dict[str, Player] = field(default_factory=dict)
    payoff: Payoff = field(default_factory=Payoff)
    turn: int = 0
    seconds: float = 0.0
    core_seconds: float = 0.0
    sizes: dict[str, int] = field(default_factory=lambda: {MATCHES: 0, TURNS: 0})

    def learners(self) -> list[Player]:
        """Those that train: the main player first, its siblings last."""
        found = [player for player in self.players.values() if player.trainable]
        order = (*LEARNERS, SIBLING)
        return sorted(found, key=lambda p: (order.index(p.agent_type), p.player_id))

    def frozen(self) -> list[Player]:
        """Those that do not, and whose files are there; the oldest first."""
        found = [p for p in self.players.values() if not p.trainable and not p.dead]
        # By content, not by when it was put in: a season that was read again draws the same.
        return sorted(found, key=lambda p: (p.born, p.player_id))

    def put(self, player: Player) -> Player:
        """Add a player or change it."""
        self.players[player.player_id] = player
        return player

    def run_folder(self, player: Player) -> Path:
        """Where a learner's present life trains."""
        assert player.run is not None
        return self.place / PLAYERS / player.run

    def commit(self, turn: dict[str, Any], matches: list[dict[str, Any]]) -> None:
        """Make a turn count: lines first, then the state that knows how many."""
        for name, rows in ((MATCHES, matches), (TURNS, [turn])):
            append_jsonl(self.place / name, rows, sync=True)
            self.sizes[name] = (self.place / name).stat().st_size
        self.save()

    def save(self) -> None:
        """Write league_state.json."""
        write_json(
            self.place / STATE,
            {
                "version": VERSION,
                "world": self.world,
                "players": {name: player.as_json() for name, player in self.players.items()},
                "payoff": self.payoff.as_json(),
                "config": asdict(self.config),
                "turn": self.turn,
                "seconds": round(self.seconds, 3),
                "core_seconds": round(self.core_seconds, 3),
                "sizes": self.sizes,
            },
        )


def read_league(place: Path) -> League:
    """A season as it was last committed; nothing is changed.

    Raises:
        BadFile: no season lies there, or one of another version.
    """
    path = place / STATE
    if not path.exists():
        remedy = "Give the folder of a season; levelcap league start makes one"
        raise BadFile(refuse("no season lies here", str(place), remedy))
    document = read_json(path)
    if document.get("version") != VERSION:
        remedy = f"This version reads {VERSION}; start a new season"
        raise BadFile(refuse(f"{path} has another version", document.get("version"), remedy))
    settings = document["config"]
    config = LeagueConfig(**{**settings, "bots": tuple(settings["bots"])})
    return League(
        place,
        document["world"],
        config,
        {name: Player.from_json(values) for name, values in document["players"].items()},
        Payoff.from_json(document["payoff"], config.half_life),
        document["turn"],
        document["seconds"],
        document["core_seconds"],
        document["sizes"],
    )
