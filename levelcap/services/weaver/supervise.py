"""The Weaver itself: one task a service, started in order, stopped in the reverse order."""

import asyncio
import contextlib
import time
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, replace
from datetime import UTC, datetime
from typing import Any

import httpx

from levelcap.kit.errors import LevelcapError
from levelcap.kit.log import get_logger
from levelcap.services.process.ports import Service
from levelcap.services.process.standing import Standing, write_standings
from levelcap.services.process.voice import Say
from levelcap.services.weaver.child import Child
from levelcap.services.weaver.restarts import Restarts

READY_LOOK_S = 0.1


@dataclass(frozen=True)
class Pace:
    """How often and how long; tests are faster."""

    health_every_s: float = 2.0
    probe_s: float = 2.0  # how long an answer may take
    misses: int = 3  # failed health checks in a row before a restart
    first_pause_s: float = 1.0
    stop_s: float = 10.0  # between SIGTERM and SIGKILL
    stop_all_s: float = 7.0  # for all services together: Ctrl-C ends within ten seconds


class Weaver:
    """Keeps services running until `stop` is called."""

    def __init__(
        self,
        services: Sequence[Service],
        ports: Mapping[str, int],
        *,
        say: Say,
        lan: bool = False,
        pace: Pace | None = None,
        on_ready: Callable[[], None] = lambda: None,
    ) -> None:
        self.services, self.ports, self.lan = tuple(services), dict(ports), lan
        self.pace, self.on_ready = pace or Pace(), on_ready
        self.standings = {row.name: Standing(row.name) for row in self.services}
        self._say, self._log = say, get_logger("weaver")
        self._children: dict[str, Child] = {}
        self._been_up = {row.name: asyncio.Event() for row in self.services}
        self._stopping = asyncio.Event()
        self._fault: BaseException | None = None
        self._events: asyncio.Queue[tuple[str, str, str, dict[str, Any]]] = asyncio.Queue()

    def stop(self) -> None:
        """Asks for the end; called twice, for a quick one."""
        if self._stopping.is_set():
            for child in self._children.values():
                child.kill()
        self._stopping.set()

    async def run(self) -> None:
        """Starts everything, keeps it running, and stops it all before returning."""
        speaker = asyncio.create_task(self._speak())
        async with httpx.AsyncClient(trust_env=False) as client:
            tasks = [asyncio.create_task(self._keep(row, client)) for row in self.services]
            tasks.append(asyncio.create_task(self._announce()))
            for task in tasks:
                task.add_done_callback(self._on_end)
            try:
                await self._stopping.wait()
            finally:
                for task in tasks:
                    task.cancel()
                await self._stop_all()
        await self._flush(speaker)
        if self._fault is not None:
            raise self._fault

    def _on_end(self, task: asyncio.Task[None]) -> None:
        """A task that fails is a fault of ours: everything is stopped, and the fault shown."""
        if not task.cancelled() and (fault := task.exception()) is not None:
            self._fault = fault
            self._stopping.set()

    async def _announce(self) -> None:
        for event in self._been_up.values():
            await event.wait()
        try:
            self.on_ready()
        except (LevelcapError, OSError) as error:
            self._log.warning("cannot say that all are up", error=str(error))

    async def _keep(self, row: Service, client: httpx.AsyncClient) -> None:
        for earlier in self.services[: self.services.index(row)]:
            if earlier.critical:
                await self._been_up[earlier.name].wait()
        restarts = Restarts(row.restarts_per_hour, self.pace.first_pause_s)
        while True:
            reason = await self._try_once(row, client)
            pause_s = restarts.next_pause(time.monotonic())
            if pause_s is None:
                self._give_up(row, reason)
                return
            count = self.standings[row.name].restarts + 1
            self._note(row, state="pausing", pid=None, birth=None, reason=reason, restarts=count)
            message = f"{row.name} {reason}; next start in {pause_s:g} s"
            self._tell("service.down", "warning", message, service=row.name, restarts=count)
            await asyncio.sleep(pause_s)

    async def _try_once(self, row: Service, client: httpx.AsyncClient) -> str:
        """Starts a service and watches it to its end; returns why it ended."""
        try:
            child = Child(row, self.ports.get(row.name), self.lan)
        except (OSError, LevelcapError) as error:  # a full disk, too many processes
            return f"could not be started ({error})"
        self._children[row.name] = child
        self._note(row, state="starting", pid=child.pid, birth=child.birth, reason="")
        reason = await self._attend(row, child, client)
        await child.end(self.pace.stop_s)
        return reason

    async def _attend(self, row: Service, child: Child, client: httpx.AsyncClient) -> str:
        """Watches one process; returns why it must be replaced."""
        deadline = time.monotonic() + row.ready_s
        while not await child.is_well(client, self.pace.probe_s):
            if await child.wait(READY_LOOK_S):
                return f"{_ended(child)} before it was ready"
            if time.monotonic() > deadline:
                return f"was not ready after {row.ready_s:g} s"
        self._note(row, state="up")
        self._been_up[row.name].set()
        self._tell("service.up", "success", f"{row.name} is up", service=row.name, pid=child.pid)
        misses = 0
        while misses < self.pace.misses:
            if await child.wait(self.pace.health_every_s):
                return _ended(child)
            misses = 0 if await child.is_well(client, self.pace.probe_s) else misses + 1
        return f"did not answer {misses} health checks"

    def _give_up(self, row: Service, reason: str) -> None:
        why = f"{reason}; restarted {row.restarts_per_hour} times within an hour"
        self._note(row, state="down", pid=None, birth=None, reason=why)
        message = f"{row.name} {why}, and now stays down: see `levelcap logs {row.name}`"
        self._tell("service.flapping", "error", message, service=row.name)

    async def _stop_all(self) -> None:
        deadline = time.monotonic() + self.pace.stop_all_s
        for index, row in reversed(list(enumerate(self.services))):
            if (child := self._children.get(row.name)) is not None:
                was_up = child.exit_code() is None
                # A second is kept for each service whose turn comes later.
                left = max(0.5, deadline - time.monotonic() - index)
                await child.end(min(self.pace.stop_s, left))
                if was_up:
                    self._tell("service.down", "info", f"{row.name} stopped", service=row.name)
            self._note(row, state="stopped", pid=None, birth=None)

    def _note(self, row: Service, **changes: Any) -> None:
        changes.setdefault("port", self.ports.get(row.name))
        changes["since"] = datetime.now(UTC).isoformat(timespec="seconds")
        self.standings[row.name] = replace(self.standings[row.name], **changes)
        try:
            write_standings(self.standings)
        except (LevelcapError, OSError) as error:
            self._log.warning("cannot write the state of services", error=str(error))

    def _tell(self, kind: str, severity: str, message: str, **data: Any) -> None:
        self._log.info(message, kind=kind, **data)
        self._events.put_nowait((kind, severity, message, data))

    async def _speak(self) -> None:
        """Writes events one after the other in a thread: a locked database delays no check."""
        while True:
            event = await self._events.get()
            try:
                await asyncio.to_thread(self._say, *event)
            except (LevelcapError, OSError) as error:
                self._log.warning("cannot write an event", kind=event[0], error=str(error))
            finally:
                self._events.task_done()

    async def _flush(self, speaker: asyncio.Task[None]) -> None:
        with contextlib.suppress(TimeoutError):
            await asyncio.wait_for(self._events.join(), 2.0)
        speaker.cancel()


def _ended(child: Child) -> str:
    code = child.exit_code()
    return f"was ended by signal {-code}" if code is not None and code < 0 else f"ended ({code})"
