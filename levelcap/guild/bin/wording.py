"""BIN, the language: calls are parsed from prompts, evaluated, and written out as answers.

    Compute: add(①①, ⓪①)                easy     the call = result
    Compute [natural]: add(①①, ①)       natural  the same without leading zeros
    Compute [verify]: …                   medium   + the decimal check of every call
    Compute [show-work]: …                hard     key positions before the result
    Compute [trace]: …                    expert   operands, every position, result, check

A line `Key: ◆=⓪ ★=① ♠=add` before the prompt renames digits and operations; the answer is
written in the same signs, but for the decimal checks.
"""

from __future__ import annotations

import re
from dataclasses import dataclass
from typing import NamedTuple

from levelcap.guild.bin.operations import OPERATIONS, Args, Number, Operation, signed
from levelcap.guild.bin.work import digits
from levelcap.kit.errors import BadValue, refuse

HEADS = {
    "Compute: ": "easy",
    "Compute [natural]: ": "natural",
    "Compute [verify]: ": "medium",
    "Compute [show-work]: ": "hard",
    "Compute [trace]: ": "expert",
}
HEAD_OF = {form: head for head, form in HEADS.items()}
MAX_PROMPT_CHARS = 4_000
MAX_DEPTH = 16
TOKEN = re.compile(r"([a-z_0-9]+)\(|([⓪①]+)|([0-9]+)|(, )|(\))")


@dataclass(frozen=True)
class Call:
    """An operation on numbers or other calls."""

    operation: Operation
    args: tuple[Call | Number, ...]
    given: int = 0


class Step(NamedTuple):
    """One evaluated call: its operands are numbers by now."""

    operation: Operation
    args: Args
    given: int
    result: Number


def unreadable(prompt: str) -> BadValue:
    """The error (not raised here) for a text that is no BIN prompt."""
    return BadValue(refuse("not a problem of bin", prompt, "Use a prompt made by the skill"))


def write_number(number: Number, natural: bool) -> str:
    """A number in circled digits, or in decimal when it has no width."""
    if not number.width:
        return str(number.value)
    return digits(number.value, 1 if natural else number.width)


def write_call(call: Call | Step, natural: bool = False) -> str:
    """A call as it stands in prompts."""
    parts = [
        write_call(arg, natural) if isinstance(arg, Call) else write_number(arg, natural)
        for arg in call.args
    ]
    if call.given:
        parts.append(str(call.given))
    return f"{call.operation.name}({', '.join(parts)})"


def read_call(text: str, natural: bool = False) -> Call:
    """Parses one call; what `write_call` would not write in the same way is refused.

    Raises:
        BadValue: not a call, or operands an operation cannot take.
    """
    if len(text) > MAX_PROMPT_CHARS:
        raise unreadable(text)
    call, end = _read(text, 0, 0)
    if end != len(text) or write_call(call, natural) != text:
        raise unreadable(text)
    return call


def _read(text: str, at: int, depth: int) -> tuple[Call, int]:
    match = TOKEN.match(text, at)
    if not match or not match[1] or match[1] not in OPERATIONS or depth > MAX_DEPTH:
        raise unreadable(text)
    operation, at = OPERATIONS[match[1]], match.end()
    args: list[Call | Number] = []
    while True:
        arg, at = _read_argument(text, at, depth)
        args.append(arg)
        stop = TOKEN.match(text, at)
        if not stop or not (stop[4] or stop[5]):
            raise unreadable(text)
        at = stop.end()
        if stop[5]:
            return _call(operation, args, text), at


def _read_argument(text: str, at: int, depth: int) -> tuple[Call | Number, int]:
    match = TOKEN.match(text, at)
    if match and match[1]:
        return _read(text, at, depth + 1)
    if match and match[2]:
        value = match[2].replace("⓪", "0").replace("①", "1")
        return Number(int(value, 2), len(value)), match.end()
    if match and match[3] and len(match[3]) <= 40:
        return Number(int(match[3]), 0), match.end()
    raise unreadable(text)


def _call(operation: Operation, args: list[Call | Number], text: str) -> Call:
    given = 0
    if operation.takes_width:
        width = args.pop()
        if not isinstance(width, Number) or width.width or not 1 <= width.value <= 64:
            raise unreadable(text)
        given = width.value
    decimal = [isinstance(a, Number) and not a.width for a in args]
    if len(args) != operation.arity or decimal != [operation.name == "tobinary"] * len(args):
        raise unreadable(text)
    return Call(operation, tuple(args), given)


