"""Routes of heroes, campaigns, quests, runs and the control of training."""

from __future__ import annotations

import asyncio
from typing import Annotated, Any, Literal

from fastapi import APIRouter, Query, Request
from pydantic import Field

from levelcap.campaign.kinds.heroes import all_heroes, find_hero
from levelcap.campaign.realm import Realm
from levelcap.campaign.sheet.hero import sheet
from levelcap.campaign.sheet.report import make_report
from levelcap.campaign.story import campaigns, curves, quests, runs
from levelcap.campaign.wheel import control, inbox
from levelcap.campaign.work.desk import campaign_for, enter
from levelcap.campaign.work.recipes import MAX_BYTES, read_recipe
from levelcap.kit.db import reading, transaction
from levelcap.services.door.http import Id
from levelcap.services.door.rights import right
from levelcap.services.keeper.jobs_api import Body, Page, Place
from levelcap.vault.ask import resolve

Number = Annotated[int, Query(ge=0, lt=2**53)]
YAML = "application/yaml"
JSONL = "application/x-ndjson"
LESSONS_CAP = 16 << 20


class NewCampaign(Body):
    """A new game, or with a checkpoint New Game+."""

    hero: Id = "kestrel"
    name: Annotated[str, Field(min_length=1, max_length=80)]
    starting_checkpoint: Id | None = None
    description: Annotated[str, Field(max_length=500)] = ""


class Overrides(Body):
    """Settings of a campaign; locked ones must be approved by name."""

    values: Annotated[dict[str, Any], Field(max_length=64)]
    approve: Annotated[list[Annotated[str, Field(max_length=64)]], Field(max_length=64)] = []


class NewQuest(Body):
    """A recipe; see QUICKSTART."""

    recipe: dict[str, Any]
    campaign: Id | None = None


class Control(Body):
    """What training should do."""

    action: Literal["pause", "resume", "stop", "skip", "retry"]


def routes(realm: Realm) -> APIRouter:
    """All routes of the campaign on this realm."""
    router = APIRouter(prefix="/api", tags=["campaign"])
    _heroes(router, realm)
    _campaigns(router, realm)
    _quests(router, realm)
    _training(router, realm)
    return router


def _heroes(router: APIRouter, realm: Realm) -> None:
    @router.get("/heroes")
    @right("viewer")
    def heroes() -> dict[str, Any]:
        """Every hero's sheet."""
        with reading(realm.engine) as connection:
            return {"heroes": [sheet(connection, h).as_json() for h in all_heroes().values()]}

    @router.get("/heroes/{hero}")
    @right("viewer")
    def one_hero(hero: Id) -> dict[str, Any]:
        """One sheet."""
        with reading(realm.engine) as connection:
            return sheet(connection, find_hero(hero)).as_json()

    @router.post("/heroes/{hero}/choose")
    @right("admin")
    def choose(hero: Id) -> dict[str, Any]:
        """Let this hero train instead of the present one, from the next training step on."""
        control.switch(realm.store, hero)
        with reading(realm.engine) as connection:
            return sheet(connection, find_hero(hero)).as_json()


def _campaigns(router: APIRouter, realm: Realm) -> None:
    engine = realm.engine

    @router.get("/campaigns")
    @right("viewer")
    def list_campaigns(hero: Id | None = None) -> dict[str, Any]:
        """Campaigns, newest first."""
        with reading(engine) as connection:
            found = campaigns.list_all(connection, hero)
        return {"campaigns": [campaign.as_json() for campaign in found]}

    @router.post("/campaigns", status_code=201)
    @right("admin")
    def create(body: NewCampaign) -> dict[str, Any]:
        """Start a campaign; the active one of this hero is archived."""
        find_hero(body.hero)
        start, step = None, 0
        if body.starting_checkpoint is not None:
            entry = resolve(engine, body.starting_checkpoint, body.hero)
            start, step = entry.id, entry.step
        with transaction(engine) as connection:
            made = campaigns.create(
                connection,
                body.hero,
                body.name,
                starting_checkpoint=start,
                starting_step=step,
                description=body.description,
            )
        return made.as_json()

    @router.post("/campaigns/{campaign}/continue")
    @right("admin")
    def resume(campaign: Id) -> dict[str, Any]:
        """Continue an archived campaign."""
        with transaction(engine) as connection:
            return campaigns.resume(connection, campaign).as_json()

    @router.post("/campaigns/{campaign}/archive")
    @right("admin")
    def archive(campaign: Id) -> dict[str, Any]:
        """Put a campaign away."""
        with transaction(engine) as connection:
            return campaigns.archive(connection, campaign).as_json()

    @router.post("/campaigns/{campaign}/settings")
    @right("admin")
    def settings(campaign: Id, body: Overrides) -> dict[str, Any]:
        """Change settings of a campaign."""
        with transaction(engine) as connection:
            return campaigns.set_overrides(
                connection, campaign, body.values, body.approve
            ).as_json()


