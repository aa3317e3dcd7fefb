"""Recorded matches as the messages of live ones, and the list of them."""

from __future__ import annotations

import threading
from collections.abc import Iterator
from pathlib import Path
from typing import Any

from levelcap.kit.errors import LevelcapError, unknown_name
from levelcap.kit.files import parse_json
from levelcap.kit.ids import check_id
from levelcap.kit.paths import folder
from levelcap.play.live.match import replay_messages
from levelcap.play.show import frames
from levelcap.world.replay import load
from levelcap.world.replay_file import MAX_HEADER_BYTES

LISTED = 60
CHUNK = 64  # messages put together before they are sent
_TURN = threading.Semaphore(2)  # replays that are computed at the same time


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


def list_replays() -> list[dict[str, Any]]:
    """The newest replays, from their header lines alone."""
    return [found for path in _newest() if (found := _describe(path)) is not None]


def _newest() -> list[Path]:
    paths = folder("replays").glob("*.lcr")
    return sorted(paths, key=lambda p: p.stat().st_mtime, reverse=True)[:LISTED]


def _describe(path: Path) -> dict[str, Any] | None:
    """What the header says; None for a file that has none, or whose name is no id."""
    try:
        check_id(path.stem, "replay")
        with path.open("rb") as file:
            head = parse_json(file.readline(MAX_HEADER_BYTES))
        names = [head["policies"][index]["name"] for index in head["seats"]]
        return {
            "id": path.stem,
            "world": str(head["ruleset"]),
            "names": [str(n) for n in names],
            "decisions": int(head["decisions"]),
            "winner": head["result"]["winner"],
            "ended": bool(head["result"]["ended"]),
            "patch": str(head["patch"]["name"]),
            "time": path.stat().st_mtime,
        }
    except (OSError, ValueError, KeyError, TypeError, IndexError):
        return None
