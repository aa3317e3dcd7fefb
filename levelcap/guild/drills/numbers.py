"""Drills on numbers: the tracks arithmetic (11) and binary (10)."""

from __future__ import annotations

from levelcap.guild.bin.tasks import value_of
from levelcap.guild.bin.work import digits
from levelcap.guild.drills.drill import Draw, Drill, reader
from levelcap.guild.rng import Rng

N = r"(0|[1-9][0-9]{0,5})"
B = r"([⓪①]{1,16})"


def relation(a: int, b: int) -> str:
    """The sign between two numbers."""
    return "=" if a == b else "<" if a < b else ">"


def _bits(a: str, sign: str, b: str) -> str:
    x, y, width = value_of(a), value_of(b), max(len(a), len(b))
    if sign == "?":
        return relation(x, y)
    if sign == "+":
        return digits(x + y, width + 1)
    if sign == "-":
        return digits((x - y) % (1 << width), width)
    return digits({"&": x & y, "|": x | y, "^": x ^ y}[sign], width)


ADD = reader("Add", rf"{N} \+ {N}", lambda m: str(int(m[1]) + int(m[2])))
SUBTRACT = reader("Subtract", rf"{N} - {N}", lambda m: str(int(m[1]) - int(m[2])))
MULTIPLY = reader("Multiply", rf"{N} \* {N}", lambda m: str(int(m[1]) * int(m[2])))
DIVIDE = reader("Divide", rf"{N} / ([1-9][0-9]{{0,2}})", lambda m: str(int(m[1]) // int(m[2])))
COMPARE = reader("Compare", rf"{N} \? {N}", lambda m: relation(int(m[1]), int(m[2])))
PARITY = reader("Parity", N, lambda m: "odd" if int(m[1]) % 2 else "even")
DIGIT_SUM = reader("Digit sum", N, lambda m: str(sum(int(c) for c in m[1])))
MODULO = reader("Modulo", rf"{N} % ([1-9][0-9]{{0,2}})", lambda m: str(int(m[1]) % int(m[2])))
BITS = reader("Bits", rf"{B} ([-+&|^?]) {B}", lambda m: _bits(m[1], m[2], m[3]))
TO_DECIMAL = reader("To decimal", B, lambda m: str(value_of(m[1])))
TO_BITS = reader("To bits", N, lambda m: digits(int(m[1]), 1))


def _single(carry: bool) -> Draw:
    """Two digits whose sum needs a second digit, or does not."""

    def draw(dice: Rng) -> str:
        a = dice.between(1, 9) if carry else dice.between(0, 9)
        b = dice.between(10 - a, 9) if carry else dice.between(0, 9 - a)
        return f"{a} + {b}"

    return draw


def _ordered(low: int, high: int) -> Draw:
    def draw(dice: Rng) -> str:
        a, b = dice.between(low, high), dice.between(low, high)
        return f"{max(a, b)} - {min(a, b)}"

    return draw


def _pair(sign: str, low: int, high: int) -> Draw:
    return lambda dice: f"{dice.between(low, high)} {sign} {dice.between(low, high)}"


def _exact(dice: Rng) -> str:
    divisor = dice.between(1, 12)
    return f"{divisor * dice.between(0, 12)} / {divisor}"


def _compared(dice: Rng) -> str:
    a = dice.between(0, 999)
    return f"{a} ? {a if dice.chance(20) else dice.between(0, 999)}"


def _number(high: int) -> Draw:
    return lambda dice: str(dice.between(0, high))


def _with_rest(dice: Rng) -> str:
    return f"{dice.between(0, 199)} % {dice.between(2, 12)}"


def _added(carry: bool) -> Draw:
    def draw(dice: Rng) -> str:
        width = dice.between(2, 6)
        a = dice.between(1, (1 << width) - 1)
        b = dice.below(1 << width)
        b = b | (a & -a) if carry else b & ~a
        return f"{digits(a, width)} + {digits(b, width)}"

    return draw


def _taken(borrow: bool) -> Draw:
    """a - b with a >= b; a borrow happens exactly when b has a ① where a has ⓪."""

    def draw(dice: Rng) -> str:
        width = dice.between(2, 6)
        if not borrow:
            a = dice.below(1 << width)
            return f"{digits(a, width)} - {digits(a & dice.below(1 << width), width)}"
        low = dice.below(width - 1)
        a = (1 << (width - 1)) | (dice.below(1 << (width - 1)) & ~(1 << low))
        b = (dice.below(1 << (width - 1))) | (1 << low)
        return f"{digits(a, width)} - {digits(b, width)}"

    return draw


def _bitwise(sign: str) -> Draw:
    def draw(dice: Rng) -> str:
        width = dice.between(2, 6)
        a, b = dice.below(1 << width), dice.below(1 << width)
        if sign == "?" and dice.chance(20):
            b = a
        return f"{digits(a, width)} {sign} {digits(b, width)}"

    return draw


def _pattern(dice: Rng) -> str:
    width = dice.between(2, 8)
    return digits(dice.below(1 << width), width)


# Pools: bodies that can occur, counted; `tests/guild/test_primitives.py` counts the small again.
ARITHMETIC = (
    Drill("add_single_digit_no_carry", ADD, _single(False), 1, 55, 0.28),
    Drill("add_single_digit_with_carry", ADD, _single(True), 1, 45, 0.35),
    Drill("add_two_digit", ADD, _pair("+", 10, 99), 2, 8_100, 0.02),
    Drill("sub_single_digit", SUBTRACT, _ordered(0, 9), 1, 55, 0.17),
    Drill("sub_two_digit", SUBTRACT, _ordered(10, 99), 2, 4_095, 0.03),
    Drill("mul_single_digit", MULTIPLY, _pair("*", 0, 9), 2, 100, 0.22),
    Drill("div_exact", DIVIDE, _exact, 3, 156, 0.08),
    Drill("compare_integers", COMPARE, _compared, 1, 1_000_000, 0.41),
    Drill("parity", PARITY, _number(9_999), 1, 10_000, 0.5),
    Drill("digit_sum", DIGIT_SUM, _number(9_999), 2, 10_000, 0.07),
    Drill("modulo", MODULO, _with_rest, 3, 2_200, 0.2),
)
BINARY = (
    Drill("add_no_carry", BITS, _added(False), 2, 965, 0.15),
    Drill("add_with_carry", BITS, _added(True), 3, 2_666, 0.1),
    Drill("sub_no_borrow", BITS, _taken(False), 2, 1_089, 0.14),
    Drill("sub_with_borrow", BITS, _taken(True), 3, 1_001, 0.21),
    Drill("and", BITS, _bitwise("&"), 1, 5_456, 0.13),
    Drill("or", BITS, _bitwise("|"), 1, 5_456, 0.12),
    Drill("xor", BITS, _bitwise("^"), 1, 5_456, 0.07),
    Drill("compare", BITS, _bitwise("?"), 2, 5_456, 0.4),
    Drill("to_decimal", TO_DECIMAL, _pattern, 3, 508, 0.09),
    Drill("from_decimal", TO_BITS, _number(255), 3, 256, 0.01),
)
