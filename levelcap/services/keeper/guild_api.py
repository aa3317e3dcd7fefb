"""Routes of the guild: where text heroes stand in the skills, and their passives."""

from __future__ import annotations

from typing import Any

from fastapi import APIRouter

from levelcap.campaign.realm import Realm
from levelcap.campaign.sheet.drift import passives
from levelcap.campaign.sheet.guild import guild_sheet
from levelcap.services.door.fields import Id
from levelcap.services.door.rights import Routes
from levelcap.vault.ask import resolve


def routes(realm: Realm) -> APIRouter:
    """All routes of the guild on this realm."""
    door = Routes(APIRouter(prefix="/api", tags=["guild"]))

    @door.get("/guild/{hero}", "viewer")
    def guild(hero: Id) -> dict[str, Any]:
        """Skills with level, window, forms, primitives and cap; curriculum; personal bests."""
        return realm.read(guild_sheet, hero).as_json()

    @door.get("/passives", "viewer")
    def drift(checkpoint: Id = "latest", hero: Id = "dio-tiny") -> dict[str, Any]:
        """Passives of a checkpoint: gained, held, lost against the schooled base."""
        entry = resolve(realm.engine, checkpoint, hero)
        return realm.read(passives, entry).as_json()

    return door.where
