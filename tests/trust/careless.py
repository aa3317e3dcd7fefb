"""Keeping with one protection switched off: what the harnesses must notice."""

import shutil

import tests.vault.made as made
from levelcap.kit import publish as publishing
from levelcap.kit.db import reading
from levelcap.vault import retention
from levelcap.vault.assets import find, place_of
from tests.trust import keeping


def torn_publish() -> None:
    """Publish in place: no temporary folder, no rename."""

    def careless(folder, write, *, made_by, parents=()):
        folder.mkdir(parents=True)
        write(folder)
        files = {n: publishing._sync_entry(folder / n) for n in publishing._names(folder)}
        manifest = publishing.Manifest(1, "now", made_by, list(parents), files)
        (folder / publishing.MANIFEST).write_bytes(publishing._manifest_bytes(manifest))

    made.publish = careless


def manifest_first() -> None:
    """The manifest is there before the files are."""

    def careless(folder, write, *, made_by, parents=()):
        folder.mkdir(parents=True)
        write(folder)
        files = {n: publishing._sync_entry(folder / n) for n in publishing._names(folder)}
        data = {n: (folder / n).read_bytes() for n in files}
        manifest = publishing.Manifest(1, "now", made_by, list(parents), files)
        for name in files:
            (folder / name).unlink()
        (folder / publishing.MANIFEST).write_bytes(publishing._manifest_bytes(manifest))
        for name, content in data.items():
            (folder / name).write_bytes(content)

    made.publish = careless


def folder_first() -> None:
    """Retention removes the folder before it tells the ledger, bit by bit."""
    honest = retention.remove_checkpoint

    def careless(engine, checkpoint):
        with reading(engine) as connection:
            place = place_of(find(connection, checkpoint))
        if place is not None:
            shutil.rmtree(place)
        honest(engine, checkpoint)

    keeping.remove_checkpoint = careless


MUTANTS = {mutant.__name__: mutant for mutant in (torn_publish, manifest_first, folder_first)}
