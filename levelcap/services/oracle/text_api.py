"""Routes of text heroes: `/generate`, and `/v1` as OpenAI's clients call it."""

from __future__ import annotations

import asyncio
import time
from collections.abc import AsyncIterator
from contextlib import aclosing
from typing import Annotated, Any

from fastapi import APIRouter, Request
from pydantic import Field
from starlette.requests import ClientDisconnect
from starlette.responses import StreamingResponse

from levelcap.play.answers import SamplingParams, TextHero
from levelcap.services.door.fields import Body, Id, Seed
from levelcap.services.door.rights import Routes
from levelcap.services.oracle import openai_shapes as shapes
from levelcap.services.oracle.checkpoint_cache import CheckpointCache, Loaded
from levelcap.services.oracle.generate import MAX_PROMPTS, Ask, Desk, Piece
from levelcap.services.oracle.names import find

EVENTS = "text/event-stream"
LOOK_S = 0.1  # between two looks whether the caller is still there


class GenerateBody(Body):
    """Prompts for one checkpoint."""

    checkpoint: Id = "champion"
    prompt: shapes.Text | Annotated[list[shapes.Text], Field(min_length=1, max_length=MAX_PROMPTS)]
    max_tokens: shapes.Count = shapes.LONGEST
    temperature: shapes.Temperature = 0.0
    top_k: Annotated[int, Field(ge=0, le=1000)] = 0
    seed: Seed | None = None
    stop: shapes.Stops = None

    def ask(self) -> Ask:
        """What it asks for."""
        prompts = (self.prompt,) if isinstance(self.prompt, str) else tuple(self.prompt)
        taste = SamplingParams(self.temperature, self.top_k, shapes.seed_of(self.seed))
        return Ask(prompts, self.max_tokens, taste, shapes.stops_of(self.stop))


def routes(shelf: CheckpointCache, desk: Desk) -> APIRouter:
    """All of them."""
    door = Routes(APIRouter(tags=["text"]))

    async def ready(name: str, ask: Ask) -> tuple[Loaded, TextHero, list[int]]:
        """The net, the hero and the lengths of the prompts; refuses before anything is computed."""
        desk.check()
        loaded = shelf.known(name, reads=True)
        if loaded is None:
            loaded = await asyncio.to_thread(shelf.get, name, True)
        hero = loaded.hero()
        return loaded, hero, ask.check(hero)

    @door.post("/generate", "worker")
    async def generate(body: GenerateBody, request: Request) -> dict[str, Any]:
        """Answers of a text checkpoint to up to 32 prompts, in one batch; greedy unless asked."""
        ask = body.ask()
        loaded, hero, lengths = await ready(body.checkpoint, ask)
        answers: list[dict[str, Any]] = [
            {"text": "", "tokens": 0, "finish": "stop"} for _ in ask.prompts
        ]
        async for piece in heard(request, desk.pieces(hero, ask)):
            row = answers[piece.row]
            row["text"] += piece.text
            row["tokens"] += piece.tokens
            row["finish"] = piece.finish or row["finish"]
        return {"checkpoint": loaded.id, "answers": answers, "prompt_tokens": sum(lengths)}

    @door.get("/v1/models", "viewer")
    def models() -> dict[str, Any]:
        """Text checkpoints, newest first, as OpenAI lists models."""
        return {"object": "list", "data": [shapes.model_json(row) for row in shelf.texts()]}

    @door.get("/v1/models/{model}", "viewer")
    def model(model: Id) -> dict[str, Any]:
        """One model: a checkpoint's id, champion, latest, or a text hero's id."""
        return shapes.model_json(find(shelf.engine, model, reads=True))

    @door.post("/v1/chat/completions", "worker", response_model=None)
    async def complete(
        body: shapes.ChatBody, request: Request
    ) -> dict[str, Any] | StreamingResponse:
        """A chat completion; with `stream` as server-sent events. The last message is read."""
        ask = body.ask()
        loaded, hero, lengths = await ready(body.model, ask)
        made = shapes.Completion(loaded.id, len(ask.prompts), sum(lengths))
        if body.stream:
            usage = body.stream_options is not None and body.stream_options.include_usage
            said = chunks(made, desk.pieces(hero, ask), usage)
            return StreamingResponse(said, media_type=EVENTS)
        async for piece in heard(request, desk.pieces(hero, ask)):
            made.add(piece)
        return made.whole()

    return door.where


async def chunks(
    made: shapes.Completion, pieces: AsyncIterator[Piece], usage: bool
) -> AsyncIterator[str]:
    """A stream's events; ends the computation when the stream is closed."""
    async with aclosing(pieces) as coming:  # type: ignore[type-var]
        for opening in made.first():
            yield opening
        async for piece in coming:
            made.add(piece)
            yield made.chunk(piece)
        yield made.last(usage)


async def heard(request: Request, pieces: AsyncIterator[Piece]) -> AsyncIterator[Piece]:
    """The same pieces, as long as the caller is there.

    Raises:
        ClientDisconnect: nobody listens any more.
    """
    looked = time.monotonic()
    async with aclosing(pieces) as coming:  # type: ignore[type-var]
        async for piece in coming:
            yield piece
            if time.monotonic() - looked > LOOK_S:
                looked = time.monotonic()
                if await request.is_disconnected():
                    raise ClientDisconnect
