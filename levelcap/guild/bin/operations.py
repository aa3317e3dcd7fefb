"""BIN, the operations: value, width of the result, decimal check and written work of each.

Widths, with operands of widths m and n: add and increment one more than the wider operand,
multiply m + n, multiply_by_2 m + 1, divide, divide_by_2 and decrement m, subtract, minimum,
maximum and the bitwise ones the wider; comparisons 1 digit; sign_of 2 digits (①① is -1).
Signed operations and tobinary are given their width as last argument: operands and results are
two's complement of that width (multiply_signed: twice), results wrap, and a wrap is called
overflow.
"""

from __future__ import annotations

import operator
from collections.abc import Callable
from dataclasses import dataclass
from typing import NamedTuple

from levelcap.guild.bin import work as work
from levelcap.guild.bin.work import Line


class Number(NamedTuple):
    """A value as it is written: `width` digits, or in decimal when the width is 0."""

    value: int
    width: int


Args = tuple[Number, ...]


@dataclass(frozen=True)
class Operation:
    """One operation; `given` is the width argument, 0 where there is none."""

    name: str
    arity: int
    evaluate: Callable[[Args, int], Number]
    check: Callable[[Args, int], str]  # the decimal equation, always a true one
    lines: Callable[[Args, int], list[Line]]
    signed: bool = False
    takes_width: bool = False


def signed(value: int, width: int) -> int:
    """Digits read as two's complement."""
    return value - (value >> (width - 1) << width)


def wide(args: Args) -> int:
    """Width of the wider operand."""
    return max(number.width for number in args)


def _values(args: Args, given: int) -> list[int]:
    return [signed(n.value, given) if given else n.value for n in args]


def _wrap(value: int, width: int) -> Number:
    return Number(value & ((1 << width) - 1), width)


def _relation(a: int, b: int) -> str:
    return "=" if a == b else "<" if a < b else ">"


def _powers(args: Args, given: int) -> str:
    number = args[0].value
    parts = [str(1 << i) for i in reversed(range(number.bit_length())) if number >> i & 1]
    return f"{number} = {' + '.join(parts) or '0'}"


def _binary(
    name: str,
    rule: Callable[[int, int], int],
    width: Callable[[Args], int],
    check: str,
    lines: Callable[[int, int, int], list[Line]],
) -> Operation:
    """An unsigned operation of two operands; `check` has places for a, b and the result r."""

    def text(args: Args, given: int) -> str:
        a, b = args[0].value, args[1].value
        return check.format(a=a, b=b, r=rule(a, b), rest=a - b * rule(a, b), s=_relation(a, b))

    return Operation(
        name,
        2,
        lambda args, given: Number(rule(args[0].value, args[1].value), width(args)),
        text,
        lambda args, given: lines(args[0].value, args[1].value, wide(args)),
    )


def _unary(
    name: str,
    rule: Callable[[int], int],
    width: Callable[[Args], int],
    check: str,
    lines: Callable[[int, int], list[Line]],
) -> Operation:
    """An unsigned operation of one operand."""
    return Operation(
        name,
        1,
        lambda args, given: Number(rule(args[0].value), width(args)),
        lambda args, given: check.format(
            a=args[0].value, r=rule(args[0].value), rest=args[0].value % 2
        ),
        lambda args, given: lines(args[0].value, args[0].width),
    )


def _overflow(args: Args, given: int, true: int) -> str:
    wrapped = signed(_wrap(true, given).value, given)
    return "" if wrapped == true else f" overflow {wrapped}"


def _signed(
    name: str,
    arity: int,
    rule: Callable[..., int],
    check: str,
    lines: Callable[[Args, int], list[Line]],
    growth: int = 1,
) -> Operation:
    """A two's complement operation whose result has growth * given digits."""

    def text(args: Args, given: int) -> str:
        values = _values(args, given)
        true = rule(*values)
        return check.format(*values, r=true) + _overflow(args, given * growth, true)

    def all_lines(args: Args, given: int) -> list[Line]:
        over = _overflow(args, given * growth, rule(*_values(args, given)))
        return lines(args, given) + ([Line("overflow", True)] if over else [])

    return Operation(
        name,
        arity,
        lambda args, given: _wrap(rule(*_values(args, given)), given * growth),
        text,
        all_lines,
        signed=True,
        takes_width=True,
    )


def _negate_lines(args: Args, given: int) -> list[Line]:
    return work.subtract_lines(0, args[0].value, given)


def _absolute_lines(args: Args, given: int) -> list[Line]:
    top = work.bit(args[0].value, given - 1)
    sign = Line(f"sign {work.DIGITS[top]}", True)
    return [sign, *(_negate_lines(args, given) if top else [])]


def _sign_lines(args: Args, given: int) -> list[Line]:
    top, some = work.bit(args[0].value, given - 1), int(args[0].value != 0)
    return [Line(f"sign {work.DIGITS[top]}", True), Line(f"any {work.DIGITS[some]}", True)]


