"""`levelcap match …`: live matches, and quests made of those a person has played."""

from __future__ import annotations

import json
from typing import Annotated, Any

from cyclopts import Parameter
from rich.console import Console
from rich.table import Table

from levelcap.campaign.realm import realm
from levelcap.campaign.story.played import find_played, list_played, recipes
from levelcap.campaign.work.desk import campaign_for, enter
from levelcap.campaign.work.recipes import read_recipe
from levelcap.services.clients.keeper import Client
from levelcap.services.clients.spectate import watch_to_the_end
from levelcap.services.door.tokens import load_tokens
from levelcap.services.process.hosts import get_service_url


def start(
    *seats: str,
    world: str = "duel",
    seed: int | None = None,
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
    wait
        Watch it from here and print how it ended.
    """
    body: dict[str, Any] = {"world": world, "seats": list(seats), "patch": patch, "speed": speed}
    body |= {"seed": seed, "champions": champions}
    with _oracle() as oracle:
        made = oracle.call("POST", "/matches", body)
    address = f"{get_service_url('tavern')}/arena?match={made['id']}"
    _console().print(f"{made['id']}: {_sides(made['seats'])} in {made['world']}\n{address}")
    if wait:
        _console().print(_follow(made["id"]))


def ls(*, as_json: Annotated[bool, Parameter(name="--json")] = False) -> None:
    """List live matches, and recorded ones of persons that can become quests."""
    with _oracle() as oracle:
        live = oracle.call("GET", "/matches")["live"]
    kept = [{"id": m, "person": p, "world": w} for m, p, w in list_played()]
    if as_json:
        _console().print(json.dumps({"live": live, "recorded": kept}), soft_wrap=True)
        return
    table = Table("match", "what", "world", "who")
    for row in live:
        table.add_row(row["id"], f"live, {row['seconds']} s", row["world"], _sides(row["seats"]))
    for one in kept:
        table.add_row(one["id"], "recorded", one["world"], one["person"])
    _console().print(table)


def end(match: str, /) -> None:
    """Break a live match off."""
    with _oracle() as oracle:
        oracle.call("DELETE", f"/matches/{match}")
    _console().print(f"{match} has ended")


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
    recipe = recipes(person, world, match)[-1 if all_ else 0]
    with realm() as opened:
        wanted = read_recipe(recipe)
        campaign = campaign_for(opened.store, wanted.hero_kind)
        made = enter(opened.store, campaign, wanted, source="person")
    _console().print(f"{made.id}: {made.title} ({made.status})")


def _oracle() -> Client:
    return Client(get_service_url("oracle"), load_tokens().worker)


def _follow(match: str) -> str:
    """Listens until the match is over; how it ended, in one line."""
    notes = watch_to_the_end(match, load_tokens().worker)
    result, saved = notes.get("result", {}), notes.get("saved", {})
    return json.dumps(
        {
            "winner": result.get("winner"),
            "seconds": result.get("seconds"),
            "replay": saved.get("replay"),
            "left": saved.get("left", ""),
        }
    )


def _sides(names: list[str]) -> str:
    return " and ".join(dict.fromkeys(names))


def _console() -> Console:
    return Console(highlight=False, soft_wrap=True)
