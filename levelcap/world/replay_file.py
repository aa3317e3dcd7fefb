"""The bytes of a replay file: written, and read back with suspicion.

A file may come from anywhere: sizes are capped by what the header may claim, everything is under
one checksum, and a header that is well-formed but senseless is refused before anything is built.
The layout is described in `replay.py`.
"""

from __future__ import annotations

import zlib
from collections.abc import Mapping
from typing import Any

import numpy as np
from numpy.typing import NDArray

from levelcap.kit.errors import BadFile, Corrupt, UserError, refuse
from levelcap.kit.files import dump_line, parse_json
from levelcap.kit.ids import sha256_bytes
from levelcap.world.rules.patches import load_patch, patch_hash, patch_names
from levelcap.world.spec import (
    HEADS,
    RULESETS,
    TICK_HZ,
    TICK_RATES,
    WORLD_VERSION,
    arena_spec,
)

FORMAT = 1
MAX_DECISIONS = 100_000
MAX_HEADER_BYTES = 1 << 20
MAX_MIND_BYTES = 1 << 28
MIND_TYPES = ("uint8", "int8", "int32", "float16", "float32")
AGAIN = "Record the match again, or take another copy of the file"
Mind = dict[str, NDArray[Any]]

# Every key of the header, in the order of the file, and the JSON type of its value.
HEADER: dict[str, type | tuple[type, ...]] = {
    "format": int,
    "world_version": int,
    "patch": dict,  # name, sha256, content (null for a shipped patch)
    "ruleset": str,
    "tick_hz": int,  # not in the first replays, which were all played at 30
    "match_seed": int,
    "champions": list,  # one name a seat
    "decision_ticks": int,
    "seat_ticks": list,
    "policies": list,  # name and content hash of each
    "seats": list,  # which policy plays each seat
    "decisions": int,
    "players": int,
    "heads": int,
    "result": dict,  # ended, winner (a team, -1 a draw, null when cut off), hash of the last state
    "hashes": list,  # of the state at decisions 0, 100, 200 ...
    "mind": list,  # name, dtype and shape (without T) of each further array
    "checksum": str,  # sha256 of the header without this key, and of everything after it
}


def pack(header: Mapping[str, Any], actions: NDArray[np.uint8], mind: Mind) -> bytes:
    """The bytes of a replay file; the header's checksum is written here."""
    body = zlib.compress(actions.tobytes(), 9)
    if mind:
        plain = b"".join(a.astype(_stored(a.dtype.name)).tobytes() for a in mind.values())
        body += zlib.compress(plain, 9)
    header = {key: header[key] for key in HEADER}
    header["checksum"] = _checksum(header, body)
    return dump_line(header) + body


def unpack(data: bytes, name: str) -> tuple[dict[str, Any], NDArray[np.uint8], Mind]:
    """Header, actions and mind channel in `data`; `name` is shown in messages.

    Raises:
        BadFile: no replay, or one of another world version or an unknown patch.
        Corrupt: a replay whose bytes are not those that were written.
    """
    end = data.find(b"\n", 0, MAX_HEADER_BYTES)
    if end < 0:
        raise BadFile(refuse("no header line; not a replay", name, "Give a .lcr file"))
    line, body = data[: end + 1], data[end + 1 :]
    try:
        header = parse_json(line)
    except ValueError as error:
        what = f"the header is not JSON ({error})"
        raise BadFile(refuse(what, name, "Give a .lcr file")) from error
    if not isinstance(header, dict):
        raise BadFile(refuse("the header is not a table", name, "Give a .lcr file"))
    _check_versions(header, name)
    known = (list(HEADER), [key for key in HEADER if key != "tick_hz"])
    same = list(header) in known and line == dump_line(header)
    if not same or header["checksum"] != _checksum(header, body):
        raise Corrupt(refuse("the file has changed since it was written", name, AGAIN))
    header = {key: header.get(key, TICK_HZ) for key in HEADER}
    _check_header(header, name)
    _check_patch(header, name)
    shape = (header["decisions"], header["players"], header["heads"])
    plain, rest = _inflate(body, int(np.prod(shape)), "actions", name)
    actions = np.frombuffer(plain, np.uint8).reshape(shape)
    limits = np.array([head.size for head in HEADS])
    if (actions >= limits).any():
        value = int(actions[actions >= limits][0])
        raise BadFile(refuse(f"an action of {name} is out of range", value, AGAIN))
    return header, actions, _read_mind(header, rest, name)


def _checksum(header: Mapping[str, Any], body: bytes) -> str:
    signed = {key: value for key, value in header.items() if key != "checksum"}
    return sha256_bytes(dump_line(signed) + body)


def _check_versions(header: dict[str, Any], name: str) -> None:
    for key, known in (("format", FORMAT), ("world_version", WORLD_VERSION)):
        if header.get(key) != known:
            what = f"{name} has another {key.replace('_', ' ')} than {known}"
            remedy = "Play it with the version of levelcap that recorded it"
            raise BadFile(refuse(what, header.get(key), remedy))


