"""Matches of persons that were kept with their consent: their shards, and quests made of them.

A shard is called `person-<name>-<world>-<match>`, so that all matches of one person in one world
stand together, oldest first.
"""

from __future__ import annotations

from typing import Any

from levelcap.campaign.story.runs import shard_folder
from levelcap.kit.errors import unknown_name
from levelcap.kit.ids import check_id
from levelcap.kit.paths import folder
from levelcap.world.spec import WORLDS

MOST_SHARDS = 64  # of one quest
LISTED = 20


def shard_name(person: str, world: str, match: str) -> str:
    """The name of the shard of one match."""
    return f"{person}-{world}-{match}"


def recipes(person: str, world: str, match: str) -> list[dict[str, Any]]:
    """Quests that can be made of a match: it alone, and with the person's other ones."""
    alone = shard_name(person, world, match)
    # Names begin alike and end with the time.
    every = sorted(p.name for p in shard_folder(alone).parent.glob(f"{person}-{world}-live-*"))
    found = [[alone]] + ([every[-MOST_SHARDS:]] if len(every) > 1 else [])
    return [
        {
            "quest": "imitate",
            "world": world,
            "shards": shards,
            "policies": [person],
            "title": f"Imitate {person} (matches: {len(shards)})",
            # Of a handful of matches none can be set aside to validate with.
            "set": {"validation": "0"},
        }
        for shards in found
    ]


def list_played() -> list[tuple[str, str, str]]:
    """(match, person, world) of every match that was kept, newest first."""
    found = []
    for place in (folder("lake") / "trajectories").glob("person-*-live-*"):
        for world in WORLDS:
            person, between, rest = place.name.rpartition(f"-{world}-live-")
            if between:
                found.append((f"live-{rest}", person, world))
    return sorted(found, reverse=True)


def find_played(match: str) -> tuple[str, str]:
    """Person and world of a match that was kept.

    Raises:
        UnknownName: it was not, or never was.
    """
    check_id(match, "match")
    known = {name: (person, world) for name, person, world in list_played()}
    if match not in known:
        raise unknown_name("recorded match of a person", match, list(known)[:LISTED])
    return known[match]
