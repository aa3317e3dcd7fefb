"""BIN, the written work: lines for the positions of one operation, computed from integers.

A line belongs to a position; `key` marks the ones that the show-work form prints (a carry or
borrow goes in or comes out, a digit decides), the trace form prints all of them.

    0: ①+① c⓪ = ⓪ c①      digit + digit, carry in = digit, carry out      (b for borrow)
    1: ①*12 s3 = s15        digit * weight, sum before = sum after
    2: r1 ① = ⓪ r3         remainder, digit brought down = digit of the quotient, remainder
"""

from __future__ import annotations

from collections.abc import Callable
from typing import NamedTuple

DIGITS = "⓪①"


class Line(NamedTuple):
    """One line of work."""

    text: str
    key: bool


def bit(value: int, place: int) -> int:
    """Digit of weight 2^place."""
    return value >> place & 1


def digits(value: int, width: int) -> str:
    """A number in circled digits, most significant first, at least `width` of them."""
    return f"{value:0{width}b}".replace("0", "⓪").replace("1", "①")


def add_lines(a: int, b: int, width: int) -> list[Line]:
    """Positions of a + b, least significant first."""
    lines, carry = [], 0
    for i in range(width):
        x, y = bit(a, i), bit(b, i)
        out, digit = divmod(x + y + carry, 2)
        text = f"{i}: {DIGITS[x]}+{DIGITS[y]} c{DIGITS[carry]} = {DIGITS[digit]} c{DIGITS[out]}"
        lines.append(Line(text, bool(carry or out)))
        carry = out
    return lines


def subtract_lines(a: int, b: int, width: int) -> list[Line]:
    """Positions of a - b, least significant first."""
    lines, borrow = [], 0
    for i in range(width):
        x, y = bit(a, i), bit(b, i)
        digit = (x - y - borrow) % 2
        out = int(x - y - borrow < 0)
        text = f"{i}: {DIGITS[x]}-{DIGITS[y]} b{DIGITS[borrow]} = {DIGITS[digit]} b{DIGITS[out]}"
        lines.append(Line(text, bool(borrow or out)))
        borrow = out
    return lines


def bitwise_lines(
    a: int, b: int, width: int, sign: str, rule: Callable[[int, int], int]
) -> list[Line]:
    """Positions of a bitwise operation; a position is key when it gives ①."""
    lines = []
    for i in range(width):
        x, y = bit(a, i), bit(b, i)
        out = rule(x, y)
        lines.append(Line(f"{i}: {DIGITS[x]}{sign}{DIGITS[y]} = {DIGITS[out]}", bool(out)))
    return lines


def compare_lines(a: int, b: int, width: int) -> list[Line]:
    """Positions of a comparison, most significant first; the first difference is key."""
    lines, decided = [], False
    for i in reversed(range(width)):
        x, y = bit(a, i), bit(b, i)
        sign = "=" if x == y else "<" if x < y else ">"
        lines.append(Line(f"{i}: {DIGITS[x]}{sign}{DIGITS[y]}", x != y and not decided))
        decided = decided or x != y
    return lines


def weigh_lines(factor: int, b: int, width: int) -> list[Line]:
    """Sum of factor * 2^i over the digits of b; the digits that are ① are key."""
    lines, total = [], 0
    for i in range(width):
        before, weight = total, factor << i
        total += weight * bit(b, i)
        text = f"{i}: {DIGITS[bit(b, i)]}*{weight} s{before} = s{total}"
        lines.append(Line(text, bool(bit(b, i))))
    return lines


def divide_lines(a: int, b: int, width: int) -> list[Line]:
    """Long division, most significant first; digits ① of the quotient are key."""
    lines, rest = [], 0
    for i in reversed(range(width)):
        before, x = rest, bit(a, i)
        quotient, rest = divmod(2 * rest + x, b)
        text = f"{i}: r{before} {DIGITS[x]} = {DIGITS[quotient]} r{rest}"
        lines.append(Line(text, bool(quotient)))
    return lines


def halve_lines(a: int, width: int) -> list[Line]:
    """Every digit moves down one place; the one that falls out is key."""
    moved = [Line(f"{i}>{i - 1}: {DIGITS[bit(a, i)]}", False) for i in range(1, width)]
    return [Line(f"0 out: {DIGITS[bit(a, 0)]}", True), *moved]


def double_lines(a: int, width: int) -> list[Line]:
    """Every digit moves up one place; the ⓪ that comes in is key."""
    moved = [Line(f"{i}>{i + 1}: {DIGITS[bit(a, i)]}", False) for i in range(width)]
    return [Line(f"0 in: {DIGITS[0]}", True), *moved]


def convert_lines(number: int, width: int) -> list[Line]:
    """Halving again and again; every digit ① is key."""
    lines = []
    for i in range(width):
        half, digit = divmod(number, 2)
        lines.append(Line(f"{i}: {number} = {half}*2+{DIGITS[digit]}", bool(digit)))
        number = half
    return lines
