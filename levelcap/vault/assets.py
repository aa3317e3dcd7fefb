"""The registry: what is kept, where it lies, whether its bytes are still the ones that were stored.

An asset's id is made of what it contains, so the same content registered twice is one asset.
"""

from __future__ import annotations

import json
from dataclasses import asdict, dataclass
from datetime import UTC, datetime
from pathlib import Path
from typing import Any

from levelcap.kit.db import Connection, Database, reading, transaction
from levelcap.kit.errors import Corrupt, check_known, refuse, unknown_name
from levelcap.kit.ids import sha256_bytes, short_id
from levelcap.kit.publish import MANIFEST, read_manifest, verify
from levelcap.vault.zones import HOT, Zone, load_zones

KINDS = ("checkpoint", "model", "dataset", "evaluation", "export", "config", "log")
PRESENT, RETIRED, MISSING, DAMAGED = "present", "retired", "missing", "damaged"


@dataclass(frozen=True)
class Asset:
    """One row of the registry with its places."""

    id: str
    kind: str
    name: str
    size_bytes: int
    sha256: str
    parents: tuple[str, ...]
    status: str
    created: str
    verified: str | None
    created_by: str
    zones: dict[str, str]

    def as_json(self) -> dict[str, Any]:
        """Plain values; places are named by zone, never by path."""
        return asdict(self) | {"parents": list(self.parents), "zones": sorted(self.zones)}


def now() -> str:
    """This moment, UTC, to the millisecond."""
    return datetime.now(UTC).isoformat(timespec="milliseconds")


def content_id(kind: str, folder: Path) -> tuple[str, str]:
    """(id, sha256) of a published folder: the sha256 of its manifest, which covers every file."""
    digest = sha256_bytes((folder / MANIFEST).read_bytes())
    return f"{kind}-{short_id(digest)}", digest


def register(connection: Connection, kind: str, folder: Path, *, zone: Zone) -> str:
    """Enter a published folder that lies in `zone`; returns its id. The same folder twice is one.

    Raises:
        UnknownName: no such kind. Corrupt: the folder has no readable manifest.
    """
    check_known("asset kind", kind, KINDS)
    manifest = read_manifest(folder)
    asset_id, digest = content_id(kind, folder)
    path = folder.resolve().relative_to(zone.root.resolve()).as_posix()
    size = sum(int(entry["bytes"]) for entry in manifest.files.values())
    values = {
        "id": asset_id,
        "kind": kind,
        "name": folder.name,
        "size": size,
        "sha": digest,
        "parents": json.dumps(manifest.parents),
        "now": now(),
        "by": manifest.made_by,
        "zone": zone.zone_id,
        "path": path,
    }
    connection.execute(
        "INSERT INTO assets VALUES (:id, :kind, :name, :size, :sha, :parents, 'present', :now,"
        " NULL, :by) ON CONFLICT (id) DO UPDATE SET status = 'present'",
        values,
    )
    connection.execute(
        "INSERT INTO locations VALUES (:id, :zone, :path, :now)"
        " ON CONFLICT (asset_id, zone_id) DO UPDATE SET path = excluded.path",
        values,
    )
    return asset_id


def find(connection: Connection, asset_id: str) -> Asset:
    """One asset.

    Raises:
        UnknownName: nothing bears this id.
    """
    row = connection.execute("SELECT * FROM assets WHERE id = :i", {"i": asset_id}).first()
    if row is None:
        near = connection.execute("SELECT id FROM assets ORDER BY created DESC LIMIT 20")
        raise unknown_name("asset", asset_id, near.scalars())
    return _asset(connection, row)


def list_assets(
    connection: Connection, kind: str | None = None, limit: int = 100, before: str | None = None
) -> list[Asset]:
    """Assets, newest first; `before`: only those created before this time (for the next page)."""
    if kind is not None and kind not in KINDS:
        raise unknown_name("asset kind", kind, KINDS)
    query = "SELECT * FROM assets WHERE (:k IS NULL OR kind = :k) AND (:b IS NULL OR created < :b)"
    found = connection.execute(
        query + " ORDER BY created DESC, id LIMIT :n",
        {"k": kind, "b": before, "n": max(1, min(limit, 1000))},
    )
    return [_asset(connection, row) for row in found]


def _asset(connection: Connection, row: Any) -> Asset:
    places = connection.execute(
        "SELECT zone_id, path FROM locations WHERE asset_id = :i", {"i": row.id}
    )
    parents = tuple(json.loads(row.parents))
    return Asset(**row._asdict() | {"parents": parents, "zones": dict(map(tuple, places))})


def place_of(asset: Asset) -> Path | None:
    """Where the asset lies now, hot first; None when no stronghold has it."""
    zones = load_zones()
    for zone_id in (HOT, *(z for z in asset.zones if z != HOT)):
        if zone_id in asset.zones and zone_id in zones:
            place = zones[zone_id].place(asset.zones[zone_id])
            if (place / MANIFEST).exists():
                return place
    return None


def verify_asset(engine: Database, asset_id: str) -> Asset:
    """Read every byte of an asset and write down what was found.

    Raises:
        Corrupt: bytes differ, or it is gone; the registry says so from now on.
    """
    with reading(engine) as connection:
        asset = find(connection, asset_id)
    problem: Corrupt | None = None
    status = PRESENT
    place = place_of(asset)
    if place is None:
        status = asset.status if asset.status == RETIRED else MISSING
        remedy = "Unpack it again from an archive, or fetch it from another stronghold"
        problem = Corrupt(refuse("no stronghold has this asset", asset_id, remedy))
    else:
        try:
            verify(place)
            if content_id(asset.kind, place)[1] != asset.sha256:
                remedy = "Restore the folder from a copy"
                raise Corrupt(refuse("another content lies in its place", asset_id, remedy))
        except Corrupt as error:
            status, problem = DAMAGED, error
    with transaction(engine) as connection:
        connection.execute(
            "UPDATE assets SET status = :s, verified = :t WHERE id = :i",
            {"s": status, "t": now(), "i": asset_id},
        )
        if problem is None:
            return find(connection, asset_id)
    raise problem


def sizes(connection: Connection) -> dict[str, dict[str, int]]:
    """Kind of asset -> count and bytes."""
    query = "SELECT kind, count(*), sum(size_bytes) FROM assets GROUP BY kind"
    return {kind: {"count": n, "bytes": b} for kind, n, b in connection.execute(query)}