def evaluate(call: Call) -> list[Step]:
    """Every call of a nested one, innermost first; the last step's result is the whole's.

    Raises:
        BadValue: a negative difference, a division by zero, or an operand too wide.
    """
    steps: list[Step] = []
    args = []
    for arg in call.args:
        if isinstance(arg, Call):
            steps += evaluate(arg)
            args.append(steps[-1].result)
        else:
            args.append(arg)
    step_args = tuple(args)
    refuse_operands(call.operation, step_args, call.given)
    result = call.operation.evaluate(step_args, call.given)
    return [*steps, Step(call.operation, step_args, call.given, result)]


def refuse_operands(operation: Operation, args: Args, given: int) -> None:
    """Refuses operands for which an operation is not defined."""
    a, b = args[0].value, args[-1].value
    bad = (
        (operation.name == "subtract" and a < b)
        or (operation.name == "decrement" and a == 0)
        or (operation.name == "divide" and b == 0)
        or (given and any(n.value >> given for n in args))
    )
    if bad:
        remedy = "Use operands the operation is defined for"
        raise BadValue(
            refuse(f"{operation.name} of these operands", [n.value for n in args], remedy)
        )


def write_answer(call: Call, form: str) -> str:
    """The answer to a call in one of the five forms."""
    natural = form == "natural"
    steps = evaluate(call)
    result = write_number(steps[-1].result, natural)
    final = f"{write_call(call, natural)} = {result}"
    if form in ("easy", "natural"):
        return final
    checks = [f"{CHECK}{s.operation.check(s.args, s.given)}" for s in steps]
    if form == "medium":
        return "\n".join([final, *checks])
    shown = []
    for place, step in enumerate(steps):
        shown += _shown(step, form)
        if place < len(steps) - 1:
            shown.append(f"{write_call(step)} = {write_number(step.result, False)}")
    return "\n".join([*shown, final, *checks])


def _shown(step: Step, form: str) -> list[str]:
    """The work of one call: key positions (hard), or operands and all positions (expert)."""
    lines = step.operation.lines(step.args, step.given)
    if form == "hard":
        return [line.text for line in lines if line.key] or ["none"]
    return [*_operand_lines(step), *(line.text for line in lines)]


def _operand_lines(step: Step) -> list[str]:
    lines = []
    for number in step.args:
        if number.width:
            is_signed = step.operation.signed
            value = signed(number.value, step.given) if is_signed else number.value
            lines.append(f"{digits(number.value, number.width)} = {value:+d}")
    return lines


KEY_LINE = re.compile(r"Key: (\S=[⓪①a-z_0-9]+(?: \S=[⓪①a-z_0-9]+)*)")
NAMED = re.compile(r"(?<![a-z_0-9])[a-z_0-9]++(?=\()")
CHECK = "Verification: "


def split_key(prompt: str) -> tuple[dict[str, str], str]:
    """The key of a symbol prompt (sign -> digit or operation), and the rest in plain language.

    Raises:
        BadValue: a key that names something twice or misses something the prompt uses.
    """
    if not prompt.startswith("Key: "):
        return {}, prompt
    head, _, body = prompt.partition("\n")
    if len(prompt) > MAX_PROMPT_CHARS or not (match := KEY_LINE.fullmatch(head)):
        raise unreadable(prompt)
    pairs = [part.split("=", 1) for part in match[1].split(" ")]
    key = {sign: meaning for sign, meaning in pairs}
    meanings = set(key.values())
    known = meanings <= {"⓪", "①", *OPERATIONS} and {"⓪", "①"} <= meanings
    if len(key) != len(pairs) or len(meanings) != len(pairs) or not known:
        raise unreadable(prompt)
    if re.search(r"[⓪①]", body) or any(name in OPERATIONS for name in NAMED.findall(body)):
        raise unreadable(prompt)
    return key, body.translate(str.maketrans(key))


def rename(text: str, key: dict[str, str]) -> str:
    """A plain text in the signs of a key; decimal checks stay as they are."""
    sign_of = {meaning: sign for sign, meaning in key.items()}
    at = text.find(CHECK)  # checks come last
    work, checks = (text, "") if at < 0 else (text[:at], text[at:])
    work = NAMED.sub(lambda m: sign_of.get(m[0], m[0]), work)
    return work.replace("⓪", sign_of["⓪"]).replace("①", sign_of["①"]) + checks


def write_key(key: dict[str, str]) -> str:
    """The line that stands before a symbol prompt."""
    return "Key: " + " ".join(f"{sign}={meaning}" for sign, meaning in key.items())
