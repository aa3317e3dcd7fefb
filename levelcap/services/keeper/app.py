"""The Keeper's app and process: port 8767, no torch."""

from __future__ import annotations

from typing import Any

from fastapi import FastAPI

from levelcap.campaign.realm import Realm, realm
from levelcap.services.door.http import make_app, serve, while_served
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
    opened: Realm, tokens: Tokens, port: int, lan: bool = False, housekeeping: bool = True
) -> FastAPI:
    """The app; with `housekeeping` it also keeps the house while it is being served."""
    keeping = Housekeeping(opened) if housekeeping else None

    lifespan = None if keeping is None else while_served(keeping.start, keeping.stop)

    def health() -> dict[str, Any]:
        return {} if keeping is None else {"housekeeping": keeping.health()}

    app = make_app(NAME, tokens=tokens, port=port, lan=lan, lifespan=lifespan, health=health)
    for part in (jobs_api, vault_api, campaign_api, guild_api, events_api, settings_api):
        app.include_router(part.routes(opened))
    return app


def main() -> None:
    """Serve until told to stop."""
    launch = lifeline.start(NAME)
    with realm() as opened:
        app = build(opened, load_tokens(), launch.port, launch.lan)
        serve(app, host=launch.host, port=launch.port, name=NAME)
