"""BIN, the map from a call to the primitives it truly uses, found from the operands.

The digits decide: an addition without a carry is another ability than one with. Forms that print
decimal checks also use the conversion and the decimal arithmetic of the check.
"""

from __future__ import annotations

from collections.abc import Callable

from levelcap.guild.bin.operations import signed
from levelcap.guild.bin.tasks import CHECK, FILL, OVERFLOW, value_of
from levelcap.guild.bin.wording import Step, evaluate, read_call


def _add(a: int, b: int) -> str:
    return "add_with_carry" if a & b else "add_no_carry"


def _subtract(a: int, b: int) -> str:
    return "sub_with_borrow" if ~a & b else "sub_no_borrow"


def _multiply(a: int, b: int) -> set[str]:
    """Shift and add: only sums of two partial products that are not zero count."""
    found, total = set(), 0
    for place in range(b.bit_length()):
        if b >> place & 1:
            if total:
                found.add(_add(total, a << place))
            total += a << place
    return found or {"add_no_carry"}


def _divide(a: int, b: int, width: int) -> set[str]:
    """Long division compares at every digit and subtracts where the quotient has a ①."""
    found, rest = {"compare"}, 0
    for place in reversed(range(width)):
        rest = 2 * rest + (a >> place & 1)
        if rest >= b:
            found.add(_subtract(rest, b))
            rest -= b
    return found


def _multiply_signed(step: Step, a: int, b: int) -> set[str]:
    return _multiply(abs(signed(a, step.given)), abs(signed(b, step.given)))


def _absolute(step: Step, a: int, b: int) -> set[str]:
    return {_subtract(0, a) if a >> (step.given - 1) else "compare"}


# Operation -> what it exercises, given its operands (of one operand b is a); others compare.
_USED: dict[str, Callable[[Step, int, int], set[str]]] = {
    "add": lambda step, a, b: {_add(a, b)},
    "add_signed": lambda step, a, b: {_add(a, b)},
    "increment": lambda step, a, b: {_add(a, 1)},
    "multiply_by_2": lambda step, a, b: {_add(a, a)},
    "subtract": lambda step, a, b: {_subtract(a, b)},
    "subtract_signed": lambda step, a, b: {_subtract(a, b)},
    "decrement": lambda step, a, b: {_subtract(a, 1)},
    "negate": lambda step, a, b: {_subtract(0, a)},
    "absolute_value": _absolute,
    "multiply": lambda step, a, b: _multiply(a, b),
    "multiply_signed": _multiply_signed,
    "divide": lambda step, a, b: _divide(a, b, step.args[0].width),
    "divide_by_2": lambda step, a, b: {"modulo" if a & 1 else "div_exact"},
    "tobinary": lambda step, a, b: {"from_decimal"},
    "todecimal": lambda step, a, b: {"to_decimal"},
    **{name: lambda step, a, b: {step.operation.name} for name in ("and", "or", "xor")},
}


def step_primitives(step: Step) -> set[str]:
    """What the digits of one call exercise."""
    used = _USED.get(step.operation.name)
    return used(step, step.args[0].value, step.args[-1].value) if used else {"compare"}


def _decimal_add(a: int, b: int) -> str | None:
    if a < 10 and b < 10:
        return "add_single_digit_with_carry" if a + b > 9 else "add_single_digit_no_carry"
    return "add_two_digit" if a < 100 and b < 100 else None


def _decimal_subtract(a: int, b: int) -> str | None:
    if a < 10:
        return "sub_single_digit"
    return "sub_two_digit" if a < 100 else None


def check_primitives(step: Step) -> set[str]:
    """What the decimal check of one call exercises."""
    name = step.operation.name
    found: set[str | None] = {"from_decimal" if name == "tobinary" else "to_decimal"}
    if step.operation.signed:
        return {"to_decimal"}
    a, b = step.args[0].value, step.args[-1].value
    if name in ("add", "increment"):
        found.add(_decimal_add(a, 1 if name == "increment" else b))
    elif name in ("subtract", "decrement"):
        found.add(_decimal_subtract(a, 1 if name == "decrement" else b))
    elif name in ("multiply", "multiply_by_2") and max(a, b) < 10:
        found.add("mul_single_digit")
    elif name in ("divide", "divide_by_2"):
        divisor = 2 if name == "divide_by_2" else b
        found.add("modulo" if a % divisor else "div_exact")
    elif name in ("equals", "lessthan", "greaterthan", "minimum", "maximum"):
        found.add("compare_integers")
    return {f for f in found if f}


def call_primitives(steps: list[Step], form: str) -> tuple[str, ...]:
    """All primitives of a problem with these calls, in order of their names."""
    found: set[str] = set()
    for step in steps:
        found |= step_primitives(step)
        if form in ("medium", "hard", "expert"):
            found |= check_primitives(step)
    return tuple(sorted(found))


_PLAIN_TASKS = {
    "properties": ("count_char", "parity"),
    "reverse": ("reverse_string",),
    "true_false": ("compare",),
}


def task_primitives(task: str, prompt: str) -> tuple[str, ...]:
    """What a plain auxiliary prompt exercises."""
    if task in _PLAIN_TASKS:
        return _PLAIN_TASKS[task]
    if task == "fill_blank":
        return (_blank(prompt),)
    pattern = CHECK if task == "error_detection" else OVERFLOW
    match = pattern.fullmatch(prompt)
    assert match, prompt
    return call_primitives(evaluate(read_call(match[1])), "easy")


def _blank(prompt: str) -> str:
    """A blank is found by the inverse operation."""
    match = FILL.fullmatch(prompt)
    assert match, prompt
    a, result = value_of(match[2]), value_of(match[3])
    if match[1] == "xor":
        return "xor"
    return _subtract(result, a) if match[1] == "add" else _subtract(a, result)
