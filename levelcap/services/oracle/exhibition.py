"""The exhibition: one match of the hero that is on while somebody looks.

Who plays is chosen for each match anew: the champion, or before there is one the newest checkpoint,
against its predecessor, the opponents of the run that trains now, a rival of the league and
`master`, one after the other. As long as nothing was learned two bots show the game.
"""

from __future__ import annotations

import secrets
import threading
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from levelcap.campaign.sheet.league import list_seasons
from levelcap.campaign.story import runs
from levelcap.kit.db import Database, reading
from levelcap.kit.files import parse_json
from levelcap.kit.ids import run_name
from levelcap.learn.league.config import BOT
from levelcap.learn.league.state import read_league
from levelcap.play.live.match import Entrant, Live
from levelcap.play.load import load_checkpoint
from levelcap.services.oracle.checkpoint_cache import CheckpointCache
from levelcap.services.oracle.lineup import entrant
from levelcap.services.oracle.matches import Room, Rooms
from levelcap.vault.champion import history
from levelcap.vault.ledger import Entry, get_ledger
from levelcap.vault.lookup import is_kept
from levelcap.world.players.bot_names import is_bot
from levelcap.world.spec import RULESETS, arena_spec

BOTS_ONLY = "No hero has learned anything yet: two bots show the game"
STRONGEST = "master"
RECENT = 20  # runs among which the one that goes on is looked for


@dataclass(frozen=True)
class Rival:
    """Somebody to meet: in words, and a name for a seat or the folder of a snapshot."""

    words: str
    name: str
    place: Path | None = None


@dataclass(frozen=True)
class Hero:
    """Whose exhibition it is: a checkpoint, and what it is called."""

    entry: Entry
    words: str
    previous: str | None = None

    @property
    def world(self) -> str:
        """The ruleset it was trained in."""
        return self.entry.world if self.entry.world in RULESETS else "duel"


def find_hero(engine: Database, wanted: str | None = None) -> Hero | None:
    """The champion, else the newest checkpoint, of a hero of the arena; None: there is neither.

    wanted: id of a hero; one that has nothing to show in the arena leaves the choice to us.
    """
    newest = get_ledger(engine).list(role="decision", hero=wanted, limit=1)
    if not newest:
        return None if wanted is None else find_hero(engine)
    with reading(engine) as connection:
        crowned = history(connection, newest[0].hero, 1)
    if not crowned:
        return Hero(newest[0], "The newest checkpoint")
    champion = get_ledger(engine).get(crowned[0].checkpoint)
    return Hero(champion, "The champion", crowned[0].previous)


def find_rivals(engine: Database, hero: Hero) -> list[Rival]:
    """Whom the hero meets in turn; the last one is always there."""
    found = []
    with reading(engine) as connection:
        if hero.previous is not None and is_kept(connection, hero.previous):
            found.append(Rival("its predecessor", hero.previous))
        known = runs.list_runs(connection, limit=RECENT)
    going = [run for run in known if run.ended is None and run.world == hero.world]
    for name in [name for run in going[:1] for name in _opponents_of(runs.run_folder(run.id))]:
        found.append(Rival(f"{name}, whom it trains against", name))
    found += _league_rivals(engine, hero.world)
    if STRONGEST not in [rival.name for rival in found]:
        found.append(Rival(f"{STRONGEST}, the strongest bot", STRONGEST))
    return found


def _opponents_of(place: Path) -> list[str]:
    """Bots that the run in this folder plays against; none where it does not say."""
    try:
        given = parse_json((place / "config.json").read_bytes())["config"]["opponents"]
    except (OSError, ValueError, KeyError, TypeError):
        return []
    return [name for name in given if isinstance(name, str) and is_bot(name)]


def _league_rivals(engine: Database, world: str) -> list[Rival]:
    """The newest frozen exploiter of the newest season in this world."""
    for season in list_seasons(engine):
        if season.world != world:
            continue
        league = read_league(runs.run_folder(season.id))
        nets = [p for p in league.frozen() if p.agent_type != BOT and p.checkpoint is not None]
        others = [p for p in nets if p.agent_type != "main"] or nets
        if others:
            newest = others[-1]
            place = league.place / str(newest.checkpoint)
            return [Rival(f"{newest.player_id} of the league", newest.player_id, place)]
    return []


class Exhibition:
    """At most one match at a time, the same for everybody who asks."""

    def __init__(self, rooms: Rooms, shelf: CheckpointCache) -> None:
        self._rooms, self._shelf = rooms, shelf
        self._lock = threading.Lock()
        self._room: Room | None = None
        self._hero: str | None = None  # who shows, None: bots
        self._turn = 0

    def attend(self, wanted: str | None = None) -> dict[str, Any]:
        """The match that is on, or a new one: it begins when somebody listens.

        wanted: see `find_hero`. A match of bots, or of another hero, gives way to the hero's.
        """
        with self._lock:
            hero = find_hero(self._shelf.engine, wanted)
            of = None if hero is None else hero.entry.hero
            if self._room is None or self._room.ended or self._hero != of:
                if self._room is not None:
                    self._room.end("another exhibition begins")
                self._room, self._hero = self._begin(hero), of
            return self._room.as_json() | {"hero": self._hero}

    def _begin(self, hero: Hero | None) -> Room:
        self._turn += 1  # first: a rival that cannot play is not asked twice
        if hero is None:
            world, words = "duel", BOTS_ONLY
            pair = [entrant(name, self._shelf, "") for name in (STRONGEST, "veteran")]
        else:
            rivals = find_rivals(self._shelf.engine, hero)
            rival = rivals[(self._turn - 1) % len(rivals)]
            world, words = hero.world, f"{hero.words} against {rival.words}"
            pair = [entrant(hero.entry.id, self._shelf, ""), self._seated(rival)]
        spec = arena_spec(world)
        size = spec.num_players // spec.num_teams
        seats = [min(1, seat // size) for seat in range(spec.num_players)]
        match = Live(world, pair, seats, seed=secrets.randbelow(2**53))
        names = [pair[index].name for index in seats]
        room = Room(run_name("show"), match, 1.0, names, show=words)
        self._rooms.open(room)
        return room

    def _seated(self, rival: Rival) -> Entrant:
        if rival.place is None:
            return entrant(rival.name, self._shelf, "")
        return Entrant(rival.name, "net", load_checkpoint(rival.place))
