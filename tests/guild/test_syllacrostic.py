"""SY: every puzzle has one solution, found here by a search written a second time."""

import gzip
import itertools
import json
import re
from collections import Counter
from importlib import resources

import pytest

from levelcap.guild.alphabet import load_alphabet
from levelcap.guild.engine import get_engine
from levelcap.guild.skill import parse_file
from levelcap.guild.sy.search import cuts
from levelcap.guild.sy.skill import PRIMITIVES, PuzzleFile, SyllacrosticSkill
from levelcap.guild.words import load_lexicon, parse_lexicon
from levelcap.kit.errors import BadFile, BadValue

ENGINE = get_engine()
SKILL = ENGINE.get("sy")
WRITTEN = {
    "definition": "{}",
    "synonym": "= {}",
    "hypernym": "kind of {}",
    "hyponym": "such as {}",
    "example": '"{}"',
    "antonym": "not {}",
    "domain": "in {}",
}


def table():
    """The shipped table read without the package's reader: clue -> words."""
    data = (resources.files("levelcap") / "data" / "skills" / "lexicon.tsv.gz").read_bytes()
    found = {}
    for line in gzip.decompress(data).decode().splitlines()[1:]:
        word, _, _, _, *clues = line.split("\t")
        for clue in clues:
            kind, text = clue.split(":", 1)
            found.setdefault(WRITTEN[kind].format(text), set()).add(word)
    return found


CLUES = table()


def parts_of(prompt):
    """Clues as (label, slots, letters, hint), tiles, herrings, format."""
    clues, tiles, herrings, answer_format = [], None, 0, None
    for line in prompt.split("\n"):
        if line.startswith("Tiles"):
            herrings = int((re.findall(r"\((\d) extra\)", line) or [0])[0])
            tiles = line.split(": ")[1].split(" | ")
        elif line.startswith("Format: "):
            answer_format = line[8:]
        else:
            label, rest = line.split(". ", 1)
            slots, hint = rest.split(": ", 1)
            *slots, last = slots.split(" ")
            letters = int(last) if last.isdigit() else None
            slots = slots if last.isdigit() else [*slots, last]
            clues.append((label, slots, letters, hint.split(" | ")[0]))
    return clues, tiles, herrings, answer_format


def ways(clue, tiles):
    """Every ordered choice of tiles that spells a word with this clue and fits the slots."""
    _, slots, letters, hint = clue
    shown = [slot[0] for slot in slots]
    sized = letters is None and any(c != "_" for c in shown)
    found = set()
    for word in CLUES[hint]:
        fitting = [t for t in set(tiles) if t in word]
        for choice in itertools.product(fitting, repeat=len(slots)):
            if "".join(choice) != word or (letters and len(word) != letters):
                continue
            if sized and [(t[0], len(t)) for t in choice] != [(s[0], len(s)) for s in slots]:
                continue
            if shown[0] not in ("_", word[0]):
                continue
            if not Counter(choice) - Counter(tiles):
                found.add(choice)
    return found


def count_solutions(prompt):
    clues, tiles, herrings, _ = parts_of(prompt)
    assert sum(len(c[1]) for c in clues) + herrings == len(tiles)
    partial = [Counter()]
    for clue in clues:
        partial = [
            used + Counter(way)
            for used in partial
            for way in ways(clue, tiles)
            if not (used + Counter(way)) - Counter(tiles)
        ]
    return len(partial)


def answered(prompt, answer):
    """The words of a right answer, read by its format; asserts the format."""
    clues, _, _, answer_format = parts_of(prompt)
    labels = [c[0] for c in clues]
    if answer_format == "markdown":
        head, rule, *rows = answer.split("\n")
        assert (head, rule) == ("| # | word |", "|---|---|")
        cells = [row.strip("| ").split(" | ") for row in rows]
        assert [c[0] for c in cells] == labels
        return [c[1] for c in cells]
    found = json.loads(answer)
    if answer_format == "json_map":
        assert list(found) == labels
        return list(found.values())
    if answer_format == "json_syllables":
        return ["".join(parts) for parts in found]
    assert answer_format == "json_array"
    return found


def check_puzzle(problem):
    clues, tiles, herrings, _ = parts_of(problem.prompt)
    assert count_solutions(problem.prompt) == 1, problem.prompt
    assert SKILL.solve(problem.prompt) == problem.answer
    words = answered(problem.prompt, problem.answer)
    for word, (_, slots, _, hint) in zip(words, clues, strict=True):
        assert word in CLUES[hint] and word[:4] not in hint.lower()
        assert len(slots) == len(SYLLABLES[word])
    used = Counter(p for w in words for p in SYLLABLES[w])
    rest = Counter(tiles) - used
    assert not used - Counter(tiles)
    assert sum(rest.values()) == herrings


SYLLABLES = {word.text: word.syllables for word in load_lexicon().words}


def puzzles(count, seed):
    for index in range(count):
        yield SKILL.lesson(index % SKILL.levels + 1, seed=seed, index=index)


