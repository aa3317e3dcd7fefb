"""Runs named on the command line: a folder, a name or its beginning, or latest."""

from __future__ import annotations

from pathlib import Path

from levelcap.kit.errors import BadFile, refuse, unknown_name
from levelcap.kit.paths import get_base_dir
from levelcap.kit.prefix import MIN_CHARS, the_only
from levelcap.learn.engine.folder import CONFIG, METRICS


def find_run(name: str) -> Path:
    """The folder of a run, of this realm or anywhere.

    Raises:
        UnknownName: no run is called that. BadValue: several begin so. BadFile: no run's folder.
    """
    path = Path(name)
    if path.is_dir() or path.name != name:
        if not (path / CONFIG).is_file():
            remedy = "Give the folder that a training command wrote, or a run's name"
            raise BadFile(refuse("not the folder of a run", name, remedy))
        return path
    known = {place.parent.name: place.parent for place in get_base_dir().glob(f"runs/*/{CONFIG}")}
    if name == "latest" and known:
        return max(known.values(), key=_written)
    if name in known:
        return known[name]
    long = len(name) >= MIN_CHARS
    near = sorted(n for n in known if long and (n.startswith(name) or f"-{name}" in n))
    if not near:
        raise unknown_name("run", name, (*known, "latest") if known else ())
    return known[the_only("run", name, near)]


def _written(run: Path) -> float:
    told = run / METRICS
    return (told if told.exists() else run).stat().st_mtime
