"""Who plays a live match: names of bots, cousins, seers, checkpoints, and one person."""

from __future__ import annotations

from collections.abc import Sequence

from levelcap.kit.errors import BadValue, refuse
from levelcap.play.live.match import Entrant
from levelcap.play.live.person import Person
from levelcap.play.roster import find
from levelcap.services.oracle.checkpoint_cache import CheckpointCache
from levelcap.services.oracle.names import NAMES
from levelcap.trials.capped import SUFFIX, Capped
from levelcap.world.spec import arena_spec

PERSON = "person"


def name_seats(world: str, given: Sequence[str]) -> list[str]:
    """A name for every seat, out of one for all, one a team, or one a seat.

    Raises:
        BadValue: another number of names, or a person for a whole team of several.
    """
    spec = arena_spec(world)
    size = spec.num_players // spec.num_teams
    if len(given) not in (1, spec.num_teams, spec.num_players):
        counts = sorted({1, spec.num_teams, spec.num_players})
        raise BadValue(refuse(f"{world} takes {counts} names", len(given), "Name the seats"))
    names = [given[seat * len(given) // spec.num_players] for seat in range(spec.num_players)]
    if names.count(PERSON) > 1:
        remedy = f"Name all {spec.num_players} seats, one of them person; a team has {size}"
        raise BadValue(refuse("one person can play in a match", names.count(PERSON), remedy))
    return names


def sit_down(
    names: Sequence[str], shelf: CheckpointCache, person: str
) -> tuple[list[Entrant], list[int]]:
    """Entrants, each once, and who of them takes which seat.

    Raises:
        UnknownName: no such bot or checkpoint. Corrupt: a damaged checkpoint.
    """
    order = list(dict.fromkeys(names))
    entrants = [entrant(name, shelf, person) for name in order]
    return entrants, [order.index(name) for name in names]


def entrant(name: str, shelf: CheckpointCache, person: str) -> Entrant:
    """One player by name; +human behind it: under the human cap."""
    if name.endswith(SUFFIX):
        free = entrant(name.removesuffix(SUFFIX), shelf, person)
        return Entrant(f"{free.name}{SUFFIX}", free.kind, Capped(free.policy))
    if name == PERSON:
        return Entrant(person, "person", Person(person))
    if name in NAMES or name.startswith("checkpoint"):
        loaded = shelf.get(name)
        shown = name if name in NAMES else loaded.shown
        return Entrant(shown, "net", loaded.player())
    return Entrant(name, "bot", find(name))
