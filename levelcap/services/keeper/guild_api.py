"""Routes of the guild: where text heroes stand in the skills, and their passives."""

from __future__ import annotations

from typing import Any

from fastapi import APIRouter

from levelcap.campaign.realm import Realm
from levelcap.campaign.sheet.drift import passives
from levelcap.campaign.sheet.guild import guild_sheet
from levelcap.kit.db import reading
from levelcap.services.door.http import Id
from levelcap.services.door.rights import right
from levelcap.vault.ask import resolve


def routes(realm: Realm) -> APIRouter:
    """All routes of the guild on this realm."""
    router = APIRouter(prefix="/api", tags=["guild"])

    @router.get("/guild/{hero}")
    @right("viewer")
    def guild(hero: Id) -> dict[str, Any]:
        """Skills with level, window, forms, primitives and cap; curriculum; personal bests."""
        with reading(realm.engine) as connection:
            return guild_sheet(connection, hero).as_json()

    @router.get("/passives")
    @right("viewer")
    def drift(checkpoint: Id = "latest", hero: Id = "dio-tiny") -> dict[str, Any]:
        """Passives of a checkpoint: gained, held, lost against the schooled base."""
        entry = resolve(realm.engine, checkpoint, hero)
        with reading(realm.engine) as connection:
            return passives(connection, entry).as_json()

    return router
