"""BIN: binary arithmetic in circled digits, L1-L30 (`data/skills/bin.yaml`).

A problem is drawn as a call (or an auxiliary task) on integers and written by `binary_text`,
which also solves it from the prompt. Lessons contain no held-out operands in any of their calls;
in exams the operands of the innermost call are held out (`holdout`), so no exam is ever a lesson.
"""

from __future__ import annotations

from functools import cached_property
from typing import Annotated

from pydantic import Field

from levelcap.guild.alphabet import load_alphabet
from levelcap.guild.bin.operations import OPERATIONS, Number, Operation
from levelcap.guild.bin.primitives import call_primitives, task_primitives
from levelcap.guild.bin.tasks import TASKS, needs_pair, solve_task, task_operands, write_task
from levelcap.guild.bin.wording import (
    HEAD_OF,
    HEADS,
    Call,
    Step,
    evaluate,
    read_call,
    rename,
    split_key,
    write_answer,
    write_call,
    write_key,
)
from levelcap.guild.holdout import held_out
from levelcap.guild.rng import Rng
from levelcap.guild.skill import (
    MAX_DRAWS,
    Level,
    Percent,
    Pool,
    Problem,
    Skill,
    SkillFile,
    Strict,
    check_mix,
    load_file,
    prompt_key,
)
from levelcap.kit.errors import BadFile, BadValue, refuse

Depth = Annotated[int, Field(ge=1, le=8)]
# These end a chain: their result is no operand for another operation.
LAST = {"equals", "lessthan", "greaterthan", "todecimal", "sign_of", "multiply_signed"}
SAME_PERCENT = {"equals": 50, "lessthan": 10, "greaterthan": 10, "true_false": 30}


class BinaryLevel(Level):
    """A level of BIN."""

    width: int = Field(ge=1, le=32)
    chain: int = Field(ge=1, le=8)
    unlock: tuple[str, ...]
    symbols: Percent


class Preset(Strict):
    """A narrower skill: these operations in this mix, at every level."""

    operations: tuple[str, ...] = Field(min_length=1)
    mix: dict[str, Percent]
    symbols: Percent


class BinaryFile(SkillFile):
    """`bin.yaml`."""

    depths: dict[str, tuple[Depth, Depth]]
    presets: dict[str, Preset]
    levels: tuple[BinaryLevel, ...]