def test_puzzles_have_one_solution_and_use_every_tile_but_the_herrings():
    for problem in puzzles(200, seed=1):
        check_puzzle(problem)


@pytest.mark.slow
def test_5_000_puzzles_have_one_solution():
    for problem in puzzles(5_000, seed=2):
        check_puzzle(problem)


def test_exams_hold_other_words_than_lessons():
    for level in (1, 8, 20):
        exam = SKILL.exam(level, 24, seed=3)
        assert len({p.key for p in exam}) == 24
        assert all(SKILL.examined(p.prompt) for p in exam)
        lessons = [SKILL.lesson(level, seed=3, index=i) for i in range(40)]
        assert not any(SKILL.examined(p.prompt) for p in lessons)
    assert not SKILL.examined("Compute: add(①, ①)")


def test_the_first_level_can_be_solved_from_its_slots_alone():
    for index in range(60):
        problem = SKILL.lesson(1, seed=4, index=index)
        clues, tiles, _, _ = parts_of(problem.prompt)
        by_shape = {(tile[0], len(tile)): tile for tile in tiles}
        assert len(by_shape) == len(tiles)
        words = [[by_shape[slot[0], len(slot)] for slot in clue[1]] for clue in clues]
        assert problem.answer == json.dumps(words, separators=(",", ":"))
        assert len(problem.prompt) + len(problem.answer) < 240


def test_quantities_get_worse_along_the_whole_ladder():
    rows = SKILL.file.levels
    assert (len(rows), SKILL.levels) == (50, 20)
    assert (rows[0].words, rows[-1].words) == (3, 12)
    assert (rows[0].syllables[1], rows[-1].syllables[1]) == (2, 6)
    assert (rows[0].zipf, rows[-1].zipf) == (5.0, 2.0)
    assert (rows[0].duplicates, rows[-1].duplicates) == (0, 80)
    assert (rows[14].herrings, rows[15].herrings, rows[-1].herrings) == (0, 1, 6)
    for one, two in itertools.pairwise(rows):
        assert one.words <= two.words and one.zipf >= two.zipf
        assert one.duplicates <= two.duplicates and one.herrings <= two.herrings
        assert one.hints.get("strong", 0) >= two.hints.get("strong", 0)


def test_formats_and_presentations_unlock_at_their_levels():
    assert [set(SKILL.mix(level)) for level in (1, 5, 10, 15)] == [
        {"json_syllables"},
        {"json_syllables", "json_array"},
        {"json_syllables", "json_array", "json_map"},
        {"json_syllables", "json_array", "json_map", "markdown"},
    ]
    at = {
        name: next(r.level for r in SKILL.file.levels if name in getattr(r, column))
        for column, names in {
            "extras": ["sound", "rhyme", "origin", "relation", "structure"],
            "layouts": ["bank_first", "bank_repeated", "one_sentence"],
            "labels": ["letter", "roman", "bullet"],
            "banks": ["grouped", "table", "comma"],
            "mix": ["numbered", "lines", "commas", "digest"],
        }.items()
        for name in names
    }
    assert at == {
        "sound": 5,
        "rhyme": 10,
        "origin": 15,
        "relation": 20,
        "structure": 27,
        "bank_first": 10,
        "bank_repeated": 25,
        "one_sentence": 35,
        "letter": 20,
        "roman": 30,
        "bullet": 40,
        "grouped": 25,
        "table": 35,
        "comma": 45,
        "numbered": 21,
        "lines": 25,
        "commas": 29,
        "digest": 40,
    }


def test_what_unlocks_is_used():
    text = "\n".join(SKILL.lesson(20, seed=6, index=i).prompt for i in range(60))
    for sign in (" | sound ", " | rhymes with ", " | origin ", "\na. ", "\n1. ", " extra): "):
        assert sign in text
    firsts = {SKILL.lesson(20, seed=6, index=i).prompt[:5] == "Tiles" for i in range(30)}
    assert firsts == {True, False}


def test_puzzles_name_the_seven_primitives_of_sy():
    seen = set()
    for problem in puzzles(100, seed=7):
        assert set(problem.primitives) <= set(PRIMITIVES)
        seen |= set(problem.primitives)
    assert len(PRIMITIVES) == 7 and seen == set(PRIMITIVES)


def test_texts_stay_in_the_alphabet():
    for problem in puzzles(80, seed=8):
        load_alphabet().refuse_outside(f"{problem.prompt}\n{problem.answer}", "sy")


def test_partial_credit_is_the_share_of_words_and_never_counts():
    problem = next(p for p in SKILL.exam(10, 24, seed=1) if p.form == "json_array")
    words = json.loads(problem.answer)
    one_wrong = json.dumps(["wrong", *words[1:]], separators=(",", ":"))
    given = ENGINE.grade(problem, one_wrong)
    assert not given.right
    assert given.partial == pytest.approx((len(words) - 1) / len(words))
    spaced = ENGINE.grade(problem, json.dumps(words))
    assert (spaced.right, spaced.partial) == (False, 0.99)
    assert ENGINE.grade(problem, problem.answer).right