def _check_header(header: dict[str, Any], name: str) -> None:
    """Refuse a well-formed file whose header does not make sense, before anything is built."""

    def demand(fine: bool, key: str) -> None:
        if not fine:
            raise BadFile(refuse(f"the header's {key} of {name} is wrong", header[key], AGAIN))

    for key, kind in HEADER.items():
        demand(isinstance(header[key], kind) and not isinstance(header[key], bool), key)
    demand(header["ruleset"] in RULESETS, "ruleset")
    demand(header["tick_hz"] in TICK_RATES, "tick_hz")
    players = arena_spec(header["ruleset"]).num_players
    demand(header["players"] == players, "players")
    demand(header["heads"] == len(HEADS), "heads")
    demand(0 <= header["decisions"] <= MAX_DECISIONS, "decisions")
    demand(0 <= header["match_seed"] < 2**64, "match_seed")
    demand(1 <= header["decision_ticks"] <= header["tick_hz"], "decision_ticks")
    demand(_whole_list(header["seat_ticks"], players), "seat_ticks")
    demand(len(header["champions"]) == players, "champions")
    demand(all(isinstance(c, str) for c in header["champions"]), "champions")
    demand(not header["seats"] or _whole_list(header["seats"], players), "seats")
    demand(all(0 <= s < len(header["policies"]) for s in header["seats"]), "seats")
    demand(set(header["result"]) == {"ended", "winner", "hash"}, "result")
    demand(set(header["patch"]) == {"name", "sha256", "content"}, "patch")
    demand(isinstance(header["patch"]["name"], str), "patch")
    for row in header["mind"]:
        demand(isinstance(row, dict) and set(row) == {"name", "dtype", "shape"}, "mind")
        demand(isinstance(row["name"], str) and row["dtype"] in MIND_TYPES, "mind")
        demand(isinstance(row["shape"], list) and _whole_list(row["shape"]), "mind")


def _whole_list(values: list[Any], length: int | None = None) -> bool:
    whole = all(isinstance(v, int) and not isinstance(v, bool) and 0 <= v < 2**31 for v in values)
    return whole and length in (None, len(values))


def _check_patch(header: dict[str, Any], name: str) -> None:
    patch = header["patch"]
    if patch["content"] is None and patch["name"] not in patch_names():
        remedy = f"Use a version of levelcap that ships it; here are {', '.join(patch_names())}"
        raise BadFile(refuse(f"the patch of {name} is unknown", patch["name"], remedy))
    try:
        found = patch_hash(load_patch(patch["content"] or patch["name"]))
    except (UserError, KeyError, TypeError, AttributeError) as error:
        what = f"the patch embedded in {name} cannot be used ({error})"
        raise BadFile(refuse(what, patch["name"], AGAIN)) from error
    if found != patch["sha256"]:
        what = f"patch {patch['name']!r} is not the one {name} was recorded with"
        remedy = "Use the version of levelcap that recorded it"
        raise BadFile(refuse(what, f"sha256 {patch['sha256']}", remedy))


def _inflate(data: bytes, size: int, what: str, name: str) -> tuple[bytes, bytes]:
    """Exactly `size` bytes out of the first zlib stream in `data`, and what follows the stream."""
    stream = zlib.decompressobj()
    try:
        # One byte more than expected tells a longer stream without unpacking all of it.
        plain = stream.decompress(data, size + 1)
    except zlib.error as error:
        raise Corrupt(refuse(f"the {what} cannot be unpacked ({error})", name, AGAIN)) from error
    if len(plain) > size:
        text = f"the {what} unpack to more than the header's {size} bytes"
        raise Corrupt(refuse(text, name, AGAIN))
    if len(plain) < size or not stream.eof:
        text = f"the {what} end after {len(plain)} of {size} bytes"
        raise Corrupt(refuse(text, name, AGAIN))
    return plain, stream.unused_data


def _stored(dtype: str) -> np.dtype[Any]:
    return np.dtype(dtype).newbyteorder("<")  # the same bytes on every machine


def _read_mind(header: dict[str, Any], data: bytes, name: str) -> Mind:
    sizes = []
    for row in header["mind"]:
        count = header["decisions"]
        for extent in row["shape"]:
            count *= extent
        sizes.append(count * np.dtype(row["dtype"]).itemsize)
    if sum(sizes) > MAX_MIND_BYTES:
        what = f"the mind channel of {name} has more than {MAX_MIND_BYTES} bytes"
        raise BadFile(refuse(what, sum(sizes), AGAIN))
    if not header["mind"]:
        if data:
            raise Corrupt(refuse(f"{len(data)} bytes follow the actions", name, AGAIN))
        return {}
    plain, rest = _inflate(data, sum(sizes), "mind channel", name)
    if rest:
        raise Corrupt(refuse(f"{len(rest)} bytes follow the mind channel", name, AGAIN))
    found, begin = {}, 0
    for row, size in zip(header["mind"], sizes, strict=True):
        flat = np.frombuffer(plain[begin : begin + size], _stored(row["dtype"]))
        found[row["name"]] = flat.reshape(header["decisions"], *row["shape"])
        begin += size
    return found
