"""Films are whole or absent; the terminal view is plain where there is no terminal."""

import io

import numpy as np
import pytest
from PIL import Image, ImageSequence
from rich.console import Console

import levelcap.world
from levelcap.kit.errors import BadValue
from levelcap.play.show import film as film_module
from levelcap.play.show.film import Film, save_png
from levelcap.play.show.terminal import TerminalView


def frames(count, height=40, width=60):
    """A square that walks over a ramp of colours."""
    out = np.zeros((count, height, width, 3), np.uint8)
    out[..., 0] = np.arange(width) * 4
    for k in range(count):
        out[k, 5:15, 4 * k : 4 * k + 10] = (250, 240, 30)
    return out


def duel(**options):
    world = levelcap.world.make("duel", 1, seed=1, threads=1, auto_reset=False, **options)
    world.reset()
    return world


def stand(world, decisions):
    actions = np.tile(np.array([5, 5, 5, 5, 0, 0, 0], np.uint8), (1, 2, 1))
    for _ in range(decisions):
        world.step(actions)


def test_a_film_has_its_frames_at_its_pace_and_holds_the_last(tmp_path):
    path = tmp_path / "match.gif"
    pictures = frames(6)
    with Film(path, fps=10) as film:
        for picture in pictures:
            film.add_frame(picture)
        assert len(film) == 6
    with Image.open(path) as image:
        shown = [np.array(f.convert("RGB")) for f in ImageSequence.Iterator(image)]
        durations = [f.info["duration"] for f in ImageSequence.Iterator(image)]
        assert image.info["loop"] == 0
    assert durations == [100] * 5 + [3000]
    for picture, seen in zip(pictures, shown, strict=True):
        assert np.abs(picture.astype(int) - seen.astype(int)).max() < 12


def test_a_film_of_a_match(tmp_path):
    world = duel()
    with Film(tmp_path / "duel.gif", size=160) as film:
        for _ in range(4):
            film.add(world, 0, ("master", "veteran"))
            stand(world, 10)
    with Image.open(film.path) as image:
        assert (image.n_frames, image.size) == (4, (160, 199))


def test_a_kill_while_writing_leaves_the_old_film_and_nothing_else(tmp_path, monkeypatch):
    path = tmp_path / "match.gif"
    path.write_bytes(b"the film before")
    film = Film(path)
    film.add_frame(frames(1)[0])

    def killed(fd):
        raise KeyboardInterrupt

    monkeypatch.setattr("os.fsync", killed)
    with pytest.raises(KeyboardInterrupt):
        film.close()
    assert path.read_bytes() == b"the film before"
    assert [p.name for p in tmp_path.iterdir() if p.name != "home"] == ["match.gif"]


def test_an_error_while_filming_writes_nothing(tmp_path):
    path = tmp_path / "match.gif"
    with pytest.raises(RuntimeError), Film(path) as film:
        film.add_frame(frames(1)[0])
        raise RuntimeError
    assert not path.exists()


def test_what_is_not_a_film_is_refused(tmp_path):
    with pytest.raises(BadValue, match="a film without frames"):
        Film(tmp_path / "a.gif").close()
    with pytest.raises(BadValue, match="fps of a film out of range; got 0"):
        Film(tmp_path / "a.gif", fps=0)
    film = Film(tmp_path / "a.gif")
    film.add_frame(frames(1)[0])
    with pytest.raises(BadValue, match="frame of another size"):
        film.add_frame(frames(1, height=41)[0])
    with pytest.raises(BadValue, match="not a picture"):
        film.add_frame(np.zeros((4, 4)))


def test_a_png_holds_the_very_pixels(tmp_path):
    picture = frames(1)[0]
    path = save_png(tmp_path / "one.png", picture)
    with Image.open(path) as image:
        np.testing.assert_array_equal(np.array(image), picture)


def test_the_palette_knows_the_last_frame(tmp_path):
    pictures = np.zeros((film_module.PALETTE_FRAMES * 3, 20, 20, 3), np.uint8)
    pictures[:, :5] = np.arange(len(pictures))[:, None, None, None]
    pictures[-1] = (12, 200, 90)
    with Film(tmp_path / "end.gif") as film:
        for picture in pictures:
            film.add_frame(picture)
    with Image.open(film.path) as image:
        image.seek(image.n_frames - 1)
        assert image.convert("RGB").getpixel((3, 3)) == (12, 200, 90)


def test_without_a_terminal_there_is_a_plain_line_every_15_seconds():
    out = io.StringIO()
    world = duel()
    with TerminalView(Console(file=out, width=60)) as view:
        view.show(world, 0, ("master", "veteran"))
        while not world.state["over"][0]:
            stand(world, 1)
            view.show(world, 0, ("master", "veteran"))
        view.show(world, 0, ("master", "veteran"))
    text = out.getvalue()
    lines = text.splitlines()
    assert "\x1b" not in text
    assert lines[0] == (
        "DUEL  01:00 LEFT  defeat the opponent  BLUE master 100 hp, 1/1 alive | "
        "RED veteran 100 hp, 1/1 alive  level"
    )
    assert lines[1].startswith("DUEL  00:45 LEFT")
    assert "DRAW: nobody left standing" in lines[-1]
    assert 3 <= len(lines) <= 5


def test_on_a_terminal_the_match_fits_80_by_24():
    out = io.StringIO()
    console = Console(file=out, force_terminal=True, color_system="truecolor", width=80, height=24)
    world = duel()
    with TerminalView(console, speed=0) as view:
        view.show(world, 0, ("master", "veteran"))
    text = out.getvalue()
    assert "DEFEAT THE OPPONENT" in text and "01:00 LEFT" in text and "BLUE master" in text
    assert "▀" in text
    assert text.count("\n") <= 2 * 23  # drawn once, and once more when it is closed
