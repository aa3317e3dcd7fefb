"""SY: syllacrostics, L1-L20 of the ladder to L50 in `data/skills/sy.yaml`.

A puzzle is drawn as a set of words; its clues, tiles and herrings are written out, read back and
solved by exact search, and it is used only when there is one solution. One set of words in ten is
held out by hash: exams use those, lessons the others.
"""

from __future__ import annotations

import math
from collections import Counter, defaultdict
from collections.abc import Iterable
from dataclasses import dataclass
from functools import cached_property
from typing import Annotated, Literal

from pydantic import Field

from levelcap.guild.grade import Grade, grade_text
from levelcap.guild.holdout import held_out
from levelcap.guild.rng import Rng, word_of
from levelcap.guild.skill import Level, Percent, Pool, Problem, Skill, SkillFile, load_file
from levelcap.guild.skill import prompt_key as key_of
from levelcap.guild.sy.search import Filling, solutions
from levelcap.guild.sy.wording import (
    FORMATS,
    Puzzle,
    read_puzzle,
    read_words,
    unreadable,
    write_answer,
    write_puzzle,
    write_slots,
)
from levelcap.guild.words import STRENGTH, Lexicon, Word, load_lexicon
from levelcap.kit.errors import BadValue

MAX_PUZZLES = 2_000  # draws before a level is called broken
ZIPF_BELOW, ZIPF_ABOVE = 0.5, 0.7  # how far a word's frequency may lie from the level's
LETTERS = "abcdefghijklmnopqrstuvwxyz"
Syllables = Annotated[int, Field(ge=2, le=6)]
PRIMITIVES = (
    *("sy_tile_match", "sy_first_letter", "sy_letter_count", "sy_clue_strong", "sy_clue_medium"),
    *("sy_duplicate_tiles", "sy_herring"),
)


class PuzzleLevel(Level):
    """A level of SY: the six quantities that get worse, and how the puzzle is shown."""

    words: int = Field(ge=2, le=12)
    syllables: tuple[Syllables, Syllables]
    zipf: float = Field(ge=1, le=6)
    duplicates: Percent
    herrings: int = Field(ge=0, le=6)
    hints: dict[Literal["strong", "medium", "weak", "minimal"], Percent]
    clue_chars: int = Field(ge=10, le=100)
    aid: Literal["full", "first", "count", "none", "hidden"]
    distinct: bool
    extras: tuple[Literal["sound", "rhyme", "origin", "relation", "structure"], ...]
    extra_percent: Percent
    layouts: tuple[Literal["clues_first", "bank_first", "bank_repeated", "one_sentence"], ...]
    labels: tuple[Literal["number", "letter", "roman", "bullet"], ...]
    banks: tuple[Literal["list", "grouped", "table", "comma"], ...]


class PuzzleFile(SkillFile):
    """`sy.yaml`."""

    levels: tuple[PuzzleLevel, ...]


@dataclass(frozen=True)
class Shelf:
    """The words a level may use, and which of them hold a syllable."""

    words: tuple[Word, ...]
    by_syllable: dict[str, list[Word]]


