"""Live matches: each is paced by a thread of its own and watched through listeners.

A match begins when the first listener comes. It ends when it is over, when nobody has listened for
20 s, or when its person has been silent for a minute. A listener that cannot keep up loses the
oldest states; notes are kept for it. An exhibition stands still while nobody listens, takes no
pace, because everybody sees the same, and leaves the number of matches to others.
"""

from __future__ import annotations

import asyncio
import gc
import threading
import time
from collections import deque
from collections.abc import Callable
from dataclasses import dataclass, field
from typing import Any

from levelcap.kit.errors import Busy, LevelcapError, refuse, unknown_name
from levelcap.kit.log import get_logger
from levelcap.play.live.command import Command
from levelcap.play.live.match import Live
from levelcap.play.live.pace import Pace
from levelcap.play.record.diary import Diary
from levelcap.play.show import frames
from levelcap.services.door.sockets import Backlog

MOST = 4
BACKLOG = 240
UNHEARD_S = 20.0
SILENT_DECISIONS = 600  # a minute
LATE_S = 0.5  # a match this far behind its time does not try to catch up
SPECTATOR_HZ, PERSON_HZ = 15, 30
SHOW_HZ = 10  # the decisions alone: what is always on must cost next to nothing
Ending = Callable[["Room"], dict[str, Any]]


class Listener:
    """Messages on their way to one socket; filled from the match's thread, emptied by the loop."""

    def __init__(self) -> None:
        self._loop = asyncio.get_running_loop()
        self._backlog = Backlog(BACKLOG, lambda message: message[0] == frames.KIND_STATE)
        self.next = self._backlog.next

    def send(self, message: bytes | None) -> None:
        """From any thread; None: the match is over for you."""
        if not self._loop.is_closed():
            self._loop.call_soon_threadsafe(self._backlog.put, message)


@dataclass
class Room:
    """One live match and everybody who watches it."""

    id: str
    match: Live
    speed: float
    names: list[str]
    diary: Diary | None = None
    person: str | None = None
    show: str = ""  # an exhibition: who meets whom, in words
    paused: bool = False
    left: str = ""  # why it was broken off
    result: dict[str, Any] = field(default_factory=dict)
    listeners: list[Listener] = field(default_factory=list)
    _notes: list[bytes] = field(default_factory=list)
    _orders: deque[Command] = field(default_factory=deque)
    _latest: bytes = b""
    _over: bool = False
    _lock: threading.Lock = field(default_factory=threading.Lock)
    _stop: threading.Event = field(default_factory=threading.Event)
    _unheard_since: float = field(default_factory=time.monotonic)

    def __post_init__(self) -> None:
        more = {"show": self.show} if self.show else {}
        self.header = self.match.header(match=self.id, live=True, speed=self.speed, **more)
        self._latest = self.match.now()

    @property
    def ended(self) -> bool:
        """Is it over, or about to be?"""
        return self._over or self.match.over or self._stop.is_set()

    @property
    def every(self) -> int:
        """Ticks between two states that are sent: 1, 2, or whole decisions."""
        hertz = PERSON_HZ if self.person else SHOW_HZ if self.show else SPECTATOR_HZ
        world = self.match.world
        ticks, grid = world.spec.tick_hz * self.speed / hertz, world.decision_ticks
        return max(1, round(ticks)) if ticks < grid else grid * round(ticks / grid)

    def join(self) -> Listener:
        """A new listener, who first gets the header, the state of now and what has happened."""
        listener = Listener()
        with self._lock:
            for message in (self.header, *self._notes, self._latest):
                listener.send(message)
            self.listeners.append(listener)
            if self._over:
                listener.send(None)
        return listener

    def leave(self, listener: Listener) -> None:
        """A listener went away."""
        with self._lock:
            if listener in self.listeners:
                self.listeners.remove(listener)
            self._unheard_since = time.monotonic()

    def set_pace(self, pace: Pace) -> None:
        """Change speed or pause; a match with a person, and an exhibition, run at their own."""
        if self.person is None and not self.show:
            self.speed = self.speed if pace.speed is None else pace.speed
            self.paused = self.paused if pace.paused is None else pace.paused

    def order(self, command: Command) -> None:
        """Give an order; it is carried out from the next decision on.

        Raises:
            BadValue: the player in that seat does not take it.
        """
        self.match.check_order(command.seat, command.order)
        self._orders.append(command)

    def end(self, why: str) -> None:
        """Break the match off."""
        self.left = self.left or why
        self._stop.set()

    def run(self, ending: Ending) -> None:
        """The match's thread: play it at its pace, then keep what remains of it."""
        log = get_logger("oracle")
        try:
            self._play()
            self.tell({"type": "saved", **ending(self)})
        except LevelcapError as error:
            log.error("a live match failed", match=self.id, error=str(error))
            self.tell({"type": "notice", "text": str(error)})
        finally:
            with self._lock:
                self._over = True
                for listener in self.listeners:
                    listener.send(None)

    def tell(self, note: dict[str, Any]) -> None:
        """Send a note to everybody, also to those who come later."""
        self._send(frames.message(frames.KIND_NOTE, note))

    def _play(self) -> None:
        due = time.monotonic()
        while not self.match.over and not self._stop.is_set():
            if self._waits():
                due = time.monotonic() + 0.02
            else:
                self._decide()
                world = self.match.world
                due += world.decision_ticks / world.spec.tick_hz / self.speed
            now = time.monotonic()
            due = now if now - due > LATE_S else due
            self._stop.wait(max(0.0, due - now))

    def _decide(self) -> None:
        if self.diary is not None:
            self.diary.look()
        while self._orders:
            # Here, not where it was heard: the match belongs to its own thread.
            command = self._orders.popleft()
            self.match.order(command.seat, command.order)
        messages = self.match.decide(self.every)
        if self.diary is not None:
            self.diary.note()
        for message in messages:
            self._send(message)
        person = self.match.person
        if person is not None and person.silent >= SILENT_DECISIONS:
            self.end("the person was silent for a minute")

    def _waits(self) -> bool:
        if self.listeners:
            return self.paused
        if time.monotonic() - self._unheard_since > UNHEARD_S:
            self.end(f"nobody watched for {UNHEARD_S:.0f} s")
        still = self.paused or self.person is not None or bool(self.show)
        return still or self.match.decisions == 0

    def _send(self, message: bytes) -> None:
        with self._lock:
            if message[0] == frames.KIND_STATE:
                self._latest = message
            else:
                self._notes.append(message)
            for listener in self.listeners:
                listener.send(message)

    def as_json(self) -> dict[str, Any]:
        """What a list of live matches says about it."""
        world = self.match.world
        return {
            "id": self.id,
            "world": world.spec.name,
            "patch": world.patch["name"],
            "seats": self.names,
            "person": self.person,
            "show": self.show,
            "speed": self.speed,
            "paused": self.paused,
            "seconds": round(int(world.state["tick"][0]) / world.spec.tick_hz, 1),
            "watched": len(self.listeners),
        }


