"""Names of things: content hashes, and run, shard and checkpoint names. An id is never a path."""

import hashlib
import re
import secrets
import unicodedata
from datetime import UTC, datetime
from pathlib import Path

from levelcap.kit.errors import BadValue, refuse

ID_PATTERN = re.compile(r"[A-Za-z0-9][A-Za-z0-9_.~-]{0,99}")
SHORT_CHARS = 12
READ_BYTES = 1 << 20
CHECKPOINT_PATTERN = re.compile(r"checkpoint-(\d+)-(\d{8})-(\d{4})")


def sha256_bytes(data: bytes) -> str:
    """Returns the sha256 of `data` as 64 hex digits."""
    return hashlib.sha256(data).hexdigest()


def sha256_file(path: Path) -> str:
    """Returns the sha256 of a file's content as 64 hex digits, reading 1 MiB at a time."""
    digest = hashlib.sha256()
    with path.open("rb") as file:
        while block := file.read(READ_BYTES):
            digest.update(block)
    return digest.hexdigest()


def short_id(sha256: str) -> str:
    """Returns the first twelve digits of a hash: enough for a name, not for a proof."""
    if not re.fullmatch(r"[0-9a-f]{64}", sha256):
        raise BadValue(refuse("a sha256 has 64 hex digits", sha256, "Give the whole hash"))
    return sha256[:SHORT_CHARS]


def check_id(text: str, kind: str = "id") -> str:
    """Returns `text` if it may be used as the name of one file or folder.

    Allowed: 1–100 letters, digits and `_ . ~ -`, beginning with a letter or digit, no "..".
    So an id can neither leave its folder nor hide in it, and is the same on every file system.

    Args:
        text: what was received.
        kind: what it should name, for the message, e.g. "run".

    Raises:
        BadValue: anything else, also what is no string.
    """
    if isinstance(text, str) and ID_PATTERN.fullmatch(text) and ".." not in text:
        return text
    what = f"a {kind} name has 1–100 letters, digits or _ . ~ - and begins with a letter or digit"
    raise BadValue(refuse(what, text, f"Give the name of the {kind}, not a path"))


def check_words(text: str) -> str:
    """Returns `text` if it is words on one line: no control characters, no turning of the line.

    A title with a newline, an escape sequence or a mark that reverses the reading direction shows
    something else than it says in a terminal, a log or a page.

    Raises:
        BadValue: it holds one.
    """
    for character in text:
        if unicodedata.category(character) in ("Cc", "Cf", "Cs", "Zl", "Zp"):
            what = f"a name or title has no control characters (U+{ord(character):04X})"
            raise BadValue(refuse(what, text, "Leave it out"))
    return text


def run_name(kind: str, when: datetime | None = None) -> str:
    """Returns a new run name, `<kind>-<YYYYMMDD>-<HHMMSS>-<4 hex>`; the tail makes it unique."""
    moment = (when or datetime.now(UTC)).strftime("%Y%m%d-%H%M%S")
    return check_id(f"{kind}-{moment}-{secrets.token_hex(2)}", "run")


def shard_name(sha256: str) -> str:
    """Returns `shard-<12 hex>` for records with this content hash."""
    return f"shard-{short_id(sha256)}"


def checkpoint_name(step: int, when: datetime | None = None) -> str:
    """Returns `checkpoint-<step>-<YYYYMMDD>-<HHMM>`, the time in UTC unless given."""
    if step < 0:
        raise BadValue(refuse("a checkpoint's step is at least 0", step, "Count from 0"))
    return f"checkpoint-{step}-{(when or datetime.now(UTC)).strftime('%Y%m%d-%H%M')}"


def spoken_name(hero: str, step: int) -> str:
    """A checkpoint as people call it, `kestrel 11,552`; its id stands beside it where it counts."""
    return f"{hero} {step:,}"


def checkpoint_step(name: str) -> int:
    """Returns the step in a checkpoint name, the inverse of `checkpoint_name`."""
    if match := CHECKPOINT_PATTERN.fullmatch(name):
        return int(match[1])
    what = "not a checkpoint name"
    raise BadValue(refuse(what, name, "Use checkpoint-<step>-<YYYYMMDD>-<HHMM>"))
