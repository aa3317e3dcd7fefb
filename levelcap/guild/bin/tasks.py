"""BIN, the auxiliary tasks: the same numbers, looked at from another side.

Check: add(①①, ⓪①) = ①⓪①        right | wrong, ①⓪⓪          error_detection
Fill: add(①①, ?) = ①⓪⓪           ? = ⓪①                        fill_blank
True or false: ①① > ⓪①            true | false                   true_false
Properties: ①⓪①                    odd, ones 2, zeros 1           properties
Overflow: add(①①, ⓪①) in 2        yes | no                       overflow
Reverse: ①⓪⓪                       ⓪⓪①                           reverse
"""

from __future__ import annotations

import re
from collections.abc import Callable

from levelcap.guild.bin.operations import OPERATIONS, Number
from levelcap.guild.bin.wording import Call, evaluate, read_call, unreadable, write_call
from levelcap.guild.bin.wording import write_number as write
from levelcap.guild.bin.work import digits
from levelcap.guild.rng import Rng

NUMBER = "[⓪①]+"
CHECK = re.compile(rf"Check: ([a-z_0-9]+\([⓪①, ]+\)) = ({NUMBER})")
FILL = re.compile(rf"Fill: (add|subtract|xor)\(({NUMBER}), \?\) = ({NUMBER})")
CLAIM = re.compile(rf"True or false: ({NUMBER}) ([<>=]) ({NUMBER})")
PROPERTIES = re.compile(rf"Properties: ({NUMBER})")
OVERFLOW = re.compile(r"Overflow: (add\([⓪①, ]+\)) in ([1-9][0-9]?)")
REVERSE = re.compile(rf"Reverse: ({NUMBER})")
FILLED: dict[str, Callable[[int, int], int]] = {
    "add": lambda a, r: r - a,
    "subtract": lambda a, r: a - r,
    "xor": lambda a, r: a ^ r,
}
CHECKED = ("add", "subtract", "and", "or", "xor", "minimum", "maximum")


def value_of(text: str) -> int:
    """A number in circled digits."""
    return int(text.replace("⓪", "0").replace("①", "1"), 2)


def _check(match: re.Match[str]) -> str:
    result = write(evaluate(read_call(match[1]))[-1].result, False)
    return "right" if result == match[2] else f"wrong, {result}"


def _fill(match: re.Match[str]) -> str:
    found = FILLED[match[1]](value_of(match[2]), value_of(match[3]))
    if found < 0 or found >> len(match[2]):
        raise unreadable(match[0])
    return f"? = {digits(found, len(match[2]))}"


def _claim(match: re.Match[str]) -> str:
    a, b = value_of(match[1]), value_of(match[3])
    return "true" if match[2] == ("=" if a == b else "<" if a < b else ">") else "false"


def _properties(match: re.Match[str]) -> str:
    ones, parity = match[1].count("①"), "odd" if match[1][-1] == "①" else "even"
    return f"{parity}, ones {ones}, zeros {len(match[1]) - ones}"


def _overflow(match: re.Match[str]) -> str:
    return "yes" if evaluate(read_call(match[1]))[-1].result.value >> int(match[2]) else "no"


def _reverse(match: re.Match[str]) -> str:
    return match[1][::-1]


SOLVERS: dict[str, tuple[re.Pattern[str], Callable[[re.Match[str]], str]]] = {
    "error_detection": (CHECK, _check),
    "fill_blank": (FILL, _fill),
    "true_false": (CLAIM, _claim),
    "properties": (PROPERTIES, _properties),
    "overflow": (OVERFLOW, _overflow),
    "reverse": (REVERSE, _reverse),
}
TASKS = tuple(SOLVERS)


def solve_task(prompt: str) -> str:
    """The answer to a plain auxiliary prompt.

    Raises:
        BadValue: the prompt is none.
    """
    for pattern, solver in SOLVERS.values():
        if match := pattern.fullmatch(prompt):
            return solver(match)
    raise unreadable(prompt)


def task_operands(prompt: str) -> tuple[tuple[int, ...], int]:
    """The numbers a task is about, and their width; of a blank, the number that fills it.

    Raises:
        BadValue: the prompt is none.
    """
    answer = solve_task(prompt)
    if match := FILL.fullmatch(prompt):
        return (value_of(match[2]), value_of(answer[4:])), len(match[2])
    if match := CHECK.fullmatch(prompt) or OVERFLOW.fullmatch(prompt):
        numbers = re.findall(NUMBER, match[1])
    else:
        numbers = re.findall(NUMBER, prompt)
    return tuple(value_of(number) for number in numbers), len(numbers[0])


def needs_pair(task: str) -> bool:
    """True for tasks on two numbers, False for tasks on one."""
    return task not in ("properties", "reverse")


def write_task(task: str, a: int, b: int, width: int, dice: Rng) -> str:
    """The plain prompt of a task on the numbers a and b (one-number tasks use a)."""
    first, second = digits(a, width), digits(b, width)
    if task in ("properties", "reverse"):
        return f"{task.capitalize()}: {first}"
    if task == "true_false":
        return f"True or false: {first} {dice.pick('<>=')} {second}"
    if task == "overflow":
        return f"Overflow: add({first}, {second}) in {width}"
    if task == "fill_blank":
        return _write_fill(a, b, width, dice.pick(tuple(FILLED)))
    return _write_check(a, b, width, dice)


def _write_fill(a: int, b: int, width: int, name: str) -> str:
    if name == "subtract":
        a, b = max(a, b), min(a, b)
    result = OPERATIONS[name].evaluate((Number(a, width), Number(b, width)), 0)
    return f"Fill: {name}({digits(a, width)}, ?) = {digits(result.value, result.width)}"


def _write_check(a: int, b: int, width: int, dice: Rng) -> str:
    """Half of the claims are wrong in one digit."""
    operation = OPERATIONS[dice.pick(CHECKED)]
    if operation.name == "subtract":
        a, b = max(a, b), min(a, b)
    call = Call(operation, (Number(a, width), Number(b, width)))
    result = evaluate(call)[-1].result
    claimed = result.value ^ (dice.chance(50) << dice.below(result.width))
    return f"Check: {write_call(call)} = {digits(claimed, result.width)}"
