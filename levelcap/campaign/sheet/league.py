"""A season as people see it: who is in it, who beats whom, how strong, why they met. No torch."""

from __future__ import annotations

from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

from levelcap.campaign.story import runs
from levelcap.campaign.story.runs import Run, run_folder
from levelcap.kit.db import Database, reading
from levelcap.kit.files import read_json, read_jsonl
from levelcap.learn.league.config import BOT
from levelcap.learn.league.players import Player
from levelcap.learn.league.state import STATE, TURNS, League, read_league
from levelcap.trials.league_report import SUMMARY

SEASON = "league_round"  # kind of its runs
NEWEST_TURNS = 12
MAX_TABLE = 16  # players of the heat map: bots, and the newest of the others


@dataclass(frozen=True)
class Member:
    """One player of the season."""

    name: str
    kind: str
    state: str
    """learns, frozen or dead"""
    parent: str | None
    born: int
    elo: tuple[float, float, float] | None
    nash: float | None
    depth: int = 0
    """generations from the first player"""


@dataclass(frozen=True)
class Meeting:
    """An opponent of a turn: its share of the matches, why, and how it went."""

    opponent: str
    share: float
    chance: float
    rules: str
    won: int
    drawn: int
    lost: int


@dataclass(frozen=True)
class TurnSheet:
    """One turn."""

    number: int
    player: str
    steps: int
    seconds: float
    frozen: str | None
    meetings: tuple[Meeting, ...]


@dataclass(frozen=True)
class SeasonSheet:
    """All of it."""

    run: str
    world: str
    turn: int
    core_seconds: float
    members: tuple[Member, ...] = ()
    table: tuple[str, ...] = ()
    rates: dict[tuple[str, str], tuple[float, float]] = field(default_factory=dict)
    """(row, column) -> the row's chance to win, and the games it is known by"""
    turns: tuple[TurnSheet, ...] = ()
    """the newest first"""
    cycle_share: float | None = None
    worst: float | None = None
    """the main player's lowest chance against a frozen learner"""


def list_seasons(engine: Database) -> list[Run]:
    """Runs that are seasons, the newest first."""
    with reading(engine) as connection:
        found = runs.list_runs(connection, limit=1000)
    return [run for run in found if run.kind == SEASON and (run_folder(run.id) / STATE).exists()]


def read_season(run: str) -> SeasonSheet:
    """What the season's folder says; the ratings are those of the last freezing."""
    place = run_folder(run)
    league = read_league(place)
    summary: dict[str, Any] = read_json(place / SUMMARY) if (place / SUMMARY).exists() else {}
    shown = _shown(league)
    return SeasonSheet(
        run,
        league.world,
        league.turn,
        league.core_seconds,
        _members(league, summary),
        tuple(shown),
        {
            (a, b): (league.payoff.rate(a, b), league.payoff.games(a, b))
            for a in shown
            for b in shown
            if a != b and league.payoff.games(a, b) > 0
        },
        _turns(place),
        summary.get("cycle_share"),
        summary.get("exploitability_proxy_min_winrate_vs_past"),
    )


def _shown(league: League) -> list[str]:
    """Rows and columns of the heat map."""
    bots = [p.player_id for p in league.frozen() if p.agent_type == BOT and "~" not in p.player_id]
    frozen = [p.player_id for p in league.frozen() if p.agent_type != BOT]
    learners = [p.player_id for p in league.learners()]
    names = learners + frozen[::-1][: MAX_TABLE - len(bots) - len(learners)] + bots
    met = league.payoff.games
    return [a for a in names if any(met(a, b) for b in names if a != b)]


def _members(league: League, summary: dict[str, Any]) -> tuple[Member, ...]:
    """Everybody, children below their parents."""
    elos, mass = summary.get("elo", {}), summary.get("nash", {})
    children: dict[str | None, list[Player]] = {}
    for player in sorted(league.players.values(), key=lambda p: (p.born, p.player_id)):
        parent = player.parent_id if player.parent_id in league.players else None
        children.setdefault(parent, []).append(player)
    found: list[Member] = []

    def walk(player: Player, depth: int) -> None:
        name, elo = player.player_id, elos.get(player.player_id)
        state = "dead" if player.dead else "learns" if player.trainable else "frozen"
        rated = None if elo is None else (elo["elo"], elo["low"], elo["high"])
        found.append(
            Member(
                name,
                player.agent_type,
                state,
                player.parent_id,
                player.born,
                rated,
                mass.get(name),
                depth,
            )
        )
        for child in children.get(name, []):
            # A learner that began as one of its own children would be its own ancestor.
            if child.player_id not in {member.name for member in found}:
                walk(child, depth + 1)

    # The first player and its line; whoever is left has only itself for an ancestor; bots last.
    def first(player: Player) -> tuple[bool, bool, int]:
        return player.agent_type == BOT, player.parent_id is not None, player.born

    for player in sorted(league.players.values(), key=first):
        if player.player_id not in {member.name for member in found}:
            walk(player, 0)
    return tuple(found)


def _turns(place: Path) -> tuple[TurnSheet, ...]:
    path = place / TURNS
    rows = read_jsonl(path).records[-NEWEST_TURNS:] if path.exists() else []
    return tuple(_turn(row) for row in reversed(rows))


def _turn(row: dict[str, Any]) -> TurnSheet:
    none = (0, 0, 0)
    meetings = [
        Meeting(
            pairing["opponent"],
            pairing["share"],
            pairing["why"][0]["win_chance"],
            ", ".join(why["rule"] for why in pairing["why"]),
            *row["results"].get(pairing["opponent"], none),
        )
        for pairing in sorted(row["opponents"], key=lambda p: -p["share"])
    ]
    return TurnSheet(
        row["turn"], row["player"], row["steps"], row["seconds"], row["frozen"], tuple(meetings)
    )
