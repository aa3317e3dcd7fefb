"""What remains of a live match: a replay, with consent a shard of the person's play, an event."""

from __future__ import annotations

from typing import Any

from levelcap.campaign.story.events import say
from levelcap.campaign.story.played import recipes, shard_name
from levelcap.campaign.story.runs import shard_folder
from levelcap.kit.db import Database, reading
from levelcap.kit.paths import folder
from levelcap.services.oracle.matches import Room

KEPT = 200  # replays of live matches; older ones go
LEAST = 10  # decisions: less than a second is no match
PLAYED = "league.match_played"


def keep(engine: Database, room: Room) -> dict[str, Any]:
    """Save the match of a room; returns what was saved, for those who watched."""
    match = room.match
    saved: dict[str, Any] = {"match": room.id, "replay": None, "shard": None, "left": room.left}
    if match.decisions < LEAST:
        return saved
    match.recorder.save(folder("replays") / f"{room.id}.lcr")
    saved["replay"] = room.id
    if room.person and room.diary is not None and room.diary.steps >= LEAST:
        world = match.world.ruleset
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
    sides = [" and ".join(dict.fromkeys(room.names[t : t + size]))
             for t in range(0, len(room.names), size)]  # fmt: skip
    who = "nobody" if winner < 0 else sides[winner]
    message = f"{match.world.ruleset}: {who} won after {result['seconds']:.0f} s"
    data = {
        "match": room.id, "world": match.world.ruleset, "seats": room.names, "winner": winner,
        "human": outcome is not None, "person": room.person, "outcome": outcome,
        "seconds": result["seconds"], "replay": saved["replay"], "shard": saved["shard"],
    }  # fmt: skip
    say(engine, PLAYED, message, severity="success" if outcome == 1 else "info", data=data)
    return outcome


def count_people(engine: Database) -> dict[str, int]:
    """Matches of persons in the battle log: played, won, drawn, lost."""
    query = (
        "SELECT json_extract(data, '$.outcome') AS outcome, count(*) AS n FROM events"
        " WHERE kind = :k AND json_extract(data, '$.human') GROUP BY outcome"
    )
    with reading(engine) as connection:
        found = {int(row.outcome): int(row.n) for row in connection.execute(query, {"k": PLAYED})}
    counts = {"won": found.get(1, 0), "drawn": found.get(0, 0), "lost": found.get(-1, 0)}
    return {"played": sum(counts.values()), **counts}


def _trim() -> None:
    # Names begin with the time, so that their order is the order of the matches.
    old = sorted(folder("replays").glob("live-*.lcr"))[:-KEPT]
    for path in old:
        path.unlink(missing_ok=True)
