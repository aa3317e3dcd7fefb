"""The zones of the lake, and places outside of it.

    raw           files as they were brought, a published folder an import
    processed     what became of them: report.json of every import
    trajectories  shards
    synth         what was made up rather than played or recorded
    quarantine    lines that were refused, with their numbers and reasons

A place outside is a folder of this machine or any address that fsspec knows (`s3://…`,
`memory://…`); files come from there and go there whole.
"""

from __future__ import annotations

import tempfile
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import Any

import fsspec

from levelcap.kit.errors import BadValue, Conflict, MissingPackage, check_known, refuse
from levelcap.kit.paths import folder

ZONES = ("raw", "processed", "trajectories", "synth", "quarantine")


def zone(name: str) -> Path:
    """The folder of a zone; made when first asked for."""
    check_known("zone", name, ZONES)
    path = folder("lake") / name
    path.mkdir(exist_ok=True)
    return path


def is_address(place: str) -> bool:
    """Is it no path of this machine?"""
    return "://" in place


@contextmanager
def brought(place: str) -> Iterator[Path]:
    """The files of a place as a folder of this machine; an address is copied for as long."""
    if not is_address(place):
        yield Path(place)
        return
    files, path = _open(place)
    with tempfile.TemporaryDirectory(prefix="levelcap-") as held:
        name = path.rstrip("/").rpartition("/")[2] or "brought"
        with _said(place):
            files.get(path.rstrip("/") + "/", f"{held}/{name}/", recursive=True)
        yield Path(held) / name


@contextmanager
def sent(place: str) -> Iterator[Path]:
    """A new folder to fill, which then lies at the place; an error before that leaves nothing.

    Raises:
        Conflict: something is there already.
    """
    files, path = _open(place) if is_address(place) else _open(f"file://{Path(place).absolute()}")
    with _said(place):
        there = files.exists(path)
    if there:
        raise Conflict(refuse("there is something already", place, "Name another place"))
    with tempfile.TemporaryDirectory(prefix="levelcap-") as held:
        made = Path(held) / "made"
        made.mkdir()
        yield made
        with _said(place):
            files.put(f"{made}/", path.rstrip("/") + "/", recursive=True)


def _open(place: str) -> tuple[Any, str]:
    with _said(place):
        files, path = fsspec.core.url_to_fs(place)
    return files, path


@contextmanager
def _said(place: str) -> Iterator[None]:
    """What a store of others says, as a refusal of ours."""
    try:
        yield
    except ImportError as error:
        words = str(error).split()  # fsspec says "Install s3fs to access S3"
        remedy = f"Run: pip install {words[1]}" if words[0] == "Install" else "Install it"
        what = "this address needs a package that is not here"
        raise MissingPackage(refuse(what, place, remedy)) from error
    except (OSError, ValueError) as error:
        remedy = "Check the address, and whether you may read and write there"
        raise BadValue(refuse(f"cannot be reached ({error})", place, remedy)) from error
