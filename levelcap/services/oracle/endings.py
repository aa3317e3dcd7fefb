"""What remains of a live match: a replay, with consent a shard of the person's play, an event."""

from __future__ import annotations

from dataclasses import asdict
from typing import Any

from levelcap.campaign.story import matches
from levelcap.campaign.story.events import say
from levelcap.campaign.story.played import recipes, shard_name
from levelcap.campaign.story.runs import shard_folder
from levelcap.kit.db import Database, reading, transaction
from levelcap.kit.ids import sha256_bytes
from levelcap.kit.paths import folder
from levelcap.services.oracle.matches import Room
from levelcap.services.oracle.replays import remove
from levelcap.vault.assets import now

KEPT = {"live": 200, "show": 20}  # replays of live matches and exhibitions; older ones go
LEAST = 10  # of a person's decisions
PLAYED = "league.match_played"


def keep(engine: Database, room: Room) -> dict[str, Any]:
    """Save the match of a room; returns what was saved, for those who watched."""
    match = room.match
    saved: dict[str, Any] = {"match": room.id, "replay": None, "shard": None, "left": room.left}
    if int(match.world.state["tick"][0]) < match.world.spec.tick_hz:  # a second is no match
        return saved
    match.recorder.save(folder("replays") / f"{room.id}.lcr")
    saved["replay"] = room.id
    if room.show:  # nobody asked for it: it is no news and counts for nobody
        _trim()
        return saved
    if room.person and room.diary is not None and room.diary.steps >= LEAST:
        world = match.world.spec.name
        place = shard_folder(shard_name(room.person, world, room.id))
        place.parent.mkdir(parents=True, exist_ok=True)
        room.diary.write(place)
        saved["shard"] = place.name
        saved["recipes"] = recipes(room.person, world, room.id)
    if match.over:
        saved["outcome"] = _tell(engine, room, saved)
    _trim()
    return saved


def _tell(engine: Database, room: Room, saved: dict[str, Any]) -> int | None:
    """Say who won; returns +1, 0, -1 for the person, None when nobody played."""
    match = room.match
    result = match.scene.result()
    winner, size = int(result["winner"]), match.world.rules.team_size
    outcome = None
    if match.person_seat is not None:
        mine = match.person_seat // size
        outcome = 0 if winner < 0 else (1 if winner == mine else -1)
    sides = [
        " and ".join(dict.fromkeys(room.names[t : t + size]))
        for t in range(0, len(room.names), size)
    ]
    who = "nobody" if winner < 0 else sides[winner]
    message = f"{match.world.spec.name}: {who} won after {result['seconds']:.0f} s"
    data = {
        "match": room.id,
        "world": match.world.spec.name,
        "seats": room.names,
        "winner": winner,
        "human": outcome is not None,
        "person": room.person,
        "outcome": outcome,
        "seconds": result["seconds"],
        "replay": saved["replay"],
        "shard": saved["shard"],
    }
    with transaction(engine) as connection:
        matches.add(connection, _match(room, result, outcome, saved))
        severity = "success" if outcome == 1 else "info"
        say(connection, PLAYED, message, severity=severity, data=data)
    return outcome


def _match(
    room: Room, result: dict[str, Any], outcome: int | None, saved: dict[str, Any]
) -> matches.Match:
    """The row: side a is the first team, side b whoever is not in it."""
    match, winner = room.match, int(result["winner"])
    size = match.world.rules.team_size
    hashes = [match.entrants[index].policy.content_hash for index in match.seats]
    return matches.Match(
        id=room.id,
        time=now(),
        world=match.world.spec.name,
        seed=int(match.world.state["seed"][0]),
        a=" and ".join(dict.fromkeys(room.names[:size])),
        a_sha256=_side(hashes[:size]),
        b=" and ".join(dict.fromkeys(room.names[size:])),
        b_sha256=_side(hashes[size:]),
        winner=winner,
        score=0.5 if winner < 0 else float(winner == 0),
        person=room.person,
        outcome=outcome,
        seconds=float(result["seconds"]),
        replay=saved["replay"],
        shard=saved["shard"],
    )


def _side(hashes: list[str]) -> str:
    """The hash of a side: its policy's, or one over those of its policies in the order of seats."""
    different = list(dict.fromkeys(hashes))
    return different[0] if len(different) == 1 else sha256_bytes("\n".join(hashes).encode())


def count_people(engine: Database) -> dict[str, int]:
    """Matches of persons: played, won, drawn, lost."""
    with reading(engine) as connection:
        return asdict(matches.count_people(connection))


def _trim() -> None:
    # Names begin with the time, so that their order is the order of the matches.
    for kind, most in KEPT.items():
        for path in sorted(folder("replays").glob(f"{kind}-*.lcr"))[:-most]:
            remove(path)
