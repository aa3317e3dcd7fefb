"""Routes of the machine's settings: what they are, where they come from, and changing them."""

from __future__ import annotations

from typing import Annotated, Any

from fastapi import APIRouter
from pydantic import Field

from levelcap.campaign.realm import Realm
from levelcap.campaign.story.events import say
from levelcap.kit.config import describe_settings, save_settings
from levelcap.services.door.rights import right
from levelcap.services.keeper.jobs_api import Body

Value = int | float | bool | Annotated[str, Field(max_length=200)] | None


class Changes(Body):
    """Name -> value; null takes a setting back to its default."""

    values: Annotated[dict[str, Value], Field(max_length=40)]


def routes(realm: Realm) -> APIRouter:
    """All routes of the settings."""
    router = APIRouter(prefix="/api", tags=["settings"])

    @router.get("/settings")
    @right("viewer")
    def settings() -> dict[str, Any]:
        """Every setting with its value, default and origin."""
        return {"settings": describe_settings()}

    @router.post("/settings")
    @right("admin")
    def change(body: Changes) -> dict[str, Any]:
        """Write settings into config/settings.yaml."""
        save_settings(body.values)
        names = ", ".join(sorted(body.values))
        say(realm.engine, "realm.settings", f"changed: {names}")
        return {"settings": describe_settings()}

    return router
