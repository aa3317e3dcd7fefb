"""The guild's door: skills by name, exams, scores.

engine = get_engine()
problems = engine.generate_eval_batch("bin", level=1, count=96, seed=7)
engine.score_eval(problems, answers).accuracy
"""

from __future__ import annotations

from collections.abc import Sequence
from functools import cache
from importlib import import_module

from levelcap.guild.drills.drill import SKILL as SCHOOL
from levelcap.guild.grade import Grade
from levelcap.guild.judge import Score, score
from levelcap.guild.primitives import judge_drill, solve_drill
from levelcap.guild.skill import Problem, Skill
from levelcap.kit.errors import check_known

_FILES = ("bin.skill", "sy.skill")  # files of this folder with a SKILL, in the order of pages


class Guild:
    """All skills of the guild."""

    def __init__(self) -> None:
        made = [import_module(f"levelcap.guild.{file}").SKILL() for file in _FILES]
        self.skills: dict[str, Skill] = {skill.id: skill for skill in made}

    def get(self, name: str) -> Skill:
        """The skill of this name.

        Raises:
            UnknownName: there is none.
        """
        return self.skills[check_known("skill", name, self.skills)]

    def generate_eval_batch(
        self, name: str, level: int, count: int = 96, seed: int = 0, preset: str | None = None
    ) -> list[Problem]:
        """Exam problems (see `Skill.exam`); other seeds give other problems."""
        return self.get(name).exam(level, count, seed, preset)

    def solve(self, problem: Problem) -> str:
        """The right answer, recomputed from the prompt."""
        if problem.skill == SCHOOL:
            return solve_drill(problem.prompt)
        return self.get(problem.skill).solve(problem.prompt)

    def grade(self, problem: Problem, answer: object) -> Grade:
        """Judges one answer."""
        if problem.skill == SCHOOL:
            return judge_drill(problem, answer)
        return self.get(problem.skill).grade(problem.prompt, answer)

    def score_eval(self, problems: Sequence[Problem], answers: Sequence[object]) -> Score:
        """Judges answers to problems of any skills (see `judge.score`)."""
        return score(problems, answers, self.grade)


@cache
def get_engine() -> Guild:
    """The engine of this process; skills are read once."""
    return Guild()
