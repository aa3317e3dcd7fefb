"""Parts of nets that can be chosen by name, and what a recipe may say of them. No torch here.

A family without a row has nothing to choose.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence

from levelcap.kit.errors import BadValue, refuse, unknown_name
from levelcap.nets.hierarchy.shape import OPTIONS as HIERARCHY
from levelcap.nets.hierarchy.shape import VIEWS as HIERARCHY_VIEWS

# First what the size `slim` has.
OPTIONS: dict[str, dict[str, tuple[str, ...]]] = {
    "flat": {"aim": ("free", "residual")},
    "hierarchy": HIERARCHY,
}


# What nets of a family read, where it is not what a flat one does: for whoever records for them.
VIEWS: dict[str, tuple[str, ...]] = {"hierarchy": HIERARCHY_VIEWS}


def read_options(texts: Sequence[str]) -> dict[str, str]:
    """`name=value` as typed -> options; whether a family has them is asked by `check_options`."""
    for text in texts:
        if text.count("=") != 1:
            remedy = "Write name=value, e.g. aim=residual"
            raise BadValue(refuse("not an option of a net", text, remedy))
    pairs = [text.split("=") for text in texts]
    return {name.strip(): value.strip() for name, value in pairs}


def check_options(family: str, options: Mapping[str, str]) -> None:
    """Refuse what this family has not.

    Raises:
        UnknownName: no such option, or no such value of one.
    """
    known = OPTIONS.get(family, {})
    for name, value in options.items():
        if name not in known:
            raise unknown_name(f"option of {family} nets", name, tuple(known))
        if value not in known[name]:
            raise unknown_name(f"{name} of {family} nets", value, known[name])
