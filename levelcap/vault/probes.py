"""Has this checkpoint worked once? Asked before its row exists and before it becomes champion.

The answer comes from `levelcap.play.probe` in a process of its own, because the vault has no torch
and the folder may be anybody's. A digest that has passed is remembered and not asked again; so is
one that an evaluation has played with, which is the longer probe.
"""

from __future__ import annotations

import json
import os
import subprocess
import sys
from pathlib import Path

from levelcap.kit.db import Connection, Database, reading, transaction
from levelcap.kit.errors import BadFile, StateError, refuse
from levelcap.kit.ids import sha256_bytes
from levelcap.kit.publish import MANIFEST
from levelcap.vault.assets import find, now, place_of

# The probe ends itself after 20 s with the net; before that it imports torch and may have to
# compile the game, which takes a minute on a machine that has never played.
PATIENCE_S = 180
REMEDY = "Give a .tar that levelcap vault pack wrote"


def probe(place: Path) -> None:
    """Build, load and ask the net in `place`, in a process of its own.

    Raises:
        BadFile: it is no net that works; the message says what is wrong with it.
    """
    command = [sys.executable, "-m", "levelcap.play.probe", str(place)]
    environment = {**os.environ, "OMP_NUM_THREADS": "1", "PYTHONWARNINGS": "ignore"}
    try:
        done = subprocess.run(
            command,
            env=environment,
            stdin=subprocess.DEVNULL,
            capture_output=True,
            text=True,
            timeout=PATIENCE_S,
            check=False,
        )
    except subprocess.TimeoutExpired as error:
        what = "the net could not be tried: the machine is too slow or too busy"
        raise StateError(refuse(what, f"{PATIENCE_S} s", "Try again when it is idle")) from error
    if done.returncode != 0:
        last = done.stderr.strip().splitlines()[-1:] or [f"ended by signal {-done.returncode}"]
        raise BadFile(refuse("the net does not work when it is tried", last[0], REMEDY))
    report = json.loads(done.stdout)
    if not report["ok"]:
        raise BadFile(f"the net does not work when it is tried: {report['problem']}")


def has_passed(connection: Connection, digest: str) -> bool:
    """Is this digest (sha256 of a manifest) known to be a net that works?"""
    query = "SELECT 1 FROM probes WHERE digest = :d"
    return connection.execute(query, {"d": digest}).first() is not None


def remember(connection: Connection, digest: str, how: str) -> None:
    """A net of this digest has worked; how: "probe" or "evaluation"."""
    connection.execute(
        "INSERT INTO probes VALUES (:d, :h, :t) ON CONFLICT (digest) DO NOTHING",
        {"d": digest, "h": how, "t": now()},
    )


def require_probed(engine: Database, checkpoint: str) -> None:
    """Probe a kept checkpoint unless its digest has passed before.

    Raises:
        BadFile: it does not work.
    """
    with reading(engine) as connection:
        asset = find(connection, checkpoint)
        known = has_passed(connection, asset.sha256)
    place = place_of(asset)
    if known or place is None:  # who has nothing to read is told so by the asset's own check
        return
    probe(place)
    with transaction(engine) as connection:
        remember(connection, asset.sha256, "probe")


def digest_of(place: Path) -> str:
    """What a folder is remembered by: the sha256 of its manifest, which covers every file."""
    return sha256_bytes((place / MANIFEST).read_bytes())
