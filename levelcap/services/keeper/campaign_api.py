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
from levelcap.campaign.sheet.tests import list_tests
from levelcap.campaign.story import campaigns, curves, quests, runs
from levelcap.campaign.wheel import control, inbox
from levelcap.campaign.wheel.curate import begin_campaign
from levelcap.campaign.work.desk import campaign_for, enter
from levelcap.campaign.work.recipes import MAX_BYTES, read_recipe
from levelcap.services.door.fields import Body, Id, Number, Page
from levelcap.services.door.rights import Routes
from levelcap.services.keeper.jobs_api import Place

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
    door = Routes(APIRouter(prefix="/api", tags=["campaign"]))
    _heroes(door, realm)
    _campaigns(door, realm)
    _quests(door, realm)
    _training(door, realm)
    return door.where


def _heroes(door: Routes[APIRouter], realm: Realm) -> None:
    @door.get("/heroes", "viewer")
    def heroes() -> dict[str, Any]:
        """Every hero's sheet."""
        found = realm.read(lambda connection: [sheet(connection, h) for h in all_heroes().values()])
        return {"heroes": [row.as_json() for row in found]}

    @door.get("/heroes/{hero}", "viewer")
    def one_hero(hero: Id) -> dict[str, Any]:
        """One sheet."""
        return realm.read(sheet, find_hero(hero)).as_json()

    @door.post("/heroes/{hero}/choose", "admin")
    def choose(hero: Id) -> dict[str, Any]:
        """Let this hero train instead of the present one, from the next training step on."""
        control.switch(realm.store, hero)
        return realm.read(sheet, find_hero(hero)).as_json()


def _campaigns(door: Routes[APIRouter], realm: Realm) -> None:
    @door.get("/campaigns", "viewer")
    def list_campaigns(hero: Id | None = None) -> dict[str, Any]:
        """Campaigns, newest first."""
        found = realm.read(campaigns.list_all, hero)
        return {"campaigns": [campaign.as_json() for campaign in found]}

    @door.post("/campaigns", "admin", status_code=201)
    def create(body: NewCampaign) -> dict[str, Any]:
        """Start a campaign; the active one of this hero is archived."""
        start = body.starting_checkpoint
        made = begin_campaign(realm.engine, body.hero, body.name, start, body.description)
        return made.as_json()

    @door.post("/campaigns/{campaign}/continue", "admin")
    def resume(campaign: Id) -> dict[str, Any]:
        """Continue an archived campaign."""
        return realm.write(campaigns.resume, campaign).as_json()

    @door.post("/campaigns/{campaign}/archive", "admin")
    def archive(campaign: Id) -> dict[str, Any]:
        """Put a campaign away."""
        return realm.write(campaigns.archive, campaign).as_json()

    @door.post("/campaigns/{campaign}/settings", "admin")
    def settings(campaign: Id, body: Overrides) -> dict[str, Any]:
        """Change settings of a campaign."""
        found = realm.write(campaigns.set_overrides, campaign, body.values, body.approve)
        return found.as_json()


def _quests(door: Routes[APIRouter], realm: Realm) -> None:
    store = realm.store

    @door.get("/quests", "viewer")
    def list_quests(
        campaign: Id | None = None,
        status: Annotated[str | None, Query(max_length=20)] = None,
        limit: Page = 100,
        before: Number | None = None,
    ) -> dict[str, Any]:
        """Quests, newest first; status may be "open"."""
        found = realm.read(quests.list_quests, campaign, status, limit, before)
        return {"quests": [quest.as_json() for quest in found]}

    @door.post("/quests", "admin", status_code=201)
    def add(body: NewQuest) -> dict[str, Any]:
        """Queue a recipe."""
        recipe = read_recipe(body.recipe)
        campaign = body.campaign or campaign_for(store, recipe.hero_kind)
        return enter(store, campaign, recipe, source="person").as_json()

    @door.get("/tests", "viewer")
    def all_tests(limit: Page = 100) -> dict[str, Any]:
        """Sequential tests: those that run and wait, then those that have ended."""
        return {"tests": [row.as_json() for row in realm.read(list_tests, limit)]}

    @door.post("/quests/upload/{name}", "admin", status_code=201, body_cap=MAX_BYTES, kind=YAML)
    async def upload(name: Id, request: Request) -> dict[str, Any]:
        """Queue a recipe file."""
        return inbox.upload(store, name, await request.body()).as_json()

    @door.post("/quests/lessons/{name}", "admin", status_code=201, body_cap=LESSONS_CAP, kind=JSONL)
    async def lessons(name: Id, request: Request) -> dict[str, Any]:
        """Queue a lesson file (.jsonl): through the data gate, then a quest of study."""
        body = await request.body()
        quest, found = await asyncio.to_thread(inbox.upload_lessons, store, name, body)
        counts = {n: getattr(found, n) for n in ("rows", "duplicates", "invalid", "leaks")}
        return quest.as_json() | {"report": counts | {"lessons": len(found.lessons)}}

    @door.get("/quests/{quest}", "viewer")
    def get_quest(quest: Id) -> dict[str, Any]:
        """One quest."""
        return realm.read(quests.get, quest).as_json()

    @door.post("/quests/{quest}/retry", "admin")
    def retry(quest: Id) -> dict[str, Any]:
        """Queue a failed quest again."""
        return quests.retry(store, quest).as_json()

    @door.post("/quests/{quest}/priority", "admin")
    def prioritise(quest: Id, body: Place) -> dict[str, Any]:
        """Move a waiting quest forward or back."""
        return quests.prioritise(store, quest, body.priority).as_json()

    @door.post("/quests/{quest}/cancel", "admin")
    def cancel(quest: Id) -> dict[str, Any]:
        """Take a quest out."""
        return quests.cancel(store, quest).as_json()


def _training(door: Routes[APIRouter], realm: Realm) -> None:
    @door.get("/training/status", "viewer")
    def training_status() -> dict[str, Any]:
        """What is going on."""
        return realm.read(control.status)

    @door.post("/training/control", "admin")
    def training_control(body: Control) -> dict[str, Any]:
        """Pause, resume, stop or skip, within one training step; retry what the breaker stopped."""
        asked = control.control(realm.store, body.action)
        return {"state": asked.state, "held": asked.held}

    @door.get("/runs", "viewer")
    def list_runs(campaign: Id | None = None, limit: Page = 100) -> dict[str, Any]:
        """Runs, newest first, with their exact commands."""
        found = realm.read(runs.list_runs, campaign, limit)
        return {"runs": [run.as_json() for run in found]}

    @door.get("/runs/{run}", "viewer")
    def one_run(run: Id) -> dict[str, Any]:
        """One run."""
        return realm.read(runs.get, run).as_json()

    @door.get("/runs/{run}/curve", "viewer")
    def curve(
        run: Id,
        metric: Annotated[str, Query(max_length=40)] = "loss",
        zoom: Literal["all", "recent", "live"] = "all",
    ) -> dict[str, Any]:
        """One metric of a run, at most 1,000 points: mean, low and high of `width` rows each."""
        realm.read(runs.get, run)
        found = realm.read(curves.read, run, metric, zoom)
        return found | {"metrics": realm.read(curves.metrics_of, run)}

    @door.get("/report", "viewer")
    def report(report_type: Literal["weekly", "campaign"] = "weekly") -> dict[str, Any]:
        """Gains and costs."""
        return make_report(realm.engine, report_type).as_json()
