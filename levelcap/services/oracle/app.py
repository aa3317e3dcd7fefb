"""The Oracle's app and process: port 8765, one torch thread."""

from __future__ import annotations

import asyncio
import gc
import sys
import threading
from functools import partial
from typing import Any

import torch
from fastapi import FastAPI, Request
from starlette.responses import JSONResponse

from levelcap.kit.db import Database
from levelcap.services.door.fields import Body, Id
from levelcap.services.door.http import make_app, serve, while_served
from levelcap.services.door.rights import Routes
from levelcap.services.door.tokens import Tokens, load_tokens
from levelcap.services.oracle import match_api, replay_api, text_api
from levelcap.services.oracle.act import Decider, check_request
from levelcap.services.oracle.checkpoint_cache import CAPACITY, CheckpointCache
from levelcap.services.oracle.endings import keep
from levelcap.services.oracle.generate import Desk
from levelcap.services.oracle.lineup import sit_down
from levelcap.services.oracle.matches import Rooms
from levelcap.services.oracle.openai_shapes import ErrorsBelow
from levelcap.services.process import lifeline
from levelcap.services.process.database import open_database

NAME = "oracle"
ACT_CAP = 8 << 20
SELDOM = 10_000  # collections of the middle generation for one of all: hours apart
SWITCH_S = 0.001  # threads of matches give way to a request after this long


class LoadBody(Body):
    """Which checkpoint."""

    checkpoint: Id


def build(
    engine: Database, tokens: Tokens, port: int, lan: bool = False, capacity: int = CAPACITY
) -> FastAPI:
    """The app; live matches end when it is no longer served."""
    shelf = CheckpointCache(engine, capacity)
    rooms = Rooms(partial(keep, engine))
    decider, desk = Decider(shelf), Desk()

    lifespan = while_served(stop=lambda: asyncio.to_thread(rooms.close))

    def health() -> dict[str, Any]:
        return {
            "loaded": len(shelf.loaded()),
            "matches": len(rooms.list()),
            "writing": desk.writing,
            "waiting": desk.waiting,
            "written": desk.tokens,
        }

    app = make_app(NAME, tokens=tokens, port=port, lan=lan, lifespan=lifespan, health=health)
    app.include_router(match_api.routes(rooms, shelf))
    app.include_router(replay_api.routes())
    app.include_router(text_api.routes(shelf, desk))
    app.add_middleware(ErrorsBelow)
    door = Routes(app)

    @door.get("/models", "viewer")
    def models() -> dict[str, Any]:
        """Loaded nets, known checkpoints, the champion."""
        return shelf.describe()

    @door.post("/models/load", "admin")
    def load(body: LoadBody) -> dict[str, Any]:
        """Load a checkpoint, verified byte by byte."""
        return shelf.get(body.checkpoint).as_json()

    @door.post("/act", "worker", body_cap=ACT_CAP)
    async def act(request: Request) -> JSONResponse:
        """Decisions of a checkpoint for rows of views, with log-probabilities and values."""
        # What the guard has read as strict JSON: a model of the big arrays would cost more.
        checkpoint, world, rows, greedy = check_request(request.state.json)
        loaded = shelf.known(checkpoint)
        if loaded is None:
            loaded = await asyncio.to_thread(shelf.get, checkpoint)
        return JSONResponse(decider.decide(loaded, world, rows, greedy))

    return app


def warm_up(shelf: CheckpointCache) -> None:
    """Bring the compiled code of a match into memory before somebody waits for it."""
    from levelcap.play.live.match import Live

    entrants, seats = sit_down(["rookie", "veteran"], shelf, "")
    match = Live("duel", entrants, seats)
    match.decide()
    keep_collections_short()


def keep_collections_short() -> None:
    """What is in memory now stays out of garbage collections: one of all took 120 to 300 ms.

    That is eight to twenty ticks of a match at 60 a second, all of them late. What comes later is
    collected as a whole between matches (`Rooms`).
    """
    gc.collect()
    gc.freeze()
    young, middle, _ = gc.get_threshold()
    gc.set_threshold(young, middle, SELDOM)


def main() -> None:
    """Serve until told to stop."""
    launch = lifeline.start(NAME)
    torch.set_num_threads(1)
    sys.setswitchinterval(SWITCH_S)
    engine = open_database()
    try:
        app = build(engine, load_tokens(), launch.port, launch.lan)
        threading.Thread(target=warm_up, args=(CheckpointCache(engine),), daemon=True).start()
        serve(app, host=launch.host, port=launch.port, name=NAME)
    finally:
        engine.dispose()
