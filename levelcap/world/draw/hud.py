"""The strip above the picture (objective, clock, how the sides stand) and the result's banner."""

from __future__ import annotations

from levelcap.world.draw.font import HEIGHT
from levelcap.world.draw.raster import Canvas, Colour, text_width
from levelcap.world.draw.scoreboard import Scoreboard, Side, minutes

BLUE: Colour = (74.0, 158.0, 255.0)
RED: Colour = (255.0, 84.0, 84.0)
# Two teams take the first two; in lms every player has a hue.
TEAM_COLOURS: tuple[Colour, ...] = (
    BLUE, RED, (88.0, 208.0, 112.0), (250.0, 212.0, 70.0), (184.0, 124.0, 255.0),
    (255.0, 152.0, 56.0), (70.0, 216.0, 216.0), (255.0, 130.0, 204.0), (176.0, 152.0, 112.0),
    (220.0, 224.0, 232.0),
)  # fmt: skip
STRIP: Colour = (9.0, 11.0, 15.0)
FAINT: Colour = (44.0, 50.0, 60.0)
GREY: Colour = (150.0, 160.0, 175.0)
WHITE: Colour = (245.0, 248.0, 255.0)
GOLD: Colour = (245.0, 200.0, 80.0)
LOW_S = 30  # the clock turns red when this little is left


def text_scale(size: int) -> int:
    """Whole factor of the font for a picture this wide: always room for 40 letters a line."""
    return max(1, size // 240)


def hud_height(size: int) -> int:
    """Rows of the strip for a picture this wide."""
    return 39 * text_scale(size)


def draw_hud(canvas: Canvas, board: Scoreboard) -> None:
    """Title and clock, the objective in words, then one panel a side (in lms one for all)."""
    width, s = canvas.pixels.shape[1], text_scale(canvas.pixels.shape[1])
    canvas.pixels[:] = STRIP
    canvas.box(0, canvas.pixels.shape[0] - max(1, s // 2), width, canvas.pixels.shape[0], FAINT)
    edge = 3 * s
    canvas.text(board.title, edge, 3 * s, s, WHITE)
    canvas.text(board.objective, edge, 13 * s, s, GOLD)
    clock = f"{board.clock} LEFT"
    left = width - edge - text_width(clock, s)
    canvas.text(clock, left, 3 * s, s, RED if board.seconds_left < LOW_S else WHITE)
    if len(board.sides) > 2:
        _draw_field(canvas, board, edge, s)
        return
    canvas.box((width - s) / 2, 24 * s, (width + s) / 2, 37 * s, FAINT)
    for number, side in enumerate(board.sides):
        _draw_side(canvas, side, number, board.unit, s)


def _fit(text: str, width: float, scale: int) -> str:
    """The text, cut to the room there is."""
    while text and text_width(text, scale) > width:
        text = text[:-1]
    return text.rstrip()


def _draw_side(canvas: Canvas, side: Side, number: int, unit: str, s: int) -> None:
    """Name and policy left, what decides right, and a bar with one stretch a part below."""
    half, edge = canvas.pixels.shape[1] / 2, 3 * s
    left, right = number * half + edge, (number + 1) * half - edge
    colour = TEAM_COLOURS[number]
    amount = f"{round(side.amount)} {unit}"
    start = right - text_width(amount, s)
    canvas.text(amount, start, 24 * s, s, WHITE)
    canvas.text(_fit(side.name, start - left - 4 * s, s), left, 24 * s, s, colour)
    if side.size > 1:  # one pip a player, before the bar
        for k in range(side.size):
            pip = left + (4 * k + 1.5) * s
            shade = colour if k < side.alive else FAINT
            canvas.disc(pip, 35.5 * s, 1.5 * s, shade)
        left += (4 * side.size + 2) * s
    _draw_parts(canvas, side, left, right, s, colour)


def _draw_parts(
    canvas: Canvas, side: Side, left: float, right: float, s: int, colour: Colour
) -> None:
    whole = sum(full for _, full in side.parts)
    gap = 1.0 * s
    room = right - left - gap * (len(side.parts) - 1)
    for now, full in side.parts:
        width = room * full / whole
        canvas.box(left, 34 * s, left + width, 37 * s, FAINT)
        canvas.box(left, 34 * s, left + width * min(1.0, now / full), 37 * s, colour)
        left += width + gap


def _draw_field(canvas: Canvas, board: Scoreboard, edge: int, s: int) -> None:
    """lms: how many are left, and everybody's hp as a column in their colour."""
    players = "PLAYER" if board.num_left == 1 else "PLAYERS"
    canvas.text(f"{board.num_left} {players} LEFT", edge, 27 * s, s, WHITE)
    step = 13 * s
    start = canvas.pixels.shape[1] - edge - step * len(board.sides)
    for k, side in enumerate(board.sides):
        x, colour = start + k * step, TEAM_COLOURS[k]
        ink = colour if side.alive else FAINT
        canvas.text(f"{k}", x, 27 * s, s, ink)
        now, full = side.parts[0]
        tall = 12.0 * s
        x0, x1, bottom = x + 7 * s, x + 10 * s, 36 * s
        canvas.box(x0, bottom - tall, x1, bottom, FAINT)
        canvas.box(x0, bottom - tall * min(1.0, now / full), x1, bottom, colour)


def draw_banner(canvas: Canvas, board: Scoreboard, banner: str | None = None) -> None:
    """The result, large, over the map: who won, why, and after how long."""
    lines = _banner_lines(board) if banner is None else ([banner] if banner else [])
    if not lines:
        return
    height, width = canvas.pixels.shape[:2]
    s = text_scale(width)
    colour = TEAM_COLOURS[board.winner] if board.winner >= 0 else GOLD
    big = 3 * s
    while big > 1 and text_width(lines[0], big) > width - 8 * s:
        big -= 1
    tall = HEIGHT * big + 11 * s * (len(lines) - 1) + 12 * s
    top = 0.2 * height - tall / 2
    canvas.box(0, top, width, top + tall, STRIP, 0.94)
    canvas.box(0, top, width, top + s, colour)
    canvas.box(0, top + tall - s, width, top + tall, colour)
    y = top + 6 * s + HEIGHT * big / 2
    canvas.centred(lines[0], width / 2, y, big, colour)
    y += HEIGHT * big / 2 + 7 * s
    for line in lines[1:]:
        canvas.centred(_fit(line, width - 8 * s, s), width / 2, y, s, WHITE)
        y += 11 * s


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
