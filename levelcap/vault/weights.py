"""Weights looked at without loading them: is this a safetensors file, whole, and finite?

The format: eight bytes of length, a JSON header (name -> dtype, shape, offsets), then the numbers.
Nothing in it can run. Used before foreign checkpoints are let in, in processes without torch.
"""

from __future__ import annotations

from math import prod
from pathlib import Path
from typing import Any

import numpy as np

from levelcap.kit.errors import BadFile, refuse
from levelcap.kit.files import parse_json

MAX_HEADER_BYTES = 16 << 20
BLOCK = 1 << 20
SIZES = {
    "F64": 8, "F32": 4, "F16": 2, "BF16": 2, "I64": 8, "I32": 4, "I16": 2, "I8": 1, "U64": 8,
    "U32": 4, "U16": 2, "U8": 1, "BOOL": 1,
}  # fmt: skip
_FLOATS = {"F64": np.float64, "F32": np.float32, "F16": np.float16, "BF16": np.uint16}
REMEDY = "Write the archive again with levelcap vault pack"


def check_weights(path: Path) -> dict[str, tuple[str, tuple[int, ...]]]:
    """Name -> (dtype, shape) of every tensor.

    Raises:
        BadFile: not a whole safetensors file, or a number in it is not finite.
    """
    size = path.stat().st_size
    with path.open("rb") as file:
        length = int.from_bytes(file.read(8), "little")
        if size < 10 or length > min(size - 8, MAX_HEADER_BYTES):
            raise _bad(path, "the header's length is wrong", length)
        try:
            header: Any = parse_json(file.read(length))
        except ValueError as error:
            raise _bad(path, f"the header is not JSON ({error})", length) from error
        tensors = _tensors(path, header, size - 8 - length)
        for name, (dtype, first, last) in tensors.items():
            file.seek(8 + length + first)
            if not _finite(file, dtype, last - first):
                raise _bad(path, "a weight is not finite", name)
    return {name: (header[name]["dtype"], tuple(header[name]["shape"])) for name in sorted(tensors)}


def _tensors(path: Path, header: Any, room: int) -> dict[str, tuple[str, int, int]]:
    """Name -> (dtype, first, last byte); every byte belongs to exactly one tensor."""
    if not isinstance(header, dict):
        raise _bad(path, "the header is no mapping", type(header).__name__)
    found = {}
    for name, entry in header.items():
        if name == "__metadata__":
            continue
        if not isinstance(entry, dict) or set(entry) != {"dtype", "shape", "data_offsets"}:
            raise _bad(path, "an entry of the header is not a tensor", name)
        dtype, shape, offsets = entry["dtype"], entry["shape"], entry["data_offsets"]
        whole = isinstance(shape, list) and all(type(n) is int and n >= 0 for n in shape)
        ends = isinstance(offsets, list) and [type(n) for n in offsets] == [int, int]
        if not isinstance(dtype, str) or dtype not in SIZES or not whole or not ends:
            raise _bad(path, "an entry of the header is not a tensor", name)
        if offsets[1] - offsets[0] != prod(shape) * SIZES[dtype]:
            raise _bad(path, "a tensor's size is wrong", name)
        found[name] = (dtype, offsets[0], offsets[1])
    end = 0
    for name, (_, first, last) in sorted(found.items(), key=lambda item: item[1][1:]):
        if first != end:
            raise _bad(path, "tensors overlap or leave gaps", name)
        end = last
    if end != room:
        raise _bad(path, "the file has another length than its header says", room)
    return found


def _finite(file: Any, dtype: str, left: int) -> bool:
    if dtype not in _FLOATS:
        return True
    for start in range(0, left, BLOCK):
        numbers = np.frombuffer(file.read(min(left - start, BLOCK)), _FLOATS[dtype])
        # numpy has no bfloat16: its exponent is all ones where a number is not finite.
        fine = numbers & 0x7F80 != 0x7F80 if dtype == "BF16" else np.isfinite(numbers)
        if not fine.all():
            return False
    return True


def _bad(path: Path, what: str, value: object) -> BadFile:
    return BadFile(refuse(f"{path.name} is not usable as weights: {what}", value, REMEDY))
