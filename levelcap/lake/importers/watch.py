"""Watch sessions: `session_YYYYMMDD_HHMMSS/` with what a person's hands did while a film ran.

    events.parquet or events.csv   an input a row, columns `COLUMNS`
    metadata.json                  whose, when, which game, consent
    integrity.sha256               "<sha256>  <name>" a line, of every file
    frames.mp4                     the film: named and hashed, never opened here

Without the film's pictures the only thing seen is the player's own hand, so these shards are of a
world of their own, `watch`: ten decisions a second, what mouse and keys were before one
(`world.spec.WATCH`), and what they did then as heads, through the mouse's rules. It can be learned
from and not be played. More than `PAUSE_S` without an input cuts the trajectory.
"""

from __future__ import annotations

import csv
import re
from collections.abc import Iterator, Sequence
from pathlib import Path
from typing import Annotated, Any, Literal

import pyarrow as pa
import pyarrow.parquet as pq
from pydantic import Field

from levelcap.kit.ids import sha256_file
from levelcap.lake.importers.filtered import METADATA, refusal
from levelcap.lake.importers.hand import Hand
from levelcap.lake.importers.lines import Flag, Number, Record, checked, read_document
from levelcap.lake.importers.protocol import Options, Rows, Unit, files_below, relative
from levelcap.lake.importers.report import ImportReport
from levelcap.lake.records import TrajectorySequence
from levelcap.world.spec import DECISIONS_HZ

EVENTS, FILM, INTEGRITY = ("events.parquet", "events.csv"), "frames.mp4", "integrity.sha256"
COLUMNS = (
    "t_ns", "t_capture_ns", "is_duplicate", "event_type", "stream", "key_code", "mouse_x",
    "mouse_y", "mouse_button", "delta", "frame_ref", "window_id", "session_id", "metadata",
)  # fmt: skip
STEP_NS = 1_000_000_000 // DECISIONS_HZ
PAUSE_S = 5
_NAME = re.compile(r"session_\d{8}_\d{6}")
_SUM = re.compile(r"(?P<sha256>[0-9a-f]{64}) [ *](?P<name>\S.*)")

Share = Annotated[float, Field(ge=0, le=1, allow_inf_nan=False)]
Nanoseconds = Annotated[int, Field(ge=0, le=1 << 62)]


class InputEvent(Record):
    """One row."""

    t_ns: Nanoseconds
    t_capture_ns: Nanoseconds | None
    is_duplicate: Flag
    event_type: Literal["key_down", "key_up", "mouse_move", "mouse_click", "wheel", "frame"]
    stream: Literal["input", "screen", "webcam", "audio"]
    key_code: str | int | None
    mouse_x: Share | None
    mouse_y: Share | None
    mouse_button: str | int | None
    delta: Number | None
    frame_ref: str | int | None
    window_id: str | int | None
    session_id: str
    metadata: Any


class WatchMetadata(Record):
    """`metadata.json`."""

    format_version: int | str
    session_id: str
    captured_at: str
    game: str
    patch: str | None
    resolution: Annotated[list[int], Field(min_length=2, max_length=2)]
    capture_fps: Annotated[Number, Field(gt=0)]
    dropped_frames: Annotated[int, Field(ge=0)]
    clock_drift_ppm: Number
    consent: dict[str, Any]
    privacy: dict[str, Any]
    env: dict[str, Any]


