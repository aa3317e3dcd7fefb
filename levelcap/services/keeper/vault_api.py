"""Routes of the vault: assets, ledger, champion, archives. Ids in, ids out; paths stay inside."""

from __future__ import annotations

import secrets
import tempfile
from dataclasses import asdict
from pathlib import Path
from typing import Annotated, Any

from fastapi import APIRouter, Query, Request
from pydantic import Field
from starlette.background import BackgroundTask
from starlette.responses import FileResponse

from levelcap.campaign.kinds.heroes import find_hero
from levelcap.campaign.realm import Realm
from levelcap.campaign.story.events import say
from levelcap.campaign.wheel import curate
from levelcap.campaign.work.retention import retain
from levelcap.kit.errors import BadValue, Corrupt, LevelcapError, UnknownName, refuse
from levelcap.kit.files import write_bytes
from levelcap.kit.paths import folder
from levelcap.services.door.fields import Body, Id, Number, Page, Seed
from levelcap.services.door.rights import Routes
from levelcap.vault import assets, champion, notes, removals
from levelcap.vault.archive import pack, sweep_uploads, upload_file
from levelcap.vault.ask import resolve
from levelcap.vault.evals import evaluations
from levelcap.vault.ledger import METRICS, SORTS, get_ledger
from levelcap.vault.retention import remove_checkpoint
from levelcap.vault.zones import load_zones

IMPORT_CAP = 256 << 20
TAR = "application/x-tar"


class Choice(Body):
    """A checkpoint, why, and who says so: an override, kept with the champion for ever."""

    checkpoint: Id
    reason: Annotated[str, Field(max_length=200)] = "chosen by a person"
    who: Annotated[str, Field(max_length=60)] = "an admin"


class Which(Body):
    """A hero."""

    hero: Id


class Keep(Body):
    """How many of each campaign stay."""

    keep: Annotated[int, Field(ge=1, le=100_000)] = 20
    dry_run: bool = True


class Words(Body):
    """A note and tags; what is left out stays as it is."""

    text: Annotated[str, Field(max_length=notes.LONGEST)] | None = None
    tags: (
        Annotated[list[Annotated[str, Field(max_length=40)]], Field(max_length=notes.MOST_TAGS)]
        | None
    ) = None


class Pin(Body):
    """Keep a checkpoint for ever, or no longer."""

    pinned: bool


def routes(realm: Realm) -> APIRouter:
    """All routes of the vault on this realm."""
    door = Routes(APIRouter(prefix="/api", tags=["vault"]))
    _assets(door, realm)
    _ledger(door, realm)
    _champion(door, realm)
    _checkpoints(door, realm)
    _archives(door, realm)
    return door.where


def _assets(door: Routes[APIRouter], realm: Realm) -> None:
    engine = realm.engine

    @door.get("/stats", "viewer")
    def stats() -> dict[str, Any]:
        """Counts of everything."""
        rows, jobs = get_ledger(engine).count(), realm.store.stats()["status"]
        return {"assets": realm.read(assets.sizes), "checkpoints": rows, "jobs": jobs}

    @door.get("/assets", "viewer")
    def list_assets(
        kind: str | None = None, limit: Page = 100, before: str | None = None
    ) -> dict[str, Any]:
        """Assets, newest first."""
        found = realm.read(assets.list_assets, kind, limit, before)
        return {"assets": [asset.as_json() for asset in found]}

    @door.get("/zones", "viewer")
    def zones() -> dict[str, Any]:
        """Strongholds."""
        return {"zones": [{"zone_id": z.zone_id, "kind": z.kind} for z in load_zones().values()]}

    @door.get("/locate/{asset_id}", "worker")
    def locate(asset_id: Id) -> dict[str, Any]:
        """In which strongholds an asset lies, and under which key of theirs."""
        asset = realm.read(assets.find, asset_id)
        return {"asset": asset.as_json(), "locations": asset.zones}


