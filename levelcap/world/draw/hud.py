"""The strip above the picture (objective, clock, how the sides stand) and the result's banner."""

from __future__ import annotations

from levelcap.world.draw.canvas import FINE, Canvas, Colour, text_width
from levelcap.world.draw.scoreboard import Scoreboard, Side, minutes

BLUE: Colour = (74, 158, 255)
RED: Colour = (255, 84, 84)
# Two teams take the first two; in lms every player has a hue.
TEAM_COLOURS: tuple[Colour, ...] = (
    BLUE, RED, (88, 208, 112), (250, 212, 70), (184, 124, 255),
    (255, 152, 56), (70, 216, 216), (255, 130, 204), (176, 152, 112),
    (220, 224, 232),
)  # fmt: skip
STRIP: Colour = (9, 11, 15)
FAINT: Colour = (44, 50, 60)
WHITE: Colour = (245, 248, 255)
GOLD: Colour = (245, 200, 80)
LOW_S = 30  # the clock turns red when this little is left


def text_scale(width: int) -> int:
    """Whole factor of the font for a canvas this wide: room for about 40 letters a line."""
    return FINE * max(1, width // (240 * FINE))


def draw_hud(width: int, board: Scoreboard) -> Canvas:
    """Title and clock, the objective in words, then one panel a side (in lms one for all)."""
    s = text_scale(width)
    canvas = Canvas(width, 39 * s, STRIP)
    canvas.box(0, 38.5 * s, width, 39 * s, FAINT)
    edge = 3 * s
    canvas.text(board.title, edge, 6.5 * s, s, WHITE, align="left")
    canvas.text(board.objective, edge, 16.5 * s, s, GOLD, align="left")
    tone = RED if board.seconds_left < LOW_S else WHITE
    canvas.text(f"{board.clock} LEFT", width - edge, 6.5 * s, s, tone, align="right")
    if len(board.sides) > 2:
        _draw_field(canvas, board, edge, s)
        return canvas
    canvas.box((width - s) / 2, 24 * s, (width + s) / 2, 37 * s, FAINT)
    for number, side in enumerate(board.sides):
        _draw_side(canvas, side, number, board.unit, s)
    return canvas


def _fit(text: str, width: float, scale: int) -> str:
    """The text, cut to the room there is."""
    while text and text_width(text, scale) > width:
        text = text[:-1]
    return text.rstrip()


def _draw_side(canvas: Canvas, side: Side, number: int, unit: str, s: int) -> None:
    """Name and policy left, what decides right, and a bar with one stretch a part below."""
    half, edge = canvas.width / 2, 3 * s
    left, right = number * half + edge, (number + 1) * half - edge
    colour = TEAM_COLOURS[number]
    amount = f"{round(side.amount)} {unit}"
    canvas.text(amount, right, 27.5 * s, s, WHITE, align="right")
    name = _fit(side.name, right - text_width(amount, s) - left - 4 * s, s)
    canvas.text(name, left, 27.5 * s, s, colour, align="left")
    if side.size > 1:  # one pip a player, before the bar
        for k in range(side.size):
            shade = colour if k < side.alive else FAINT
            canvas.disc(left + (4 * k + 1.5) * s, 35.5 * s, 1.5 * s, shade)
        left += (4 * side.size + 2) * s
    whole = sum(full for _, full in side.parts)
    room = right - left - s * (len(side.parts) - 1)
    for now, full in side.parts:
        width = room * full / whole
        canvas.box(left, 34 * s, left + width, 37 * s, FAINT)
        canvas.box(left, 34 * s, left + width * min(1.0, now / full), 37 * s, colour)
        left += width + s


def _draw_field(canvas: Canvas, board: Scoreboard, edge: int, s: int) -> None:
    """lms: how many are left, and everybody's hp as a column in their colour."""
    players = "PLAYER" if board.num_left == 1 else "PLAYERS"
    canvas.text(f"{board.num_left} {players} LEFT", edge, 30.5 * s, s, WHITE, align="left")
    step, tall, bottom = 13 * s, 12 * s, 36 * s
    start = canvas.width - edge - step * len(board.sides)
    for k, side in enumerate(board.sides):
        x, colour = start + k * step, TEAM_COLOURS[k]
        canvas.text(f"{k}", x, 30.5 * s, s, colour if side.alive else FAINT, align="left")
        now, full = side.parts[0]
        x0, x1 = x + 7 * s, x + 10 * s
        canvas.box(x0, bottom - tall, x1, bottom, FAINT)
        canvas.box(x0, bottom - tall * min(1.0, now / full), x1, bottom, colour)


def draw_banner(canvas: Canvas, board: Scoreboard, banner: str | None = None) -> None:
    """The result, large, over the map: who won, why, and after how long."""
    lines = _banner_lines(board) if banner is None else ([banner] if banner else [])
    if not lines:
        return
    width, s = canvas.width, text_scale(canvas.width)
    colour = TEAM_COLOURS[board.winner] if board.winner >= 0 else GOLD
    big = min(3 * s, s * (width - 8 * s) / text_width(lines[0], s))
    tall = 7 * big + 11 * s * (len(lines) - 1) + 12 * s
    top = 0.2 * canvas.height - tall / 2
    canvas.box(0, top, width, top + tall, STRIP, 0.94)
    canvas.box(0, top, width, top + s, colour)
    canvas.box(0, top + tall - s, width, top + tall, colour)
    canvas.text(lines[0], width / 2, top + 6 * s + 3.5 * big, big, colour)
    for number, line in enumerate(lines[1:]):
        y = top + 7 * big + (13 + 11 * number) * s
        canvas.text(_fit(line, width - 8 * s, s), width / 2, y, s, WHITE)


def _banner_lines(board: Scoreboard) -> list[str]:
    if not board.over:
        return []
    lines = [board.headline, f"{board.reason} AFTER {minutes(board.seconds)}"]
    policies = [side.policy for side in board.sides]
    if board.winner >= 0 and all(policies):
        if len(policies) == 2:
            lines.insert(1, f"{policies[board.winner]} BEATS {policies[1 - board.winner]}")
        else:
            lines.insert(1, policies[board.winner])
    return lines