class WatchImporter:
    """See `protocol.Importer`."""

    name = "watch"
    looks_for = "session_YYYYMMDD_HHMMSS/events.parquet or events.csv (watch sessions)"
    source = "imported watch session"

    def world(self, options: Options) -> str:
        """A world of its own."""
        return "watch"

    def find(self, root: Path) -> list[Unit]:
        """A unit a session."""
        found = [p for name in EVENTS for p in files_below(root, name)]
        units = []
        for place in sorted({p.parent for p in found if _NAME.fullmatch(p.parent.name)}):
            named = [place / name for name in (*EVENTS, METADATA, INTEGRITY)]
            files = tuple(p for p in named if p.is_file() and not p.is_symlink())
            film = tuple(p for p in files_below(place, FILM) if p.parent == place)
            units.append(Unit(files, place.name, place.name, film))
        return units

    def read(
        self, root: Path, units: Sequence[Unit], options: Options, report: ImportReport
    ) -> Iterator[tuple[Unit, TrajectorySequence]]:
        """Pieces between pauses; a session that is not whole is refused whole."""
        for unit in units:
            place = unit.files[0].parent
            events = next(p for p in unit.files if p.name in EVENTS)
            facts = self._facts(root, place, events, report)
            if facts is not None:
                for sequence in self._pieces(events, relative(events, root), facts, report):
                    yield unit, sequence

    def _facts(
        self, root: Path, place: Path, events: Path, report: ImportReport
    ) -> dict[str, Any] | None:
        """What goes with every trajectory of the session, or None after a reject."""
        path = place / METADATA
        name = relative(path, root)
        sums = _check_sums(root, place, events, report)
        value = read_document(path, name, report)
        metadata = checked(WatchMetadata, value, report, name, 1) if value is not None else None
        report.used += metadata is not None
        if sums is None or metadata is None:
            what = "the session is not whole; see its other rejects"
            report.reject(relative(events, root), 0, what, record=False)
            return None
        why = refusal(metadata.consent)
        if why:
            report.reject(name, 0, why, record=False)
            return None
        report.lost["dropped frames"] += metadata.dropped_frames
        film = place / FILM
        facts: dict[str, Any] = {"session": value}
        if film.is_file():
            facts["film"] = {"file": relative(film, root), "sha256": sums.get(FILM)}
            report.lost["films: named, their pictures are not read"] += 1
        return facts

    def _pieces(
        self, path: Path, name: str, facts: dict[str, Any], report: ImportReport
    ) -> Iterator[TrajectorySequence]:
        rows, hand, last, at = Rows(), Hand(), -1, -1
        for line, value in _rows(path, name, report):
            # Texts of a .csv stand for numbers and flags.
            event = checked(InputEvent, value, report, name, line, strict=path.suffix != ".csv")
            if event is None:
                continue
            if event.t_ns < last:
                report.reject(name, line, f"t_ns: {event.t_ns} is before {last}", value)
                continue
            if event.session_id != facts["session"]["session_id"]:
                report.reject(name, line, "session_id: of another session", event.session_id)
                continue
            report.used += 1
            if event.is_duplicate:
                report.lost["inputs marked as duplicates"] += 1
                last = event.t_ns
                continue
            if at >= 0 and event.t_ns - last > PAUSE_S * 1_000_000_000:
                self._decide(rows, hand)
                report.derived[f"trajectories cut at a pause of {PAUSE_S} s"] += 1
                yield rows.sequence(report, False, facts)
                rows, hand, at = Rows(), Hand(), -1
            at = event.t_ns if at < 0 else at
            while event.t_ns >= at + STEP_NS:
                self._decide(rows, hand)
                at += STEP_NS
            for what, kept in event.unknown.items():
                rows.extras.setdefault(what, {})[len(rows)] = kept
            hand.take(event.event_type, event.key_code, event.mouse_button, event.delta)
            hand.move(event.mouse_x, event.mouse_y)
            last = event.t_ns
        if at >= 0:
            self._decide(rows, hand)
            yield rows.sequence(report, True, facts)

    def _decide(self, rows: Rows, hand: Hand) -> None:
        """One decision: what the hand was like before, what it did until now."""
        rows.add(hand.before(len(rows)), hand.bins(), 0.0, {})
        hand.next()


def _check_sums(
    root: Path, place: Path, events: Path, report: ImportReport
) -> dict[str, str] | None:
    """Hashes by name, each compared with its file; None after a reject."""
    path = place / INTEGRITY
    name = relative(path, root)
    try:
        lines = path.read_text(encoding="utf-8").splitlines()
    except (OSError, ValueError) as error:
        report.reject(name, 0, f"cannot be read ({error})", record=False)
        return None
    sums, wrong = {}, []
    for number, line in enumerate(lines, start=1):
        found = _SUM.fullmatch(line.strip())
        if found is None or "/" in found["name"] or not (place / found["name"]).is_file():
            wrong.append((number, "no sha256 and name of a file of this session"))
        elif sha256_file(place / found["name"]) != found["sha256"]:
            wrong.append((number, f"{found['name']} has another sha256"))
        else:
            sums[found["name"]] = found["sha256"]
    missing = [needed for needed in (events.name, METADATA) if needed not in sums]
    for number, what in wrong or [(0, f"says nothing of {needed}") for needed in missing]:
        report.reject(name, number, what, record=False)
    return None if wrong or missing else sums


def _rows(path: Path, name: str, report: ImportReport) -> Iterator[tuple[int, dict[str, Any]]]:
    """Row number, counted from 1 (of .csv the line), and its cells; those of a .csv are texts."""
    try:
        if path.suffix == ".csv":
            with path.open(encoding="utf-8", newline="") as file:
                reader = csv.DictReader(file, strict=True)
                for row in reader:
                    report.records += 1
                    if None in row or None in row.values():
                        what = "another number of cells than there are columns"
                        report.reject(name, reader.line_num, what)
                        continue
                    yield reader.line_num, {n: v or None for n, v in row.items()}
            return
        with pq.ParquetFile(path) as table:
            rows = (row for batch in table.iter_batches(8192) for row in batch.to_pylist())
            for number, row in enumerate(rows, start=1):
                report.records += 1
                yield number, row
    except (pa.ArrowException, OSError, csv.Error, UnicodeDecodeError) as error:
        report.reject(name, 0, f"the file cannot be read on ({error})", record=False)


FORMAT = WatchImporter()
