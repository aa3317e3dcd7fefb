"""Strongholds: named places that hold assets, read from `config/storage_zones.json`.

There is one so far, `hot`, whose root is the realm itself; the file and the tables are ready for
more (warm, cold). An asset's path is relative to its zone's root and never leaves it.
"""

from __future__ import annotations

from dataclasses import dataclass
from pathlib import Path
from typing import Any

from levelcap.kit.errors import BadFile, BadValue, check_known, refuse
from levelcap.kit.files import read_json, write_json
from levelcap.kit.paths import folder, get_base_dir

FILE = "storage_zones.json"
ZONE_IDS = ("hot", "warm", "cold")
HOT = "hot"
_DEFAULT = {"zones": [{"zone_id": HOT, "root": ".", "kind": "local"}]}


@dataclass(frozen=True)
class Zone:
    """One stronghold."""

    zone_id: str
    root: Path
    kind: str = "local"

    def place(self, path: str) -> Path:
        """The absolute place of a path of this zone.

        Raises:
            BadValue: the path would leave the zone.
        """
        target = (self.root / path).resolve()
        if not target.is_relative_to(self.root.resolve()):
            remedy = "Give a path below the zone's root"
            raise BadValue(refuse(f"a path of zone {self.zone_id} leaves it", path, remedy))
        return target


def load_zones() -> dict[str, Zone]:
    """The strongholds of this realm; the default file is written when there is none.

    Raises:
        BadFile: not the format; the message names the entry.
    """
    path = folder("config") / FILE
    if not path.exists():
        write_json(path, _DEFAULT)
    document: Any = read_json(path)
    rows = document.get("zones") if isinstance(document, dict) else None
    if not isinstance(rows, list) or not rows:
        remedy = 'Write {"zones": [{"zone_id": "hot", "root": ".", "kind": "local"}]}'
        raise BadFile(refuse(f"{path} must list zones", document, remedy))
    zones = {}
    for row in rows:
        zone = _zone(row, path)
        zones[zone.zone_id] = zone
    if HOT not in zones:
        raise BadFile(refuse(f"{path} has no zone {HOT!r}", sorted(zones), "Add it"))
    return zones


def _zone(row: Any, path: Path) -> Zone:
    if not isinstance(row, dict) or set(row) != {"zone_id", "root", "kind"}:
        raise BadFile(refuse(f"a zone in {path} has zone_id, root, kind", row, "Correct it"))
    check_known(f"zone in {path}", str(row["zone_id"]), ZONE_IDS)
    if row["kind"] != "local" or not isinstance(row["root"], str):
        raise BadFile(refuse(f"a zone in {path} is a local folder", row, 'Use kind "local"'))
    root = Path(row["root"]).expanduser()
    return Zone(row["zone_id"], root if root.is_absolute() else get_base_dir() / root)
