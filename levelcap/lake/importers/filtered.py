"""Filtered recordings: `session_*/sequence_{id:04d}_{LABEL}_{MODE}.json`, what was worth keeping.

    id, label, mode, num_frames, timestamp, states[][], actions[][], screenshots[{image, …}]
    metadata.json: session_id, fps, resolution, n_frames, sequences[…], format_version, consent, …

A state is the 19 numbers of `features`. Actions are of the old form `[x, y, click, ability_val]`
and are read as `levelcap lake old-actions` reads them. Without metadata.json the label alone says
how it ended. Pictures are named in the extras and lie in the lake's raw zone.
"""

from __future__ import annotations

import re
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import asdict
from pathlib import Path
from typing import Annotated, Any

import numpy as np
from pydantic import Field

from levelcap.kit.ids import sha256_file
from levelcap.lake.importers.lines import Number, Record, checked, read_document
from levelcap.lake.importers.protocol import Options, Rows, Unit, files_below, kept_name, relative
from levelcap.lake.importers.report import ImportReport, printable
from levelcap.lake.old_actions import OLD_FIELDS, map_old
from levelcap.lake.records import TrajectorySequence
from levelcap.world.actions import from_mouse
from levelcap.world.spec import FEATURES

_NAME = re.compile(r"sequence_(?P<id>\d{4,})_(?P<label>[A-Z][A-Z_]*)_(?P<mode>[^_]+)\.json")
METADATA = "metadata.json"
OUTCOMES = {"SUCCESS": 1, "KILL": 1, "WIN": 1, "DEATH": -1, "FAILURE": -1, "LOSS": -1}
FACTS = ("id", "label", "mode", "timestamp", "screenshots")

State = Annotated[list[Number], Field(min_length=len(FEATURES), max_length=len(FEATURES))]
Old = Annotated[list[Number], Field(min_length=len(OLD_FIELDS), max_length=len(OLD_FIELDS))]


class Frame(Record):
    """One moment: what was seen and done."""

    state: State
    action: Old


class Screenshot(Record):
    """A picture, by name."""

    image: str
    context: Any = None
    timestamp: Number


class SequenceFile(Record):
    """The whole of one file but for its rows, which are checked one by one."""

    id: int
    label: str
    mode: str
    num_frames: Annotated[int, Field(ge=0)]
    timestamp: Number | str
    states: list[Any]
    actions: list[Any]
    screenshots: list[Screenshot]


class Part(Record):
    """What metadata.json says of one sequence."""

    id: int
    start_t: Number
    end_t: Number
    combat: bool
    kills: Annotated[int, Field(ge=0)]
    deaths: Annotated[int, Field(ge=0)]
    damage_in: Number
    damage_out: Number
    mode: str


class Metadata(Record):
    """`metadata.json` of a session."""

    session_id: str
    fps: Annotated[Number, Field(gt=0)]
    resolution: Annotated[list[int], Field(min_length=2, max_length=2)]
    n_frames: Annotated[int, Field(ge=0)]
    sequences: list[Part]
    format_version: int | str
    consent: dict[str, Any] | bool
    hashes: dict[str, str]


def refusal(consent: Mapping[str, Any] | bool) -> str | None:
    """Why a session may not be used: somebody said no."""
    no = consent is False or (not isinstance(consent, bool) and False in consent.values())
    return "consent: it was refused, so nothing of this session is read" if no else None


