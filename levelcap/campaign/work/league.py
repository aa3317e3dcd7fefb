"""`league`: a season of players that learn against each other, from a checkpoint."""

from __future__ import annotations

from typing import Any, ClassVar, Literal

from pydantic import Field

from levelcap.campaign.story.runs import SKIP, NewRun
from levelcap.campaign.work.base import Bench, Desk, Limits, Recipe, Result
from levelcap.campaign.work.fields import Knobs, Minutes, Name, Ruleset, pairs
from levelcap.campaign.work.snapshots import meta_of
from levelcap.campaign.work.training import NEWEST, Training
from levelcap.jobs.job import Interrupted
from levelcap.learn.engine.overrides import apply
from levelcap.learn.league.config import MAIN, LeagueConfig
from levelcap.learn.rl.config import for_world
from levelcap.vault.ask import resolve

LADDER_GAMES = 100  # of neighbouring bots: enough to tie what is shown to the anchor


class LeagueRound(Training):
    """Play a season; `knobs` are the league's rules, `learning` those of its learners."""

    type: ClassVar[str] = "league_round"
    limits: ClassVar[Limits] = Limits(86_400 * 31, 50, 20, 1, "reject", ("trainer",))

    world: Ruleset = "duel"
    start: Name
    learning: Knobs = {}

    def new_run(self) -> NewRun:
        """A run in a world, from a checkpoint."""
        words = ["league", "start", "--world", self.world, "--seed", str(self.seed)]
        words += ["--minutes", f"{self.minutes:g}", "--from", self.start]
        words += [word for setting in pairs(self.learning) for word in ("--rl", setting)]
        said = self.command(*words)
        return NewRun(self.run, self.type, self.seed, said, world=self.world, start=self.start)

    def perform(self, bench: Bench) -> Result:
        """Take turns until the season is over."""
        from dataclasses import replace

        from levelcap.learn.league.season import Season, play_season
        from levelcap.trials.league_report import summarise

        start = bench.locate(self.start)
        config = apply(LeagueConfig(), pairs(self.knobs))
        rl = apply(for_world(self.world, meta_of(start).architecture), pairs(self.learning))
        season = Season(self.world, start, self.place, self.minutes, 0, self.seed)
        turns = season.num_turns(config)
        done = 0

        def on_turn(league: Any, row: dict[str, Any]) -> None:
            nonlocal done
            done = league.turn
            frozen = f", frozen as {row['frozen']}" if row["frozen"] else ""
            if row["frozen"]:
                summarise(self.place, ladder_games=LADDER_GAMES)
            said = f"turn {done} of {turns}: {row['player']}{frozen}"
            bench.context.progress(done / turns, said)

        def report(values: dict[str, float]) -> None:
            if bench.context.cancelled.is_set():
                (self.place / "stop").touch()
            said = f"turn {done + 1} of {turns}: {values['steps_per_s']:,.0f} steps/s"
            bench.context.progress(done / turns, said)

        hooks = replace(self.hooks(bench), on_report=report)
        ending = play_season(season, config, rl, hooks, on_turn)
        skip = self.place / SKIP
        skipped = skip.exists()
        skip.unlink(missing_ok=True)
        if ending.interrupted and not skipped:
            raise Interrupted(ending.reason)
        league = ending.league
        names = [p.name for p in sorted((self.place / "snapshots").glob("step-*"))]
        return {
            "run": self.run,
            "snapshots": names[-NEWEST:],
            "reason": ending.reason,
            "skipped": skipped,
            "seconds": round(league.seconds, 2),
            "core_seconds": round(league.core_seconds, 2),
            "steps": league.players[MAIN].steps,
            "updates": league.players[MAIN].updates,
            "bad_updates": 0,
            "players": len(league.players),
        }


class LeagueRecipe(Recipe):
    """A main player and two exploiters take turns at learning, `minutes` in all."""

    hero_kind: ClassVar[str | None] = "arena"

    quest: Literal["league"] = "league"
    world: Ruleset = "duel"
    start: Name = Field(default="champion", alias="from")
    """a checkpoint: its id, champion, best, latest"""
    minutes: Minutes = 30.0
    knobs: Knobs = Field(default={}, alias="set")
    """rules of the league, e.g. main_exploiter_weight"""
    learning: Knobs = {}
    """knobs of the learning, e.g. kl_coef"""

    def describe(self) -> str:
        """The title."""
        return f"A league season in {self.world}, {self.minutes:g} minutes"

    def check(self) -> None:
        """The overrides exist and are in range."""
        apply(LeagueConfig(), pairs(self.knobs))
        apply(for_world(self.world), pairs(self.learning))

    def order(self, desk: Desk) -> LeagueRound:
        """The work: every season is a run of its own."""
        start = resolve(desk.store.engine, self.start, desk.hero).id
        return LeagueRound(
            **self.shared(LeagueRound) | {"run": f"league-{desk.number}", "start": start}
        )
