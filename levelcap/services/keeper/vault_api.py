"""Routes of the vault: assets, ledger, champion, archives. Ids in, ids out; paths stay inside."""

from __future__ import annotations

import secrets
import tempfile
from pathlib import Path
from typing import Annotated, Any

from fastapi import APIRouter, Query, Request
from pydantic import Field
from starlette.background import BackgroundTask
from starlette.responses import FileResponse

from levelcap.campaign.kinds.heroes import find_hero
from levelcap.campaign.realm import Realm
from levelcap.campaign.story.events import say
from levelcap.campaign.story.strength import difference
from levelcap.kit.db import reading, transaction
from levelcap.kit.errors import BadValue, Corrupt, LevelcapError, UnknownName, refuse
from levelcap.kit.files import write_bytes
from levelcap.kit.paths import folder
from levelcap.services.door.http import Id
from levelcap.services.door.rights import right
from levelcap.services.keeper.jobs_api import Body, Page
from levelcap.trials.verdict import Override
from levelcap.vault import assets, champion, removals
from levelcap.vault.archive import pack, sweep_uploads, upload_file
from levelcap.vault.ask import resolve
from levelcap.vault.evals import evaluations
from levelcap.vault.ledger import METRICS, SORTS, Entry, amend, get_ledger
from levelcap.vault.retention import carry_out, plan_retention, remove_checkpoint
from levelcap.vault.zones import load_zones

Number = Annotated[int, Query(ge=0, lt=2**53)]
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


class Pin(Body):
    """Keep a checkpoint for ever, or no longer."""

    pinned: bool


def routes(realm: Realm) -> APIRouter:
    """All routes of the vault on this realm."""
    router = APIRouter(prefix="/api", tags=["vault"])
    _assets(router, realm)
    _ledger(router, realm)
    _champion(router, realm)
    _checkpoints(router, realm)
    _archives(router, realm)
    return router


def _assets(router: APIRouter, realm: Realm) -> None:
    engine = realm.engine

    @router.get("/stats")
    @right("viewer")
    def stats() -> dict[str, Any]:
        """Counts of everything."""

        with reading(engine) as connection:
            kinds = assets.sizes(connection)
        return {
            "assets": kinds,
            "checkpoints": get_ledger(engine).count(),
            "jobs": realm.store.stats()["status"],
        }

    @router.get("/assets")
    @right("viewer")
    def list_assets(
        kind: str | None = None, limit: Page = 100, before: str | None = None
    ) -> dict[str, Any]:
        """Assets, newest first."""
        with reading(engine) as connection:
            found = assets.list_assets(connection, kind, limit, before)
        return {"assets": [asset.as_json() for asset in found]}

    @router.get("/zones")
    @right("viewer")
    def zones() -> dict[str, Any]:
        """Strongholds."""
        return {"zones": [{"zone_id": z.zone_id, "kind": z.kind} for z in load_zones().values()]}

    @router.get("/locate/{asset_id}")
    @right("worker")
    def locate(asset_id: Id) -> dict[str, Any]:
        """In which strongholds an asset lies, and under which key of theirs."""
        with reading(engine) as connection:
            asset = assets.find(connection, asset_id)
        return {"asset": asset.as_json(), "locations": asset.zones}


def _ledger(router: APIRouter, realm: Realm) -> None:
    engine = realm.engine

    @router.get("/ledger")
    @router.get("/checkpoints")
    @right("viewer")
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

    @router.get("/ledger/sorted")
    @right("viewer")
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

    @router.get("/ledger/best")
    @right("viewer")
    def best(
        metric: Annotated[str, Query(max_length=40)] = "elo", campaign: Id | None = None
    ) -> dict[str, Any]:
        """The row with the best value of a metric, or null."""
        found = get_ledger(engine).get_best(metric, campaign=campaign)
        return {
            "metric": metric,
            "metrics": METRICS,
            "checkpoint": None if found is None else found.as_json(),
        }

    @router.get("/ledger/{step}")
    @right("viewer")
    def by_step(step: Annotated[int, Field(ge=0, lt=2**53)]) -> dict[str, Any]:
        """Rows of one step."""
        found = get_ledger(engine).list(step=step)
        return {"checkpoints": [entry.as_json() for entry in found]}

    @router.get("/evals")
    @right("viewer")
    def evals(checkpoint: Id) -> dict[str, Any]:
        """Every evaluation of a checkpoint."""
        with reading(engine) as connection:
            return {"evals": evaluations(connection, checkpoint)}

    @router.get("/compare")
    @right("viewer")
    def compare(a: Id, b: Id) -> dict[str, Any]:
        """Two checkpoints; Elo of a minus b with its interval when both were judged."""
        one, other = resolve(engine, a), resolve(engine, b)
        with reading(engine) as connection:
            found = difference(connection, one.id, other.id)
        return {
            "a": one.as_json(),
            "b": other.as_json(),
            "elo_difference": None if found is None else list(found),
        }


