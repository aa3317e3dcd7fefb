"""Ask the vault first: a name in, a folder out.

ask_vault_first("checkpoint_175000", fallback=Path("downloads/base"))
"""

from __future__ import annotations

import re
import shutil
from pathlib import Path

from levelcap.kit.db import Database, reading
from levelcap.kit.errors import Corrupt, UnknownName, refuse
from levelcap.kit.files import TMP
from levelcap.kit.paths import folder
from levelcap.kit.publish import MANIFEST, rename_new, verify
from levelcap.vault.assets import find
from levelcap.vault.champion import champion_of
from levelcap.vault.ledger import Entry, get_ledger, require
from levelcap.vault.zones import HOT, load_zones

_STEP = re.compile(r"checkpoint[_-](\d+)")


def resolve(engine: Database, name: str, hero: str | None = None) -> Entry:
    """The row a name means: an id, a canonical name, checkpoint_<step>, champion, best, latest.

    Raises:
        UnknownName: nothing is called that. Corrupt: it was removed.
    """
    ledger = get_ledger(engine)
    found: Entry | None = None
    if name == "latest":
        found = next(iter(ledger.list(hero=hero, limit=1)), None)
    elif name == "best":
        found = ledger.get_best("elo", hero=hero)
    elif name == "champion":
        with reading(engine) as connection:
            now = champion_of(connection, hero)
        found = None if now is None else ledger.get(now.checkpoint)
    elif match := _STEP.fullmatch(name):
        found = next(iter(ledger.list(step=int(match[1]), hero=hero, limit=1)), None)
    return require(found if found is not None else ledger.get(name))


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
