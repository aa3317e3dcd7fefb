"""SY, the language: how a puzzle is written, read back, and answered in each format.

    1. t_ b__: kind of furniture
    2. g__ d__: = yard | rhymes with harden
    Tiles: ble | den | gar | ta
    Format: json_syllables

Slots: `t_ b__` shows first letter and length of every syllable, `t__ ___ 5` the first letter and
the number of letters, `___ ___ 5` the number only, `___ ___` nothing but the syllables.
"""

from __future__ import annotations

import json
import re
from collections.abc import Sequence
from dataclasses import dataclass

from levelcap.kit.errors import BadValue, refuse

FORMATS = ("json_syllables", "json_array", "json_map", "markdown")
MAX_PROMPT_CHARS = 8_000
CLUE = re.compile(r"([1-9][0-9]?|[a-z])\. ([a-z_ ]+?)(?: ([1-9][0-9]?))?: (.+)")
BANK = re.compile(r"Tiles(?: \(([1-9]) extra\))?: ([a-z]+(?: \| [a-z]+)*)")
ANSWER_IN = re.compile(r"Format: ([a-z_]+)")
HIDDEN = "___"


@dataclass(frozen=True)
class Clue:
    """One clue as it is read: what it says and what its slots allow."""

    label: str
    slots: tuple[str, ...]
    letters: int | None
    hint: str

    @property
    def sized(self) -> bool:
        """True when every slot shows its first letter and its length."""
        return self.letters is None and any(slot[0] != "_" for slot in self.slots)

    def fits(self, parts: Sequence[str]) -> bool:
        """Whether these syllables may stand in the slots."""
        if len(parts) != len(self.slots):
            return False
        if self.letters is not None and sum(map(len, parts)) != self.letters:
            return False
        if self.sized:
            return all(
                len(part) == len(slot) and part[0] == slot[0]
                for part, slot in zip(parts, self.slots, strict=True)
            )
        return self.slots[0][0] in ("_", parts[0][0])


@dataclass(frozen=True)
class Puzzle:
    """A prompt as it is read."""

    clues: tuple[Clue, ...]
    tiles: tuple[str, ...]
    herrings: int
    answer_format: str


def write_slots(syllables: Sequence[str], aid: str) -> str:
    """The slots of a word, with the help of the level."""
    if aid == "full":
        return " ".join(part[0] + "_" * (len(part) - 1) for part in syllables)
    slots = [HIDDEN] * len(syllables)
    if aid == "first":
        slots[0] = syllables[0][0] + "__"
    count = f" {sum(map(len, syllables))}" if aid in ("first", "count") else ""
    return " ".join(slots) + count


def write_puzzle(
    clues: Sequence[str], tiles: Sequence[str], herrings: int, layout: str, answer_format: str
) -> str:
    """The whole prompt from its written clues."""
    extra = f" ({herrings} extra)" if herrings else ""
    bank = f"Tiles{extra}: {' | '.join(tiles)}"
    parts = [bank, *clues] if layout == "bank_first" else [*clues, bank]
    return "\n".join([*parts, f"Format: {answer_format}"])


def read_puzzle(prompt: str) -> Puzzle:
    """Reads a prompt back.

    Raises:
        BadValue: the text is no prompt of SY.
    """
    if len(prompt) > MAX_PROMPT_CHARS:
        raise unreadable(prompt)
    *lines, last = prompt.split("\n")
    answer_in = ANSWER_IN.fullmatch(last)
    if not answer_in or answer_in[1] not in FORMATS or len(lines) < 2:
        raise unreadable(prompt)
    if lines[0].startswith("Tiles"):
        lines = [*lines[1:], lines[0]]
    bank = BANK.fullmatch(lines[-1])
    read = [CLUE.fullmatch(line) for line in lines[:-1]]
    if not bank or not all(read):
        raise unreadable(prompt)
    clues = tuple(_clue(match, prompt) for match in read if match)
    if len({clue.label for clue in clues}) != len(clues):
        raise unreadable(prompt)
    return Puzzle(clues, tuple(bank[2].split(" | ")), int(bank[1] or 0), answer_in[1])


def _clue(match: re.Match[str], prompt: str) -> Clue:
    slots = tuple(match[2].split(" "))
    if not all(re.fullmatch(r"[a-z_]_*", slot) for slot in slots):
        raise unreadable(prompt)
    letters = int(match[3]) if match[3] else None
    return Clue(match[1], slots, letters, match[4].split(" | ")[0])


def unreadable(prompt: str) -> BadValue:
    """The error (not raised here) for a text that is no SY prompt."""
    return BadValue(refuse("not a problem of sy", prompt, "Use a prompt made by the skill"))


def write_answer(
    labels: Sequence[str], words: Sequence[tuple[str, ...]], answer_format: str
) -> str:
    """The one accepted text for a solution."""
    texts = ["".join(parts) for parts in words]
    if answer_format == "json_syllables":
        return json.dumps([list(parts) for parts in words], separators=(",", ":"))
    if answer_format == "json_array":
        return json.dumps(texts, separators=(",", ":"))
    if answer_format == "json_map":
        return json.dumps(dict(zip(labels, texts, strict=True)), separators=(",", ":"))
    rows = [f"| {label} | {text} |" for label, text in zip(labels, texts, strict=True)]
    return "\n".join(["| # | word |", "|---|---|", *rows])


def read_words(answer: str, answer_format: str) -> list[str]:
    """The words of a possibly wrong answer, for partial credit; [] when it cannot be read."""
    if answer_format == "markdown":
        return [m[1] for m in re.finditer(r"^\| [0-9a-z]+ \| ([a-z]+) \|$", answer, re.M)]
    try:
        found = json.loads(answer)
    except (ValueError, RecursionError):
        return []
    if isinstance(found, dict):
        found = list(found.values())
    if not isinstance(found, list):
        return []
    return [_joined(item) for item in found]


def _joined(item: object) -> str:
    if isinstance(item, list):
        return "".join(part for part in item if isinstance(part, str))
    return item if isinstance(item, str) else ""
