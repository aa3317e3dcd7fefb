"""When a hero is examined, on what, and what follows from it.

An exam is 96 fresh problems of the level's whole mix, answered greedily by the slow weights and
counted only when the answer is right character for character. Passing follows the rulings: the
mean of the last three exams at this level, then one confirmation.
"""

from __future__ import annotations

import time
from collections.abc import Sequence
from dataclasses import dataclass, field
from typing import Any

import numpy as np

from levelcap.kit.seeds import chain
from levelcap.learn.engine.state import State
from levelcap.learn.engine.task import Event
from levelcap.learn.text.config import TextConfig
from levelcap.learn.text.lessons import Plan
from levelcap.play.answers import TextHero

EXAM, CONFIRMATION = 96, 200
PASS, CONFIRM, LAST = 0.80, 0.75, 3
MASTERED = 0.6
EXAM_WORD = 0x6578616D
MEMORY = 0.9  # of the running share of lessons answered exactly


@dataclass
class Standing:
    """How far the hero is: its level, its exams at that level, and what came before."""

    level: int = 1
    scores: list[float] = field(default_factory=list)
    exams: int = 0
    examined_at: int = -(10**9)
    running: float = 0.0
    seconds: float = 0.0


class Examiner:
    """Examines while training goes on; its `examine` is a hook of the loop."""

    def __init__(
        self, guild: Any, plan: Plan, config: TextConfig, hero: TextHero, seed: int
    ) -> None:
        """guild: `levelcap.guild.engine`'s engine; hero: a net of its own to load weights into."""
        self.guild, self.plan, self.config, self.hero, self.seed = guild, plan, config, hero, seed
        self.levels = int(guild.get(plan.skill).levels)
        self.now = Standing()

    def heard(self, exact: float) -> None:
        """The share of lessons answered exactly in an update."""
        self.now.running = MEMORY * self.now.running + (1 - MEMORY) * exact

    def due(self, update: int) -> bool:
        """Often while the lessons themselves go well, rarely otherwise."""
        hopeful = self.now.running >= self.config.exam_hope
        wait = self.config.exam_every if hopeful else self.config.exam_rarely
        return update - max(self.now.examined_at, 0) >= wait

    def examine(self, weights: dict[str, Any], update: int) -> Sequence[Event]:
        """Hold an exam if one is due; returns what happened."""
        if not self.due(update):
            return ()
        began = time.monotonic()
        self.hero.net.load_state_dict(weights)
        now, events = self.now, []
        found = self._hold(EXAM)
        now.examined_at = update
        now.scores.append(found["accuracy"])
        events.append(Event("exam", found))
        if len(now.scores) >= LAST and float(np.mean(now.scores[-LAST:])) >= PASS:
            confirmed = self._hold(CONFIRMATION)
            events.append(Event("confirmation", confirmed))
            if confirmed["accuracy"] >= CONFIRM:
                events.append(self._rise(confirmed))
        now.seconds += time.monotonic() - began
        return events

    def _hold(self, count: int) -> dict[str, Any]:
        """One exam at the current level, with seeds no exam had before."""
        now, plan = self.now, self.plan
        seed = chain(self.seed, EXAM_WORD, now.exams)
        now.exams += 1
        return hold_exam(self.guild, self.hero, plan.skill, now.level, count, seed, plan.preset)

    def _rise(self, confirmed: dict[str, Any]) -> Event:
        now = self.now
        mastered = all(right >= MASTERED * count for right, count in confirmed["by_form"].values())
        passed = now.level
        now.level = min(now.level + 1, self.levels)
        now.scores, now.running = [], 0.0
        return Event("level_up", {"skill": self.plan.skill, "preset": self.plan.preset,
                                  "passed": passed, "level": passed + 1, "mastered": mastered,
                                  "exam_seconds": round(now.seconds, 3)})  # fmt: skip

    def state(self) -> State:
        """Everything that decides what happens next; exam seconds are kept for the report."""
        return State({}, dict(vars(self.now)))

    def restore(self, state: State) -> None:
        """Take it back."""
        self.now = Standing(**{**state.values, "scores": list(state.values["scores"])})


def hold_exam(
    guild: Any, hero: TextHero, skill: str, level: int, count: int, seed: int, preset: str | None
) -> dict[str, Any]:
    """Accuracy of one exam, by form and by operation, as plain values."""
    problems = guild.generate_eval_batch(skill, level=level, count=count, seed=seed, preset=preset)
    right = hero.exact([p.prompt for p in problems], [p.answer for p in problems])
    by_form: dict[str, list[int]] = {}
    by_operation: dict[str, list[int]] = {}
    for problem, good in zip(problems, right.tolist(), strict=True):
        for table, name in ((by_form, problem.form), (by_operation, problem.operation)):
            entry = table.setdefault(name, [0, 0])
            entry[0] += int(good)
            entry[1] += 1
    return {"level": level, "accuracy": float(right.mean()), "count": len(problems),
            "by_form": by_form, "by_operation": by_operation}  # fmt: skip
