"""Demonstrations: recorded shards, and whether what is asked of them is in them."""

from __future__ import annotations

from collections.abc import Sequence

from levelcap.campaign.story.quests import recorded_shards
from levelcap.campaign.story.runs import shard_folder
from levelcap.kit.db import Connection
from levelcap.kit.errors import BadValue, LevelcapError, refuse, unknown_name
from levelcap.lake.header import HEADER_FILE, Header
from levelcap.world.spec import WORLD_VERSION

LOOKED_AT = 20  # newest recordings of a campaign


def check_demos(
    shards: Sequence[str], world: str, policies: Sequence[str], views: Sequence[str] = ()
) -> None:
    """Refuse shards that hold no steps of these players in this world, or not these views.

    Raises:
        UnknownName: no such shard, or no such player in any. BadValue: of another world or version,
        or without a view. Corrupt: one cannot be read.
    """
    kept: set[str] = set()
    for shard in shards:
        place = shard_folder(shard)
        if not place.is_dir():
            there = [p.name for p in place.parent.glob("[!.]*")]
            raise unknown_name("shard", shard, there)
        header = Header.from_file(place / HEADER_FILE)
        if (header.world, header.world_version) != (world, WORLD_VERSION):
            what = f"{shard} was played in {header.world}, version {header.world_version}"
            raise BadValue(refuse(what, f"{world}, version {WORLD_VERSION}", "Record it anew"))
        missing = [name for name in views if name not in header.view_names]
        if missing:
            remedy = "Record it anew with the family of the net that learns from it"
            raise BadValue(refuse(f"{shard} lacks views the net reads", missing, remedy))
        # The header lists everybody who played; the quality report those whose steps were kept.
        kept |= set(header.quality["shares"]["policy"])
    for name in policies:
        if name not in kept:
            raise unknown_name("player in these shards", name, kept)


def find_demos(
    connection: Connection, campaign: str, world: str, teacher: str, views: Sequence[str] = ()
) -> str | None:
    """The newest recording of a campaign that holds this teacher in this world; None: none."""
    for shard in recorded_shards(connection, campaign, LOOKED_AT):
        try:
            check_demos([shard], world, [teacher], views)
        except LevelcapError:
            continue  # another teacher's, world's or net's, or gone: it is recorded anew
        return shard
    return None
