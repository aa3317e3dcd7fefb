"""The words of SY: syllables, frequency, rhyme and clues of each (`data/skills/lexicon.tsv.gz`).

The table is made by `scripts/build_lexicon.py`; clues do not hold the stem of their word.
"""

from __future__ import annotations

import gzip
from collections import defaultdict
from dataclasses import dataclass
from functools import cache, cached_property
from importlib import resources

from levelcap.kit.errors import BadFile, refuse

VERSION_LINE = "# lexicon v1"
# How a clue of each kind is written; the text itself holds no colon and no bar.
WRITTEN = {
    "definition": "{}",
    "synonym": "= {}",
    "hypernym": "kind of {}",
    "hyponym": "such as {}",
    "example": '"{}"',
    "antonym": "not {}",
    "domain": "in {}",
}
STRENGTH = {
    "definition": "strong", "synonym": "strong", "hypernym": "medium", "hyponym": "medium",
    "example": "medium", "antonym": "weak", "domain": "weak",
}  # fmt: skip
ENDINGS = {
    "ology": "Greek", "graphy": "Greek", "cracy": "Greek", "ism": "Greek", "ize": "Greek",
    "tion": "Latin", "sion": "Latin", "ity": "Latin", "ment": "Latin", "ance": "Latin",
    "ence": "Latin", "able": "Latin", "ible": "Latin", "ous": "Latin", "ive": "Latin",
    "age": "French", "ette": "French", "esque": "French", "eur": "French",
    "ness": "Old English", "hood": "Old English", "ship": "Old English", "dom": "Old English",
    "ful": "Old English", "less": "Old English", "ly": "Old English", "ing": "Old English",
}  # fmt: skip


@dataclass(frozen=True)
class Word:
    """One row of the table."""

    text: str
    syllables: tuple[str, ...]
    zipf: float
    rhyme: str
    clues: tuple[tuple[str, str], ...]  # kind, clue as it is written

    @property
    def stem(self) -> str:
        """Letters that no clue of the word may hold."""
        return self.text[:4]

    @property
    def origin(self) -> str | None:
        """Language of the word's ending, for the endings that tell."""
        for size in (6, 5, 4, 3, 2):
            if len(self.text) > size + 1 and self.text[-size:] in ENDINGS:
                return ENDINGS[self.text[-size:]]
        return None


class Lexicon:
    """All words, and which words a clue or a rhyme leads to."""

    def __init__(self, words: list[Word]) -> None:
        self.words = words

    @cached_property
    def by_clue(self) -> dict[str, list[Word]]:
        """A written clue -> every word that bears it."""
        found: dict[str, list[Word]] = defaultdict(list)
        for word in self.words:
            for _, clue in word.clues:
                found[clue].append(word)
        return dict(found)

    @cached_property
    def by_rhyme(self) -> dict[str, list[Word]]:
        """The sound of a rhyme -> the words that end in it."""
        found: dict[str, list[Word]] = defaultdict(list)
        for word in self.words:
            found[word.rhyme].append(word)
        return dict(found)


def parse_lexicon(text: str, name: str) -> Lexicon:
    """Reads the table.

    Raises:
        BadFile: another version, or a row that is none; the message names its line.
    """
    head, *lines = text.removesuffix("\n").split("\n")
    if head != VERSION_LINE:
        remedy = f"Build it again: the first line is {VERSION_LINE!r}"
        raise BadFile(refuse(f"{name} has another version", head, remedy))
    words = []
    for number, line in enumerate(lines, start=2):
        try:
            words.append(_word(line))
        except (ValueError, KeyError) as error:
            what = f"{name} line {number} is no word ({error})"
            raise BadFile(refuse(what, line, "Build the table again")) from error
    return Lexicon(words)


def _word(line: str) -> Word:
    text, parts, zipf, rhyme, *told = line.split("\t")
    syllables = tuple(parts.split("-"))
    if "".join(syllables) != text or not told:
        raise ValueError("syllables and word differ, or no clue")
    pairs = (clue.split(":", 1) for clue in told)
    clues = tuple((kind, WRITTEN[kind].format(clue)) for kind, clue in pairs)
    return Word(text, syllables, float(zipf), rhyme, clues)


@cache
def load_lexicon() -> Lexicon:
    """The shipped table, read once a process."""
    source = resources.files("levelcap") / "data" / "skills" / "lexicon.tsv.gz"
    return parse_lexicon(gzip.decompress(source.read_bytes()).decode(), "lexicon.tsv.gz")
