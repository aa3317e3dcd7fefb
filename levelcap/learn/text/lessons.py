"""Which problem is number i, and what it looks like in tokens.

Number i is a function of (seed, skill, level, i): a checkpoint keeps the next number, nothing else.
A number's own chance decides where the problem comes from: a lesson file, school, one of the
levels before, or the current level.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path

from levelcap.guild.gate import check_lessons, refuse_file
from levelcap.guild.rng import Rng
from levelcap.guild.school import school_lesson
from levelcap.guild.skill import FULL_EXAM, Problem, Skill, quotas
from levelcap.kit.seeds import chain
from levelcap.learn.text.config import TextConfig
from levelcap.nets.text.tokens import Tokens
from levelcap.play.answers import BETWEEN

CURRENT, BEFORE, SCHOOL, FILE = "current", "before", "school", "file"
MIX_WORD, FILE_WORD, FORM_WORD = 0x6D6978, 0x66696C65, 0x666F726D
WHOLE = 2.0**64


@dataclass(frozen=True)
class Lesson:
    """One problem in tokens: what is read (newline last) and what is written (end mark last)."""

    source: str
    prompt: list[int]
    answer: list[int]

    @property
    def length(self) -> int:
        """Tokens that the net reads; the end mark is only predicted."""
        return len(self.prompt) + len(self.answer) - 1


@dataclass(frozen=True)
class Plan:
    """Where lessons come from: a skill and preset of the guild, and rows of lesson files."""

    skill: str
    preset: str | None = None
    rows: tuple[tuple[str, str], ...] = ()


class Lessons:
    """Problems by number."""

    def __init__(
        self, skill: Skill | None, plan: Plan, config: TextConfig, tokens: Tokens, seed: int
    ) -> None:
        """skill: of the guild; None: school."""
        self.skill, self.plan, self.config = skill, plan, config
        self.tokens, self.seed = tokens, seed
        self.too_long = 0

    def source(self, number: int, level: int) -> tuple[str, int]:
        """Where problem `number` comes from, and its level."""
        config, words = self.config, chain(self.seed, MIX_WORD, number)
        # One uniform number decides; what one source leaves is stretched to [0, 1) for the next.
        mark = words / WHOLE
        if self.plan.rows:
            if mark < config.file_share:
                return FILE, 0
            mark = (mark - config.file_share) / max(1e-9, 1 - config.file_share)
        if self.skill is None or mark < config.school:
            return SCHOOL, 0
        mark = (mark - config.school) / max(1e-9, 1 - config.school)
        if level > 1 and mark < config.review:
            # The levels just passed, evenly.
            back = min(config.review_levels, level - 1)
            return BEFORE, level - 1 - int(mark / config.review * back)
        return CURRENT, level

    def text(self, number: int, level: int) -> tuple[str, str, str]:
        """(source, prompt, answer) of problem `number` while the hero is at `level`."""
        source, at = self.source(number, level)
        if source == FILE:
            rows = self.plan.rows
            return source, *rows[chain(self.seed, FILE_WORD, number) % len(rows)]
        if source == SCHOOL:
            problem = school_lesson(self.seed, number)
        else:
            problem = self._lesson(number, at)
        return source, problem.prompt, problem.answer

    def _lesson(self, number: int, level: int) -> Problem:
        skill, preset = self.skill, self.plan.preset
        assert skill is not None
        if not self.config.as_examined:
            return skill.lesson(level, seed=self.seed, index=number, preset=preset)
        # A form with 3 % of the lessons and 8 % of the exam would be learned too late.
        dice = Rng(self.seed, FORM_WORD, skill.version, level, number)
        shares = quotas(skill.mix(level, preset), FULL_EXAM)
        form = dice.weighted({name: float(count) for name, count in shares.items()})
        return skill.draw(level, form, dice, preset, exam=False)

    def batch(self, first: int, level: int) -> list[Lesson]:
        """Problems first … first + batch - 1."""
        found = [self.text(n, level) for n in range(first, first + self.config.batch)]
        prompts = self.tokens.encode_all([prompt + BETWEEN for _, prompt, _ in found])
        answers = self.tokens.encode_all([answer for _, _, answer in found])
        lessons = [
            Lesson(source, prompt, [*answer, self.tokens.end])
            for (source, _, _), prompt, answer in zip(found, prompts, answers, strict=True)
        ]
        # A text beyond the net's positions cannot be read; it is counted, not cut.
        kept = [lesson for lesson in lessons if lesson.length <= self.config.longest]
        self.too_long += len(lessons) - len(kept)
        return kept or lessons[:1]


def read_lessons(paths: Sequence[Path], skills: Sequence[Skill]) -> tuple[tuple[str, str], ...]:
    """(prompt, answer) of lesson files that the guild's data gate lets through.

    Raises:
        BadValue: a file is refused; its first bad lines are named.
    """
    rows: list[tuple[str, str]] = []
    for path in paths:
        report = check_lessons(path, list(skills))
        refuse_file(path, report)
        rows += [(row["prompt"], row["answer"]) for row in report.lessons]
    return tuple(rows)
