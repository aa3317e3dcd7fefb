"""`/oracle`: ask text heroes, two side by side. No torch: the Oracle answers, the guild judges.

The page is one element (`static/oracle/chat.js`). Answers come as server-sent events through a
route of our own; a browser that stops listening closes the way to the Oracle, which then stops.
"""

from __future__ import annotations

import json
from collections.abc import AsyncIterator
from typing import Annotated, Any

import httpx
from fastapi import APIRouter, Query
from nicegui import ui
from nicegui.element import Element
from pydantic import BaseModel, ConfigDict, Field
from starlette.responses import StreamingResponse

from levelcap.guild.engine import get_engine
from levelcap.guild.skill import Problem
from levelcap.jobs.job import Unreachable
from levelcap.kit.errors import BadValue, Busy, LevelcapError, StateError, UnknownName, refuse
from levelcap.services.door.http import Id
from levelcap.services.door.rights import right
from levelcap.services.tavern import lore
from levelcap.services.tavern.arena import OracleClient
from levelcap.services.tavern.frame import Tavern, frame, page_heading
from levelcap.services.tavern.tags import STATIC

PATH = "/oracle"
EVENTS = "text/event-stream"
AWAY = "The Oracle is not reachable; answers need it"
PROBLEMS = 8  # of an exam, of which one is asked
SILENCE_S = 60.0  # without a word of the Oracle
Level = Annotated[int, Field(ge=1, le=1000)]
Seed = Annotated[int, Field(ge=0, lt=2**53)]
Skill = Annotated[str, Field(max_length=20)]


class _Body(BaseModel):
    model_config = ConfigDict(extra="forbid", strict=True)


class ChatBody(_Body):
    """A prompt for one checkpoint; the Oracle says what it may hold."""

    checkpoint: Id
    prompt: Annotated[str, Field(min_length=1, max_length=8_000)]
    temperature: Annotated[float, Field(ge=0, le=10, allow_inf_nan=False)] = 0.0
    max_tokens: Annotated[int, Field(ge=1, le=1_024)] = 256


class AnswerBody(_Body):
    """An answer to a problem of the guild."""

    skill: Skill
    level: Level
    seed: Seed
    answer: Annotated[str, Field(max_length=20_000)]


def routes(oracle: OracleClient) -> APIRouter:
    """What the page's element calls."""
    router = APIRouter(prefix=PATH, tags=["oracle"])

    @router.get("/api/checkpoints")
    @right("viewer")
    def checkpoints() -> dict[str, Any]:
        """Text checkpoints, newest first, and the skills problems can be drawn from."""
        found = oracle.call("GET", "/models")
        skills = [
            {"id": skill.id, "name": skill.name, "levels": skill.levels}
            for skill in get_engine().skills.values()
        ]
        rows = [{"id": row["id"], "label": checkpoint_label(row)} for row in found["text"]]
        return {"checkpoints": rows, "champion": found["text_champion"], "skills": skills}

    @router.post("/api/chat", response_class=StreamingResponse)
    @right("admin")
    async def chat(body: ChatBody) -> StreamingResponse:
        """An answer as it comes, in OpenAI's chunks; a refusal is the stream's only event."""
        asked = {
            "model": body.checkpoint,
            "messages": [{"role": "user", "content": body.prompt}],
            "temperature": body.temperature,
            "max_tokens": body.max_tokens,
            "stream": True,
        }
        try:
            said = await answer_of(oracle, asked)
        except LevelcapError as error:
            # No status of an error: browsers write those into their console.
            said = _one_event({"error": {"message": str(error)}})
        return StreamingResponse(said, media_type=EVENTS)

    @router.get("/api/problem")
    @right("viewer")
    def problem(
        skill: Annotated[str, Query(max_length=20)],
        level: Annotated[int, Query(ge=1, le=1000)],
        seed: Annotated[int, Query(ge=0, lt=2**53)],
    ) -> dict[str, Any]:
        """A problem of a level that no lesson holds."""
        found = draw(skill, level, seed)
        return {"prompt": found.prompt, "form": found.form, "operation": found.operation}

    @router.post("/api/judge")
    @right("viewer")
    def judge(body: AnswerBody) -> dict[str, Any]:
        """Is an answer right, and what would be."""
        found = draw(body.skill, body.level, body.seed)
        mark = get_engine().grade(found, body.answer)
        return {"right": mark.right, "wanted": get_engine().solve(found)}

    return router


def draw(skill: str, level: int, seed: int) -> Problem:
    """The problem of a seed."""
    found = get_engine().get(skill)
    found.check(level)
    return found.exam(level, PROBLEMS, seed)[seed % PROBLEMS]


def checkpoint_label(row: dict[str, Any]) -> str:
    """A text checkpoint as a list names it."""
    skill = f" · {row['skill'].upper()} {row['level']}" if row["skill"] else ""
    exact = "" if row["accuracy"] is None else f" · {100 * row['accuracy']:.0f} % exact"
    return f"{row['hero']} · step {lore.number(row['step'])}{skill}{exact}"


async def _one_event(values: dict[str, Any]) -> AsyncIterator[bytes]:
    yield f"data: {json.dumps(values)}\n\n".encode()


async def answer_of(oracle: OracleClient, asked: dict[str, Any]) -> AsyncIterator[bytes]:
    """The Oracle's stream, once it has begun; closing it tells the Oracle to stop.

    Raises:
        Unreachable: no answer. UnknownName, BadValue, Busy: what the Oracle said.
    """
    client = httpx.AsyncClient(
        base_url=oracle.url, headers=oracle.headers, timeout=SILENCE_S, trust_env=False
    )
    try:
        sent = client.build_request("POST", "/v1/chat/completions", json=asked)
        answer = await client.send(sent, stream=True)
        if not answer.is_success:
            await answer.aread()
            raise _refusal(answer)
    except httpx.HTTPError as error:
        await client.aclose()
        what = f"{AWAY} ({type(error).__name__})"
        raise Unreachable(refuse(what, asked["model"], "Check levelcap status")) from error
    except BaseException:
        await client.aclose()
        raise

    async def pieces() -> AsyncIterator[bytes]:
        try:
            async for piece in answer.aiter_raw():
                yield piece
        finally:
            await answer.aclose()
            await client.aclose()

    return pieces()


def _refusal(answer: httpx.Response) -> Exception:
    try:
        message = str(answer.json()["error"]["message"])
    except (ValueError, KeyError, TypeError):
        return StateError(refuse("the answer is not ours", answer.status_code, "See the log"))
    kinds: dict[int, type[Exception]] = {400: BadValue, 404: UnknownName, 503: Busy}
    return kinds.get(answer.status_code, StateError)(message)


class Chat(Element, component=STATIC / "oracle" / "chat.js"):
    """The conversation; `base` is where its modules lie."""

    def __init__(self, base: str) -> None:
        super().__init__()
        self._props["base"] = base


def build(tavern: Tavern, version: str) -> None:
    """Registers the page; version: of the static files."""

    @ui.page(PATH, title=f"Oracle · {lore.TITLE_LINE}")
    async def oracle_page() -> None:
        moment = await tavern.pulse.now()
        ui.add_head_html(f'<link rel="stylesheet" href="/static/{version}/oracle/oracle.css">')
        with frame(tavern, PATH, moment):
            page_heading("Oracle", "Ask a text hero, or two of its checkpoints side by side.")
            Chat(f"/static/{version}/oracle")
