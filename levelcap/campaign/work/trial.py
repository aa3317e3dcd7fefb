"""`trial`: may a checkpoint be champion? The whole trial against who reigns, and its verdict."""

from __future__ import annotations

from collections.abc import Callable
from typing import Annotated, ClassVar, Literal

from pydantic import Field

from levelcap.campaign.kinds.heroes import kind_of_role
from levelcap.campaign.story import quests
from levelcap.campaign.story.events import say
from levelcap.campaign.story.skills import track
from levelcap.campaign.work.base import Bench, Desk, Limits, Recipe, Result, Work
from levelcap.campaign.work.fields import Name, Ruleset, Seed
from levelcap.jobs.job import Job
from levelcap.jobs.store import Store
from levelcap.kit.db import Connection, reading
from levelcap.kit.paths import folder
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
    subject: Name | None = None
    """of a text hero: skill or preset ~ level"""
    held: Name | None = None
    """the same of the champion"""
    base: Name | None = None
    """the checkpoint that drift is measured from"""

    def perform(self, bench: Bench) -> Result:
        """Judge it."""
        done = 0

        def tell(what: str) -> None:
            nonlocal done
            done += 1
            # How long a sequential test will take nobody knows: it comes nearer and never arrives.
            bench.context.progress(1 - 0.97**done, what)

        return self._of_text(bench, tell) if self.subject else self._of_arena(bench, tell)

    def _of_text(self, bench: Bench, tell: Callable[[str], None]) -> Result:
        from levelcap.trials.cost import prices
        from levelcap.trials.text_trial import TextEntrant, run_text_trial

        def entrant(name: str, stands: str | None, spent: float = 0.0) -> TextEntrant:
            of, _, level = str(stands).rpartition("~")
            skill, preset = track(of)
            return TextEntrant(name, bench.locate(name), skill.id, int(level), preset, spent)

        pair = (
            entrant(self.checkpoint, self.subject, self.core_seconds),
            entrant(self.champion, self.held),
        )
        base = None if self.base is None else entrant(self.base, self.subject)
        told = run_text_trial(*pair, base=base, seed=self.seed, prices=prices(), tell=tell)
        return told.as_json()

    def _of_arena(self, bench: Bench, tell: Callable[[str], None]) -> Result:
        from levelcap.play.load import load_checkpoint
        from levelcap.trials.cost import prices
        from levelcap.trials.speed import size_of
        from levelcap.trials.suite import Entrant, Plan, run_trial

        def entrant(name: str, spent: float) -> Entrant:
            place = bench.locate(name)
            return Entrant(name, load_checkpoint(place), size_of(place), spent)

        pair = entrant(self.checkpoint, self.core_seconds), entrant(self.champion, 0.0)
        plan = Plan(self.minutes, self.matches, prices=prices(), replays=folder("replays"))
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

    quest: Literal["trial"] = "trial"
    checkpoint: Name = "latest"
    against: Name = "champion"
    minutes: TestMinutes = 10.0

    def describe(self) -> str:
        """The title."""
        return f"Trial of {self.checkpoint} against {self.against}"

    def order(self, desk: Desk) -> TrialWork:
        """The work, in the world or skill of the candidate."""
        entry = resolve(desk.store.engine, self.checkpoint, desk.hero)
        other = resolve(desk.store.engine, self.against, desk.hero)
        with reading(desk.store.engine) as connection:
            asked = kind_of_role(entry.role).trial_order(connection, entry, other)
        own = {"seed": self.seed} if self.seed else {}
        return TrialWork.model_validate(asked | own | {"minutes": self.minutes})
