"""Routes of live matches."""

from __future__ import annotations

import secrets
from typing import Annotated, Any

from fastapi import APIRouter, WebSocket
from pydantic import Field

from levelcap.kit.errors import BadValue, UnknownName, refuse, unknown_name
from levelcap.kit.ids import run_name
from levelcap.play.live.command import Command, read_command
from levelcap.play.live.match import Live
from levelcap.play.live.pace import FASTEST, SLOWEST
from levelcap.play.live.person import read_input
from levelcap.play.load import use_mouse
from levelcap.play.record.diary import Diary
from levelcap.play.seats import ask_every_tick
from levelcap.services.door.fields import Body, Id, Seed
from levelcap.services.door.rights import Routes, right
from levelcap.services.door.sockets import converse, reason
from levelcap.services.oracle.checkpoint_cache import CheckpointCache
from levelcap.services.oracle.endings import count_people
from levelcap.services.oracle.exhibition import Exhibition
from levelcap.services.oracle.lineup import PERSON, name_seats, sit_down
from levelcap.services.oracle.matches import Room, Rooms
from levelcap.world.mouse import Control
from levelcap.world.players.bot_names import BOTS, SEERS
from levelcap.world.rules.patches import champion_names, load_patch, patch_names
from levelcap.world.spec import RULESETS, WORLDS, arena_spec

NO_MATCH = 4404
SeatName = Annotated[str, Field(min_length=1, max_length=100)]


class PersonBody(Body):
    """Who plays, and whether their play may be kept to learn from."""

    name: Annotated[str, Field(pattern=r"^[A-Za-z0-9][A-Za-z0-9_-]{0,30}$")] = "guest"
    consent: bool = False


class OrderBody(Body):
    """An order to the player in a seat."""

    seat: Annotated[int, Field(ge=0, lt=100)]
    order: Annotated[str, Field(max_length=40)] | None = None


class ShowBody(Body):
    """Whose exhibition; of a hero with nothing to show yet, anybody's."""

    hero: Id | None = None


class MatchBody(Body):
    """A match to be played now."""

    world: Annotated[str, Field(max_length=20)] = "duel"
    seats: Annotated[list[SeatName], Field(min_length=1, max_length=10)]
    seed: Seed | None = None
    patch: Annotated[str, Field(max_length=40)] = "1.0"
    champions: (
        Annotated[str, Field(max_length=40)]
        | Annotated[list[SeatName], Field(min_length=1, max_length=10)]
        | None
    ) = None
    speed: Annotated[float, Field(ge=SLOWEST, le=FASTEST, allow_inf_nan=False)] = 1.0
    every_tick: bool = False
    """ask checkpoints at every tick instead of at the rate they were trained at"""
    control: Control = "heads"
    """mouse: checkpoints say what they do with cursor, click and hotkey"""
    person: PersonBody = PersonBody()


def routes(rooms: Rooms, shelf: CheckpointCache) -> APIRouter:
    """All of them."""
    door = Routes(APIRouter(tags=["matches"]))
    exhibition = Exhibition(rooms, shelf)

    @door.get("/choices", "viewer")
    def choices() -> dict[str, Any]:
        """What a match can be made of: worlds, bots, checkpoints, patches with their champions."""
        return describe_choices() | {"models": shelf.describe()}

    @door.get("/matches", "viewer")
    def listing() -> dict[str, Any]:
        """Live matches, and how persons have fared so far."""
        live = [room.as_json() for room in rooms.list()]
        return {"live": live, "people": count_people(shelf.engine)}

    @door.post("/matches", "worker", status_code=201)
    def start(body: MatchBody) -> dict[str, Any]:
        """Start a match; it begins when the first socket listens."""
        room = make_room(body, shelf)
        rooms.open(room)
        return room.as_json() | {"you": room.match.person_seat}

    @door.post("/exhibition", "worker")
    def exhibit(body: ShowBody) -> dict[str, Any]:
        """The exhibition that is on, or the next one; `hero` is null while only bots can play."""
        return exhibition.attend(body.hero)

    @door.post("/matches/{match_id}/order", "worker")
    def order(match_id: Id, body: OrderBody) -> dict[str, Any]:
        """Tell the hero in a seat what to do (`levelcap.coach.orders`); null: at ease."""
        command = Command(body.seat, body.order)
        rooms.find(match_id).order(command)
        return {"match": match_id, "seat": command.seat, "order": command.order}

    @door.delete("/matches/{match_id}", "worker")
    def end(match_id: Id) -> dict[str, Any]:
        """Break a match off."""
        rooms.find(match_id).end("it was ended")
        return {"ended": match_id}

    @door.where.websocket("/matches/{match_id}")
    @right("worker")
    async def watch(socket: WebSocket, match_id: str) -> None:
        await socket.accept()
        try:
            room = rooms.find(match_id)
        except UnknownName as error:
            await socket.close(NO_MATCH, reason(error))
            return
        await attend(socket, room)

    return door.where


def describe_choices() -> dict[str, Any]:
    """Names that do not depend on the realm."""
    patches = {name: list(champion_names(load_patch(name))) for name in patch_names()}
    worlds = {
        name: {"players": arena_spec(name).num_players, "teams": arena_spec(name).num_teams}
        for name in RULESETS
    }
    bots = [*BOTS, *(f"seer-{k}" for k in SEERS), "uniform"]
    return {"worlds": worlds, "bots": bots, "patches": patches}


def make_room(body: MatchBody, shelf: CheckpointCache) -> Room:
    """A match as it was asked for.

    Raises:
        UserError: it cannot be played. Corrupt: a damaged checkpoint.
    """
    if body.world not in WORLDS:
        raise unknown_name("world", body.world, WORLDS)
    names = name_seats(body.world, body.seats)
    person = f"{PERSON}-{body.person.name}" if PERSON in names else None
    entrants, seats = sit_down(names, shelf, person or "")
    for entrant in entrants:
        if body.every_tick and entrant.kind == "net":
            ask_every_tick(entrant.policy, arena_spec(body.world).tick_hz)
        if body.control == "mouse" and entrant.kind == "net":
            use_mouse(entrant.policy)
    seed = secrets.randbelow(2**53) if body.seed is None else body.seed
    champions = tuple(body.champions) if isinstance(body.champions, list) else body.champions
    match = Live(body.world, entrants, seats, seed=seed, patch=body.patch, champions=champions)
    diary = Diary(match) if person is not None and body.person.consent else None
    shown = [entrants[index].name for index in seats]
    speed = 1.0 if person is not None else body.speed
    return Room(run_name("live"), match, speed, shown, diary, person)


async def attend(socket: WebSocket, room: Room) -> None:
    """Serve one socket until the match or the socket ends: inputs as bytes, all else as text."""
    listener = room.join()

    async def hear(message: dict[str, Any]) -> None:
        if message.get("bytes") is not None:
            hear_input(room, message["bytes"])
        else:
            said = read_command(message.get("text") or "")
            if isinstance(said, Command):
                obey(room, said)
            else:
                room.set_pace(said)

    try:
        await converse(socket, listener.next, lambda: (1000, "the match is over"), hear)
    finally:
        room.leave(listener)


def obey(room: Room, command: Command) -> None:
    """An order heard on a socket that others share: what is wrong with it is said, not fatal."""
    try:
        room.order(command)
    except BadValue as error:
        room.tell({"type": "notice", "text": str(error)})


def hear_input(room: Room, data: bytes) -> None:
    """A person's input."""
    person = room.match.person
    if person is None:
        remedy = "Start a match with a person in it"
        raise BadValue(refuse("nobody plays in this match", len(data), remedy))
    person.hear(read_input(data))
