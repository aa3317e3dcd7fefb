"""Drills on letters and lists: the track string (6), and what only passives ask."""

from __future__ import annotations

import math
import re

from levelcap.guild.drills.drill import Draw, Drill, reader
from levelcap.guild.rng import Rng

W = r"([a-z]{1,24})"
LETTERS = "abcdefghijklmnopqrstuvwxyz"
CONSONANTS, VOWELS = "bcdfghjklmnprstvwz", "aeiou"
FEW = "abcde"  # repeated letters should be common
OPPOSITES = {
    "hot": "cold", "big": "small", "up": "down", "day": "night", "wet": "dry", "old": "young",
    "high": "low", "fast": "slow", "open": "shut", "full": "empty", "hard": "soft", "left": "right",
    "light": "dark", "rich": "poor", "near": "far", "win": "lose", "true": "false", "push": "pull",
    "loud": "quiet", "early": "late", "first": "last", "love": "hate", "buy": "sell",
    "begin": "end",
}  # fmt: skip


def _yes(fact: bool) -> str:
    return "yes" if fact else "no"


def _count(match: re.Match[str]) -> str:
    return str(match[2].count(match[1]))


def _plural(match: re.Match[str]) -> str:
    word = match[1]
    if word[-1] == "y" and word[-2:-1] not in tuple(VOWELS):
        return word[:-1] + "ies"
    return word + ("es" if word[-1] in "sxz" else "s")


def _opposite(match: re.Match[str]) -> str:
    both = OPPOSITES | {b: a for a, b in OPPOSITES.items()}
    return both.get(match[1], "unknown")


def _choose(match: re.Match[str]) -> str:
    return str(math.comb(int(match[2]), int(match[1])))


def _recall(match: re.Match[str]) -> str:
    kept = dict(part.split("=") for part in match[1].split(" "))
    return kept.get(match[2], "unknown")


def _next(match: re.Match[str]) -> str:
    numbers = [int(n) for n in match[1].split(" ")]
    step = numbers[-1] - numbers[-2]
    return str(numbers[-1] + step)


def _next_letter(match: re.Match[str]) -> str:
    places = [LETTERS.index(c) for c in match[1].split(" ")]
    return LETTERS[(2 * places[-1] - places[-2]) % 26]


REVERSE = reader("Reverse word", W, lambda m: m[1][::-1])
COUNT = reader("Count", rf"([a-z]) in {W}", _count)
CONTAINS = reader("Contains", rf"{W} in {W}", lambda m: _yes(m[1] in m[2]))
SORT = reader("Sort", W, lambda m: "".join(sorted(m[1])))
PALINDROME = reader("Palindrome", W, lambda m: _yes(m[1] == m[1][::-1]))
LENGTH = reader("Length", W, lambda m: str(len(m[1])))
CHOOSE = reader("Choose", r"([0-9]) from ([1-9])", _choose)
ARRANGE = reader("Arrange", r"([1-7])", lambda m: str(math.factorial(int(m[1]))))
PLURAL = reader("Plural", r"([a-z]{2,24})", _plural)
OPPOSITE = reader("Opposite", W, _opposite)
RECALL = reader("Remember", r"([a-z]=[0-9](?: [a-z]=[0-9]){1,7})\. ([a-z])\?", _recall)
NEXT = reader("Next", r"([0-9]{1,3}(?: [0-9]{1,3}){1,5})", _next)
NEXT_LETTER = reader("Next letter", r"([a-z](?: [a-z]){1,5})", _next_letter)
JOIN = reader("Join", r"([a-z]{1,6}(?: [a-z]{1,6}){1,5})", lambda m: m[1].replace(" ", ""))
INITIALS = reader(
    "First letters",
    r"([a-z]{1,12}(?: [a-z]{1,12}){1,7})",
    lambda m: "".join(word[0] for word in m[1].split(" ")),
)


def spoken(dice: Rng, syllables: int) -> str:
    """A word that can be spoken: consonant and vowel, again and again."""
    return "".join(dice.pick(CONSONANTS) + dice.pick(VOWELS) for _ in range(syllables))


