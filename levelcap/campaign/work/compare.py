"""`test`: is A stronger than B? Pairs of games until a sequential test says so."""

from __future__ import annotations

import time
from typing import Annotated, ClassVar, Literal

from numpy.typing import ArrayLike
from pydantic import Field

from levelcap.campaign.story import quests, tests
from levelcap.campaign.story.events import say
from levelcap.campaign.work.base import Bench, Desk, Limits, Recipe, Result, Work
from levelcap.campaign.work.fields import Name, Ruleset, Seed
from levelcap.jobs.job import Interrupted, Job
from levelcap.jobs.store import Store
from levelcap.kit.db import Connection
from levelcap.kit.errors import BadValue, refuse
from levelcap.vault.ask import resolve
from levelcap.vault.ledger import Entry
from levelcap.world.players.bot_names import is_bot

Preset = Literal["gain", "no-regression", "simplify"]
TestMinutes = Annotated[float, Field(gt=0, le=600)]


class Comparison(Work):
    """A sequential test of two players, checkpoints or bots."""

    type: ClassVar[str] = "test"
    limits: ClassVar[Limits] = Limits(36_000, 3, 100, 1, "reject", ("eval_worker",))

    test: Name
    a: Name
    b: Name
    world: Ruleset = "duel"
    preset: Preset = "gain"
    minutes: TestMinutes = 10.0
    seed: Seed = 0

    def perform(self, bench: Bench) -> Result:
        """Play; a test that was broken off begins anew, with the same games."""
        from levelcap.kit.seeds import chain
        from levelcap.play.load import load_checkpoint
        from levelcap.play.matchup import play_games
        from levelcap.play.roster import find
        from levelcap.trials.sprt import UNIT, SequentialTest, preset_of, run

        first, second = (
            find(name) if is_bot(name) else load_checkpoint(bench.locate(name))
            for name in (self.a, self.b)
        )
        test, began = SequentialTest(preset_of(self.preset, self.world)), time.monotonic()

        def unit(number: int) -> ArrayLike:
            if bench.context.stopping.is_set() or bench.context.cancelled.is_set():
                raise Interrupted("the worker ends")
            return play_games(first, second, self.world, UNIT, chain(self.seed, number)).scores

        def tell() -> None:
            played = float(test.counts.sum()) / test.preset.most_pairs
            bench.context.progress(max(played, abs(2 * test.share - 1)), test.line())

        run(test, unit, minutes=self.minutes, on_unit=tell)
        seconds = round(time.monotonic() - began, 2)
        return test.as_json() | {"block": test.block(), "seconds": seconds}

    def effect(self, connection: Connection, store: Store, job: Job, result: Result) -> None:
        """Keep it and say so."""
        verdict = str(result["verdict"])
        tests.keep(connection, self.test, self.model_dump(), result)
        quests.end(connection, job.id, "done", result)
        said = f"{self.a} against {self.b}: {self.preset} {verdict}. {result['block']}"
        severity = "success" if verdict == "passed" else "info"
        data = {"test": self.test, "verdict": verdict, "job": job.id}
        say(connection, "eval.test_ended", said, severity=severity, data=data)


class ComparisonRecipe(Recipe):
    """Test whether A is stronger than B; each a checkpoint (id, champion, latest …) or a bot."""

    hero_kind: ClassVar[str | None] = "arena"

    quest: Literal["test"] = "test"
    a: Name = "latest"
    b: Name = "champion"
    world: Ruleset | None = None
    """nothing: that of the checkpoints, duel for two bots"""
    preset: Preset = "gain"
    minutes: TestMinutes = 10.0

    def describe(self) -> str:
        """The title."""
        return f"Test {self.a} against {self.b}: {self.preset}"

    def order(self, desk: Desk) -> Comparison:
        """The work; two players of different worlds are refused."""
        named = [_player(desk, name) for name in (self.a, self.b)]
        own = {who.world or "duel" for who in named if isinstance(who, Entry)}
        worlds = own if self.world is None else {*own, self.world}
        if len(worlds) > 1:
            remedy = "Name two checkpoints of one world"
            raise BadValue(refuse("a test has one world", sorted(worlds), remedy))
        first, second = (who.id if isinstance(who, Entry) else who for who in named)
        if first == second:
            raise BadValue(refuse("a test needs two players", first, "Name another one"))
        found = {"test": f"test-{desk.number}", "a": first, "b": second}
        found["world"] = worlds.pop() if worlds else "duel"
        return Comparison.model_validate(self.shared(Comparison) | found)


def _player(desk: Desk, name: str) -> Entry | str:
    return name if is_bot(name) else resolve(desk.store.engine, name, desk.hero)
