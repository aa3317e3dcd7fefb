"""A whole trial of a text hero: skill, format, leaks, drift, speed and cost against who reigns.

    a, b = TextEntrant("a", place, "bin", 3), TextEntrant("b", other, "sy", 2)
    verdict = run_text_trial(a, b, seed=1)

Both answer the same fresh problems of the candidate's level. What it knew before must stay: its
passives are held against those of its schooled base (the champion's, if there is none), its answers
at the champion's level against the champion's. The constitution has two rules for text: answers
end by themselves and hold only signs that answers have (`format`), and the passive problems that
every checkpoint is asked are answered no better than fresh ones of their kind (`leak`): who was
taught the answers of its exams is found by that. A saving (20 % less time or bytes) may be equal.
"""

from __future__ import annotations

import time
from collections.abc import Callable
from dataclasses import dataclass
from pathlib import Path
from statistics import median
from typing import Any

import numpy as np
from numpy.typing import NDArray

from levelcap.guild.engine import get_engine
from levelcap.guild.passives import FULL, PASSIVES, exam
from levelcap.guild.skill import FULL_EXAM, Problem
from levelcap.kit.seeds import chain, check_seed
from levelcap.kit.stats import mean_interval, share_difference, wilson
from levelcap.play.answers import TextHero, load_text_hero
from levelcap.trials.constitution import Rule, load_constitution
from levelcap.trials.cost import Meter, Prices, cost_of
from levelcap.trials.exam import PASSIVE_SEED
from levelcap.trials.gate import judge_trial
from levelcap.trials.speed import size_of
from levelcap.trials.suite import SAVING
from levelcap.trials.verdict import Figure, Verdict

EXAMS = 4  # of 96 problems each
EQUAL = -0.05  # a saving may lose so much accuracy at most, for certain
TIMED = 12  # answers
Part = dict[str, Any]


@dataclass(frozen=True)
class TextEntrant:
    """Who is judged, or reigns, or is the base: its name in the verdict, and where it stands."""

    name: str
    place: Path
    skill: str
    level: int
    preset: str | None = None
    core_seconds: float = 0.0

    def problems(self, count: int, seed: int) -> list[Problem]:
        """Fresh ones of its own level."""
        return get_engine().generate_eval_batch(self.skill, self.level, count, seed, self.preset)


def run_text_trial(
    candidate: TextEntrant,
    champion: TextEntrant,
    *,
    base: TextEntrant | None = None,
    seed: int = 0,
    prices: Prices | None = None,
    tell: Callable[[str], None] = lambda what: None,
) -> Verdict:
    """Judge a candidate; seed: draws every fresh problem. tell: what is done next."""
    check_seed(seed)
    meter = Meter()
    hero, reigning = load_text_hero(candidate.place), load_text_hero(champion.place)
    problems = candidate.problems(EXAMS * FULL_EXAM, seed)
    tell(f"an exam of both: {len(problems)} fresh problems")
    times = [_answer_ms(who, problems) for who in (hero, reigning)]
    sizes = [size_of(who.place) for who in (candidate, champion)]
    saves = times[0] <= SAVING * times[1] or sizes[0] <= SAVING * sizes[1]
    gap = _gap(_right(hero, problems), _right(reigning, problems))
    passed = gap[1] > (EQUAL if saves else 0.0)
    said = f"{candidate.preset or candidate.skill} level {candidate.level}: {_points(gap)}"
    said += f" of {len(problems)} fresh problems"
    said += f", a saving (time × {times[0] / times[1]:.2f}, bytes {sizes})" if saves else ""
    parts: dict[str, Part] = {"strength": {"passed": passed, "why": said, "difference": gap}}
    tell(f"safety: form and leaks; {_points(gap)} to the champion so far")
    parts["safety"] = _safety(hero, problems, seed)
    tell("drift: what it knew before")
    asked = {
        "passives": (_passives(PASSIVE_SEED), base or champion),
        "the champion's level": (champion.problems(FULL_EXAM, seed), champion),
    }
    drift = {
        name: _gap(_right(hero, ask), _right(load_text_hero(old.place), ask))
        for name, (ask, old) in asked.items()
    }
    lost = [name for name, moved in drift.items() if moved[2] < EQUAL]
    why = "; ".join(f"{name} {_points(drift[name])}" for name in lost or drift)
    parts["drift"] = {"passed": not lost, "why": why, "differences": drift}
    parts["speed"] = {"passed": True, "why": f"{times[0]:.1f} ms an answer", "ms": times}
    points: Figure = (100 * gap[0], 100 * gap[1], 100 * gap[2])
    watts = meter.watts_per_core()
    cost = cost_of(candidate.core_seconds, points, watts=watts, prices=prices)
    known = cost["text"].replace("an Elo", "a point of accuracy")
    parts["cost"] = cost | {"passed": cost["per_elo"] is not None, "why": known}
    return judge_trial(candidate.name, champion.name, parts, {"difference": gap})


def _safety(hero: TextHero, problems: list[Problem], seed: int) -> Part:
    """The rules of the constitution that are about text."""
    signs = {sign for problem in problems for sign in problem.answer}
    longest = 2 * max(len(problem.answer) for problem in problems)
    answers = hero.answers([problem.prompt for problem in problems[:FULL_EXAM]], longest)
    formed = [0 < len(a) < longest and set(a) <= signs for a in answers]
    form = float(np.mean(formed))
    kept, fresh = (_right(hero, _passives(s)) for s in (PASSIVE_SEED, chain(seed, 1) >> 1))
    leak = share_difference(float(kept.mean()), float(fresh.mean()), len(kept))
    # A rule is broken when even the kind end of the interval lies beyond its bound.
    ends = {"format": (form, wilson(form, len(formed))[1]), "leak": (leak[0], leak[1])}
    rules = {rule.name: rule for rule in load_constitution() if rule.name in ends}
    rows = {name: _held(rule, *ends[name]) for name, rule in rules.items()}
    broken = [n for n, row in rows.items() if not row["passed"] and rules[n].refuses]
    why = "; ".join(f"{n} {rows[n]['value']:.3f}, {rows[n]['bound']}" for n in broken)
    return {"passed": not broken, "why": why or "every rule that refuses is kept", "rules": rows}


def _held(rule: Rule, value: float, kind: float) -> Part:
    fine = kind >= rule.bound if rule.side == "least" else kind <= rule.bound
    return {"value": value, "bound": f"{rule.side} {rule.bound:g}", "passed": fine}


def _passives(seed: int) -> list[Problem]:
    return [problem for name in PASSIVES for problem in exam(name, FULL, seed)]


def _right(hero: TextHero, problems: list[Problem]) -> NDArray[np.float64]:
    right = hero.exact([p.prompt for p in problems], [p.answer for p in problems])
    return right.astype(np.float64)


def _gap(one: NDArray[np.float64], other: NDArray[np.float64]) -> Figure:
    """Of answers to the same problems, with its interval."""
    return float((one - other).mean()), *mean_interval(one - other)


def _points(gap: Figure) -> str:
    return f"{100 * gap[0]:+.1f} points ({100 * gap[1]:+.1f} to {100 * gap[2]:+.1f})"


def _answer_ms(hero: TextHero, problems: list[Problem]) -> float:
    """Of one answer, the middle one of some."""
    times = []
    for problem in problems[:TIMED]:
        began = time.perf_counter()
        hero.answers([problem.prompt])
        times.append(1e3 * (time.perf_counter() - began))
    return median(times)