class SyllacrosticSkill(Skill):
    """The generator and solver of SY."""

    presets: tuple[str, ...] = ()

    def __init__(self, file: PuzzleFile | None = None) -> None:
        self.file: PuzzleFile = file or load_file(PuzzleFile, "sy")
        self.id, self.name, self.version = self.file.id, self.file.name, self.file.version
        self.levels = sum(level.built for level in self.file.levels)
        self.forms = FORMATS
        self._shelves: dict[int, Shelf] = {}

    @cached_property
    def lexicon(self) -> Lexicon:
        """The words, read when the first puzzle is drawn."""
        return load_lexicon()

    def mix(self, level: int, preset: str | None = None) -> dict[str, float]:
        """Answer format -> percent."""
        return self.file.levels[level - 1].mix

    def shelf(self, level: int) -> Shelf:
        """The words of a level: of its frequency and length, with a clue it may use."""
        if level not in self._shelves:
            row = self.file.levels[level - 1]
            words = tuple(word for word in self.lexicon.words if _suits(word, row))
            by_syllable: dict[str, list[Word]] = defaultdict(list)
            for word in words:
                for part in set(word.syllables):
                    by_syllable[part].append(word)
            self._shelves[level] = Shelf(words, dict(by_syllable))
        return self._shelves[level]

    def pool(self, level: int, preset: str | None = None) -> Pool:
        """Sets of words, an upper bound: some of them have no unique puzzle."""
        size = math.comb(len(self.shelf(level).words), self.file.levels[level - 1].words)
        return Pool(size, exact=False)

    def solve(self, prompt: str) -> str:
        """The answer to any prompt of SY.

        Raises:
            BadValue: no prompt, or one without exactly one solution.
        """
        puzzle, filling = self._solved(prompt)
        return write_answer([clue.label for clue in puzzle.clues], filling, puzzle.answer_format)

    def _solved(self, prompt: str) -> tuple[Puzzle, Filling]:
        """A prompt as it is read, and its only filling."""
        puzzle = read_puzzle(prompt)
        found = solutions(puzzle, self.lexicon)
        if len(found) != 1:
            raise unreadable(prompt)
        return puzzle, found[0]

    def examined(self, prompt: str) -> bool:
        """True for puzzles whose set of words is held out."""
        try:
            return _held("".join(parts) for parts in self._solved(prompt)[1])
        except BadValue:
            return False

    def grade(self, prompt: str, answer: object) -> Grade:
        """Right or wrong as everywhere; partial credit is the share of words right."""
        expected = self.solve(prompt)
        given = grade_text(expected, answer)
        if given.right or not isinstance(answer, str) or len(answer) > 4 * len(expected) + 100:
            return given
        answer_format = read_puzzle(prompt).answer_format
        wanted, found = (read_words(text, answer_format) for text in (expected, answer))
        same = sum(a == b for a, b in zip(wanted, found, strict=False))
        # All words right in a text that is not exact: the format is wrong, and so is the answer.
        return Grade(False, min(same / max(len(wanted), len(found), 1), 0.99))

    def draw(self, level: int, form: str, dice: Rng, preset: str | None, exam: bool) -> Problem:
        """One puzzle (see `Skill.draw`)."""
        row = self.file.levels[level - 1]
        for _ in range(MAX_PUZZLES):
            words = self._draw_words(level, dice)
            if len(words) == row.words and _held(word.text for word in words) == exam:
                if problem := self._write(words, row, form, dice):
                    return problem
        raise AssertionError(f"no puzzle found: sy level {level}, {form}")

    def _draw_words(self, level: int, dice: Rng) -> list[Word]:
        """Words of the shelf, no two alike, sharing syllables as the level asks."""
        row, shelf = self.file.levels[level - 1], self.shelf(level)
        words: list[Word] = []
        pairs = _draw_pairs(row, dice)
        for _ in range(4 * row.words):
            if len(words) == row.words:
                break
            tiles = Counter(part for word in words for part in word.syllables)
            wanted = sum(tiles.values()) - len(tiles) < pairs
            again = [w for part in tiles for w in shelf.by_syllable[part]] if wanted else []
            word = dice.pick(again or shelf.words)
            if all(word.stem != other.stem for other in words):
                words.append(word)
        return words

    def _write(self, words: list[Word], row: PuzzleLevel, form: str, dice: Rng) -> Problem | None:
        """The problem of these words; None when it would not be a good one."""
        herrings = self._draw_herrings(words, row, dice)
        tiles = dice.shuffled([part for word in words for part in word.syllables] + herrings)
        if row.distinct and len({(tile[0], len(tile)) for tile in tiles}) < len(tiles):
            return None
        letters = dice.pick(row.labels) == "letter"
        labels = [LETTERS[i] if letters else str(i + 1) for i in range(len(words))]
        kinds, clues = [], []
        for label, word in zip(labels, words, strict=True):
            kind, hint = _draw_hint(word, row, dice)
            kinds.append(kind)
            extra = self._draw_extra(word, row, hint, dice)
            clues.append(f"{label}. {write_slots(word.syllables, row.aid)}: {hint}{extra}")
        prompt = write_puzzle(clues, tiles, len(herrings), dice.pick(row.layouts), form)
        filling = [word.syllables for word in words]
        if solutions(read_puzzle(prompt), self.lexicon) != [filling]:
            return None
        used = _primitives(row, kinds, tiles, herrings)
        weakest = "medium" if "sy_clue_medium" in used else "strong"
        answer = write_answer(labels, filling, form)
        return Problem(self.id, row.level, form, weakest, prompt, answer, used, key_of(prompt))

    def _draw_herrings(self, words: list[Word], row: PuzzleLevel, dice: Rng) -> list[str]:
        """Syllables of other words of the level."""
        own = {part for word in words for part in word.syllables}
        others = [dice.pick(dice.pick(self.shelf(row.level).words).syllables) for _ in range(20)]
        fresh = [part for part in dict.fromkeys(others) if part not in own]
        return fresh[: row.herrings]

    def _draw_extra(self, word: Word, row: PuzzleLevel, hint: str, dice: Rng) -> str:
        """A further hint behind a bar, for the level's share of clues."""
        if not row.extras or not dice.chance(row.extra_percent):
            return ""
        kind = dice.pick(row.extras)
        if kind == "sound":
            return f" | sound {word.rhyme}"
        if kind == "origin":
            return f" | origin {word.origin}" if word.origin else ""
        if kind == "rhyme":
            rhymes = [w for w in self.lexicon.by_rhyme[word.rhyme] if word.stem not in w.text]
            return f" | rhymes with {dice.pick(rhymes).text}" if rhymes else ""
        related = [clue for _, clue in word.clues if clue != hint and len(clue) <= row.clue_chars]
        return f" | {dice.pick(related)}" if related else ""


