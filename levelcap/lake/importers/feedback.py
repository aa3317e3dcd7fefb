"""`feedback_stream.jsonl`: what a bot in a browser told of itself, a line an event.

    {mono, bot_state, state_reason, action, action_ok, active_keys[], ability_last,
     ui_state{…}, input_probe{…}, click_probe{click0}, cursor_probe{…}}
    {"event": "session_end", "run_stop_reason", …, "death": {active}}

The 19 numbers are `world.spec.FEEDBACK`; they mean something else than `features`, so these shards
are of a world of their own, `feedback`, which can be learned from and not be played. The stream
does not say its actions as heads: moves are read from the keys held, the rest from `action` and
`ability_last`; where the player aimed is lost. Every event is worth ±0.05 by `action_ok`, and the
outcome of the run is added to the last one.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from pathlib import Path
from typing import Annotated, Any, Literal

from pydantic import Field

from levelcap.lake.importers.lines import Flag, Number, Record, checked, json_lines
from levelcap.lake.importers.outcomes import FILE as MANIFEST
from levelcap.lake.importers.outcomes import read_outcomes
from levelcap.lake.importers.protocol import Options, Rows, Unit, files_below, relative
from levelcap.lake.importers.report import ImportReport
from levelcap.lake.records import TrajectorySequence
from levelcap.world.actions import CENTRE
from levelcap.world.spec import MOVE_BINS

FILE = "feedback_stream.jsonl"
STEP_REWARD = 0.05
IN_MATCH, LOBBY = ("in_match", "match"), ("lobby", "in_lobby")
MOVES = {
    **dict.fromkeys(("w", "keyw", "arrowup", "up"), (0, 1)),
    **dict.fromkeys(("s", "keys", "arrowdown", "down"), (0, -1)),
    **dict.fromkeys(("a", "keya", "arrowleft", "left"), (-1, 0)),
    **dict.fromkeys(("d", "keyd", "arrowright", "right"), (1, 0)),
}
FIRES, INTERACTS = ("fire", "attack", "shoot", "click"), ("interact", "loot", "pickup")
ABILITIES = {"q": 1, "e": 2, "r": 3, "1": 1, "2": 2, "3": 3}

Count = Number | Flag


class UiState(Record):
    """What the page showed."""

    canvas_visible: Flag
    play_visible: Flag
    character_visible: Flag


class InputProbe(Record):
    """Events that arrived in the page."""

    keyDown: Count
    pointerMove: Count
    focusEvents: Count
    blurEvents: Count


class ClickProbe(Record):
    """Clicks that arrived."""

    click0: Count


class CursorProbe(Record):
    """The drawn cursor."""

    moves: Count
    visible: Count


class Event(Record):
    """One line."""

    mono: Annotated[Number, Field(ge=0)]
    bot_state: str
    state_reason: str | None
    action: str | None
    action_ok: Flag | None
    active_keys: list[str]
    ability_last: str | int | None
    ui_state: UiState
    input_probe: InputProbe
    click_probe: ClickProbe
    cursor_probe: CursorProbe

    def numbers(self) -> list[float]:
        """`world.spec.FEEDBACK`."""
        state, ui = self.bot_state.lower(), self.ui_state
        seen, cursor = self.input_probe, self.cursor_probe
        values = (
            *(self.mono % 1000 / 1000, state in IN_MATCH, state in LOBBY, ui.canvas_visible),
            *(bool(self.action_ok), len(self.active_keys), 0, 0, 0, 0),
            *(seen.keyDown, seen.pointerMove, self.click_probe.click0),
            *(cursor.moves, cursor.visible, seen.focusEvents, seen.blurEvents),
            *(ui.play_visible, ui.character_visible),
        )
        return [float(value) for value in values]

    def bins(self) -> list[int]:
        """The heads' indices, as far as the stream tells them."""
        held = [MOVES[k.lower()] for k in self.active_keys if k.lower() in MOVES]
        x, y = (max(-1, min(1, sum(step[i] for step in held))) for i in (0, 1))
        full, did = MOVE_BINS // 2, (self.action or "").lower()
        used = "ability" in did
        ability = ABILITIES.get(str(self.ability_last).lower(), 0) if used else 0
        aim = (CENTRE, CENTRE)
        moves = (CENTRE + full * x, CENTRE + full * y)
        return [*moves, *aim, int(did in FIRES), ability, int(did in INTERACTS)]

    def extras(self) -> dict[str, Any]:
        """Unknown fields, those inside named by where they stood."""
        parts = {"": self, "ui_state.": self.ui_state, "input_probe.": self.input_probe}
        parts |= {"click_probe.": self.click_probe, "cursor_probe.": self.cursor_probe}
        return {f"{a}{n}": v for a, part in parts.items() for n, v in part.unknown.items()}


class Death(Record):
    """Whether the bot had died."""

    active: Flag


class SessionEnd(Record):
    """The last line of a session."""

    event: Literal["session_end"]
    run_stop_reason: str | None
    death: Death | None = None


class FeedbackImporter:
    """See `protocol.Importer`."""

    name = "feedback"
    looks_for = f"{FILE} (event streams, with or without a manifest.jsonl)"
    source = "imported feedback"

    def world(self, options: Options) -> str:
        """A world of its own."""
        return "feedback"

    def find(self, root: Path) -> list[Unit]:
        """A unit a stream; manifests go with the first."""
        streams = files_below(root, FILE)
        manifests = files_below(root, MANIFEST) if streams else []
        return [
            Unit((path, *(manifests if not place else ())), path.parent.name, relative(path, root))
            for place, path in enumerate(streams)
        ]

    def read(
        self, root: Path, units: Sequence[Unit], options: Options, report: ImportReport
    ) -> Iterator[tuple[Unit, TrajectorySequence]]:
        """A trajectory a session; the run's outcome goes to its stream's last event."""
        names = {relative(unit.files[0], root): unit for unit in units}
        manifests = [path for unit in units for path in unit.files[1:]]
        outcomes = read_outcomes(root, manifests, list(names), report)
        for name, unit in names.items():
            sessions = list(self._sessions(unit.files[0], name, report))
            for place, (rows, facts) in enumerate(sessions, start=1):
                if place == len(sessions) and name in outcomes:
                    rows.rewards[-1] += outcomes[name]
                    report.derived["outcomes joined from a manifest"] += 1
                    facts |= {"terminal_outcome": outcomes[name]}
                yield unit, rows.sequence(report, bool(facts), facts)

    def _sessions(
        self, path: Path, name: str, report: ImportReport
    ) -> Iterator[tuple[Rows, dict[str, Any]]]:
        rows, last = Rows(), -1.0
        for line, value in json_lines(path, name, report):
            if isinstance(value, dict) and "event" in value:
                if checked(SessionEnd, value, report, name, line) is None:
                    continue
                if not len(rows):
                    report.reject(name, line, "session_end: there was no event before it", value)
                    continue
                report.used += 1
                yield rows, {"session_end": value}
                rows, last = Rows(), -1.0
                continue
            event = checked(Event, value, report, name, line)
            if event is None:
                continue
            if event.mono < last:
                report.reject(name, line, f"mono: {event.mono} is before {last}", value)
                continue
            last = event.mono
            report.used += 1
            report.derived["actions read from keys and words"] += 1
            report.lost["where the player aimed"] += 1
            reward = STEP_REWARD if event.action_ok else -STEP_REWARD
            rows.add(event.numbers(), event.bins(), reward, event.extras())
        if len(rows):
            report.derived["sessions without an end"] += 1
            yield rows, {}


FORMAT = FeedbackImporter()