def _champion(router: APIRouter, realm: Realm) -> None:
    engine = realm.engine

    @router.get("/champion")
    @right("viewer")
    def get_champion(hero: Id = "kestrel") -> dict[str, Any]:
        """The champion of a hero, and those before it."""
        find_hero(hero)
        with reading(engine) as connection:
            lines = champion.history(connection, hero)
        return {
            "champion": lines[0].as_json() if lines else None,
            "history": [line.as_json() for line in lines],
        }

    @router.post("/champion")
    @right("admin")
    def promote(body: Choice) -> dict[str, Any]:
        """Make a checkpoint champion."""
        override = Override(body.reason, body.who)
        made = champion.promote(engine, resolve(engine, body.checkpoint).id, override)
        say(
            engine,
            "vault.champion_promoted",
            f"{made.checkpoint}: {made.reason}",
            severity="success",
            data={"checkpoint": made.checkpoint},
        )
        return made.as_json()

    @router.post("/champion/rollback")
    @right("admin")
    def roll_back(body: Which) -> dict[str, Any]:
        """Undo the last promotion."""
        find_hero(body.hero)
        now = champion.roll_back(engine, body.hero)
        after = "nobody" if now is None else now.checkpoint
        say(
            engine,
            "vault.champion_rolled_back",
            f"the champion is {after} again",
            severity="warning",
        )
        return {"champion": None if now is None else now.as_json()}


def _checkpoints(router: APIRouter, realm: Realm) -> None:
    engine = realm.engine

    def entry_of(checkpoint: str) -> Entry:
        return resolve(engine, checkpoint)

    @router.get("/checkpoints/{checkpoint}")
    @right("viewer")
    def get_checkpoint(checkpoint: Id) -> dict[str, Any]:
        """One row."""
        return get_ledger(engine).get(checkpoint).as_json()

    @router.post("/checkpoints/{checkpoint}/verify")
    @right("admin")
    def verify(checkpoint: Id) -> dict[str, Any]:
        """Read every byte."""
        try:
            return assets.verify_asset(engine, entry_of(checkpoint).id).as_json()
        except Corrupt as error:
            return {"id": checkpoint, "status": assets.DAMAGED, "problem": str(error)}

    @router.post("/checkpoints/{checkpoint}/pin")
    @right("admin")
    def pin(checkpoint: Id, body: Pin) -> dict[str, Any]:
        """Pinned checkpoints are never removed."""
        entry = entry_of(checkpoint)
        with transaction(engine) as connection:
            amend(connection, entry.id, pinned=int(body.pinned))
        return get_ledger(engine).get(entry.id).as_json()

    @router.delete("/checkpoints/{checkpoint}")
    @right("admin")
    def delete(
        checkpoint: Id, delay_s: Annotated[float, Query(ge=0, le=removals.MAX_DELAY_S)] = 0
    ) -> dict[str, Any]:
        """Remove a checkpoint that is no champion: now, or later unless it is restored before."""
        entry = entry_of(checkpoint)
        if delay_s > 0:
            return {"scheduled": entry.id, "due": removals.schedule(engine, entry.id, delay_s)}
        remove_checkpoint(engine, entry.id)
        say(engine, "vault.checkpoint_removed", entry.id, severity="warning")
        return {"removed": entry.id}

    @router.post("/checkpoints/{checkpoint}/restore")
    @right("admin")
    def restore(checkpoint: Id) -> dict[str, Any]:
        """Take a removal back that waits."""
        entry = entry_of(checkpoint)
        removals.take_back(engine, entry.id)
        return entry.as_json()


def _archives(router: APIRouter, realm: Realm) -> None:
    engine = realm.engine

    @router.get("/checkpoints/{checkpoint}/pack")
    @right("admin")
    def pack_(checkpoint: Id) -> FileResponse:
        """The checkpoint as a tar."""
        entry = resolve(engine, checkpoint)
        place = Path(tempfile.mkdtemp(prefix=".tmp-pack-", dir=folder("exports")))
        target = pack(engine, entry.id, place / f"{entry.id}.tar")

        def clean() -> None:
            target.unlink(missing_ok=True)
            place.rmdir()

        return FileResponse(
            target, media_type=TAR, filename=target.name, background=BackgroundTask(clean)
        )

    @router.post("/checkpoints/unpack", status_code=202)
    @right("admin", body_cap=IMPORT_CAP, content_type=TAR)
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

    @router.get("/checkpoints/{checkpoint}/export")
    @router.post("/checkpoints/import")
    @right("viewer")
    def old_words(checkpoint: Id = "") -> None:
        """What the two were called before."""
        remedy = "Use GET /api/checkpoints/ID/pack, POST /api/checkpoints/unpack"
        raise UnknownName(refuse("archives are packed and unpacked now", "export, import", remedy))

    @router.post("/retention")
    @right("admin")
    def retain(body: Keep) -> dict[str, Any]:
        """What may go, and with dry_run false: removes it."""
        plan = plan_retention(engine, body.keep)
        removed: list[str] = []
        if not body.dry_run and plan.remove:
            from levelcap.vault.backups import back_up

            back_up(engine, "retention")
            removed = carry_out(engine, plan)
        return {
            "would_remove": [e.id for e in plan.remove],
            "removed": removed,
            "size_bytes": plan.size_bytes,
            "protected": plan.protected,
        }
