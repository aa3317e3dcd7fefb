"""TensorBoard's event files, as far as scalars need them; TensorBoard itself is not needed.

A file is TFRecords: length (uint64), its masked CRC-32C, the bytes, their masked CRC-32C. Each
record is a protobuf message `Event`: wall_time (1, double), step (2, varint), and file_version (3)
in the first, a `Summary` (5) of values (1) with tag (1) and simple_value (2, float) in the others.
Checked against TensorBoard 2.21's own reader; the test keeps the bytes.
"""

from __future__ import annotations

import os
import struct
from collections.abc import Iterator, Mapping
from pathlib import Path

from levelcap.kit.files import sync

NAME = "events.out.tfevents.0.levelcap"  # TensorBoard reads every file with tfevents in its name
VERSION = b"brain.Event:2"
_HEAD, _TAIL = struct.Struct("<QI"), struct.Struct("<I")


def _divided(value: int) -> int:
    for _ in range(8):
        value = value >> 1 ^ (0x82F63B78 if value & 1 else 0)  # Castagnoli, reflected
    return value


_CRC = [_divided(value) for value in range(256)]


def masked_crc(data: bytes) -> int:
    """CRC-32C, turned and shifted as TFRecord stores it."""
    crc = 0xFFFFFFFF
    for byte in data:
        crc = _CRC[(crc ^ byte) & 0xFF] ^ crc >> 8
    crc ^= 0xFFFFFFFF
    return ((crc >> 15 | crc << 17) + 0xA282EAD8) & 0xFFFFFFFF


def record(data: bytes) -> bytes:
    """One TFRecord."""
    length = struct.pack("<Q", len(data))
    return length + _TAIL.pack(masked_crc(length)) + data + _TAIL.pack(masked_crc(data))


def _varint(number: int) -> bytes:
    found = bytearray()
    while number > 0x7F:
        found.append(number & 0x7F | 0x80)
        number >>= 7
    return bytes([*found, number])


def _field(number: int, data: bytes) -> bytes:
    return _varint(number << 3 | 2) + _varint(len(data)) + data


def event(time_s: float, step: int, scalars: Mapping[str, float]) -> bytes:
    """An Event of one step with its values."""
    values = (_field(1, k.encode()) + b"\x15" + struct.pack("<f", v) for k, v in scalars.items())
    summary = b"".join(_field(1, value) for value in values)
    return b"\x09" + struct.pack("<d", time_s) + b"\x10" + _varint(step) + _field(5, summary)


class EventFile:
    """Appends to the event file of one run; opening it again goes on behind its last step.

    The file is its own memory: a record that a kill has torn is cut off, so no point is there
    twice and none is missing.
    """

    def __init__(self, folder: Path) -> None:
        folder.mkdir(parents=True, exist_ok=True)
        self._file = (folder / NAME).open("a+b")
        self.last_step = -1
        end = 0
        for data, after in self._records():
            end = after
            self.last_step = max(self.last_step, _step_of(data))
        self._file.truncate(end)
        self._file.seek(0, os.SEEK_END)
        if end == 0:
            first = b"\x09" + struct.pack("<d", 0.0) + _field(3, VERSION)
            self._file.write(record(first))

    def _records(self) -> Iterator[tuple[bytes, int]]:
        """(bytes, end) of every whole record."""
        self._file.seek(0)
        while len(head := self._file.read(_HEAD.size)) == _HEAD.size:
            length, check = _HEAD.unpack(head)
            if check != masked_crc(head[:8]):
                return
            data, tail = self._file.read(length), self._file.read(_TAIL.size)
            if len(tail) < _TAIL.size or _TAIL.unpack(tail)[0] != masked_crc(data):
                return
            yield data, self._file.tell()

    def write(self, time_s: float, step: int, scalars: Mapping[str, float]) -> None:
        """Append a step."""
        self._file.write(record(event(time_s, step, scalars)))
        self.last_step = step

    def close(self) -> None:
        """Everything is on disk afterwards."""
        self._file.close()
        sync(Path(self._file.name))

    def flush(self) -> None:
        """Let readers see what was written."""
        self._file.flush()


def _step_of(data: bytes) -> int:
    """The step of an Event; -1: it has none, as the first."""
    if data[9:10] != b"\x10":
        return -1
    step = shift = 0
    for byte in data[10:20]:
        step |= (byte & 0x7F) << shift
        shift += 7
        if byte < 0x80:
            break
    return step
