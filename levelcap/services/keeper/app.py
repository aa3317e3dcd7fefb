"""The Keeper's app and process: port 8767, no torch."""

from __future__ import annotations

from collections.abc import AsyncIterator
from contextlib import asynccontextmanager
from typing import Any

from fastapi import FastAPI

from levelcap.campaign.realm import Realm, open_realm
from levelcap.services.door.http import make_app, serve
from levelcap.services.door.tokens import Tokens, load_tokens
from levelcap.services.keeper import (
    campaign_api,
    events_api,
    guild_api,
    jobs_api,
    settings_api,
    vault_api,
)
from levelcap.services.keeper.housekeeping import Housekeeping
from levelcap.services.process import lifeline

NAME = "keeper"


def build(
    realm: Realm, tokens: Tokens, port: int, lan: bool = False, housekeeping: bool = True
) -> FastAPI:
    """The app; with `housekeeping` it also keeps the house while it is being served."""
    keeping = Housekeeping(realm) if housekeeping else None

    @asynccontextmanager
    async def lifespan(_app: FastAPI) -> AsyncIterator[None]:
        if keeping is not None:
            keeping.start()
        try:
            yield
        finally:
            if keeping is not None:
                keeping.stop()

    def health() -> dict[str, Any]:
        return {} if keeping is None else {"housekeeping": keeping.health()}

    app = make_app(NAME, tokens=tokens, port=port, lan=lan, lifespan=lifespan, health=health)
    for part in (jobs_api, vault_api, campaign_api, guild_api, events_api, settings_api):
        app.include_router(part.routes(realm))
    return app


def main() -> None:
    """Serve until told to stop."""
    launch = lifeline.start(NAME)
    realm = open_realm()
    try:
        app = build(realm, load_tokens(), launch.port, launch.lan)
        serve(app, host=launch.host, port=launch.port, name=NAME)
    finally:
        realm.close()