class BinarySkill(Skill):
    """The generator and solver of BIN."""

    def __init__(self, file: BinaryFile | None = None) -> None:
        self.file: BinaryFile = file or load_file(BinaryFile, "bin")
        self.id, self.name, self.version = self.file.id, self.file.name, self.file.version
        self.forms, self.levels = self.file.forms, len(self.file.levels)
        self.presets = tuple(self.file.presets)
        self._refuse_names()
        self._pools: dict[tuple[int, str | None], Pool] = {}
        self._unlocked: dict[tuple[int, str | None], tuple[str, ...]] = {}

    def _refuse_names(self) -> None:
        used = {name for row in self.file.levels for name in row.unlock}
        for preset_name, preset in self.file.presets.items():
            used |= set(preset.operations)
            check_mix(preset.mix, self.forms, f"bin.yaml preset {preset_name}")
        if unknown := used - set(OPERATIONS):
            known = ", ".join(OPERATIONS)
            raise BadFile(refuse("bin.yaml: no such operation", sorted(unknown), f"Use {known}"))

    def operations(self, level: int, preset: str | None = None) -> tuple[str, ...]:
        """The operations a level draws from, each equally likely."""
        if (level, preset) not in self._unlocked:
            rows = self.file.levels[:level]
            names = [name for row in rows for name in row.unlock]
            narrow = self.file.presets[preset].operations if preset else names
            self._unlocked[level, preset] = tuple(narrow)
        return self._unlocked[level, preset]

    def mix(self, level: int, preset: str | None = None) -> dict[str, float]:
        """Form -> percent."""
        return self.file.presets[preset].mix if preset else self.file.levels[level - 1].mix

    def symbols(self, level: int, preset: str | None = None) -> float:
        """Percent of problems with a key."""
        owner = self.file.presets[preset] if preset else self.file.levels[level - 1]
        return owner.symbols

    def pool(self, level: int, preset: str | None = None) -> Pool:
        """Counted exactly while calls are not nested and only operands vary; else a least."""
        if (level, preset) not in self._pools:
            row, mix = self.file.levels[level - 1], self.mix(level, preset)
            plain = not self.symbols(level, preset) and not {"natural", "aux"} & set(mix)
            calls = sum(_count(name, row.width) for name in self.operations(level, preset))
            single = all(min(self.file.depths[form][1], row.chain) == 1 for form in mix if plain)
            forms = len(set(mix) & set(self.file.depths) - {"natural"})
            self._pools[level, preset] = Pool(calls * forms, exact=plain and single)
        return self._pools[level, preset]

    def solve(self, prompt: str) -> str:
        """The answer to any prompt of BIN, symbol prompts included.

        Raises:
            BadValue: the text is no prompt of BIN.
        """
        key, body = split_key(prompt)
        for head, form in HEADS.items():
            if body.startswith(head):
                answer = write_answer(read_call(body[len(head) :], form == "natural"), form)
                break
        else:
            answer = solve_task(body)
        return rename(answer, key) if key else answer

    def draw(self, level: int, form: str, dice: Rng, preset: str | None, exam: bool) -> Problem:
        """One problem of a form (see `Skill.draw`)."""
        held = self._held(level, preset, exam)
        if form == "aux":
            return self._draw_task(level, dice, preset, held)
        for _ in range(MAX_DRAWS):
            call = self._draw_call(level, form, dice, preset, held)
            steps = evaluate(call) if call else []
            if steps and (held is not False or not any(_is_held(step) for step in steps)):
                assert call
                prompt = HEAD_OF[form] + write_call(call, form == "natural")
                answer, name = write_answer(call, form), call.operation.name
                used = [step.operation.name for step in steps]
                used_primitives = call_primitives(steps, form)
                facts = (level, form, name, prompt, answer, used_primitives)
                return self._problem(facts, used, dice, preset)
        raise AssertionError(f"no problem found: bin level {level}, {form}")

    def _held(self, level: int, preset: str | None, exam: bool) -> bool | None:
        """Whether operands must be held out (True), must not be (False), or may be any (None).

        Lessons of a preset whose own pool is memorisable still leave out what exams of the whole
        mix ask.
        """
        owner = preset if exam else None
        return None if self.pool(level, owner).memorisable else exam

    def examined(self, prompt: str) -> bool:
        """True for prompts that only exams may hold."""
        try:
            _, body = split_key(prompt)
            operands, width = first_operands(body)
        except BadValue:
            return False
        level = min(max(width - 1, 1), self.levels)
        return held_out(*operands) and self._held(level, None, exam=True) is True

    def _draw_task(self, level: int, dice: Rng, preset: str | None, held: bool | None) -> Problem:
        task, width = dice.pick(TASKS), self.file.levels[level - 1].width
        for _ in range(MAX_DRAWS):
            a, b = dice.below(1 << width), dice.below(1 << width)
            if dice.chance(SAME_PERCENT.get(task, 0)):
                b = a
            operands = (a, b) if needs_pair(task) else (a,)
            if held is None or held_out(*operands) == held:
                break
        prompt = write_task(task, a, b, width, dice)
        used = [name for name in OPERATIONS if f" {name}(" in prompt]
        facts = (level, "aux", task, prompt, solve_task(prompt), task_primitives(task, prompt))
        return self._problem(facts, used, dice, preset)

    def _draw_call(
        self, level: int, form: str, dice: Rng, preset: str | None, held: bool | None
    ) -> Call | None:
        """A call of the form's depth; None when the numbers do not allow it."""
        row, names = self.file.levels[level - 1], self.operations(level, preset)
        low, high = (min(depth, row.chain) for depth in self.file.depths[form])
        chain = _chain(names, dice.between(low, high), dice)
        call: Call | None = _innermost(OPERATIONS[chain[0]], row.width, form, dice, held)
        for name in chain[1:]:
            call = _around(OPERATIONS[name], call, row.width, dice) if call else None
        return call

    def _problem(
        self,
        facts: tuple[int, str, str, str, str, tuple[str, ...]],
        used: list[str],
        dice: Rng,
        preset: str | None,
    ) -> Problem:
        """Puts the parts together, in the signs of a key for the level's share of problems."""
        level, form, name, prompt, answer, primitives = facts
        if dice.chance(self.symbols(level, preset)):
            key = self._draw_key(used, self.operations(level, preset), dice)
            prompt = f"{write_key(key)}\n{rename(prompt, key)}"
            answer = rename(answer, key)
        return Problem(self.id, level, form, name, prompt, answer, primitives, prompt_key(prompt))

    def _draw_key(self, used: list[str], names: tuple[str, ...], dice: Rng) -> dict[str, str]:
        """Signs for both digits, every operation used, and one that is not."""
        needed = list(dict.fromkeys(used))
        others = [name for name in names if name not in needed]
        meanings = dice.shuffled([*needed, *dice.sample(others, min(1, len(others)))])
        signs = dice.sample(self._signs, 2 + len(meanings))
        return dict(zip(signs, ["⓪", "①", *meanings], strict=True))

    @cached_property
    def _signs(self) -> tuple[str, ...]:
        return load_alphabet().signs


