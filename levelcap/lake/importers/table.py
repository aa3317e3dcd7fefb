"""The formats there are, and which one a folder holds."""

from __future__ import annotations

from pathlib import Path

from levelcap.kit.errors import BadFile, BadValue, check_known, refuse
from levelcap.lake.importers import feedback, filtered, ticks, watch
from levelcap.lake.importers.protocol import Importer, Unit

IMPORTERS: dict[str, Importer] = {
    one.name: one for one in (ticks.FORMAT, feedback.FORMAT, filtered.FORMAT, watch.FORMAT)
}


def recognise(root: Path, wanted: str | None = None) -> tuple[Importer, list[Unit]]:
    """The format of what lies in a folder, by the names of its files.

    wanted: the name of a format, where there are several.

    Raises:
        BadFile: no folder, or nothing in it is of a known format.
        BadValue: files of several formats, and none was named.
    """
    if wanted is not None:
        check_known("format", wanted, IMPORTERS)
    if not root.is_dir():
        remedy = "Give the folder in which the recordings lie"
        raise BadFile(refuse("no folder of recordings", str(root), remedy))
    looked = [one for one in IMPORTERS.values() if wanted in (None, one.name)]
    found = [(one, units) for one in looked if (units := one.find(root))]
    if not found:
        listed = "; ".join(one.looks_for for one in looked)
        raise BadFile(refuse("nothing here is a recording", str(root), f"Looked for: {listed}"))
    if len(found) > 1:
        listed = ", ".join(f"{one.name} ({len(units)})" for one, units in found)
        remedy = f"Say which with --format: {listed}"
        raise BadValue(refuse("recordings of several formats", str(root), remedy))
    return found[0]
