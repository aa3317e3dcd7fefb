"""Prompts in, answers out, piece by piece: what `/generate` and `/v1/chat/completions` share.

A generation runs in a thread of its own. Whoever asked reads its pieces; when they go away, the
thread is told and ends before its next token.
"""

from __future__ import annotations

import asyncio
import threading
from collections.abc import AsyncIterator, Iterator, Sequence
from dataclasses import dataclass

from levelcap.kit.errors import BadValue, Busy, refuse
from levelcap.play.answers import GREEDY, SamplingParams, TextHero

MAX_PROMPTS = 32
MAX_CHARS = 8_000  # of a prompt
MAX_TOKENS = 1_024  # of an answer
MAX_STOPS, MAX_STOP_CHARS = 4, 64
# Reading a prompt compares every token with every other one: memory and time of the first step.
MAX_PAIRS = 1 << 24
RUNNING = 2  # generations at once: the threads share one core with the live matches
WAITING = 16


@dataclass(frozen=True)
class Ask:
    """What is wanted: an answer to each prompt."""

    prompts: tuple[str, ...]
    longest: int = 256
    taste: SamplingParams = GREEDY
    stops: tuple[str, ...] = ()

    def check(self, hero: TextHero) -> list[int]:
        """Tokens of each prompt.

        Raises:
            BadValue: the hero cannot read a prompt, or all of them are too much at once.
        """
        lengths = hero.measure(self.prompts)
        pairs = len(lengths) * max(lengths) ** 2
        if pairs > MAX_PAIRS:
            what = f"{len(lengths)} prompts of up to {max(lengths)} tokens are too much at once"
            raise BadValue(refuse(what, pairs, "Send fewer prompts, or shorter ones"))
        return lengths


@dataclass(frozen=True)
class Piece:
    """A part of the answer of one row; the last one says why it ended: stop or length."""

    row: int
    text: str
    tokens: int
    finish: str | None = None


class Tail:
    """One answer as it comes; holds back what may be the beginning of a stop text."""

    def __init__(self, stops: Sequence[str]) -> None:
        self._stops, self._held, self._tokens = stops, "", 0
        self.total, self.over = 0, False

    def add(self, text: str) -> tuple[str, int]:
        """One more token: the text that is sure now, and of how many tokens."""
        self._held, self._tokens, self.total = self._held + text, self._tokens + 1, self.total + 1
        ends = [at for stop in self._stops if (at := self._held.find(stop)) >= 0]
        if ends:
            self.over = True
            self._held = self._held[: min(ends)]
            return self.rest()
        doubtful = max((_overlap(self._held, stop) for stop in self._stops), default=0)
        if doubtful == len(self._held):
            return "", 0
        sure, self._held = self._held[: len(self._held) - doubtful], self._held[-doubtful:]
        self._held = self._held if doubtful else ""
        count, self._tokens = self._tokens, 0
        return sure, count

    def rest(self) -> tuple[str, int]:
        """What was held back."""
        left, self._held = self._held, ""
        count, self._tokens = self._tokens, 0
        return left, count


def _overlap(text: str, stop: str) -> int:
    """Length of the longest beginning of `stop` that `text` ends with."""
    longest = min(len(text), len(stop) - 1)
    return next((n for n in range(longest, 0, -1) if text.endswith(stop[:n])), 0)


def write(hero: TextHero, ask: Ask, gone: threading.Event) -> Iterator[Piece]:
    """Pieces of all answers as they come, until they end or nobody listens any more."""
    tails = [Tail(ask.stops) for _ in ask.prompts]
    for row, token in hero.stream(ask.prompts, ask.longest, ask.taste):
        if gone.is_set():
            return
        tail = tails[row]
        if tail.over:
            continue  # the others of its batch go on
        text, count = tail.add(hero.tokens.decode([token]))
        if text or tail.over:
            yield Piece(row, text, count, "stop" if tail.over else None)
        if all(other.over for other in tails):
            return
    positions = hero.net.shape.positions
    for row, (tail, length) in enumerate(zip(tails, hero.measure(ask.prompts), strict=True)):
        if not tail.over:
            full = tail.total >= min(ask.longest, positions - length)
            yield Piece(row, *tail.rest(), "length" if full else "stop")


class Desk:
    """Two generations at a time, a few wait; the next is told to come back later."""

    def __init__(self, running: int = RUNNING, waiting: int = WAITING) -> None:
        self._turns, self._most = asyncio.Semaphore(running), waiting
        self.waiting, self.writing, self.tokens = 0, 0, 0

    def check(self) -> None:
        """Is there room for one more?

        Raises:
            Busy: too many wait.
        """
        if self.waiting >= self._most:
            remedy = "Try again in a moment"
            raise Busy(refuse("too many wait for answers", self.waiting, remedy))

    async def pieces(self, hero: TextHero, ask: Ask) -> AsyncIterator[Piece]:
        """Pieces of the answers; closing this iterator ends the computation."""
        self.waiting += 1
        try:
            await self._turns.acquire()
        finally:
            self.waiting -= 1
        loop, gone = asyncio.get_running_loop(), threading.Event()
        queue: asyncio.Queue[Piece | None] = asyncio.Queue()

        def work() -> None:
            try:
                for piece in write(hero, ask, gone):
                    loop.call_soon_threadsafe(self._hand_over, queue, piece)
            finally:
                loop.call_soon_threadsafe(queue.put_nowait, None)

        self.writing += 1
        task = asyncio.create_task(asyncio.to_thread(work))
        task.add_done_callback(self._done)
        try:
            while (piece := await queue.get()) is not None:
                yield piece
            await task
        finally:
            gone.set()

    def _hand_over(self, queue: asyncio.Queue[Piece | None], piece: Piece) -> None:
        self.tokens += piece.tokens
        queue.put_nowait(piece)

    def _done(self, task: asyncio.Task[None]) -> None:
        self.writing -= 1
        self._turns.release()
        if not task.cancelled():
            task.exception()  # whoever listened has heard it