class Rooms:
    """All live matches of this process; at most `most` at a time."""

    def __init__(self, ending: Ending, most: int = MOST) -> None:
        self._ending, self._most = ending, most
        self._rooms: dict[str, Room] = {}
        self._threads: dict[str, threading.Thread] = {}
        self._lock = threading.Lock()

    def open(self, room: Room) -> None:
        """Start a match.

        Raises:
            Busy: there are as many as there may be.
        """
        with self._lock:
            count = sum(not other.show for other in self._rooms.values())
            if count >= self._most and not room.show:
                remedy = "Wait for one to end, or end one"
                raise Busy(refuse(f"at most {self._most} live matches", count, remedy))
            self._rooms[room.id] = room
            thread = threading.Thread(target=self._run, args=(room,), name=room.id, daemon=True)
            self._threads[room.id] = thread
        thread.start()

    def _run(self, room: Room) -> None:
        try:
            room.run(self._ending)
        finally:
            with self._lock:
                del self._rooms[room.id], self._threads[room.id]
                quiet = not self._rooms
            if quiet:  # while nobody plays a long pause costs nothing
                gc.collect()

    def find(self, match_id: str) -> Room:
        """The room of a live match.

        Raises:
            UnknownName: it is over, or never was.
        """
        with self._lock:
            if match_id not in self._rooms:
                raise unknown_name("live match", match_id, self._rooms)
            return self._rooms[match_id]

    def list(self) -> list[Room]:
        """All of them."""
        with self._lock:
            return list(self._rooms.values())

    def close(self, seconds: float = 2.0) -> None:
        """End all matches; waits a little for what remains of them to be written."""
        with self._lock:
            threads, rooms = list(self._threads.values()), list(self._rooms.values())
        for room in rooms:
            room.end("the Oracle stops")
        for thread in threads:
            thread.join(seconds)
