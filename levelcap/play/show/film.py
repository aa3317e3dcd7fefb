"""Pictures on disk: a match as an animated GIF, one frame as a PNG.

    with Film(path, size=480, fps=10) as film:
        film.add(world, match, names)    # as often as the film should have a frame
    # the file appears here, whole, or not at all

    python -m levelcap.play.show.film match.lcr match.gif    # gives way to everything else

One palette is made from frames spread over the whole film and shared by all, so colours do not
flicker; frames hold only what changed. Until then frames wait in memory, compressed: a siege of
600 frames takes about 20 MB.
"""

from __future__ import annotations

import os
import sys
import zlib
from collections.abc import Iterator, Sequence
from io import BytesIO
from pathlib import Path
from typing import Any

import numpy as np
from numpy.typing import NDArray
from PIL import Image

from levelcap.kit.errors import BadValue, refuse
from levelcap.kit.files import write_bytes
from levelcap.world.draw.picture import draw
from levelcap.world.draw.scoreboard import Scoreboard, read_scoreboard
from levelcap.world.match import ArenaWorld
from levelcap.world.replay import Replay, load
from levelcap.world.spec import arena_spec

HOLD_MS = 3000  # the last frame stays, so that the result can be read
PALETTE_FRAMES = 12
COLOURS = 255  # one of 256 is left for "as in the frame before"
# Game seconds between two pictures of a film: long matches get fewer.
PACE = {"duel": 0.2, "lms": 0.5, "siege": 0.5, "crown": 0.4}


class Film:
    """Collects frames of equal size and writes them as one GIF; see the module's docstring."""

    def __init__(self, path: Path | str, size: int = 480, fps: float = 10) -> None:
        if not 1 <= fps <= 50:  # GIF counts hundredths of a second; viewers slow down below two
            remedy = "Give frames a second from 1 to 50"
            raise BadValue(refuse("fps of a film out of range", fps, remedy))
        self.path, self.size = Path(path), size
        self.frame_ms = 10 * round(100 / fps)
        self._frames: list[bytes] = []
        self._shape: tuple[int, ...] = ()

    def __len__(self) -> int:
        return len(self._frames)

    def __enter__(self) -> Film:
        return self

    def __exit__(self, kind: type[BaseException] | None, *_: object) -> None:
        if kind is None:
            self.close()

    def add(
        self,
        world: Any,
        match: int = 0,
        names: Sequence[str] = (),
        banner: str | None = None,
    ) -> None:
        """Draw the match as it is now and append it."""
        self.add_frame(draw(world, match, self.size, names, banner))

    def add_frame(self, frame: NDArray[np.uint8]) -> None:
        """Append a picture, uint8 [height, width, 3], of the same size as the others."""
        _check(frame)
        if self._frames and frame.shape != self._shape:
            remedy = f"Give frames of the first one's shape {self._shape}"
            raise BadValue(refuse("frame of another size", frame.shape, remedy))
        self._shape = frame.shape
        self._frames.append(zlib.compress(np.ascontiguousarray(frame).tobytes(), 1))

    def close(self) -> Path:
        """Write the file, in one step; returns its path."""
        if not self._frames:
            raise BadValue(refuse("a film without frames", str(self.path), "Add frames first"))
        first, *rest = self._durations()
        images = self._images(self._palette())
        out = BytesIO()
        next(images).save(
            out,
            "GIF",
            save_all=True,
            append_images=images,
            duration=[first, *rest],
            loop=0,
            optimize=True,
            disposal=1,
        )
        write_bytes(self.path, out.getvalue())
        return self.path

    def _durations(self) -> list[int]:
        return [self.frame_ms] * (len(self._frames) - 1) + [HOLD_MS]

    def _frame(self, number: int) -> NDArray[np.uint8]:
        data = zlib.decompress(self._frames[number])
        return np.frombuffer(data, np.uint8).reshape(self._shape)

    def _palette(self) -> Image.Image:
        """One palette for the film, from frames spread over it, the last one among them."""
        count = min(PALETTE_FRAMES, len(self._frames))
        picked = np.unique(np.linspace(0, len(self._frames) - 1, count).round().astype(int))
        sheet = np.concatenate([self._frame(int(k)) for k in picked])
        return Image.fromarray(sheet).quantize(COLOURS, Image.Quantize.MEDIANCUT)

    def _images(self, palette: Image.Image) -> Iterator[Image.Image]:
        for number in range(len(self._frames)):
            image = Image.fromarray(self._frame(number))
            yield image.quantize(palette=palette, dither=Image.Dither.NONE)


def save_png(path: Path | str, frame: NDArray[np.uint8]) -> Path:
    """Write one picture, uint8 [height, width, 3], in one step; returns its path."""
    _check(frame)
    out = BytesIO()
    Image.fromarray(frame).save(out, "PNG", optimize=True)
    write_bytes(Path(path), out.getvalue())
    return Path(path)


def _check(frame: NDArray[np.uint8]) -> None:
    if frame.dtype != np.uint8 or frame.ndim != 3 or frame.shape[2] != 3:
        got = (frame.dtype.name, frame.shape)
        raise BadValue(refuse("not a picture", got, "Give uint8 [height, width, 3]"))


def film_replay(
    recorded: Replay, names: Sequence[str], film: Film | None
) -> tuple[Scoreboard, ArenaWorld]:
    """Step through a replay, adding pictures at the ruleset's pace; the last moment back."""
    pace = PACE[recorded.header["ruleset"]]
    due, world = 0.0, None
    for world in recorded.play():
        seconds = float(world.state["tick"][0]) / world.spec.tick_hz
        if film is not None and (seconds >= due or world.state["over"][0]):
            film.add(world, 0, names)
            due += pace
    assert world is not None
    return read_scoreboard(world, 0, names), world


def recorded_names(recorded: Replay) -> tuple[str, ...]:
    """The policy of each side."""
    head = recorded.header
    names = tuple(row["name"] for row in head["policies"])
    if not names:
        return ()
    spec = arena_spec(head["ruleset"])
    size = spec.num_players // spec.num_teams
    return tuple(names[head["seats"][team * size]] for team in range(spec.num_teams))


def main(replay: str, gif: str) -> None:
    """Draw a replay as a GIF."""
    os.nice(10)
    recorded = load(Path(replay))
    with Film(gif) as film:
        film_replay(recorded, recorded_names(recorded), film)


if __name__ == "__main__":
    main(*sys.argv[1:])
