"""The Arena: a worker with all handlers, beside the database it works for.

It writes a checkpoint's ledger row the moment the snapshot is on disk. Pausing, stopping and
holding decide what it may claim; a run that is going on looks at its own folder.
"""

from __future__ import annotations

import os
import socket
import subprocess
import sys
import threading
from collections.abc import Collection
from pathlib import Path

import psutil

from levelcap.campaign.realm import Realm, open_realm
from levelcap.campaign.wheel.control import apply_wish, claimable, running_folders, wish
from levelcap.campaign.wheel.schedule import extra_workers, look
from levelcap.campaign.work.bench import handlers_of
from levelcap.campaign.work.lessons import locate
from levelcap.campaign.work.snapshots import publish_row
from levelcap.jobs.devices import DEFAULT_DEVICE, load_devices
from levelcap.jobs.worker import Worker
from levelcap.kit.config import load_settings
from levelcap.kit.db import reading
from levelcap.kit.errors import LevelcapError
from levelcap.kit.log import get_logger
from levelcap.kit.paths import get_base_dir
from levelcap.services.process import lifeline
from levelcap.services.process.ports import ALIVE_EVERY_S

NAME = "arena"
log = get_logger(NAME)


def main() -> None:
    """Run until told to stop."""
    lifeline.start(NAME)
    realm = open_realm()
    ended = threading.Event()
    threading.Thread(target=_beat, args=(ended,), name="alive", daemon=True).start()
    try:
        free_dead_workers(realm)
        start_hands(extra_workers(look(get_base_dir(), 0.0), load_settings()))
        worker(realm).run()
    finally:
        ended.set()
        realm.close()


def start_hands(count: int) -> list[subprocess.Popen[bytes]]:
    """Where there are cores to spare: workers that judge and tidy while this one trains."""
    command = [sys.executable, "-m", "levelcap.services.arena.hand", "--parent", str(os.getpid())]
    return [subprocess.Popen([*command, "--number", str(n + 1)]) for n in range(count)]


def worker(realm: Realm, name: str = NAME, without: Collection[str] = ()) -> Worker:
    """The worker of this process; `without`: roles of the device it does not take."""
    handlers = handlers_of(
        locate=lambda name: locate(realm.engine, name),
        on_publish=lambda run, place: _tell(realm, run, place),
    )
    roles = [role for role in load_devices()[DEFAULT_DEVICE].roles if role not in without]
    return Worker(
        realm.store,
        name,
        DEFAULT_DEVICE,
        roles,
        handlers,
        types=lambda: claimable(realm.store, list(handlers)),
    )


def _tell(realm: Realm, run: str, place: Path) -> None:
    """A snapshot is on disk: its row. A database in trouble does not end the training."""
    try:
        publish_row(realm.store, run, place)
    except LevelcapError as error:
        log.warning("no row yet, it is adopted later", snapshot=place.name, reason=str(error))


def free_dead_workers(realm: Realm) -> None:
    """End the leases of workers of this machine whose process is gone: they cannot come back.

    And put the wishes of the realm into the folders of runs that are about to go on.
    """
    here = socket.gethostname()
    for row in realm.store.workers():
        if row["host"] == here and row["jobs"] and not _alive(row["pid"]):
            count = realm.store.release_worker(row["name"])
            log.info("freed jobs of a dead worker", worker=row["name"], jobs=count)
    with reading(realm.engine) as connection:
        apply_wish(wish(connection), running_folders(connection))


def _alive(pid: int | None) -> bool:
    if pid is None or pid == os.getpid():
        return False  # our own number from before a restart of the machine or container
    try:
        return "levelcap" in " ".join(psutil.Process(pid).cmdline())
    except psutil.Error:
        return False


def _beat(ended: threading.Event) -> None:
    while not ended.is_set():
        lifeline.beat(NAME)
        ended.wait(ALIVE_EVERY_S / 2)
