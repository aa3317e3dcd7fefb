"""Ask the vault first: a name in, a folder out.

ask_vault_first("checkpoint_175000", fallback=Path("downloads/base"))
"""

from __future__ import annotations

import re
import shutil
from pathlib import Path

from levelcap.kit.db import Connection, Database, reading
from levelcap.kit.errors import BadFile, Corrupt, UnknownName, refuse, unknown_name
from levelcap.kit.files import TMP
from levelcap.kit.paths import folder, get_base_dir
from levelcap.kit.publish import MANIFEST, rename_new, verify
from levelcap.vault import lookup
from levelcap.vault.assets import content_id, find
from levelcap.vault.champion import champion_of
from levelcap.vault.ledger import DATABASE, Entry, get_ledger, require, row_of
from levelcap.vault.zones import HOT, load_zones

NAMES = ("champion", "best", "latest")
_STEP = re.compile(r"checkpoint[_-](\d+)")


def resolve(
    engine: Database, name: str, hero: str | None = None, reads: bool | None = None
) -> Entry:
    """The row a name means: the one place where names of checkpoints are read.

    An id, a canonical name, so much of the beginning of either that one is meant (`4f0a` is enough
    of `checkpoint-4f0a…`), checkpoint_<step>, champion, best, latest, or a hero's id: its champion,
    or else its newest.

    Args:
        hero: champion, best, latest and steps mean this hero's.
        reads: they mean text heroes' (True), those of heroes that play (False), or anybody's.

    Raises:
        UnknownName: nothing is called that. BadValue: several begin so. Corrupt: it was removed.
    """
    ledger = get_ledger(engine)
    with reading(engine) as connection:
        if name in NAMES:
            found = _called(connection, name, hero, reads)
        elif match := _STEP.fullmatch(name):
            found = lookup.at_step(connection, int(match[1]), hero)
        else:
            found = None
        found = found or lookup.named(connection, name) or _of_hero(connection, name, reads)
    if found is None and name in NAMES:
        kind = {None: "checkpoint", True: "text checkpoint", False: "checkpoint of the arena"}
        what = f"no {kind[reads]} is {name} yet"
        remedy = "Train a hero first (levelcap up), or name a checkpoint (levelcap vault ls)"
        raise UnknownName(refuse(what, name, remedy))
    if found is None:
        near = [entry.id for entry in ledger.list(limit=16)]
        raise unknown_name("checkpoint", name, (*near, *NAMES) if near else ())
    return require(found)


def _called(
    connection: Connection, name: str, hero: str | None, reads: bool | None
) -> Entry | None:
    """Champion, best or latest. Text heroes have no Elo: their best is the one promoted."""
    if hero is None and reads is not None and (name != "best" or reads):
        asked = lookup.of_role(connection, reads, champion=name != "latest")
        return None if asked is None else row_of(connection, asked)
    if name == "champion":
        now = champion_of(connection, hero)
        return None if now is None else row_of(connection, now.checkpoint)
    return lookup.newest(connection, hero) if name == "latest" else lookup.best(connection, hero)


def _of_hero(connection: Connection, name: str, reads: bool | None) -> Entry | None:
    found = _called(connection, "champion", name, None) or lookup.newest(connection, name)
    fits = found is not None and reads in (None, found.role == "text")
    return found if fits else None


def id_of(name: str) -> str:
    """A name as the realm knows it: a checkpoint's folder becomes its id."""
    place = Path(name)
    return content_id("checkpoint", place)[0] if (place / MANIFEST).is_file() else name


def find_folder(name: str | Path, reads: bool | None = None) -> Path:
    """The folder of a checkpoint by its path, or by any name of `resolve` in this realm.

    Raises:
        UnknownName: neither. BadValue: several begin so. Corrupt: it was removed or is damaged.
    """
    path = Path(name)
    if (path / MANIFEST).is_file() or (path / "snapshots").is_dir():
        return path
    if path.is_dir() or path.name != str(name):  # with a slash: a path, mistyped
        what = "not a checkpoint's folder" if path.is_dir() else "no such checkpoint folder"
        remedy = "Give its path, an id (levelcap vault ls), champion, best or latest"
        raise BadFile(refuse(what, str(name), remedy))
    if not (get_base_dir() / "state" / DATABASE).exists():
        what = "no such checkpoint folder, and this realm has no checkpoints yet"
        remedy = "Give a folder's path, or train a hero first (levelcap up)"
        raise UnknownName(refuse(what, str(name), remedy))
    engine = get_ledger().engine
    try:
        return ask_vault_first(resolve(engine, str(name), reads=reads).id, engine=engine)
    finally:
        engine.dispose()


def ask_vault_first(
    name: str, fallback: Path | None = None, engine: Database | None = None
) -> Path:
    """The folder of a checkpoint: from here, from another stronghold (into the cache), or fallback.

    Raises:
        UnknownName: nobody knows it and there is no fallback. Corrupt: its bytes are damaged.
    """
    engine = engine or get_ledger().engine
    try:
        entry = resolve(engine, name)
    except UnknownName:
        if fallback is None:
            raise
        return fallback
    zones = load_zones()
    with reading(engine) as connection:
        asset = find(connection, entry.id)
    for zone_id in (HOT, *(z for z in asset.zones if z != HOT)):
        if zone_id not in asset.zones or zone_id not in zones:
            continue
        place = zones[zone_id].place(asset.zones[zone_id])
        if (place / MANIFEST).exists():
            return place if zone_id == HOT else _fetch(place, entry.id)
    if fallback is not None:
        return fallback
    remedy = "Unpack it again from an archive"
    raise Corrupt(refuse("no stronghold has this checkpoint", entry.id, remedy))


def _fetch(source: Path, asset_id: str) -> Path:
    """Copy a folder of another stronghold into the cache, verified."""
    cache = folder("vault") / "cache"
    cache.mkdir(exist_ok=True)
    target = cache / asset_id
    if not target.exists():
        tmp = cache / f"{TMP}{asset_id}"
        shutil.rmtree(tmp, ignore_errors=True)
        shutil.copytree(source, tmp)
        rename_new(tmp, target)
    verify(target)
    return target
