"""What a skill, a level and a problem are, and how a skill's file is read.

A skill is a YAML file in `data/skills/` (the only source of its levels, mixes and thresholds) and
a class that makes problems from it. Both the generator and the judge call `Skill.solve`: a
problem is its prompt, and the answer follows from the prompt alone.
"""

from __future__ import annotations

import hashlib
from abc import ABC, abstractmethod
from collections.abc import Mapping
from dataclasses import dataclass
from importlib import resources
from typing import Annotated, Any, Literal, TypeVar

from pydantic import BaseModel, ConfigDict, Field, ValidationError

from levelcap.guild.grade import Grade, grade_text
from levelcap.guild.rng import Rng, word_of
from levelcap.kit.documents import load_yaml
from levelcap.kit.errors import BadFile, BadValue, refuse, unknown_name

MEMORISABLE_BELOW = 2_000
FULL_EXAM = 96
LEAST_PER_FORM = 8  # in an exam of 96 or more
MAX_DRAWS = 10_000  # a generator that needs more is broken: it fails instead of hanging
FRESH_DRAWS = 20  # tries for a problem that is not in the exam yet; small pools repeat

Percent = Annotated[float, Field(ge=0, le=100)]


class Strict(BaseModel):
    """A part of a skill's file; unknown keys are errors."""

    model_config = ConfigDict(extra="forbid", frozen=True)


class Level(Strict):
    """What every level of every skill says; a skill adds its own quantities."""

    level: int = Field(ge=1)
    name: str = Field(min_length=1, max_length=60)
    xp: float = Field(gt=0, description="multiplier of the experience of an evaluation")
    built: bool = True  # False: laid out, without a generator yet
    mix: dict[str, Percent] = Field(min_length=1, description="form -> percent")


class SkillFile(Strict):
    """What every skill's file says; a skill adds its own tables."""

    id: str = Field(pattern=r"^[a-z]{2,12}$")
    name: str = Field(min_length=1, max_length=40)
    version: int = Field(ge=1)
    about: str = Field(min_length=1, max_length=200)
    display: dict[Literal["icon", "colour"], str]
    threshold: float = Field(gt=0, le=1)
    eval_samples: int = Field(ge=LEAST_PER_FORM)
    forms: tuple[str, ...]
    levels: tuple[Level, ...]


@dataclass(frozen=True, slots=True)
class Problem:
    """One problem: what is asked, what is to be written, and what it exercises."""

    skill: str
    level: int
    form: str
    operation: str
    prompt: str
    answer: str
    primitives: tuple[str, ...]
    key: str  # hash of the normalised prompt (see `prompt_key`)


@dataclass(frozen=True)
class Pool:
    """How many different problems a level has."""

    size: int
    exact: bool  # False: there are at least `size`

    @property
    def memorisable(self) -> bool:
        """True: nothing is held out, an exam may ask what was trained."""
        return self.exact and self.size < MEMORISABLE_BELOW


def prompt_key(prompt: str) -> str:
    """16 hex digits that name a prompt; spaces, line ends and case make no difference."""
    plain = " ".join(prompt.split()).casefold()
    return hashlib.sha256(plain.encode("utf-8", "surrogatepass")).hexdigest()[:16]


F = TypeVar("F", bound=SkillFile)


def load_file(model: type[F], name: str) -> F:
    """Reads and checks `data/skills/<name>.yaml`.

    Raises:
        BadFile: not YAML, an unknown key, a value out of range, levels not counted 1, 2, 3 …, or
            a mix that names an unknown form or does not add up to 100.
    """
    source = resources.files("levelcap") / "data" / "skills" / f"{name}.yaml"
    return parse_file(model, source.read_text(encoding="utf-8"), f"{name}.yaml")


def parse_file(model: type[F], text: str, name: str) -> F:
    """Checks the text of a skill's file (see `load_file`)."""
    try:
        loaded = model.model_validate(load_yaml(text))
    except ValueError as error:
        first = str(error.errors()[0]) if isinstance(error, ValidationError) else str(error)
        remedy = "Correct the file; its keys are those of the models in levelcap/guild"
        raise BadFile(refuse(f"{name} is refused", first, remedy)) from error
    for number, level in enumerate(loaded.levels, start=1):
        if level.level != number:
            raise BadFile(refuse(f"{name}: level out of order", level.level, f"Write {number}"))
        check_mix(level.mix, loaded.forms, f"{name} level {number}")
    return loaded


