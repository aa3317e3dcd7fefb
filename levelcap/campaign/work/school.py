"""`school`: teach a new text hero the primitives; carried out as study of a skill of its own."""

from __future__ import annotations

from typing import Annotated, ClassVar, Literal

from pydantic import Field

from levelcap.campaign.work.base import Desk, Recipe
from levelcap.campaign.work.fields import Knobs, pairs
from levelcap.campaign.work.study import Study
from levelcap.guild.drills.drill import SKILL as SCHOOL
from levelcap.learn.engine.overrides import apply
from levelcap.learn.text.config import TextConfig


class SchoolRecipe(Recipe):
    """Teach a new text hero the primitives."""

    hero_kind: ClassVar[str | None] = "text"

    quest: Literal["school"] = "school"
    minutes: Annotated[float, Field(gt=0, le=10, allow_inf_nan=False)] = 5.0
    knobs: Knobs = Field(default={}, alias="set")

    def describe(self) -> str:
        """The title."""
        return f"School: {self.minutes:g} minutes of primitives"

    def check(self) -> None:
        """The overrides exist and are in range."""
        apply(TextConfig(), pairs(self.knobs))

    def order(self, desk: Desk) -> Study:
        """The work."""
        run = f"school-{desk.number}"
        return Study(run=run, hero=desk.hero, skill=SCHOOL, **self.shared(Study))
