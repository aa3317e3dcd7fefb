"""Routes that the Oracle's page calls. No torch: the Oracle answers, the guild judges.

Answers come as server-sent events through a
route of our own; a browser that stops listening closes the way to the Oracle, which then stops.
"""

from __future__ import annotations

import json
from collections.abc import AsyncIterator
from typing import Annotated, Any

from fastapi import APIRouter, Query
from pydantic import Field
from starlette.responses import StreamingResponse

from levelcap.guild.engine import get_engine
from levelcap.guild.skill import Problem
from levelcap.kit.errors import BadValue, LevelcapError
from levelcap.services.door.fields import Body, Id, Number, Seed
from levelcap.services.door.rights import Routes
from levelcap.services.tavern import lore
from levelcap.services.tavern.arena import OracleClient

PATH = "/oracle"
EVENTS = "text/event-stream"
PROBLEMS = 8  # of an exam, of which one is asked
Level = Annotated[int, Field(ge=1, le=1000)]
Skill = Annotated[str, Field(max_length=20)]


class ChatBody(Body):
    """A prompt for one checkpoint; the Oracle says what it may hold."""

    checkpoint: Id
    prompt: Annotated[str, Field(min_length=1, max_length=8_000)]
    temperature: Annotated[float, Field(ge=0, le=10, allow_inf_nan=False)] = 0.0
    max_tokens: Annotated[int, Field(ge=1, le=1_024)] = 256


class AnswerBody(Body):
    """An answer to a problem of the guild."""

    skill: Skill
    level: Level
    seed: Seed
    answer: Annotated[str, Field(max_length=20_000)]


class TypedBody(Body):
    """An answer to a problem that a person wrote."""

    prompt: Annotated[str, Field(min_length=1, max_length=2_000)]
    answer: Annotated[str, Field(max_length=20_000)]


def routes(oracle: OracleClient) -> APIRouter:
    """What the page's element calls."""
    door = Routes(APIRouter(prefix=PATH, tags=["oracle"]))

    @door.get("/api/checkpoints", "viewer")
    def checkpoints() -> dict[str, Any]:
        """Text checkpoints, newest first, and the skills problems can be drawn from."""
        found = oracle.call("GET", "/models")
        skills = [
            {"id": skill.id, "name": skill.name, "levels": skill.levels}
            for skill in get_engine().skills.values()
        ]
        rows = [{"id": row["id"], "label": checkpoint_label(row)} for row in found["text"]]
        return {"checkpoints": rows, "champion": found["text_champion"], "skills": skills}

    @door.post("/api/chat", "admin", response_class=StreamingResponse)
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
            said = await oracle.stream("POST", "/v1/chat/completions", asked)
        except LevelcapError as error:
            # No status of an error: browsers write those into their console.
            said = _one_event({"error": {"message": str(error)}})
        return StreamingResponse(said, media_type=EVENTS)

    @door.get("/api/problem", "viewer")
    def problem(
        skill: Annotated[str, Query(max_length=20)],
        level: Annotated[int, Query(ge=1, le=1000)],
        seed: Number,
    ) -> dict[str, Any]:
        """A problem of a level that no lesson holds."""
        found = draw(skill, level, seed)
        return {"prompt": found.prompt, "form": found.form, "operation": found.operation}

    @door.post("/api/judge", "viewer")
    def judge(body: AnswerBody) -> dict[str, Any]:
        """Is an answer right, and what would be."""
        found = draw(body.skill, body.level, body.seed)
        mark = get_engine().grade(found, body.answer)
        return {"right": mark.right, "wanted": get_engine().solve(found)}

    @door.post("/api/judge_typed", "admin")
    def judge_typed(body: TypedBody) -> dict[str, Any]:
        """The same of a prompt that the guild can solve; by: the skill, "" when none can."""
        for skill in get_engine().skills.values():
            try:
                wanted = skill.solve(body.prompt)
            except BadValue:
                continue  # no prompt of this skill
            right = skill.grade(body.prompt, body.answer).right
            return {"right": right, "wanted": wanted, "by": skill.id}
        return {"right": False, "wanted": "", "by": ""}

    return door.where


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
