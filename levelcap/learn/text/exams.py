"""When a hero is examined, on what, and what follows from it.

An exam is 96 fresh problems of the level's whole mix, answered greedily by the slow weights and
judged strictly; `levelcap.guild.progress` says what it takes to pass a level.
"""

from __future__ import annotations

import time
from collections.abc import Sequence
from dataclasses import asdict, replace
from typing import Any

from levelcap.guild.engine import Guild
from levelcap.guild.judge import Score
from levelcap.guild.progress import Progress, begin, from_json, record
from levelcap.guild.skill import Problem
from levelcap.kit.seeds import chain
from levelcap.learn.engine.state import State
from levelcap.learn.engine.task import Event
from levelcap.learn.text.config import TextConfig
from levelcap.play.answers import TextHero

EXAM_WORD = 0x6578616D
MEMORY = 0.9  # of the running share of lessons answered exactly


class Examiner:
    """Examines while training goes on; its `examine` is a hook of the loop."""

    def __init__(
        self, guild: Guild, progress: Progress, config: TextConfig, hero: TextHero, seed: int
    ) -> None:
        """hero: with a net of its own, into which the weights to be judged are loaded."""
        self.guild, self.progress, self.config = guild, progress, config
        self.hero, self.seed = hero, seed
        self.exams = 0
        self.running = 0.0
        self.examined_at = 0
        self.seconds = 0.0

    @property
    def level(self) -> int:
        """The level being worked on."""
        return self.progress.level

    def heard(self, exact: float) -> None:
        """The share of lessons answered exactly in an update."""
        self.running = MEMORY * self.running + (1 - MEMORY) * exact

    def due(self, update: int) -> bool:
        """Often while the lessons themselves go well, rarely otherwise."""
        # An exam costs about as much as ten updates: lessons say when it may be passed.
        hopeful = self.running >= self.config.exam_hope
        wait = self.config.exam_every if hopeful else self.config.exam_rarely
        return update - self.examined_at >= wait

    def examine(self, weights: dict[str, Any], update: int) -> Sequence[Event]:
        """Hold an exam if one is due, and the confirmation if it is earned."""
        if not self.due(update):
            return ()
        began = time.monotonic()
        # A net of its own: exams must not disturb the weights that learn.
        self.hero.net.load_state_dict(weights)
        self.examined_at = update
        events = self._hold(update)
        if self.progress.confirming:
            events += self._hold(update)
        self.seconds += time.monotonic() - began
        for event in events:
            event.values["exam_seconds"] = round(self.seconds, 3)
        return events

    def _hold(self, update: int) -> list[Event]:
        """The exam that comes next, with problems no exam had before."""
        now = self.progress
        kind, count = now.wanted
        # No exam ever sees a problem of an earlier one.
        seed = chain(self.seed, EXAM_WORD, self.exams)
        self.exams += 1
        score = hold_exam(self.guild, self.hero, now.skill, now.level, count, seed, now.preset)
        skill = self.guild.get(now.skill)
        self.progress, outcome = record(now, score, update, skill)
        told = [Event(kind, {"level": now.level, "outcome": outcome, **asdict(score)})]
        if outcome == "level_up":
            # A new level starts unproven.
            self.running = 0.0
            after = self.progress
            values = {
                "skill": now.skill,
                "preset": now.preset,
                "level": after.passed + 1,
                "mastered": now.level in after.mastered,
                "xp": after.xp,
            }
            told.append(Event("level_up", values))
        return told

    def state(self) -> State:
        """Everything that decides what happens next; the seconds are for the report."""
        counters = {n: getattr(self, n) for n in ("exams", "running", "examined_at", "seconds")}
        return State({}, {"progress": self.progress.to_json(), **counters})

    def restore(self, state: State) -> None:
        """Take it back."""
        values = state.values
        skill = self.guild.get(self.progress.skill)
        self.progress = from_json(values["progress"], skill)
        self.exams, self.running = int(values["exams"]), float(values["running"])
        self.examined_at, self.seconds = int(values["examined_at"]), float(values["seconds"])


def starting_at(guild: Guild, skill: str, level: int, preset: str | None) -> Progress:
    """The progress of a hero that has passed everything below `level` elsewhere."""
    guild.get(skill).check(level, preset)
    return replace(begin(guild.get(skill), preset), passed=level - 1)


def hold_exam(
    guild: Guild, hero: TextHero, skill: str, level: int, count: int, seed: int, preset: str | None
) -> Score:
    """The judge's score of one exam."""
    problems = guild.generate_eval_batch(skill, level, count, seed, preset)
    return judge(guild, hero, problems)


def judge(guild: Guild, hero: TextHero, problems: Sequence[Problem]) -> Score:
    """Score of greedy answers, without generating them.

    An answer that is not exactly the wanted one is handed to the judge as no answer: it is wrong
    either way, and its partial credit is not known here.
    """
    right = hero.exact([p.prompt for p in problems], [p.answer for p in problems])
    answers = [p.answer if good else None for p, good in zip(problems, right, strict=True)]
    return guild.score_eval(problems, answers)