def _quests(router: APIRouter, realm: Realm) -> None:
    engine, store = realm.engine, realm.store

    @router.get("/quests")
    @right("viewer")
    def list_quests(
        campaign: Id | None = None,
        status: Annotated[str | None, Query(max_length=20)] = None,
        limit: Page = 100,
        before: Number | None = None,
    ) -> dict[str, Any]:
        """Quests, newest first; status may be "open"."""
        with reading(engine) as connection:
            found = quests.list_quests(connection, campaign, status, limit, before)
        return {"quests": [quest.as_json() for quest in found]}

    @router.post("/quests", status_code=201)
    @right("admin")
    def add(body: NewQuest) -> dict[str, Any]:
        """Queue a recipe."""
        recipe = read_recipe(body.recipe)
        campaign = body.campaign or campaign_for(store, recipe.hero_kind)
        return enter(store, campaign, recipe, source="person").as_json()

    @router.post("/quests/upload/{name}", status_code=201)
    @right("admin", body_cap=MAX_BYTES, content_type=YAML)
    async def upload(name: Id, request: Request) -> dict[str, Any]:
        """Queue a recipe file."""
        return inbox.upload(store, name, await request.body()).as_json()

    @router.post("/quests/lessons/{name}", status_code=201)
    @right("admin", body_cap=LESSONS_CAP, content_type=JSONL)
    async def lessons(name: Id, request: Request) -> dict[str, Any]:
        """Queue a lesson file (.jsonl): through the data gate, then a quest of study."""
        body = await request.body()
        return (await asyncio.to_thread(inbox.upload, store, name, body)).as_json()

    @router.get("/quests/{quest}")
    @right("viewer")
    def get_quest(quest: Id) -> dict[str, Any]:
        """One quest."""
        with reading(engine) as connection:
            return quests.get(connection, quest).as_json()

    @router.post("/quests/{quest}/retry")
    @right("admin")
    def retry(quest: Id) -> dict[str, Any]:
        """Queue a failed quest again."""
        return quests.retry(store, quest).as_json()

    @router.post("/quests/{quest}/priority")
    @right("admin")
    def prioritise(quest: Id, body: Place) -> dict[str, Any]:
        """Move a waiting quest forward or back."""
        return quests.prioritise(store, quest, body.priority).as_json()

    @router.post("/quests/{quest}/cancel")
    @right("admin")
    def cancel(quest: Id) -> dict[str, Any]:
        """Take a quest out."""
        return quests.cancel(store, quest).as_json()


def _training(router: APIRouter, realm: Realm) -> None:
    engine, store = realm.engine, realm.store

    @router.get("/training/status")
    @right("viewer")
    def training_status() -> dict[str, Any]:
        """What is going on."""
        with reading(engine) as connection:
            return control.status(connection)

    @router.post("/training/control")
    @right("admin")
    def training_control(body: Control) -> dict[str, Any]:
        """Pause, resume, stop or skip, within one training step; retry what the breaker stopped."""
        asked = control.control(store, body.action)
        return {"state": asked.state, "held": asked.held}

    @router.get("/runs")
    @right("viewer")
    def list_runs(campaign: Id | None = None, limit: Page = 100) -> dict[str, Any]:
        """Runs, newest first, with their exact commands."""
        with reading(engine) as connection:
            return {"runs": [run.as_json() for run in runs.list_runs(connection, campaign, limit)]}

    @router.get("/runs/{run}")
    @right("viewer")
    def one_run(run: Id) -> dict[str, Any]:
        """One run."""
        with reading(engine) as connection:
            return runs.get(connection, run).as_json()

    @router.get("/runs/{run}/curve")
    @right("viewer")
    def curve(
        run: Id,
        metric: Annotated[str, Query(max_length=40)] = "loss",
        zoom: Literal["all", "recent", "live"] = "all",
    ) -> dict[str, Any]:
        """One metric of a run, at most 1,000 points: mean, low and high of `width` rows each."""
        with reading(engine) as connection:
            runs.get(connection, run)
            found = curves.read(connection, run, metric, zoom)
            return found | {"metrics": curves.metrics_of(connection, run)}

    @router.get("/report")
    @right("viewer")
    def report(report_type: Literal["weekly", "campaign"] = "weekly") -> dict[str, Any]:
        """Gains and costs."""
        return make_report(engine, report_type).as_json()
