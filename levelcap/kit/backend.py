"""Where units of work run: in this process, or in others that may be killed.

    with Processes(2) as backend:
        results = backend.run(play_unit, units)      # in the order of the units

Work is cut into the same units whatever the backend (64 games), because a net's bits depend on the
size of its batch: so the results are equal to the bit, however many processes there are and however
often one of them is killed. A unit whose process died is done again by another.
"""

from __future__ import annotations

import multiprocessing
import os
import sys
from collections import deque
from collections.abc import Callable, Sequence
from multiprocessing.connection import Connection, wait
from typing import Any, Protocol, Self, TypeVar

from levelcap.kit.errors import BadValue, LevelcapError, StateError, refuse, unknown_name

U = TypeVar("U")
R = TypeVar("R")
TRIES = 20  # deaths in the middle of a unit before it is the unit that is to blame
STILLBORN = 50  # processes in a row that died before they had begun anything
BEGUN = "begun"
# What a stage may raise to its caller; anything else ends its process.
ERRORS = (LevelcapError, ValueError, TypeError, LookupError, ArithmeticError, OSError, RuntimeError)
BACKENDS = ("inline", "processes")


class Backend(Protocol):
    """Runs a stage, which is a function at the top of a module, over units."""

    def run(self, stage: Callable[[U], R], units: Sequence[U]) -> list[R]:
        """Results in the order of the units."""

    def __enter__(self) -> Self:
        """Open it."""

    def __exit__(self, *error: object) -> None:
        """End whatever was started."""


class Inline:
    """One unit after the other, here."""

    def run(self, stage: Callable[[U], R], units: Sequence[U]) -> list[R]:
        """Results in the order of the units."""
        return [stage(unit) for unit in units]

    def __enter__(self) -> Self:
        return self

    def __exit__(self, *error: object) -> None:
        pass


class _Crewman:
    """A process, its pipe, and the number of the unit it has."""

    def __init__(self, module: str) -> None:
        """module: where the stage is, imported before there are processes.

        Its `PRELOAD`, if it has one, names modules it imports only when it works.
        """
        # Forked from a server that has done nothing but import: a copy of threads and compiled code
        # is a trap, and importing torch anew costs each process seconds.
        context = multiprocessing.get_context("forkserver")
        late = getattr(sys.modules[module], "PRELOAD", ())
        context.set_forkserver_preload([module, *late])
        self.pipe, theirs = context.Pipe()
        self.process = context.Process(target=_serve, args=(theirs,), daemon=True)
        self.process.start()
        theirs.close()
        self.unit: int | None = None
        self.begun = False

    def end(self) -> None:
        self.pipe.close()
        self.process.kill()
        self.process.join()


class Processes:
    """Several processes; started when there is work, kept until the end."""

    def __init__(self, count: int) -> None:
        if not 1 <= count <= 256:
            remedy = "Give a number from 1 to 256"
            raise BadValue(refuse("processes of a backend", count, remedy))
        self.count = count
        self.deaths = 0
        self._stillborn = 0
        self._module = __name__
        self._crew: list[_Crewman] = []

    def __enter__(self) -> Self:
        return self

    def __exit__(self, *error: object) -> None:
        for man in self._crew:
            man.end()
        self._crew.clear()

    @property
    def pids(self) -> list[int]:
        """Ids of the processes."""
        return [man.process.pid or 0 for man in self._crew]

    @property
    def busy(self) -> list[int]:
        """Ids of those in the middle of a unit."""
        return [man.process.pid or 0 for man in self._crew if man.unit is not None and man.begun]

    def run(self, stage: Callable[[U], R], units: Sequence[U]) -> list[R]:
        """Results in the order of the units.

        Raises:
            StateError: every process that had one of the units died. Else what the stage raised.
        """
        self._module = stage.__module__
        while len(self._crew) < min(self.count, len(units)):
            self._crew.append(_Crewman(self._module))
        waiting, died = deque(range(len(units))), [0] * len(units)
        results: dict[int, R] = {}
        while len(results) < len(units):
            for man in self._crew:
                if man.unit is None and waiting:
                    man.unit, man.begun = waiting.popleft(), False
                    try:
                        man.pipe.send((stage, units[man.unit]))
                    except OSError:
                        pass  # it is dead: the pipe says so below
            for pipe in wait([man.pipe for man in self._crew if man.unit is not None]):
                man = next(man for man in self._crew if man.pipe is pipe)
                assert man.unit is not None
                try:
                    said = man.pipe.recv()
                except (EOFError, OSError):
                    died[man.unit] += man.begun
                    self._replace(man, died[man.unit], str(units[man.unit])[:200])
                    waiting.append(man.unit)
                    continue
                if said == BEGUN:
                    man.begun, self._stillborn = True, 0
                    continue
                error, result = said
                if error is not None:
                    self._drain()
                    raise error
                results[man.unit], man.unit = result, None
        return [results[index] for index in range(len(units))]

    def _replace(self, man: _Crewman, died: int, unit: str) -> None:
        """Another process for one that is dead, unless that would go on for ever."""
        self.deaths += 1
        self._stillborn += not man.begun
        if died >= TRIES or self._stillborn >= STILLBORN:
            what = f"{TRIES} processes died of one unit of work"
            if self._stillborn >= STILLBORN:
                what = f"{STILLBORN} processes died before they had begun"
            remedy = "Look for what ends them; memory, most likely"
            raise StateError(refuse(what, unit, remedy))
        man.end()
        self._crew[self._crew.index(man)] = _Crewman(self._module)

    def _drain(self) -> None:
        """After an error nobody waits for: what is under way is given up."""
        for man in [man for man in self._crew if man.unit is not None]:
            man.end()
            self._crew.remove(man)


def open_backend(name: str, processes: int | None = None) -> Backend:
    """The backend of this name; processes: how many, default one for each core."""
    if name not in BACKENDS:
        raise unknown_name("backend", name, BACKENDS)
    return Inline() if name == "inline" else Processes(processes or os.cpu_count() or 1)


def _serve(pipe: Connection) -> None:
    """What a process does: units until the pipe closes."""
    while True:
        try:
            stage, unit = pipe.recv()
        except (EOFError, KeyboardInterrupt):
            return
        pipe.send(BEGUN)
        answer: tuple[Exception | None, Any]
        try:
            answer = None, stage(unit)
        except ERRORS as error:  # it belongs to the caller
            answer = error, None
        pipe.send(answer)
