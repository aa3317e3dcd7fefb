"""SY, the exact search: every way to fill all clues from the tiles.

A word may stand at a clue when it bears the clue's text in the lexicon and fits the slots; it may
be cut into tiles in any way the bank allows, not only as the lexicon cuts it. A puzzle is good
when exactly one filling exists.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterator

from levelcap.guild.sy.wording import Clue, Puzzle
from levelcap.guild.words import Lexicon

Filling = list[tuple[str, ...]]


def cuts(text: str, parts: int, bank: Counter[str]) -> Iterator[tuple[str, ...]]:
    """Every way to write a word as that many tiles of the bank."""
    if parts == 1:
        if bank[text] > 0:
            yield (text,)
        return
    for size in range(1, len(text) - parts + 2):
        head = text[:size]
        if bank[head] > 0:
            bank[head] -= 1
            for rest in cuts(text[size:], parts - 1, bank):
                yield (head, *rest)
            bank[head] += 1


def candidates(clue: Clue, bank: Counter[str], lexicon: Lexicon) -> list[tuple[str, ...]]:
    """Everything that may stand at one clue, looked at alone."""
    found = []
    for word in lexicon.by_clue.get(clue.hint, []):
        found += [cut for cut in cuts(word.text, len(clue.slots), bank) if clue.fits(cut)]
    return found


def solutions(puzzle: Puzzle, lexicon: Lexicon, limit: int = 2) -> list[Filling]:
    """Fillings of the whole puzzle, at most `limit`; the clue with fewest candidates goes first."""
    used = sum(len(clue.slots) for clue in puzzle.clues)
    if used + puzzle.herrings != len(puzzle.tiles):
        return []
    bank = Counter(puzzle.tiles)
    options = [candidates(clue, bank, lexicon) for clue in puzzle.clues]
    order = sorted(range(len(options)), key=lambda place: len(options[place]))
    found: list[Filling] = []
    chosen: dict[int, tuple[str, ...]] = {}

    def fill(depth: int) -> None:
        if len(found) >= limit:
            return
        if depth == len(order):
            found.append([chosen[place] for place in range(len(order))])
            return
        for parts in options[order[depth]]:
            need = Counter(parts)
            if all(bank[tile] >= count for tile, count in need.items()):
                bank.subtract(need)
                chosen[order[depth]] = parts
                fill(depth + 1)
                bank.update(need)

    fill(0)
    return found
