"""Text <-> tokens, through the `tokenizers` library.

A hero of ours reads single characters of a closed alphabet: token 0 pads, token 1 ends an answer,
the characters follow in the alphabet's order. A published model brings its own `tokenizer.json`.
"""

from __future__ import annotations

from collections.abc import Sequence
from pathlib import Path
from typing import Any

from tokenizers import Regex, Tokenizer
from tokenizers.decoders import Fuse
from tokenizers.models import WordLevel
from tokenizers.pre_tokenizers import Split

from levelcap.kit.errors import BadFile, BadValue, refuse
from levelcap.nets.text.shape import END, MARKS, PAD, TextShape

PUBLISHED_ENDS = ("<|im_end|>", "<|endoftext|>")


def _character_tokenizer(characters: str) -> Any:
    vocabulary = {text: number for number, text in enumerate((*MARKS, *characters))}
    # A character outside the alphabet would become the pad; `encode` refuses it.
    made = Tokenizer(WordLevel(vocabulary, unk_token=PAD))
    made.pre_tokenizer = Split(Regex(r"[\s\S]"), behavior="isolated")
    made.decoder = Fuse()
    return made


class Tokens:
    """One tokenizer with its two marks."""

    def __init__(self, tokenizer: Any, pad: int, end: int, closed: bool) -> None:
        """closed: an unknown character is refused instead of being approximated."""
        self.tokenizer, self.pad, self.end, self.closed = tokenizer, pad, end, closed

    def encode(self, text: str) -> list[int]:
        """Tokens of a text, without an end mark.

        Raises:
            BadValue: a character is outside the closed alphabet.
        """
        return self.encode_all([text])[0]

    def encode_all(self, texts: Sequence[str]) -> list[list[int]]:
        """Tokens of many texts."""
        found = [entry.ids for entry in self.tokenizer.encode_batch(list(texts))]
        if self.closed:
            for text, tokens in zip(texts, found, strict=True):
                if self.pad in tokens:
                    self._refuse(text, tokens.index(self.pad))
        return found

    def decode(self, tokens: Sequence[int]) -> str:
        """The text up to the first end mark; pads are left out."""
        kept = list(tokens)
        if self.end in kept:
            kept = kept[: kept.index(self.end)]
        return str(self.tokenizer.decode([t for t in kept if t != self.pad]))

    def _refuse(self, text: str, place: int) -> None:
        what = f"character {place + 1} is outside the hero's alphabet"
        raise BadValue(refuse(what, text[place], "Use the characters of the alphabet file"))


def character_tokens(shape: TextShape) -> Tokens:
    """The tokenizer of a net that reads characters."""
    if not shape.characters:
        what = "this net's tokens are those of a tokenizer file"
        raise BadFile(refuse(what, f"{shape.vocab} tokens", "Load it with its tokenizer.json"))
    made = _character_tokenizer(shape.characters)
    return Tokens(made, MARKS.index(PAD), MARKS.index(END), closed=True)


def file_tokens(path: Path) -> Tokens:
    """The tokenizer of a published model's folder.

    Raises:
        BadFile: no tokenizer there, or it has no end mark.
    """
    if not path.is_file():
        raise BadFile(refuse("no tokenizer file", str(path), "Put tokenizer.json beside the model"))
    made = Tokenizer.from_file(str(path))
    ends = [made.token_to_id(mark) for mark in (*PUBLISHED_ENDS, END)]
    known = [number for number in ends if number is not None]
    if not known:
        raise BadFile(refuse("the tokenizer has no end mark", str(path), f"Add {END}"))
    pad = made.token_to_id(PAD)
    return Tokens(made, known[-1] if pad is None else pad, known[0], closed=False)
