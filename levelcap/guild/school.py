"""School: lessons over the 39 primitives and what only the passives ask.

A hero goes to school before its first quest, so that drift has something to lose.
"""

from __future__ import annotations

from levelcap.guild.passives import PASSIVES
from levelcap.guild.primitives import DRILLS
from levelcap.guild.rng import Rng, word_of
from levelcap.guild.skill import Problem
from levelcap.kit.errors import unknown_name

VERSION = 1
_WORD = word_of(f"school {VERSION}")


def school_lesson(seed: int, index: int, kind: str | None = None) -> Problem:
    """Lesson number `index`: a pure function of the arguments, never a held-out problem.

    Args:
        seed: the school's seed.
        index: which lesson.
        kind: a primitive or a passive; None draws a passive, then one of its drills, so that
            every passive gets the same share of lessons.
    """
    dice = Rng(seed, _WORD, index)
    if kind in DRILLS:
        return DRILLS[kind].problem(dice, exam=False)
    if kind is not None and kind not in PASSIVES:
        raise unknown_name("primitive or passive", kind, [*DRILLS, *PASSIVES])
    name = kind or dice.pick(tuple(PASSIVES))
    drill = dice.pick(PASSIVES[name].drills)
    return drill.problem(dice, exam=False, operation=name)
