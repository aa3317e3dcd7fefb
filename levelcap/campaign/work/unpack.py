"""`unpack`: take in an uploaded archive as a base model of a hero, once its net has worked."""

from __future__ import annotations

from typing import ClassVar

from levelcap.campaign.kinds.heroes import find_hero
from levelcap.campaign.story.events import say
from levelcap.campaign.work.base import Bench, Limits, Result, Work
from levelcap.campaign.work.fields import Name
from levelcap.jobs.job import Job
from levelcap.jobs.store import Store
from levelcap.kit.db import Connection
from levelcap.kit.errors import UserError
from levelcap.vault import archive
from levelcap.vault.ledger import write_beside


class Unpack(Work):
    """Let an uploaded archive in, or say what is wrong with it; the upload goes either way."""

    type: ClassVar[str] = "unpack"
    limits: ClassVar[Limits] = Limits(600, 2, 10, 1, "reject", ("vault_worker",))

    upload: Name
    hero: Name

    def perform(self, bench: Bench) -> Result:
        """Try its net."""
        from levelcap.campaign.realm import realm

        upload = archive.upload_file(self.upload)
        reads = find_hero(self.hero).kind == "text"
        try:
            with realm() as opened:
                place = archive.take_in(opened.engine, upload, reads=reads)
        except UserError:
            upload.unlink(missing_ok=True)
            raise
        return {"imported": place.name, "hero": self.hero, "upload": self.upload}

    def effect(self, connection: Connection, store: Store, job: Job, result: Result) -> None:
        """Its row."""
        place = archive.imported(result["imported"])
        entry = archive.enter(connection, place, result["hero"])
        write_beside(place, entry)
        archive.upload_file(result["upload"]).unlink(missing_ok=True)
        data = {"checkpoint": entry.id, "job": job.id}
        said = f"imported {entry.id}"
        say(connection, "vault.checkpoint_saved", said, severity="success", data=data)
