"""`levelcap match …`: live matches, and quests made of those a person has played."""

from __future__ import annotations

from typing import Annotated, Any

from cyclopts import Parameter

from levelcap.campaign.story.played import find_played, list_played, recipes
from levelcap.cli.campaign import add
from levelcap.cli.options import AsJson, Int, World
from levelcap.cli.printer import print_table, say, say_json, table
from levelcap.cli.worlds import TickHz, at_rate
from levelcap.services.clients.keeper import Client
from levelcap.services.clients.spectate import watch_to_the_end
from levelcap.services.door.tokens import load_tokens
from levelcap.services.process.hosts import get_service_url
from levelcap.vault.ask import id_of
from levelcap.world.mouse import Control


def start(
    *seats: str,
    world: World = "duel",
    tick_hz: TickHz = None,
    every_tick: bool = False,
    control: Control = "heads",
    seed: Int | None = None,
    patch: str = "1.0",
    champions: str | None = None,
    speed: float = 1.0,
    wait: bool = False,
) -> None:
    """Start a live match; it begins when somebody watches.

    Parameters
    ----------
    seats
        One name for all seats, one a team, or one a seat: a bot, a checkpoint, champion, best,
        latest, or person (once; play in the browser).
    seed
        Of the match; without it by chance.
    champions
        base, random, or one name for all.
    every_tick
        Ask checkpoints at every tick instead of at the rate they were trained at.
    control
        mouse: checkpoints say what they do with cursor, click and hotkey (`mouse=on`).
    wait
        Watch it from here and print how it ended.
    """
    world = at_rate(world, tick_hz)
    body: dict[str, Any] = {
        "world": world,
        "seats": [id_of(seat) for seat in seats],
        "patch": patch,
        "speed": speed,
    }
    body |= {"seed": seed, "champions": champions, "every_tick": every_tick, "control": control}
    with _oracle() as oracle:
        made = oracle.call("POST", "/matches", body)
    address = f"{get_service_url('tavern')}/arena?match={made['id']}"
    say(f"{made['id']}: {_sides(made['seats'])} in {made['world']}\n{address}")
    if wait:
        say_json(_follow(made["id"]))


def ls(*, as_json: AsJson = False) -> None:
    """List live matches, and recorded ones of persons that can become quests."""
    with _oracle() as oracle:
        live = oracle.call("GET", "/matches")["live"]
    kept = [{"id": m, "person": p, "world": w} for m, p, w in list_played()]
    if as_json:
        say_json({"live": live, "recorded": kept})
        return
    rows = [(m["id"], f"live, {m['seconds']} s", m["world"], _sides(m["seats"])) for m in live]
    rows += [(one["id"], "recorded", one["world"], one["person"]) for one in kept]
    print_table(table(("match", "what", "world", "who"), rows))


def end(match: str, /) -> None:
    """Break a live match off."""
    with _oracle() as oracle:
        oracle.call("DELETE", f"/matches/{match}")
    say(f"{match} has ended")


def quest(match: str, /, *, all_: Annotated[bool, Parameter(name="--all")] = False) -> None:
    """Make a quest of a recorded match: the hero imitates the person.

    Parameters
    ----------
    match
        As `levelcap match ls` lists it.
    all_
        Of all matches of this person in this world.
    """
    person, world = find_played(match)
    add(recipes(person, world, match)[-1 if all_ else 0])


def _oracle() -> Client:
    return Client(get_service_url("oracle"), load_tokens().worker)


def _follow(match: str) -> dict[str, Any]:
    """Listens until the match is over; how it ended."""
    notes = watch_to_the_end(match, load_tokens().worker)
    result, saved = notes.get("result", {}), notes.get("saved", {})
    told = {name: result.get(name) for name in ("winner", "seconds")}
    return told | {"replay": saved.get("replay"), "left": saved.get("left", "")}


def _sides(names: list[str]) -> str:
    return " and ".join(dict.fromkeys(names))
