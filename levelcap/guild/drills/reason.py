"""Drills on reasoning: the tracks logic (7) and code (5). Nothing is executed: bodies are read."""

from __future__ import annotations

import re

from levelcap.guild.drills.drill import Drill, reader
from levelcap.guild.rng import Rng

NAMES = "ABCDEFGHKLMPQRSTUVWXYZ"
L = r"([A-Z])"
D = r"(0|[1-9][0-9]{0,3})"
TRUTH = {
    "and": (False, False, False, True),
    "or": (False, True, True, True),
    "xor": (False, True, True, False),
    "nand": (True, True, True, False),
}
DUAL = {"and": "or", "or": "and"}


def _letter(value: bool) -> str:
    return "T" if value else "F"


def _table(match: re.Match[str]) -> str:
    return _letter(TRUTH[match[2]][2 * (match[1] == "T") + (match[3] == "T")])


def _conclude(match: re.Match[str]) -> str:
    """if P then Q; a fact about P or Q; what about the other one?"""
    first, then, no, fact, asked = match.groups()
    if {fact, asked} != {first, then} or first == then:
        return "unknown"
    if fact == first:
        return "unknown" if no else "true"
    return "false" if no else "unknown"


def _syllogism(match: re.Match[str]) -> str:
    """First premise x-y, second y-z, conclusion over x and z in this or the other order."""
    one, x, y, two, y2, z, third, s, p = match.groups()
    if y != y2 or len({x, y, z}) < 3 or {s, p} != {x, z}:
        return "unknown"
    holds_some = two == "all" and (third == "some")
    holds_all = one == "All" and two == "all" and third == "all" and (s, p) == (x, z)
    return "true" if holds_some or holds_all else "unknown"


GATE = reader("Truth", r"([TF]) (and|or|xor|nand) ([TF])", _table)
IMPLIES = reader("Implies", r"([TF]) -> ([TF])", lambda m: _letter(m[1] == "F" or m[2] == "T"))
GIVEN = reader("Given", rf"if {L} then {L}; (not )?{L}\. {L}\?", _conclude)
SYLLOGISM = reader(
    "Infer",
    rf"(All|Some) {L} are {L}; (all|some) {L} are {L}\. (all|some) {L} are {L}\?",
    _syllogism,
)
DE_MORGAN = reader(
    "De Morgan", rf"not \({L} (and|or) {L}\)", lambda m: f"not {m[1]} {DUAL[m[2]]} not {m[3]}"
)


def _implication(dice: Rng) -> str:
    return f"{dice.pick('TF')} -> {dice.pick('TF')}"


def _ponens(dice: Rng) -> str:
    p, q = dice.sample(NAMES, 2)
    return f"if {p} then {q}; {p}. {q}?" if dice.chance(50) else f"if {p} then {q}; {q}. {p}?"


def _tollens(dice: Rng) -> str:
    p, q = dice.sample(NAMES, 2)
    turned = dice.chance(50)
    return f"if {p} then {q}; not {p}. {q}?" if turned else f"if {p} then {q}; not {q}. {p}?"


def _all(dice: Rng) -> str:
    x, y, z = dice.sample(NAMES, 3)
    s, p = (x, z) if dice.chance(50) else (z, x)
    return f"All {x} are {y}; all {y} are {z}. all {s} are {p}?"


def _some(dice: Rng) -> str:
    x, y, z = dice.sample(NAMES, 3)
    one, two = ("Some", "all") if dice.chance(50) else (dice.pick(("Some", "All")), "some")
    return f"{one} {x} are {y}; {two} {y} are {z}. some {x} are {z}?"


def _de_morgan(dice: Rng) -> str:
    p, q = dice.sample(NAMES, 2)
    return f"not ({p} {dice.pick(('and', 'or'))} {q})"


def _gate(dice: Rng) -> str:
    return f"{dice.pick('TF')} {dice.pick(tuple(TRUTH))} {dice.pick('TF')}"