def _ledger(door: Routes[APIRouter], realm: Realm) -> None:
    engine = realm.engine

    @door.get("/ledger", "viewer")
    @door.get("/checkpoints", "viewer")
    def ledger(
        campaign: Id | None = None,
        hero: Id | None = None,
        run: Id | None = None,
        limit: Page = 100,
        before: Number | None = None,
        retired: bool = False,
    ) -> dict[str, Any]:
        """Rows, newest first; `before` is the last `seq` of the page before."""
        found = get_ledger(engine).list(
            campaign=campaign, hero=hero, run=run, limit=limit, before=before, retired=retired
        )
        return {"checkpoints": [entry.as_json() for entry in found]}

    @door.get("/ledger/sorted", "viewer")
    def in_order(
        sort: Annotated[str, Query(max_length=40)] = "seq",
        ascending: bool = False,
        offset: Number = 0,
        limit: Page = 100,
        campaign: Id | None = None,
    ) -> dict[str, Any]:
        """Rows in the order of a column, unknown values last."""
        found = get_ledger(engine).page(
            sort, descending=not ascending, offset=offset, limit=limit, campaign=campaign
        )
        return {"sorts": SORTS, "checkpoints": [entry.as_json() for entry in found]}

    @door.get("/ledger/best", "viewer")
    def best(
        metric: Annotated[str, Query(max_length=40)] = "elo", campaign: Id | None = None
    ) -> dict[str, Any]:
        """The row with the best value of a metric, or null."""
        found = get_ledger(engine).get_best(metric, campaign=campaign)
        row = None if found is None else found.as_json()
        return {"metric": metric, "metrics": METRICS, "checkpoint": row}

    @door.get("/ledger/{step}", "viewer")
    def by_step(step: Seed) -> dict[str, Any]:
        """Rows of one step."""
        found = get_ledger(engine).list(step=step)
        return {"checkpoints": [entry.as_json() for entry in found]}

    @door.get("/evals", "viewer")
    def evals(checkpoint: Id) -> dict[str, Any]:
        """Every evaluation of a checkpoint."""
        return {"evals": realm.read(evaluations, checkpoint)}

    @door.get("/compare", "viewer")
    def compare(a: Id, b: Id) -> dict[str, Any]:
        """Two checkpoints; Elo of a minus b with its interval when both were judged."""
        one, other, found = curate.compare(engine, a, b)
        return {"a": one.as_json(), "b": other.as_json(), "elo_difference": found}


def _champion(door: Routes[APIRouter], realm: Realm) -> None:
    engine = realm.engine

    @door.get("/champion", "viewer")
    def get_champion(hero: Id = "kestrel") -> dict[str, Any]:
        """The champion of a hero, and those before it."""
        find_hero(hero)
        lines = [line.as_json() for line in realm.read(champion.history, hero)]
        return {"champion": lines[0] if lines else None, "history": lines}

    @door.post("/champion", "admin")
    def promote(body: Choice) -> dict[str, Any]:
        """Make a checkpoint champion."""
        made = curate.promote(engine, body.checkpoint, body.reason, body.who)
        return made.as_json()

    @door.post("/champion/rollback", "admin")
    def roll_back(body: Which) -> dict[str, Any]:
        """Undo the last promotion."""
        now = curate.roll_back(engine, body.hero)
        return {"champion": None if now is None else now.as_json()}


