"""Types of the fields of recipes and payloads, with their bounds."""

from __future__ import annotations

from typing import Annotated, Literal

from pydantic import AfterValidator, Field

from levelcap.kit.errors import BadValue, refuse
from levelcap.kit.ids import check_id
from levelcap.world.spec import WorldName

Name = Annotated[str, Field(max_length=100), AfterValidator(check_id)]
Ruleset = WorldName
Size = Literal["dummy", "slim", "seed", "full"]
Family = Literal["flat", "hierarchy"]
NetOptions = Annotated[list[Annotated[str, Field(max_length=60)]], Field(max_length=16)]
Knobs = Annotated[dict[str, str], Field(max_length=40)]
Minutes = Annotated[float, Field(gt=0, le=60 * 24 * 30, allow_inf_nan=False)]
Level = Annotated[int, Field(ge=1, le=100)]
Seed = Annotated[int, Field(ge=0, lt=2**63)]
Priority = Literal["high", "normal", "low"]


def net_words(family: str, net: list[str]) -> list[str]:
    """A net of another kind or with other parts, as the command line writes it."""
    words = [] if family == "flat" else ["--family", family]
    return words + [word for option in net for word in ("--net", option)]


def pairs(knobs: dict[str, str]) -> list[str]:
    """Overrides as the command line writes them, name=value."""
    for name in knobs:
        if "=" in name:
            raise BadValue(refuse("an override's name has no =", name, "Correct the recipe"))
    return [f"{name}={value}" for name, value in sorted(knobs.items())]