SKILL = SyllacrosticSkill


def _held(words: Iterable[str]) -> bool:
    return held_out(*(word_of(word) for word in words))


def _draw_pairs(row: PuzzleLevel, dice: Rng) -> int:
    """How many tiles repeat another one, so that on average the level's share has a twin."""
    tiles = row.words * sum(row.syllables) / 2
    exact = row.duplicates / 100 * tiles / 2
    return int(exact) + dice.chance(100 * (exact % 1))


def _suits(word: Word, row: PuzzleLevel) -> bool:
    low, high = row.syllables
    near = -ZIPF_BELOW <= word.zipf - row.zipf <= ZIPF_ABOVE
    return near and low <= len(word.syllables) <= high and bool(_hints(word, row, "strong"))


def _hints(word: Word, row: PuzzleLevel, strength: str) -> list[tuple[str, str]]:
    """Clues of a strength that are short enough."""
    return [
        (kind, clue)
        for kind, clue in word.clues
        if STRENGTH[kind] == strength and len(clue) <= row.clue_chars
    ]


def _draw_hint(word: Word, row: PuzzleLevel, dice: Rng) -> tuple[str, str]:
    """A clue of the level's strength, or a strong one where the word has none of it."""
    strength = dice.weighted({str(name): share for name, share in row.hints.items()})
    kind, clue = dice.pick(_hints(word, row, strength) or _hints(word, row, "strong"))
    return STRENGTH[kind], clue


def _primitives(
    row: PuzzleLevel, kinds: list[str], tiles: list[str], herrings: list[str]
) -> tuple[str, ...]:
    """What a puzzle exercises."""
    facts = {
        "sy_tile_match": True,
        "sy_first_letter": row.aid in ("full", "first"),
        "sy_letter_count": row.aid in ("full", "first", "count"),
        "sy_clue_strong": "strong" in kinds,
        "sy_clue_medium": "medium" in kinds,
        "sy_duplicate_tiles": len(set(tiles)) < len(tiles),
        "sy_herring": bool(herrings),
    }
    return tuple(name for name in PRIMITIVES if facts[name])
