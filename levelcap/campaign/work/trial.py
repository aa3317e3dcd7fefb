"""`trial`: may a checkpoint be champion? The whole trial against who reigns, and its verdict."""

from __future__ import annotations

from typing import Annotated, ClassVar, Literal

from pydantic import Field

from levelcap.campaign.story import quests
from levelcap.campaign.story.events import say
from levelcap.campaign.work.base import Bench, Desk, Limits, Recipe, Result, Work
from levelcap.campaign.work.fields import Name, Ruleset, Seed
from levelcap.jobs.job import Job
from levelcap.jobs.store import Store
from levelcap.kit.db import Connection
from levelcap.vault.ask import resolve
from levelcap.vault.evals import TRIAL, store_eval

TestMinutes = Annotated[float, Field(gt=0, le=600)]
Matches = Annotated[int, Field(ge=2, le=10_000, multiple_of=2)]


class TrialWork(Work):
    """Screen, sequential test, safety, attacks, speed and cost of a checkpoint."""

    type: ClassVar[str] = "trial"
    limits: ClassVar[Limits] = Limits(7200, 2, 20, 1, "warn", ("eval_worker",))

    checkpoint: Name
    champion: Name
    world: Ruleset = "duel"
    minutes: TestMinutes = 10.0
    matches: Matches = 96
    core_seconds: Annotated[float, Field(ge=0)] = 0.0
    """of training since the champion"""
    seed: Seed = 0

    def perform(self, bench: Bench) -> Result:
        """Judge it."""
        from levelcap.play.load import load_checkpoint
        from levelcap.trials.speed import size_of
        from levelcap.trials.suite import Entrant, Plan, run_trial

        def entrant(name: str, spent: float) -> Entrant:
            place = bench.locate(name)
            return Entrant(name, load_checkpoint(place), size_of(place), spent)

        done = 0

        def tell(what: str) -> None:
            nonlocal done
            done += 1
            # How long a sequential test will take nobody knows: it comes nearer and never arrives.
            bench.context.progress(1 - 0.97**done, what)

        pair = entrant(self.checkpoint, self.core_seconds), entrant(self.champion, 0.0)
        plan = Plan(minutes=self.minutes, matches=self.matches)
        return run_trial(*pair, self.world, plan=plan, seed=self.seed, tell=tell).as_json()

    def effect(self, connection: Connection, store: Store, job: Job, result: Result) -> None:
        """Keep the verdict; the wheel promotes by it."""
        store_eval(connection, self.checkpoint, TRIAL, job.id, self.seed, result)
        quests.end(connection, job.id, "done", {n: result[n] for n in ("passed", "reason")})
        decided = "may be champion" if result["passed"] else "refused"
        severity = "success" if result["passed"] else "info"
        said = f"{self.checkpoint} {decided}: {result['reason']}"
        data = {"checkpoint": self.checkpoint, "passed": result["passed"]}
        say(connection, "eval.completed", said, severity=severity, data=data)


class TrialRecipe(Recipe):
    """Judge a checkpoint against another, the champion if nobody else is named."""

    hero_kind: ClassVar[str | None] = "arena"

    quest: Literal["trial"] = "trial"
    checkpoint: Name = "latest"
    against: Name = "champion"
    minutes: TestMinutes = 10.0

    def describe(self) -> str:
        """The title."""
        return f"Trial of {self.checkpoint} against {self.against}"

    def order(self, desk: Desk) -> TrialWork:
        """The work, in the world of the candidate."""
        entry = resolve(desk.store.engine, self.checkpoint, desk.hero)
        other = resolve(desk.store.engine, self.against, desk.hero)
        costs = [row.cost_core_seconds or 0.0 for row in (entry, other)]
        return TrialWork.model_validate(
            {
                "checkpoint": entry.id,
                "champion": other.id,
                "world": entry.world or "duel",
                "minutes": self.minutes,
                "core_seconds": max(0.0, costs[0] - costs[1]),
                "seed": self.seed,
            }
        )
