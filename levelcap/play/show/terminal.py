"""A match in the terminal: the map in half blocks, players as letters, the score beside it.

    with TerminalView() as view:
        view.show(world, match, names)   # after every decision

On a terminal the picture fills what there is (80 x 24 is enough) and runs at the game's own pace
times `speed`. Anywhere else (a pipe, a log) it is one plain line every 15 s of the game.
"""

from __future__ import annotations

import time
from collections.abc import Iterator, Sequence
from functools import lru_cache
from typing import Any

import numpy as np
from numpy.typing import NDArray
from rich.console import Console, ConsoleOptions, Group
from rich.live import Live
from rich.measure import Measurement
from rich.segment import Segment
from rich.style import Style
from rich.table import Table
from rich.text import Text

from levelcap.kit.errors import BadValue, refuse
from levelcap.world.draw.hud import LOW_S, TEAM_COLOURS
from levelcap.world.draw.scoreboard import Scoreboard, minutes, player_letter, read_scoreboard
from levelcap.world.rules.patches import champion_names
from levelcap.world.rules.rulebook import MILLI

PLAIN_EVERY_S = 15
FRAME_S = 1 / 15  # faster than this nobody sees, and ssh lines choke
PANEL = 34  # columns of the score beside the map
GROUND, WALL, LANE = (19, 23, 30), (84, 96, 116), (34, 39, 48)
ZONE, CROWN = (88, 32, 34), (70, 58, 24)
HEALTH, AMMO, SHOT_LIFT = (80, 220, 110), (245, 200, 80), 70
_LATE = "bold #ff5454"

Letters = dict[tuple[int, int], tuple[str, str]]  # (row, column) of a cell: letter, background