class FilteredImporter:
    """See `protocol.Importer`."""

    name = "filtered"
    looks_for = "session_*/sequence_{id:04d}_{LABEL}_{MODE}.json (filtered recordings)"
    source = "imported recording"

    def world(self, options: Options) -> str:
        """The one whose features the states are."""
        return options.world

    def find(self, root: Path) -> list[Unit]:
        """A unit a session: its sequences, metadata and pictures."""
        sessions: dict[Path, list[Path]] = {}
        for path in files_below(root, "sequence_*.json"):
            if _NAME.fullmatch(path.name):
                sessions.setdefault(path.parent, []).append(path)
        units = []
        for place, found in sessions.items():
            metadata = files_below(place, METADATA)[:1]
            pictures = [p for p in files_below(place, "*") if p.parent.name == "screenshots"]
            name = place.name if place != root else root.name
            units.append(Unit((*found, *metadata, *pictures), name, name))
        return units

    def read(
        self, root: Path, units: Sequence[Unit], options: Options, report: ImportReport
    ) -> Iterator[tuple[Unit, TrajectorySequence]]:
        """A trajectory a sequence."""
        for unit in units:
            place = unit.files[0].parent
            metadata, why = self._metadata(root, unit, report)
            parts = {part.id: part for part in metadata.sequences} if metadata else {}
            hashes = metadata.hashes if metadata else {}
            for path in (p for p in unit.files if _NAME.fullmatch(p.name)):
                name = relative(path, root)
                wanted = hashes.get(path.relative_to(place).as_posix())
                if why:
                    report.reject(name, 0, why, record=False)
                elif wanted is not None and wanted != sha256_file(path):
                    what = f"hashes: {METADATA} has another sha256 of it"
                    report.reject(name, 0, what, wanted, record=False)
                else:
                    for sequence in self._pieces(path, name, parts, options, report):
                        yield unit, sequence

    def _metadata(
        self, root: Path, unit: Unit, report: ImportReport
    ) -> tuple[Metadata | None, str | None]:
        """What metadata.json says, and why the session is refused, if it is."""
        path = next((p for p in unit.files if p.name == METADATA), None)
        if path is None:
            report.derived[f"sessions without {METADATA}"] += 1
            return None, None
        name = relative(path, root)
        value = read_document(path, name, report)
        found = None if value is None else checked(Metadata, value, report, name, 1)
        if found is None:  # it may have said no
            return None, f"{METADATA} of this session cannot be read"
        report.used += 1
        return found, refusal(found.consent)

    def _pieces(
        self,
        path: Path,
        name: str,
        parts: Mapping[int, Part],
        options: Options,
        report: ImportReport,
    ) -> Iterator[TrajectorySequence]:
        value = read_document(path, name, report)
        file = None if value is None else checked(SequenceFile, value, report, name, 1)
        if file is None:
            return
        report.used += 1
        count = max(len(file.states), len(file.actions))
        if file.num_frames != count:
            report.reject(
                name, 0, f"num_frames: {file.num_frames}, there are {count}", record=False
            )
        part = parts.get(file.id)
        if part is None:
            report.derived["sequences of which only the label says how they ended"] += 1
        won = OUTCOMES.get(file.label, 0)
        if part is not None and file.label not in OUTCOMES:
            won = (part.kills > part.deaths) - (part.kills < part.deaths)
        told = {key: value[key] for key in FACTS}
        for key, kept in file.unknown.items():
            report.extras[printable(key)] += 1
            told[kept_name(key, told)] = kept
        if part is not None:
            told["metadata"] = part.model_dump()
        rows = Rows()
        for frame in self._frames(file, count, name, report):
            if frame is None:
                if len(rows):
                    yield self._sequence(rows, options, report, None, told)
                    rows = Rows()
            else:
                rows.add(frame.state, frame.action, 0.0, {})
        if len(rows):
            yield self._sequence(rows, options, report, won, told)

    def _frames(
        self, file: SequenceFile, count: int, name: str, report: ImportReport
    ) -> Iterator[Frame | None]:
        """Row by row, counted from 1 like lines; None where one was refused."""
        for row in range(count):
            if report.is_full(name, row + 1):
                return
            report.records += 1
            state = file.states[row] if row < len(file.states) else None
            action = file.actions[row] if row < len(file.actions) else None
            frame = checked(Frame, {"state": state, "action": action}, report, name, row + 1)
            report.used += frame is not None
            yield frame

    def _sequence(
        self,
        rows: Rows,
        options: Options,
        report: ImportReport,
        won: int | None,
        told: Mapping[str, Any],
    ) -> TrajectorySequence:
        """won: None where the recording breaks off."""
        mouse, losses = map_old(np.array(rows.actions, np.float64), options.screen)
        rows.actions = from_mouse(mouse).tolist()
        for what, lost in asdict(losses).items():
            if what not in ("rows", "hotkeys"):
                report.lost[f"old actions: {what.replace('_', ' ')}"] += lost
        report.derived["actions of the old form as heads"] += len(rows)
        if won is not None:
            rows.rewards[-1] = float(won)
            report.derived["rewards: the outcome at the last frame, 0 before"] += 1
        return rows.sequence(report, won is not None, {"terminal_outcome": won or 0, **told})


FORMAT = FilteredImporter()
