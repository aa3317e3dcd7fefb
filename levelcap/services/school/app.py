"""A skill server: what the skill is, its levels, lessons on demand, an exam of a level."""

from __future__ import annotations

import secrets
from typing import Annotated, Any

from fastapi import FastAPI, Query
from pydantic import Field

from levelcap.guild.engine import get_engine
from levelcap.guild.skill import FULL_EXAM, Problem, Skill
from levelcap.services.door.fields import Body, Number, Seed
from levelcap.services.door.http import make_app, serve
from levelcap.services.door.rights import Routes
from levelcap.services.door.tokens import Tokens, load_tokens
from levelcap.services.process import lifeline

MOST = 500  # problems of one answer
LevelNumber = Annotated[int, Field(ge=1, le=1000)]


class Order(Body):
    """Lessons wanted; without a seed, others every time."""

    level: LevelNumber
    count: Annotated[int, Field(ge=1, le=MOST)] = 1
    seed: Seed | None = None


def name_of(skill: str) -> str:
    """The service that serves a skill."""
    return f"school-{skill}"


def make_school(skill: str, *, tokens: Tokens, port: int, lan: bool = False) -> FastAPI:
    """Makes the app of one skill."""
    found = get_engine().get(skill)
    app = make_app(name_of(skill), tokens=tokens, port=port, lan=lan)
    door = Routes(app)

    @door.get("/info", "viewer")
    def info() -> dict[str, Any]:
        """What the skill is."""
        about = {name: value for name, value in found.info().items() if name != "id"}
        return {"skill": found.id, **about, "presets": list(found.presets), "most": MOST}

    @door.get("/levels", "viewer")
    def levels() -> dict[str, Any]:
        """Every level, those without a generator yet marked so."""
        return {"levels": [_level(found, row) for row in found.file.levels]}

    @door.post("/generate", "viewer")
    def generate(order: Order) -> dict[str, Any]:
        """Lessons of a level, never exam problems; the same seed gives the same."""
        found.check(order.level)
        seed = secrets.randbits(53) if order.seed is None else order.seed
        made = [found.lesson(order.level, seed=seed, index=n) for n in range(order.count)]
        return _samples(order.level, seed, made)

    @door.get("/eval", "viewer")
    def exam(
        level: Annotated[int, Query(ge=1, le=1000)],
        count: Annotated[int, Query(ge=1, le=MOST)] = FULL_EXAM,
        seed: Number | None = None,
    ) -> dict[str, Any]:
        """An exam of a level: problems no lesson holds where the level's pool is large enough."""
        found.check(level)
        chosen = secrets.randbits(53) if seed is None else seed
        return _samples(level, chosen, found.exam(level, count, chosen))

    return app


def _level(skill: Skill, row: Any) -> dict[str, Any]:
    told = {
        "level": row.level,
        "name": row.name,
        "eval_samples": skill.file.eval_samples,
        "threshold": skill.file.threshold,
        "xp": row.xp,
        "mix": row.mix,
        "built": row.level <= skill.levels,
    }
    if row.level <= skill.levels:
        pool = skill.pool(row.level)
        told |= {"pool": pool.size, "pool_exact": pool.exact, "memorisable": pool.memorisable}
    return told


def _samples(level: int, seed: int, made: list[Problem]) -> dict[str, Any]:
    rows = [
        {
            "id": f"{p.skill}-{p.level}-{p.key}",
            "user_prompt": p.prompt,
            "assistant_response": p.answer,
            "tags": [
                p.skill,
                f"level:{p.level}",
                f"form:{p.form}",
                f"operation:{p.operation}",
                *p.primitives,
            ],
            "rubric": "exact",
        }
        for p in made
    ]
    return {"count": len(rows), "level": level, "seed": seed, "samples": rows}


def main(skill: str) -> None:
    """Serves one skill until told to stop."""
    launch = lifeline.start(name_of(skill))
    app = make_school(skill, tokens=load_tokens(), port=launch.port, lan=launch.lan)
    serve(app, host=launch.host, port=launch.port, name=launch.name)