def _letters(low: int, high: int, pool: str = LETTERS) -> Draw:
    return lambda dice: "".join(dice.pick(pool) for _ in range(dice.between(low, high)))


def _counted(dice: Rng) -> str:
    word = "".join(dice.pick(FEW) for _ in range(dice.between(4, 8)))
    return f"{dice.pick(FEW)} in {word}"


def _contained(dice: Rng) -> str:
    word = spoken(dice, dice.between(3, 4))
    at = dice.below(len(word) - 2)
    part = word[at : at + 3] if dice.chance(50) else spoken(dice, 2)[:3]
    return f"{part} in {word}"


def _mirrored(dice: Rng) -> str:
    half = "".join(dice.pick(LETTERS) for _ in range(dice.between(2, 3)))
    word = half + dice.pick(("", dice.pick(LETTERS))) + half[::-1]
    if dice.chance(50):
        at = dice.below(len(half))
        word = word[:at] + dice.pick(LETTERS) + word[at + 1 :]
    return word


def _remembered(dice: Rng) -> str:
    names = dice.sample(LETTERS, dice.between(2, 5))
    return f"{' '.join(f'{n}={dice.below(10)}' for n in names)}. {dice.pick(names)}?"


def _sequence(dice: Rng) -> str:
    start, step = dice.between(0, 50), dice.between(1, 12)
    return " ".join(str(start + step * i) for i in range(4))


def _letter_sequence(dice: Rng) -> str:
    start, step = dice.below(26), dice.between(1, 4)
    return " ".join(LETTERS[(start + step * i) % 26] for i in range(4))


def _chosen(dice: Rng) -> str:
    size = dice.between(2, 7)
    return f"{dice.between(1, size)} from {size}"


def _syllables(dice: Rng) -> str:
    return " ".join(spoken(dice, 1) for _ in range(dice.between(2, 4)))


def _words(dice: Rng) -> str:
    return " ".join(spoken(dice, dice.between(1, 3)) for _ in range(dice.between(3, 5)))


def _noun(dice: Rng) -> str:
    return spoken(dice, dice.between(1, 2)) + dice.pick(("t", "n", "x", "s", "y", "r", ""))


STRING = (
    Drill("reverse_string", REVERSE, _letters(3, 7), 2, 17_576, 0.0),
    Drill("count_char", COUNT, _counted, 2, 3_125, 0.37),
    Drill("substring_check", CONTAINS, _contained, 2, 100_000, 0.5),
    Drill("sort_letters", SORT, _letters(3, 6), 3, 17_576, 0.0),
    Drill("palindrome_check", PALINDROME, _mirrored, 3, 10_000, 0.5),
    Drill("string_length", LENGTH, _letters(2, 9), 1, 100_000, 0.13),
)
# Problems that are no primitive of their own; each names the primitives it exercises.
EXTRA = (
    Drill("choose", CHOOSE, _chosen, 4, 27, 0.27, primitives=("mul_single_digit", "div_exact")),
    Drill(
        "arrange",
        ARRANGE,
        lambda dice: str(dice.between(1, 7)),
        3,
        7,
        0.16,
        primitives=("mul_single_digit",),
    ),
    Drill("plural", PLURAL, _noun, 2, 5_000, 0.0, primitives=("substring_check",)),
    Drill(
        "opposite",
        OPPOSITE,
        lambda dice: dice.pick((*OPPOSITES, *OPPOSITES.values())),
        2,
        48,
        0.03,
        primitives=("substring_check",),
    ),
    Drill("recall", RECALL, _remembered, 2, 100_000, 0.3, primitives=("trace_assignment",)),
    Drill(
        "next_number", NEXT, _sequence, 3, 612, 0.02, primitives=("add_two_digit", "sub_two_digit")
    ),
    Drill("next_letter", NEXT_LETTER, _letter_sequence, 3, 104, 0.05, primitives=("sort_letters",)),
    Drill("join", JOIN, _syllables, 1, 100_000, 0.0, primitives=("substring_check",)),
    Drill("initials", INITIALS, _words, 2, 100_000, 0.0, primitives=("substring_check",)),
)
