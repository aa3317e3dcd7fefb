"""One process of a service: started in a session of its own, asked how it is, ended for sure."""

import asyncio
import os
import signal
import subprocess
import sys
import time

import httpx

from levelcap.kit.files import keep_private
from levelcap.kit.paths import folder
from levelcap.services.process.hosts import LOCAL
from levelcap.services.process.lifeline import rotate
from levelcap.services.process.ports import ALIVE_EVERY_S, Service
from levelcap.services.process.processes import birth, kill_session

LOOK_EVERY_S = 0.05
KILL_S = 2.0
BEATS_MISSED = 3


class Child:
    """A started service. Starting does not wait: a cancelled task can lose no process."""

    def __init__(self, row: Service, port: int | None, lan: bool) -> None:
        self.row, self.port = row, port
        self._alive_file = folder("state") / f"{row.name}.alive"
        self._alive_file.unlink(missing_ok=True)
        self._beat: tuple[int, float] | None = None
        log = folder("state") / "logs" / f"{row.name}.log"
        rotate(log)
        command = [sys.executable, "-m", row.module, "--parent", str(os.getpid())]
        command += ["--port", str(port)] if port else []
        command += ["--lan"] if lan else []
        with keep_private(log).open("ab") as output:
            self.process = subprocess.Popen(
                command,
                stdin=subprocess.DEVNULL,
                stdout=output,
                stderr=output,
                start_new_session=True,
            )
        self.pid = self.process.pid
        self.birth = birth(self.pid) or ""

    def exit_code(self) -> int | None:
        """Its exit code (negative: the signal that ended it), None while it runs."""
        return self.process.poll()

    async def wait(self, seconds: float) -> bool:
        """Waits at most so long; returns whether it has ended."""
        deadline = time.monotonic() + seconds
        while self.exit_code() is None:
            left = deadline - time.monotonic()
            if left <= 0:
                return False
            await asyncio.sleep(min(LOOK_EVERY_S, left))
        return True

    async def is_well(self, client: httpx.AsyncClient, timeout_s: float) -> bool:
        """Whether it answers as itself, or, without a port, has given a sign of life."""
        if self.port is None:
            return self._has_beaten()
        try:
            url = f"http://{LOCAL}:{self.port}/health"
            answer = await client.get(url, timeout=timeout_s)
            return answer.status_code == 200 and answer.json().get("service") == self.row.name
        except (httpx.HTTPError, ValueError, AttributeError):
            return False

    def _has_beaten(self) -> bool:
        """Looks for a change of the file's time, so that a clock that jumps does no harm."""
        try:
            touched = self._alive_file.stat().st_mtime_ns
        except FileNotFoundError:
            return False
        if self._beat is None or self._beat[0] != touched:
            self._beat = (touched, time.monotonic())
        return time.monotonic() - self._beat[1] < BEATS_MISSED * ALIVE_EVERY_S

    async def end(self, patience_s: float) -> None:
        """SIGTERM, patience, SIGKILL; afterwards nothing it started is left either."""
        if self.exit_code() is None:
            self.process.send_signal(signal.SIGTERM)
            await self.wait(patience_s)
        self.kill()
        await self.wait(KILL_S)

    def kill(self) -> None:
        """SIGKILL for it and for everything in its session."""
        kill_session(self.pid, self.birth)
        if self.exit_code() is None:
            self.process.kill()
