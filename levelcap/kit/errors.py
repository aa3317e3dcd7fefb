"""The error tree. Every message says what was refused, the value received, and what to do next.

LevelcapError
├── UserError (also ValueError)   the input is wrong; the state is as before
│   ├── UnknownName               no such thing; the message asks "did you mean"
│   ├── BadValue                  right name, wrong value
│   ├── BadFile                   a file that does not hold what it should
│   └── MissingPackage            an optional package; the message has the install command
├── StateError                    the input is fine, the world is not
│   ├── Busy                      somebody else holds it; trying again may help
│   ├── Corrupt                   stored bytes are not the bytes that were stored
│   ├── Conflict                  it exists already, or was made by a newer version
│   └── NoSpace                   the disk is full
└── DatabaseFault                 a statement of ours that the database refused
"""

import difflib
from collections.abc import Collection, Iterable


class LevelcapError(Exception):
    """Root of everything this project raises on purpose."""


class UserError(LevelcapError, ValueError):
    """The caller gave something that cannot be used; nothing was changed."""


class UnknownName(UserError):
    """A name that nothing here bears."""


class BadValue(UserError):
    """A value out of range, of the wrong kind or of the wrong shape."""


class BadFile(UserError):
    """A file given by the user that cannot be read as what it should be."""


class MissingPackage(UserError):
    """An optional package that is not installed."""


class StateError(LevelcapError):
    """The request was fine, but the files, the database or the machine do not allow it."""


class Busy(StateError):
    """Held by another process for longer than we wait."""


class Corrupt(StateError):
    """Stored data that does not match its checksum or its format."""


class Conflict(StateError):
    """Would overwrite something, or meets something newer than this code."""


class NoSpace(StateError):
    """The disk has no room left."""


class DatabaseFault(LevelcapError):
    """A statement that breaks a constraint or is wrong: neither the input nor the world is."""


MAX_VALUE_CHARS = 120


def shown(value: object) -> str:
    """Returns `value` as it appears in messages: its repr, cut to a readable length."""
    text = repr(value)
    return text if len(text) <= MAX_VALUE_CHARS else text[: MAX_VALUE_CHARS - 1] + "…"


def refuse(what: str, value: object, remedy: str) -> str:
    """Builds the three-part message.

    Args:
        what: what was refused, e.g. "cores must be at least 1".
        value: the value received; shown with repr and cut when long.
        remedy: what to do next, an imperative.

    Returns:
        "<what>; got <value>. <remedy>."
    """
    return f"{what}; got {shown(value)}. {remedy.rstrip('.')}."


def check_known(kind: str, given: str, known: Collection[str]) -> str:
    """Returns `given` if it is one of the names that exist.

    Raises:
        UnknownName: it is none; see `unknown_name`.
    """
    if given not in known:
        raise unknown_name(kind, given, known)
    return given


def unknown_name(kind: str, given: str, known: Iterable[str]) -> UnknownName:
    """Makes (does not raise) the error for a wrong name.

    Args:
        kind: what the name should have named, e.g. "ruleset".
        given: the name received.
        known: the names that exist.

    Returns:
        An `UnknownName` that asks "did you mean" when a name is near, and lists the known ones
        (the first twenty) in either case.
    """
    names = sorted(set(known))
    near = difflib.get_close_matches(
        str(given).lower(), [n.lower() for n in names], n=1, cutoff=0.6
    )
    listed = ", ".join(names[:20]) + (", …" if len(names) > 20 else "")
    remedy = f"Use one of: {listed}" if names else f"There is no {kind} yet"
    if near:
        meant = next(n for n in names if n.lower() == near[0])
        remedy = f"Did you mean {meant!r}? {remedy}"
    return UnknownName(refuse(f"unknown {kind}", given, remedy))