class TerminalView:
    """Shows one match; `speed` 1 is the game's own pace, 0 as fast as it comes."""

    def __init__(self, console: Console | None = None, speed: float = 1.0) -> None:
        if not 0 <= speed <= 1000:
            raise BadValue(refuse("speed out of range", speed, "Give a factor from 0 to 1000"))
        self.console, self.speed = console or Console(), speed
        self._live: Live | None = None
        self._begun = self._drawn = 0.0
        self._next_line = 0.0
        self._last = ""

    def __enter__(self) -> TerminalView:
        return self

    def __exit__(self, *_: object) -> None:
        self.close()

    def show(self, world: Any, match: int = 0, names: Sequence[str] = ()) -> None:
        """The match as it is now; waits so that the game keeps its pace."""
        board = read_scoreboard(world, match, names)
        if not self.console.is_terminal:
            self._show_line(board)
            return
        if self._live is None:
            self._live = Live(console=self.console, auto_refresh=False)
            self._live.start()
            self._begun = time.monotonic() - self._due(board)
        wait = self._begun + self._due(board) - time.monotonic()
        if wait > 0:
            time.sleep(wait)
        now = time.monotonic()
        if board.over or now - self._drawn >= FRAME_S:
            self._drawn = now
            self._live.update(_page(world, match, board, self.console), refresh=True)

    def close(self) -> None:
        """Leave the last picture standing and give the terminal back."""
        if self._live is not None:
            self._live.stop()
            self._live = None

    def _due(self, board: Scoreboard) -> float:
        """Seconds after the start at which this moment should be on the screen."""
        return board.seconds / self.speed if self.speed else 0.0

    def _show_line(self, board: Scoreboard) -> None:
        if board.seconds < self._next_line - PLAIN_EVERY_S:  # another match has begun
            self._next_line = 0.0
        if board.seconds < self._next_line and not board.over:
            return
        self._next_line = (board.seconds // PLAIN_EVERY_S + 1) * PLAIN_EVERY_S
        line = summary(board)
        if line != self._last:  # a finished match may be shown again
            self._last = line
            self.console.print(line, soft_wrap=True, highlight=False, markup=False)


def summary(board: Scoreboard) -> str:
    """One line: objective, time left, how the sides stand, who leads or won."""
    head = f"{board.title}  {board.clock} LEFT  {board.objective.lower()}"
    if len(board.sides) > 2:
        stand = f"{board.num_left} of {len(board.sides)} left"
    else:
        stand = " | ".join(
            f"{side.name} {round(side.amount)} {board.unit.lower()}, {side.alive}/{side.size} alive"
            for side in board.sides
        )
    return f"{head}  {stand}  {verdict(board)}"


def verdict(board: Scoreboard) -> str:
    """Who leads, or who won and why."""
    if board.over:
        return f"{board.headline}: {board.reason.lower()} after {minutes(board.seconds)}"
    if board.leader < 0:
        return "level"
    return f"{board.sides[board.leader].label} leads"


def _page(world: Any, match: int, board: Scoreboard, console: Console) -> Group:
    """The status lines above; map and panel side by side below."""
    width, height = console.size
    rows = max(4, min(height - 3, (width - PANEL) // 2))
    head = Text(no_wrap=True, overflow="crop")
    head.append(f"{board.title} ", "bold")
    head.append(f"{board.clock} LEFT  ", _LATE if board.seconds_left < LOW_S else "bold")
    head.append(board.objective, _hex(AMMO))
    result = Text(verdict(board), _style(board.winner if board.over else board.leader))
    grid = Table.grid(padding=(0, 1))
    grid.add_row(HalfBlocks(*_map(world, match, 2 * rows)), _panel(world, match, board, rows))
    return Group(head, result, grid)


def _style(side: int) -> Style:
    if side < 0:
        return Style(bold=True)
    return Style(bold=True, color=_hex(TEAM_COLOURS[side]))


def _hex(colour: Sequence[float]) -> str:
    return "#" + "".join(f"{int(c):02x}" for c in colour)


class HalfBlocks:
    """Pixels [2n, m, 3] as n lines of upper half blocks; letters replace whole cells."""

    def __init__(self, pixels: NDArray[np.uint8], letters: Letters) -> None:
        self.pixels, self.letters = pixels, letters

    def __rich_measure__(self, console: Console, options: ConsoleOptions) -> Measurement:
        return Measurement(self.pixels.shape[1], self.pixels.shape[1])

    def __rich_console__(self, console: Console, options: ConsoleOptions) -> Iterator[Segment]:
        for row in range(self.pixels.shape[0] // 2):
            upper, lower = self.pixels[2 * row].tolist(), self.pixels[2 * row + 1].tolist()
            for column in range(self.pixels.shape[1]):
                if (row, column) in self.letters:
                    letter, back = self.letters[row, column]
                    yield Segment(letter, Style(bold=True, color="#000000", bgcolor=back))
                else:
                    yield _cell(tuple(upper[column]), tuple(lower[column]))
            yield Segment.line()


@lru_cache(4096)
def _cell(upper: tuple[int, ...], lower: tuple[int, ...]) -> Segment:
    return Segment("▀", Style(color=_hex(upper), bgcolor=_hex(lower)))


def _map(world: Any, match: int, size: int) -> tuple[NDArray[np.uint8], Letters]:
    """The map as size x size pixels, and the letters of living players by cell."""
    g, r = world.state[match], world.rules
    pixels = _ground(g, r, size)

    def spot(x: Any, y: Any) -> tuple[int, int]:
        row, column = (r.half - float(y)) / (2 * r.half), (float(x) + r.half) / (2 * r.half)
        return min(size - 1, max(0, int(row * size))), min(size - 1, max(0, int(column * size)))

    for i in np.flatnonzero(g["item_kind"][: r.item_most]):
        colour = HEALTH if g["item_kind"][i] == 1 else AMMO
        pixels[spot(g["item_x"][i], g["item_y"][i])] = colour
    if r.has_lane:
        _lane(g, r, pixels, spot)
    for k in range(int(g["num_shots"])):
        colour = TEAM_COLOURS[int(g["shot_owner"][k]) // r.team_size]
        pixels[spot(g["shot_x"][k], g["shot_y"][k])] = [min(255, c + SHOT_LIFT) for c in colour]
    letters: Letters = {}
    for p in np.flatnonzero(g["alive"][: r.num_players]):
        row, column = spot(g["x"][p], g["y"][p])
        while (row // 2, column) in letters and column < size - 1:  # two in one cell stand abreast
            column += 1
        back = _hex(TEAM_COLOURS[p // r.team_size])
        letters[row // 2, column] = (player_letter(world, match, int(p)), back)
    return pixels, letters


def _ground(g: Any, r: Any, size: int) -> NDArray[np.uint8]:
    """Floor, lane, zone or crown, walls."""
    middle = ((np.arange(size) + 0.5) / size * 2 - 1) * r.half
    x, y = np.meshgrid(middle, -middle)
    pixels = np.empty((size, size, 3), np.uint8)
    pixels[:] = GROUND
    away = np.hypot(x - g["zone"][0], y - g["zone"][1]) > g["zone"][2]
    if r.has_lane:
        pixels[np.abs(y) < 3] = LANE
    elif r.has_crown:
        pixels[~away] = CROWN
    else:
        pixels[away] = ZONE
    cells = r.solid.shape[0]
    row = ((y + r.half) / (2 * r.half) * cells).astype(int)
    column = ((x + r.half) / (2 * r.half) * cells).astype(int)
    pixels[r.solid[row, column] != 0] = WALL
    return pixels


def _lane(g: Any, r: Any, pixels: NDArray[np.uint8], spot: Any) -> None:
    """Structures as blocks (darker with less hp), creeps as single dim pixels."""
    for t in range(6):
        row, column = spot(r.tower_x[t], r.tower_y[t])
        share = 0.2 + 0.8 * float(g["tower_hp"][t]) / float(r.tower_hp[t])
        reach = 1 if t % 3 < 2 else 2
        block = pixels[max(0, row - reach) : row + reach, max(0, column - reach) : column + reach]
        block[:] = np.array(TEAM_COLOURS[t // 3]) * share
    for c in np.flatnonzero(g["creep_hp"][: 2 * r.creep_most] > 0):
        colour = np.array(TEAM_COLOURS[c // r.creep_most])
        pixels[spot(g["creep_x"][c], g["creep_y"][c])] = 0.65 * colour


def _panel(world: Any, match: int, board: Scoreboard, rows: int) -> Text:
    """Per side: name, what decides as a bar, and one line a player as far as there is room."""
    text = Text(no_wrap=True, overflow="crop")
    alone = world.rules.num_teams > 2
    for number, side in enumerate(board.sides):
        if not alone:
            text.append(f"{side.name[: PANEL - 12]}  ", _style(number))
            text.append(f"{round(side.amount)} {board.unit.lower()}\n")
            for now, full in side.parts:
                text.append(_bar(now / full, 24 // len(side.parts)) + " ", _style(number))
            text.append("\n")
        for seat in range(number * side.size, (number + 1) * side.size):
            if (alone or side.size > 1) and text.plain.count("\n") < rows:
                text.append_text(_player_line(world, match, seat, number, side.policy * alone))
        if not alone and rows > 16:
            text.append("\n")
    return text


def _player_line(world: Any, match: int, seat: int, side: int, policy: str) -> Text:
    g, rules = world.state[match], world.rules
    champion = int(g["champion"][seat])
    name = champion_names(world.patch)[champion] if champion else policy or f"player {seat}"
    line = Text(f"{player_letter(world, match, seat)} ", _style(side))
    if g["alive"][seat]:
        hp = int(g["hp"][seat])
        line.append(f"{name[:10]:<10} {_bar(hp / int(rules.champ_hp[champion]), 10)} ")
        line.append(f"{hp // MILLI:>3} hp\n")
    else:
        back = (
            f"back in {-(-int(g['respawn'][seat]) // rules.tick_hz)} s" if rules.respawns else "out"
        )
        line.append(f"{name[:10]:<10} {back}\n", "dim")
    return line


def _bar(share: float, width: int) -> str:
    full = round(min(1.0, max(0.0, share)) * width)
    return "█" * full + "░" * (width - full)
