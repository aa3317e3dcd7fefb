"""The closed alphabet."""

import pytest

from levelcap.guild.alphabet import load_alphabet, parse_alphabet
from levelcap.kit.errors import BadFile, BadValue

LETTERS = "\n".join(chr(0x4E00 + i) for i in range(70))


def test_the_shipped_alphabet_is_closed_small_and_has_64_signs():
    alphabet = load_alphabet()
    assert alphabet.version == 1
    assert len(alphabet.characters) == len(set(alphabet.characters)) == 162
    assert {"\n", " ", "⓪", "①"} | {chr(c) for c in range(33, 127)} <= set(alphabet.characters)
    assert len(alphabet.signs) == 64
    assert not any(sign.isascii() or sign in "⓪①" for sign in alphabet.signs)


def test_a_text_outside_is_refused_with_its_line_and_character():
    alphabet = load_alphabet()
    alphabet.refuse_outside("Compute: add(①, ⓪)\nfine", "a lesson")
    with pytest.raises(BadValue, match=r"quest.jsonl line 7: line 2, character 3 \(U\+2081\)"):
        alphabet.refuse_outside("fine\nab₁", "quest.jsonl line 7")
    with pytest.raises(BadValue, match=r"U\+0009"):
        alphabet.refuse_outside("a\tb", "a lesson")


@pytest.mark.parametrize(
    ("text", "reason"),
    [
        (LETTERS, "no version line"),
        ("# alphabet v0\n" + LETTERS, "no version line"),
        ("# alphabet v1\nab\n" + LETTERS, "line 2"),
        ("# alphabet v1\n" + LETTERS + "\n" + LETTERS[0], "line 72"),
        ("# alphabet v1\n\n" + LETTERS, "line 2"),
        ("# alphabet v1\na\nb\n", "number of characters"),
    ],
)
def test_a_damaged_alphabet_is_refused(text, reason):
    with pytest.raises(BadFile, match=reason):
        parse_alphabet(text, "alphabet.txt")


def test_space_and_newline_are_written_as_escapes():
    alphabet = parse_alphabet("# alphabet v3\n<space>\n<newline>\n" + LETTERS, "x")
    assert (alphabet.version, alphabet.characters[:2]) == (3, (" ", "\n"))