SKILL = BinarySkill


def first_operands(body: str) -> tuple[tuple[int, ...], int]:
    """Numbers of the innermost call (or the task) of a plain prompt, and the widest width.

    Natural numbers have no width of their own: they count as wide, because they are only asked
    where operands are held out.

    Raises:
        BadValue: the text is no prompt of BIN.
    """
    for head, form in HEADS.items():
        if body.startswith(head):
            steps = evaluate(read_call(body[len(head) :], form == "natural"))
            width = (
                32 if form == "natural" else max(n.width or steps[0].given for n in steps[0].args)
            )
            return tuple(number.value for number in steps[0].args), width
    return task_operands(body)


def _is_held(step: Step) -> bool:
    return held_out(*(number.value for number in step.args))


def _count(name: str, width: int) -> int:
    """Different operands of one operation, not nested."""
    one = 1 << width
    if name == "subtract":
        return one * (one + 1) // 2
    if name == "decrement":
        return one - 1
    if name == "divide":
        return one * (one - 1)
    return one ** OPERATIONS[name].arity


def _chain(names: tuple[str, ...], depth: int, dice: Rng) -> list[str]:
    """Names of nested operations, innermost first; signed and unsigned ones do not mix."""
    if depth == 1:
        return [dice.pick(names)]
    last = dice.pick([name for name in names if name != "tobinary"])
    kind = OPERATIONS[last].signed
    inner = [n for n in names if OPERATIONS[n].signed == kind and n not in LAST]
    later = [n for n in inner if n not in ("tobinary", "multiply")]
    first = dice.pick([n for n in inner if n != "multiply" or last != "multiply"])
    return [first, *(dice.pick(later) for _ in range(depth - 2)), last]


def _innermost(operation: Operation, width: int, form: str, dice: Rng, held: bool | None) -> Call:
    """A call on fresh numbers: held-out ones, others, or any (None)."""
    given = width if operation.takes_width else 0
    for _ in range(MAX_DRAWS):
        values = _operands(operation, width, form, dice)
        if held is None or held_out(*values) == held:
            break
    written = 0 if operation.name == "tobinary" else width
    return Call(operation, tuple(Number(value, written) for value in values), given)


def _operands(operation: Operation, width: int, form: str, dice: Rng) -> list[int]:
    """Numbers for which the operation is defined; the natural form varies their length."""
    name = operation.name

    def number() -> int:
        size = dice.between(1, width) if form == "natural" or name == "divide" else width
        return dice.below(1 << size)

    values = [number() for _ in range(operation.arity)]
    if name == "divide":
        values = [dice.below(1 << width), max(1, values[1])]
    if dice.chance(SAME_PERCENT.get(name, 0)):
        values[1] = values[0]
    if name == "subtract":
        values.sort(reverse=True)
    if name == "decrement":
        values[0] = max(1, values[0])
    return values


def _around(operation: Operation, inner: Call, width: int, dice: Rng) -> Call | None:
    """The next call of a chain; None when the inner value is no operand for it."""
    given = width if operation.takes_width else 0
    value = evaluate(inner)[-1].result.value
    if operation.arity == 1:
        if operation.name == "decrement" and value == 0:
            return None
        return Call(operation, (inner,), given)
    leaf = Number(dice.below(1 << width), width)
    if operation.name == "divide":
        return Call(operation, (inner, leaf), given) if leaf.value else None
    inner_first = value >= leaf.value if operation.name == "subtract" else dice.chance(50)
    args: tuple[Call | Number, ...] = (inner, leaf) if inner_first else (leaf, inner)
    return Call(operation, args, given)
