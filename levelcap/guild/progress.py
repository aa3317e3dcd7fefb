"""Levels: when a hero has earned the next one.

An evaluation is 96 problems of the level's mix. When the mean of the last three evaluations at
the level is at least 0.80, one confirmation of 200 fresh problems decides: at 0.75 or more the
level is passed, below it the three are taken back. A level is mastered when, besides, every form
reached 0.6 over those evaluations. Partial credit never counts.
"""

from __future__ import annotations

from dataclasses import asdict, dataclass, field, replace
from typing import Any, Literal

from levelcap.guild.judge import Score
from levelcap.guild.skill import FULL_EXAM, Skill
from levelcap.kit.errors import BadValue, refuse

WINDOW = 3
CONFIRM_COUNT = 200
CONFIRM_BAR = 0.75
FORM_BAR = 0.6
UPDATES_APART = 25
POOLED = 10  # evaluations that per-operation figures are pooled over
LEAST_FOR_A_RULE = 30  # problems below which a per-operation figure is shown but decides nothing
XP_SCALE = 10

Kind = Literal["evaluation", "confirmation"]
Outcome = Literal["evaluated", "ready", "level_up", "not_confirmed"]
Counts = dict[str, tuple[int, int]]


@dataclass(frozen=True)
class Exam:
    """One judged evaluation at a level."""

    kind: Kind
    level: int
    update: int
    accuracy: float
    count: int
    by_form: Counts
    by_operation: Counts


@dataclass(frozen=True)
class Progress:
    """Where a hero stands in a skill; every step makes a new one."""

    skill: str
    version: int
    preset: str | None
    levels: int  # how many the skill has
    passed: int = 0
    xp: int = 0
    window: tuple[Exam, ...] = ()  # evaluations at the current level, newest last, at most 3
    recent: tuple[Exam, ...] = ()  # the last ten of any level
    mastered: tuple[int, ...] = field(default=())
    confirming: bool = False

    @property
    def level(self) -> int:
        """The level being worked on (the last one, when all are passed)."""
        return min(self.passed + 1, self.levels)

    @property
    def wanted(self) -> tuple[Kind, int]:
        """Which exam comes next, and how many problems it has."""
        return ("confirmation", CONFIRM_COUNT) if self.confirming else ("evaluation", FULL_EXAM)

    def due(self, update: int) -> bool:
        """True when enough updates have passed since the last exam; a confirmation may follow at
        once, because it asks whether the same weights are as good as they looked."""
        last = self.recent[-1].update if self.recent else -UPDATES_APART
        return self.confirming or update >= last + UPDATES_APART

    def to_json(self) -> dict[str, Any]:
        """Plain values, for checkpoints and databases."""
        return asdict(self)


def begin(skill: Skill, preset: str | None = None) -> Progress:
    """A hero that has passed nothing yet."""
    skill.check(1, preset)
    return Progress(skill.id, skill.version, preset, skill.levels)


def from_json(value: dict[str, Any], skill: Skill) -> Progress:
    """What `to_json` gave; levels of another version of the skill do not count.

    Raises:
        BadValue: not such a value.
    """
    if value.get("version") != skill.version:
        return begin(skill, value.get("preset"))
    try:
        exams = {name: tuple(_exam(row) for row in value[name]) for name in ("window", "recent")}
        return Progress(**{**value, **exams, "mastered": tuple(value["mastered"])})
    except (KeyError, TypeError) as error:
        remedy = "Use what Progress.to_json returned"
        raise BadValue(refuse(f"not a progress ({error})", value, remedy)) from error


def _exam(row: dict[str, Any]) -> Exam:
    pairs = {
        name: {key: (int(right), int(count)) for key, (right, count) in row[name].items()}
        for name in ("by_form", "by_operation")
    }
    return Exam(**{**row, **pairs})


def record(progress: Progress, score: Score, update: int, skill: Skill) -> tuple[Progress, Outcome]:
    """Takes in the exam that `progress.wanted` asked for.

    Args:
        progress: as it was.
        score: of the exam at `progress.level`.
        update: the hero's optimizer updates so far.
        skill: the skill, for the level's bar and experience.

    Returns:
        The next progress, and what happened: "ready" means that a confirmation comes next.

    Raises:
        BadValue: too few problems, or fewer than 25 updates after the last exam.
    """
    kind, count = progress.wanted
    if score.count < count:
        raise BadValue(refuse(f"a {kind} has {count} problems", score.count, "Ask them all"))
    if not progress.due(update):
        remedy = f"Train {UPDATES_APART} updates between exams"
        raise BadValue(refuse("an exam too soon after the last", update, remedy))
    counts = (score.count, score.by_form, score.by_operation)
    exam = Exam(kind, progress.level, update, score.accuracy, *counts)
    row = skill.file.levels[progress.level - 1]
    seen = replace(
        progress,
        xp=progress.xp + int(XP_SCALE * row.xp * score.accuracy),
        recent=(*progress.recent, exam)[-POOLED:],
    )
    if kind == "confirmation":
        return _confirmed(seen, exam)
    window = (*seen.window, exam)[-WINDOW:]
    mean = sum(e.accuracy for e in window) / WINDOW
    ready = len(window) == WINDOW and mean >= skill.file.threshold - 1e-9
    ready = ready and seen.passed < seen.levels
    return replace(seen, window=window, confirming=ready), "ready" if ready else "evaluated"


def _confirmed(progress: Progress, exam: Exam) -> tuple[Progress, Outcome]:
    """Passes the level, or takes the window back."""
    cleared = replace(progress, window=(), confirming=False)
    if exam.accuracy < CONFIRM_BAR:
        return cleared, "not_confirmed"
    forms = pooled([*progress.window, exam], "by_form")
    good = all(right / count >= FORM_BAR for right, count in forms.values())
    mastered = (*progress.mastered, exam.level) if good else progress.mastered
    return replace(cleared, passed=progress.passed + 1, mastered=mastered), "level_up"


def pooled(exams: list[Exam], which: Literal["by_form", "by_operation"]) -> Counts:
    """Right and count of every form or operation over several exams."""
    found: Counts = {}
    for exam in exams:
        for name, (right, count) in getattr(exam, which).items():
            before = found.get(name, (0, 0))
            found[name] = (before[0] + right, before[1] + count)
    return found