def _checkpoints(door: Routes[APIRouter], realm: Realm) -> None:
    engine = realm.engine

    @door.get("/checkpoints/{checkpoint}", "viewer")
    def get_checkpoint(checkpoint: Id) -> dict[str, Any]:
        """One row."""
        return get_ledger(engine).get(checkpoint).as_json()

    @door.post("/checkpoints/{checkpoint}/verify", "admin")
    def verify(checkpoint: Id) -> dict[str, Any]:
        """Read every byte."""
        try:
            return assets.verify_asset(engine, resolve(engine, checkpoint).id).as_json()
        except Corrupt as error:
            return {"id": checkpoint, "status": assets.DAMAGED, "problem": str(error)}

    @door.post("/checkpoints/{checkpoint}/pin", "admin")
    def pin(checkpoint: Id, body: Pin) -> dict[str, Any]:
        """Pinned checkpoints are never removed."""
        return curate.pin(engine, checkpoint, body.pinned).as_json()

    @door.delete("/checkpoints/{checkpoint}", "admin")
    def delete(
        checkpoint: Id, delay_s: Annotated[float, Query(ge=0, le=removals.MAX_DELAY_S)] = 0
    ) -> dict[str, Any]:
        """Remove a checkpoint that is no champion: now, or later unless it is restored before."""
        entry = resolve(engine, checkpoint)
        if delay_s > 0:
            return {"scheduled": entry.id, "due": removals.schedule(engine, entry.id, delay_s)}
        remove_checkpoint(engine, entry.id)
        say(engine, "vault.checkpoint_removed", entry.id, severity="warning")
        return {"removed": entry.id}

    @door.get("/notes/{subject}", "viewer")
    def get_note(subject: Id) -> dict[str, Any]:
        """What was written beside a checkpoint or a run."""
        found = realm.read(notes.notes_of, [subject])
        return asdict(found.get(subject, notes.Note(subject)))

    @door.post("/notes/{subject}", "admin")
    def annotate(subject: Id, body: Words) -> dict[str, Any]:
        """Write a note or tags beside a checkpoint or a run."""
        return asdict(realm.write(notes.annotate, subject, body.text, body.tags))

    @door.post("/checkpoints/{checkpoint}/restore", "admin")
    def restore(checkpoint: Id) -> dict[str, Any]:
        """Take a removal back that waits."""
        entry = resolve(engine, checkpoint)
        removals.take_back(engine, entry.id)
        return entry.as_json()


def _archives(door: Routes[APIRouter], realm: Realm) -> None:
    engine = realm.engine

    @door.get("/checkpoints/{checkpoint}/pack", "admin")
    def pack_(checkpoint: Id) -> FileResponse:
        """The checkpoint as a tar."""
        entry = resolve(engine, checkpoint)
        place = Path(tempfile.mkdtemp(prefix=".tmp-pack-", dir=folder("exports")))
        target = pack(engine, entry.id, place / f"{entry.id}.tar")

        def clean() -> None:
            target.unlink(missing_ok=True)
            place.rmdir()

        after = BackgroundTask(clean)
        return FileResponse(target, media_type=TAR, filename=target.name, background=after)

    @door.post("/checkpoints/unpack", "admin", status_code=202, body_cap=IMPORT_CAP, kind=TAR)
    async def unpack(request: Request, hero: Id = "kestrel") -> dict[str, Any]:
        """Queue a tar that `pack` wrote: its net is tried before it has a row."""
        find_hero(hero)
        body = await request.body()
        if not body:
            raise BadValue(refuse("the upload is empty", 0, "Send the tar as the body"))
        sweep_uploads()
        name = secrets.token_hex(8)
        write_bytes(upload_file(name), body)
        try:
            accepted = realm.store.submit("unpack", {"upload": name, "hero": hero})
        except LevelcapError:
            upload_file(name).unlink()
            raise
        return {"job": accepted.job_id}

    @door.get("/checkpoints/{checkpoint}/export", "viewer")
    @door.post("/checkpoints/import", "viewer")
    def old_words(checkpoint: Id = "") -> None:
        """What the two were called before."""
        remedy = "Use GET /api/checkpoints/ID/pack, POST /api/checkpoints/unpack"
        raise UnknownName(refuse("archives are packed and unpacked now", "export, import", remedy))

    @door.post("/retention", "admin")
    def retention(body: Keep) -> dict[str, Any]:
        """What may go, and with dry_run false: removes it."""
        plan, removed = retain(engine, body.keep, body.dry_run)
        return {
            "would_remove": [e.id for e in plan.remove],
            "removed": removed,
            "size_bytes": plan.size_bytes,
            "protected": plan.protected,
        }
