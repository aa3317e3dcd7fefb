"""Recorded matches: as the messages of live ones, as a list, as files to give away."""

from __future__ import annotations

import subprocess
import sys
import threading
from collections.abc import Iterator
from functools import lru_cache
from pathlib import Path
from typing import Any

from levelcap.kit.errors import Busy, LevelcapError, StateError, refuse, unknown_name
from levelcap.kit.files import parse_json
from levelcap.kit.ids import check_id
from levelcap.kit.paths import folder
from levelcap.play.live.match import replay_messages
from levelcap.play.show import frames
from levelcap.world.replay import load
from levelcap.world.replay_file import MAX_HEADER_BYTES
from levelcap.world.seat_record import record_seat

LISTED = 300
CHUNK = 64  # messages put together before they are sent
FILM_S = 170  # a siege takes 7 s on a core of its own, but films give way to everything else
_TURN = threading.Semaphore(2)  # replays that are computed at the same time
_FILMING = threading.Lock()


def replay_path(name: str) -> Path:
    """The file of a replay.

    Raises:
        UnknownName: there is none. BadValue: no name, but a path.
    """
    path = folder("replays") / f"{check_id(name, 'replay')}.lcr"
    if not path.is_file():
        raise unknown_name("replay", name, [p.stem for p in _newest()])
    return path


def stream(name: str, every: int) -> Iterator[bytes]:
    """A replay as stacked messages; the file is read and checked before the first byte."""
    replay = load(replay_path(name))

    def chunks() -> Iterator[bytes]:
        with _TURN:
            waiting: list[bytes] = []
            try:
                for message in replay_messages(replay, every, match=name, live=False):
                    waiting.append(message)
                    if len(waiting) >= CHUNK:
                        yield frames.stack(waiting)
                        waiting = []
            except LevelcapError as error:
                note = {"type": "notice", "text": str(error)}
                waiting.append(frames.message(frames.KIND_NOTE, note))
            yield frames.stack(waiting)

    return chunks()


def seat_record(name: str, seat: int, views: list[str]) -> bytes:
    """What a seat of a replay saw and did (`levelcap.world.seat_record`)."""
    replay = load(replay_path(name))
    with _TURN:
        return record_seat(replay, seat, views)


def list_replays() -> list[dict[str, Any]]:
    """The newest replays, from their header lines alone."""
    known = ((path, path.stat().st_mtime_ns) for path in _newest())
    return [found for place in known if (found := _describe(*place)) is not None]


def film(name: str) -> Path:
    """The replay as a GIF; made in a process of its own when it is first asked for.

    Raises:
        UnknownName: no such replay. Busy: another one is drawn. StateError: it could not be drawn.
    """
    path = replay_path(name)
    gif = path.with_suffix(".gif")
    if gif.exists():
        return gif
    # Nobody waits in line: those who did would keep the threads that answer everybody else.
    if not _FILMING.acquire(blocking=False):
        raise Busy(refuse("another film is drawn at the moment", name, "Try again in a moment"))
    command = [sys.executable, "-m", "levelcap.play.show.film", str(path), str(gif)]
    try:
        done = subprocess.run(command, capture_output=True, text=True, timeout=FILM_S)
    except subprocess.TimeoutExpired as error:
        what = "the film was not ready in time: the machine is busy"
        raise StateError(refuse(what, f"{FILM_S} s", "Try again later")) from error
    finally:
        _FILMING.release()
    if done.returncode != 0:
        last = (done.stderr.strip().splitlines() or ["no word"])[-1]
        raise StateError(refuse("this replay could not be drawn", last, "Take the .lcr file"))
    return gif


def remove(path: Path) -> None:
    """A replay and its film go; what is gone already is no mistake."""
    path.with_suffix(".gif").unlink(missing_ok=True)
    path.unlink(missing_ok=True)


def _newest() -> list[Path]:
    paths = folder("replays").glob("*.lcr")
    return sorted(paths, key=lambda p: p.stat().st_mtime, reverse=True)[:LISTED]


@lru_cache(maxsize=2 * LISTED)
def _describe(path: Path, changed_ns: int) -> dict[str, Any] | None:
    """What the header says; None for a file that has none, or whose name is no id."""
    try:
        check_id(path.stem, "replay")
        with path.open("rb") as file:
            head = parse_json(file.readline(MAX_HEADER_BYTES))
        players = [head["policies"][index] for index in head["seats"]]
        return {
            "id": path.stem,
            "world": str(head["ruleset"]),
            "names": [str(player["name"]) for player in players],
            "sha256": [str(player["sha256"]) for player in players],
            "decisions": int(head["decisions"]),
            "winner": head["result"]["winner"],
            "ended": bool(head["result"]["ended"]),
            "patch": str(head["patch"]["name"]),
            "time": changed_ns / 1e9,
        }
    except (OSError, ValueError, KeyError, TypeError, IndexError):
        return None
