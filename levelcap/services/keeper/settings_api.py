"""Routes of the machine's settings: what they are, where they come from, and changing them."""

from __future__ import annotations

from typing import Annotated, Any

from fastapi import APIRouter
from pydantic import Field

from levelcap.campaign.realm import Realm
from levelcap.campaign.story.events import say
from levelcap.kit.config import describe_settings, save_settings
from levelcap.services.door.fields import Body
from levelcap.services.door.rights import Routes

Value = int | float | bool | Annotated[str, Field(max_length=200)] | None


class Changes(Body):
    """Name -> value; null takes a setting back to its default."""

    values: Annotated[dict[str, Value], Field(max_length=40)]


def routes(realm: Realm) -> APIRouter:
    """All routes of the settings."""
    door = Routes(APIRouter(prefix="/api", tags=["settings"]))

    @door.get("/settings", "viewer")
    def settings() -> dict[str, Any]:
        """Every setting with its value, default and origin."""
        return {"settings": describe_settings()}

    @door.post("/settings", "admin")
    def change(body: Changes) -> dict[str, Any]:
        """Write settings into config/settings.yaml."""
        save_settings(body.values)
        names = ", ".join(sorted(body.values))
        say(realm.engine, "realm.settings", f"changed: {names}")
        return {"settings": describe_settings()}

    return door.where