LOGIC = (
    Drill("truth_table_basic", GATE, _gate, 1, 16, 0.57),
    Drill("implication_eval", IMPLIES, _implication, 1, 4, 0.75),
    Drill("modus_ponens", GIVEN, _ponens, 2, 924, 0.5),
    Drill("modus_tollens", GIVEN, _tollens, 3, 924, 0.5),
    Drill("syllogism_all", SYLLOGISM, _all, 3, 18_480, 0.5),
    Drill("syllogism_some", SYLLOGISM, _some, 4, 27_720, 0.5),
    Drill("de_morgan", DE_MORGAN, _de_morgan, 3, 924, 0.0),
)


def _assigned(match: re.Match[str]) -> str:
    a, sign, b, asked = int(match[1]), match[2], int(match[3]), match[4]
    y = a + b if sign == "+" else a * b
    return str(y if asked == "y" else a)


def _branched(match: re.Match[str]) -> str:
    x, sign, limit, yes, no = int(match[1]), match[2], int(match[3]), match[4], match[5]
    return yes if (x > limit if sign == ">" else x < limit) else no


def _looped(match: re.Match[str]) -> str:
    return str(int(match[1]) + int(match[2]) * int(match[3]))


def _called(match: re.Match[str]) -> str:
    return str(int(match[1]) * int(match[3]) + int(match[2]))


def _holds(a: str, sign: str, b: str) -> bool:
    return {"<": int(a) < int(b), ">": int(a) > int(b), "==": int(a) == int(b)}[sign]


def _boolean(match: re.Match[str]) -> str:
    a, b = _holds(*match.group(1, 2, 3)), _holds(*match.group(6, 7, 8))
    b = b != bool(match[5])
    return str(a and b if match[4] == "and" else a or b)


CLAIM = rf"\({D} (<|>|==) {D}\)"
ASSIGN = reader("Assign", rf"x = {D}; y = x ([+*]) {D}; ([xy])\?", _assigned)
BRANCH = reader("Branch", rf"x = {D}; if x ([<>]) {D}: y = {D} else: y = {D}; y\?", _branched)
LOOP = reader("Loop", rf"s = {D}; repeat {D}: s = s \+ {D}; s\?", _looped)
FUNCTION = reader("Call", rf"f\(x\) = {D} \* x \+ {D}; f\({D}\)\?", _called)
BOOLEAN = reader("Bool", rf"{CLAIM} (and|or) (not )?{CLAIM}", _boolean)


def _assignment(dice: Rng) -> str:
    a, b = dice.between(0, 20), dice.between(0, 9)
    return f"x = {a}; y = x {dice.pick('+*')} {b}; {'y' if dice.chance(80) else 'x'}?"


def _branch(dice: Rng) -> str:
    x, limit, yes, no = (dice.between(0, 20) for _ in range(4))
    return f"x = {x}; if x {dice.pick('<>')} {limit}: y = {yes} else: y = {no}; y?"


def _loop(dice: Rng) -> str:
    start, times, step = dice.between(0, 20), dice.between(1, 6), dice.between(1, 9)
    return f"s = {start}; repeat {times}: s = s + {step}; s?"


def _function(dice: Rng) -> str:
    a, b, x = dice.between(1, 9), dice.between(0, 20), dice.between(0, 9)
    return f"f(x) = {a} * x + {b}; f({x})?"


def _expression(dice: Rng) -> str:
    def claim() -> str:
        return f"({dice.between(0, 9)} {dice.pick(('<', '>', '=='))} {dice.between(0, 9)})"

    no = "not " if dice.chance(50) else ""
    return f"{claim()} {dice.pick(('and', 'or'))} {no}{claim()}"


CODE = (
    Drill("trace_assignment", ASSIGN, _assignment, 2, 840, 0.07),
    Drill("trace_if_else", BRANCH, _branch, 2, 388_962, 0.5),
    Drill("trace_loop_fixed", LOOP, _loop, 3, 1_134, 0.04),
    Drill("eval_bool_expr", BOOLEAN, _expression, 3, 360_000, 0.6),
    Drill("function_call_trace", FUNCTION, _function, 4, 1_890, 0.03),
)