def _multiply_signed_lines(args: Args, given: int) -> list[Line]:
    a, b = _values(args, given)
    minus = work.DIGITS[int(a * b < 0)]
    head = Line(f"{a}*{b}: |{abs(a)}*{abs(b)}|, minus {minus}", True)
    return [head, *work.weigh_lines(abs(a), abs(b), given)]


def _sign_of(args: Args, given: int) -> Number:
    value = signed(args[0].value, given)
    return _wrap((value > 0) - (value < 0), 2)


def _sign_check(args: Args, given: int) -> str:
    value = signed(args[0].value, given)
    return f"{value} {_relation(value, 0)} 0"


def _as_binary(args: Args, given: int) -> Number:
    return Number(args[0].value, given)


def _as_decimal(args: Args, given: int) -> Number:
    return Number(args[0].value, 0)


def _tobinary_lines(args: Args, given: int) -> list[Line]:
    return work.convert_lines(args[0].value, given)


def _todecimal_lines(args: Args, given: int) -> list[Line]:
    return work.weigh_lines(1, args[0].value, args[0].width)


def _bitwise(sign: str, rule: Callable[[int, int], int]) -> Callable[[int, int, int], list[Line]]:
    return lambda a, b, width: work.bitwise_lines(a, b, width, sign, rule)


def _one(rule: Callable[[int, int], bool]) -> Callable[[int, int], int]:
    return lambda a, b: int(rule(a, b))


def _with(lines: Callable[[int, int, int], list[Line]], b: int) -> Callable[[int, int], list[Line]]:
    """The work of an operation whose second operand is always `b`."""
    return lambda a, width: lines(a, b, width)


def _both(lines: Callable[[int, int, int], list[Line]]) -> Callable[[Args, int], list[Line]]:
    """The work of a signed operation on two operands."""
    return lambda args, given: lines(args[0].value, args[1].value, given)


def _one_more(args: Args) -> int:
    return wide(args) + 1


def _sum_of_widths(args: Args) -> int:
    return args[0].width + args[1].width


def _first(args: Args) -> int:
    return args[0].width


def _single_digit(args: Args) -> int:
    return 1


_TABLE = (
    _binary("add", operator.add, _one_more, "{a} + {b} = {r}", work.add_lines),
    _binary("subtract", operator.sub, wide, "{a} - {b} = {r}", work.subtract_lines),
    _binary("multiply", operator.mul, _sum_of_widths, "{a} * {b} = {r}", work.weigh_lines),
    _unary("increment", lambda a: a + 1, _one_more, "{a} + 1 = {r}", _with(work.add_lines, 1)),
    _unary("decrement", lambda a: a - 1, wide, "{a} - 1 = {r}", _with(work.subtract_lines, 1)),
    _binary("divide", operator.floordiv, _first, "{a} = {b} * {r} + {rest}", work.divide_lines),
    _unary("divide_by_2", lambda a: a // 2, wide, "{a} = 2 * {r} + {rest}", work.halve_lines),
    _unary("multiply_by_2", lambda a: 2 * a, _one_more, "{a} * 2 = {r}", work.double_lines),
    _signed("add_signed", 2, operator.add, "{0} + {1} = {r}", _both(work.add_lines)),
    _signed("subtract_signed", 2, operator.sub, "{0} - {1} = {r}", _both(work.subtract_lines)),
    _signed("multiply_signed", 2, operator.mul, "{0} * {1} = {r}", _multiply_signed_lines, 2),
    _signed("negate", 1, operator.neg, "0 - {0} = {r}", _negate_lines),
    _signed("absolute_value", 1, abs, "|{0}| = {r}", _absolute_lines),
    Operation("sign_of", 1, _sign_of, _sign_check, _sign_lines, signed=True, takes_width=True),
    _binary("equals", _one(operator.eq), _single_digit, "{a} {s} {b}", work.compare_lines),
    _binary("lessthan", _one(operator.lt), _single_digit, "{a} {s} {b}", work.compare_lines),
    _binary("greaterthan", _one(operator.gt), _single_digit, "{a} {s} {b}", work.compare_lines),
    _binary("minimum", min, wide, "min({a}, {b}) = {r}", work.compare_lines),
    _binary("maximum", max, wide, "max({a}, {b}) = {r}", work.compare_lines),
    Operation("tobinary", 1, _as_binary, _powers, _tobinary_lines, takes_width=True),
    Operation("todecimal", 1, _as_decimal, _powers, _todecimal_lines),
    _binary("and", operator.and_, wide, "{a} and {b} = {r}", _bitwise("&", operator.and_)),
    _binary("or", operator.or_, wide, "{a} or {b} = {r}", _bitwise("|", operator.or_)),
    _binary("xor", operator.xor, wide, "{a} xor {b} = {r}", _bitwise("^", operator.xor)),
)

OPERATIONS = {row.name: row for row in _TABLE}
