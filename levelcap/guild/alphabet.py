"""The closed alphabet: every character a text hero may read or write.

`data/skills/alphabet.txt` begins with its version and holds one character a line; space and
newline are written as <space> and <newline>. The order is the order of the tokens, so a change
raises the version, and a checkpoint of another version is not read.
"""

from __future__ import annotations

import re
from dataclasses import dataclass
from functools import cache
from importlib import resources

from levelcap.kit.errors import BadFile, BadValue, refuse

MAX_CHARACTERS = 256
NUM_SIGNS = 64
ESCAPES = {"<space>": " ", "<newline>": "\n"}


@dataclass(frozen=True)
class Alphabet:
    """A version and its characters, in token order; the last 64 are the signs of symbol keys."""

    version: int
    characters: tuple[str, ...]

    @property
    def signs(self) -> tuple[str, ...]:
        """The pool of signs that may rename a digit or an operation."""
        return self.characters[-NUM_SIGNS:]

    def refuse_outside(self, text: str, where: str) -> None:
        """Refuses a text with a character that is not in the alphabet.

        Args:
            text: what is to be read or written by a hero.
            where: what the text is, for the message, e.g. "quest.jsonl line 7".

        Raises:
            BadValue: names the line inside the text, the place in it and the character.
        """
        known = frozenset(self.characters)
        if known.issuperset(text):
            return
        for number, line in enumerate(text.split("\n"), start=1):
            for place, character in enumerate(line, start=1):
                if character not in known:
                    what = (
                        f"{where}: line {number}, character {place} (U+{ord(character):04X})"
                        f" is not in alphabet v{self.version}"
                    )
                    raise BadValue(refuse(what, character, "Leave it out or replace it"))


def parse_alphabet(text: str, name: str) -> Alphabet:
    """Reads the format described in the module's text.

    Raises:
        BadFile: no version line, a line that is no single character, a character twice, or too
            many of them.
    """
    head, *lines = text.removesuffix("\n").split("\n")
    if not (version := re.fullmatch(r"# alphabet v([1-9][0-9]{0,5})", head)):
        remedy = "Begin with a line like '# alphabet v1'"
        raise BadFile(refuse(f"{name} has no version line", head, remedy))
    characters = [ESCAPES.get(line, line) for line in lines]
    for number, character in enumerate(characters, start=2):
        if len(character) != 1 or characters.index(character) != number - 2:
            remedy = "Write one character a line, each once"
            raise BadFile(refuse(f"{name} line {number} is refused", character, remedy))
    if not NUM_SIGNS < len(characters) <= MAX_CHARACTERS:
        remedy = f"Keep it above {NUM_SIGNS} and up to {MAX_CHARACTERS}"
        raise BadFile(refuse(f"{name}: number of characters", len(characters), remedy))
    return Alphabet(int(version[1]), tuple(characters))


@cache
def load_alphabet() -> Alphabet:
    """The shipped alphabet."""
    source = resources.files("levelcap") / "data" / "skills" / "alphabet.txt"
    return parse_alphabet(source.read_text(encoding="utf-8"), "alphabet.txt")