@pytest.mark.parametrize(
    "answer",
    [
        *("", "[", "[]", "{}", "NaN", "[NaN]", "null", '"word"', "[[[]]]", '[{"a":1}]', "1" * 5000),
        *("[" * 1_000_000, '["a"]' * 200_000, "| 1 | a |\n" * 100_000, None, float("nan"), 3),
    ],
    ids=range(17),
)
def test_hostile_answers_are_wrong(answer):
    for problem in SKILL.exam(15, 8, seed=2):
        given = ENGINE.grade(problem, answer)
        assert not given.right and given.partial == 0


@pytest.mark.parametrize(
    "prompt",
    [
        *("", "Format: json_array", "1. a_: x\nTiles: ab\nFormat: yaml", "x" * 100_000),
        "1. a_ b_: nonsense clue\nTiles: ab | bc\nFormat: json_array",
        "1. a_ b_: = yard\n1. a_: = x\nTiles: ab | bc\nFormat: json_array",
        "1. A_: = yard\nTiles: ab | bc\nFormat: json_array",
    ],
)
def test_what_is_no_puzzle_is_refused(prompt):
    with pytest.raises(BadValue, match="not a problem of sy"):
        SKILL.solve(prompt)


def test_levels_that_are_only_laid_out_are_refused():
    with pytest.raises(BadValue, match="Use a level from 1 to 20"):
        SKILL.lesson(21, seed=0, index=0)


def test_a_lesson_is_a_function_of_its_arguments():
    first = SKILL.lesson(6, seed=5, index=9)
    assert SyllacrosticSkill().lesson(6, seed=5, index=9) == first
    assert SKILL.lesson(6, seed=5, index=10) != first


def test_the_lexicon_is_what_its_notice_says():
    lexicon = load_lexicon()
    assert len(lexicon.words) == len({w.text for w in lexicon.words}) == 16_247
    for word in lexicon.words:
        assert "".join(word.syllables) == word.text and 2 <= len(word.syllables) <= 6
        for _, clue in word.clues:
            assert word.stem not in clue.lower(), (word.text, clue)
    notice = resources.files("levelcap") / "data" / "skills" / "LEXICON-NOTICE.txt"
    assert "Princeton University" in notice.read_text(encoding="utf-8")
    data = resources.files("levelcap") / "data" / "skills" / "lexicon.tsv.gz"
    assert len(data.read_bytes()) < 3_000_000


@pytest.mark.parametrize(
    "text",
    [
        "table\tta-ble\t4.0\tEYBAHL\tsynonym:board",
        "# lexicon v1\ntable\tta-bel\t4.0\tEYBAHL\tsynonym:board",
        "# lexicon v1\ntable\tta-ble\tmany\tEYBAHL\tsynonym:board",
        "# lexicon v1\ntable\tta-ble\t4.0\tEYBAHL\tsmell:board",
        "# lexicon v1\ntable\tta-ble\t4.0\tEYBAHL",
    ],
)
def test_a_damaged_lexicon_is_refused(text):
    with pytest.raises(BadFile, match="lexicon"):
        parse_lexicon(text, "lexicon")


def test_a_word_is_cut_in_every_way_the_tiles_allow():
    bank = Counter(["a", "a", "na", "an", "ban", "ba", "nana"])
    # ba + na + na would need the tile na twice.
    assert set(cuts("banana", 3, bank)) == {("ban", "a", "na"), ("ban", "an", "a")}
    assert set(cuts("banana", 2, bank)) == {("ba", "nana")}


def test_a_puzzle_with_two_solutions_is_found_out():
    """Two words that bear the same clue, in slots that do not tell them apart."""
    same = [ws for ws in load_lexicon().by_clue.values() if len(ws) >= 2]
    pair = next(
        (a, b)
        for ws in same
        for a, b in itertools.combinations(ws, 2)
        if len(a.syllables) == len(b.syllables) == 2 and not set(a.syllables) & set(b.syllables)
    )
    a, b = pair
    hint = next(clue for _, clue in a.clues if clue in {c for _, c in b.clues})
    tiles = " | ".join([*a.syllables, *b.syllables])
    prompt = f"1. ___ ___: {hint}\n2. ___ ___: {hint}\nTiles: {tiles}\nFormat: json_array"
    assert count_solutions(prompt) == 2
    with pytest.raises(BadValue, match="not a problem of sy"):
        SKILL.solve(prompt)


def test_a_damaged_ladder_is_refused():
    text = (resources.files("levelcap") / "data" / "skills" / "sy.yaml").read_text("utf-8")
    for old, new in (
        ("aid: full", "aid: whole"),
        ("zipf: 5.0", "zipf: 9"),
        ("words: 3", "wrds: 3"),
    ):
        with pytest.raises(BadFile, match=r"sy.yaml"):
            parse_file(PuzzleFile, text.replace(old, new, 1), "sy.yaml")