def check_mix(mix: Mapping[str, float], forms: tuple[str, ...], where: str) -> None:
    """Refuses a mix of unknown forms or one that does not add up to 100."""
    if set(mix) - set(forms) or abs(sum(mix.values()) - 100) > 1e-6:
        remedy = f"Use the forms {', '.join(forms)} and make the sum 100"
        raise BadFile(refuse(f"{where}: the mix is refused", dict(mix), remedy))


class Skill(ABC):
    """A skill that can teach, examine and grade."""

    id: str
    name: str
    version: int
    forms: tuple[str, ...]
    presets: tuple[str, ...]
    levels: int  # how many have a generator
    file: SkillFile

    @abstractmethod
    def solve(self, prompt: str) -> str:
        """The one right answer to a prompt, computed from the prompt alone."""

    @abstractmethod
    def pool(self, level: int, preset: str | None = None) -> Pool:
        """How many different problems a level has."""

    @abstractmethod
    def mix(self, level: int, preset: str | None = None) -> dict[str, float]:
        """Form -> percent of a level; forms that do not occur are left out."""

    @abstractmethod
    def draw(self, level: int, form: str, dice: Rng, preset: str | None, exam: bool) -> Problem:
        """One problem: of the held-out part for an exam (where there is one), else of the rest."""

    def grade(self, prompt: str, answer: object) -> Grade:
        """Judges one answer; a skill may report partial credit in its own way."""
        return grade_text(self.solve(prompt), answer)

    def examined(self, prompt: str) -> bool:
        """True for prompts of the held-out part, which no lesson may hold."""
        return False

    def check(self, level: int, preset: str | None = None) -> None:
        """Refuses a level or preset the skill does not have."""
        if not isinstance(level, int) or not 1 <= level <= self.levels:
            remedy = f"Use a level from 1 to {self.levels}"
            raise BadValue(refuse(f"no such level of {self.id}", level, remedy))
        if preset is not None and preset not in self.presets:
            raise unknown_name(f"preset of {self.id}", preset, self.presets)

    def lesson(self, level: int, *, seed: int, index: int, preset: str | None = None) -> Problem:
        """Training problem number `index`: a pure function of the arguments and the version."""
        self.check(level, preset)
        dice = Rng(seed, self._word("lesson", preset), level, index)
        return self.draw(level, dice.weighted(self.mix(level, preset)), dice, preset, exam=False)

    def exam(
        self, level: int, count: int, seed: int = 0, preset: str | None = None
    ) -> list[Problem]:
        """`count` problems in the proportions of the level's mix, none of them ever a lesson.

        From 96 problems on every form has at least 8. Problems differ from each other as far as
        the pool allows. Where the pool is memorisable, lessons and exams share it.
        """
        self.check(level, preset)
        if count < 1:
            raise BadValue(refuse("an exam needs problems", count, "Ask for at least 1"))
        dice = Rng(seed, self._word("exam", preset), level)
        seen: set[str] = set()
        problems = []
        for form, number in quotas(self.mix(level, preset), count).items():
            for _ in range(number):
                problem = self._fresh(level, form, dice, preset, seen)
                seen.add(problem.key)
                problems.append(problem)
        return dice.shuffled(problems)

    def _fresh(
        self, level: int, form: str, dice: Rng, preset: str | None, seen: set[str]
    ) -> Problem:
        for _ in range(FRESH_DRAWS):
            problem = self.draw(level, form, dice, preset, exam=True)
            if problem.key not in seen:
                break
        return problem

    def _word(self, purpose: str, preset: str | None) -> int:
        return word_of(f"{purpose} {self.id} {self.version} {preset or ''}")

    def info(self) -> dict[str, Any]:
        """What the skill's file says about the whole, for servers and pages."""
        return self.file.model_dump(include={"id", "name", "version", "about", "display"}) | {
            "min_level": 1,
            "max_level": self.levels,
        }


def quotas(mix: Mapping[str, float], count: int) -> dict[str, int]:
    """How many problems of each form an exam has.

    Largest remainders of the mix first; then forms below the least share (8 of 96) are raised at
    the cost of the largest.
    """
    total = sum(mix.values())
    exact = {form: count * share / total for form, share in mix.items()}
    found = {form: int(value) for form, value in exact.items()}
    by_rest = sorted(exact, key=lambda form: found[form] - exact[form])
    for form in by_rest[: count - sum(found.values())]:
        found[form] += 1
    least = min(LEAST_PER_FORM, count * LEAST_PER_FORM // FULL_EXAM)
    for form in found:
        while found[form] < least:
            found[form] += 1
            found[max(found, key=lambda name: found[name])] -= 1
    return found
