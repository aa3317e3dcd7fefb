"""The same clock, judge and last line for every program we compare with.

    options = read_options(ROWS, DEFAULTS, "what the script is")
    with Referee(options) as referee:      # prints one JSON object when the block is left
        ...                                # build everything
        referee.start(act)
        while referee.goes_on(agent_steps):
            ...                            # play and learn a little

Modes. `speed`: the first seconds do not count, then agent-steps are counted for `--seconds`.
`race`: training seconds (wall, and CPU with all child processes) until the goal is reached: in
`duel` a win rate of .80 against sealed cousins of rookie over 200 games, confirmed by 200 others
(the mean of both counts), in `cartpole` a mean return of 475 over 100 episodes. It is asked about
every 5 s of training (cartpole: every second); judging is not on the clock. Whatever happens, an
alarm included, the last line is the JSON object. A run that did not arrive has `reached` false and
its limit as `seconds`; one that broke has a `problem` and no `seconds`, for it says nothing about
how fast the program is.
"""

from __future__ import annotations

import argparse
import json
import os
import resource
import signal
import sys
import time
from collections.abc import Mapping
from types import FrameType, TracebackType
from typing import Any

import psutil

from benchmarks.peers.arena_env import Act, judge_duel, judge_poles

GOALS = {"duel": 0.80, "cartpole": 475.0}
CHECK_EVERY_S = {"duel": 5.0, "cartpole": 1.0}  # of training
WARM_UP_S = 4.0


def read_options(
    rows: Mapping[str, Mapping[str, Any]], defaults: Mapping[str, Any], about: str
) -> argparse.Namespace:
    """The command line: what is common to all, a row by name, and each of its options."""
    parser = argparse.ArgumentParser(description=about)
    parser.add_argument("--game", choices=tuple(GOALS), default="duel")
    parser.add_argument("--mode", choices=("speed", "race"), default="race")
    parser.add_argument("--seed", type=int, default=0)
    parser.add_argument("--limit-s", type=float, default=180.0, help="of training, in a race")
    parser.add_argument("--seconds", type=float, default=20.0, help="counted, in a speed run")
    clocks = "what --limit-s and the checks go by; cpu is for tuning on a busy machine"
    parser.add_argument("--clock", choices=("wall", "cpu"), default="wall", help=clocks)
    parser.add_argument("--row", choices=tuple(rows), help="options tuned beforehand")
    for name, value in defaults.items():
        kind = {"type": type(value)} if not isinstance(value, bool) else {"action": "store_true"}
        parser.add_argument(f"--{name.replace('_', '-')}", default=None, **kind)
    options = parser.parse_args()
    row = rows[options.row] if options.row else {}
    # What was typed wins over the row, the row over the default.
    for name, value in defaults.items():
        if getattr(options, name) is None:
            setattr(options, name, row.get(name, value))
    return options


def cpu_seconds() -> float:
    """CPU time of this process and all its children, living and gone."""
    gone = resource.getrusage(resource.RUSAGE_CHILDREN)
    total = time.process_time() + gone.ru_utime + gone.ru_stime
    for child in psutil.Process().children(recursive=True):
        try:
            times = child.cpu_times()
        except psutil.NoSuchProcess:
            continue
        total += times.user + times.system + times.children_user + times.children_system
    return total


class Clock:
    """Wall and CPU seconds while it runs."""

    def __init__(self) -> None:
        self._wall, self._cpu, self._since = 0.0, 0.0, (0.0, 0.0)
        self.running = False

    def start(self) -> None:
        self._since, self.running = (time.perf_counter(), cpu_seconds()), True

    def stop(self) -> None:
        self._wall, self._cpu, self.running = self.wall, self.cpu, False

    @property
    def wall(self) -> float:
        return self._wall + (time.perf_counter() - self._since[0] if self.running else 0.0)

    @property
    def cpu(self) -> float:
        return self._cpu + (cpu_seconds() - self._since[1] if self.running else 0.0)


class Referee:
    """Says when a run is over and what came out of it."""

    def __init__(self, options: argparse.Namespace) -> None:
        self.options, self.clock = options, Clock()
        self.act: Act | None = None
        self.steps, self._first_steps = 0, 0  # agent-steps now, and when the clock started
        self.curve: list[list[float]] = []
        self.reached, self.score, self._next_check = False, 0.0, 0.0
        self._warm_until, self._problem, self._late = 0.0, "", False

    def __enter__(self) -> Referee:
        signal.signal(signal.SIGALRM, self._too_late)
        race = self.options.mode == "race"
        patience = 2 * self.options.limit_s if race else 4 * self.options.seconds
        if self.options.clock == "cpu":
            patience *= 10
        signal.setitimer(signal.ITIMER_REAL, patience + 240)
        return self

    def __exit__(
        self,
        kind: type[BaseException] | None,
        error: BaseException | None,
        trace: TracebackType | None,
    ) -> None:
        signal.setitimer(signal.ITIMER_REAL, 0)
        if error is not None and not isinstance(error, SystemExit):
            self._problem = f"{kind.__name__}: {error}" if kind else str(error)
        if self.clock.running:
            self.clock.stop()
        short = self.options.mode == "race" and self._spent() < self.options.limit_s
        if short and not self.reached and not self._problem:
            self._problem = "training ended by itself before the limit"
        sys.stderr.flush()
        print(json.dumps(self.report()), flush=True)

    def start(self, act: Act) -> None:
        """Training begins now; `act` is the policy as it is whenever it is called."""
        self.act = act
        if self.options.mode == "race":
            self._next_check = CHECK_EVERY_S[self.options.game]
            self.clock.start()
        else:
            self._warm_until = time.perf_counter() + WARM_UP_S

    def goes_on(self, steps: int) -> bool:
        """Shall training go on, after that many agent-steps in all? Judges when it is time."""
        self.steps = steps
        if self.options.mode == "speed":
            return self._count()
        if self.due():
            self._check()
        return not self.reached and self._spent() < self.options.limit_s

    def due(self) -> bool:
        """Would `goes_on` judge now? For those who must halt something first."""
        race = self.options.mode == "race"
        return race and self._spent() >= min(self._next_check, self.options.limit_s)

    def _spent(self) -> float:
        return self.clock.wall if self.options.clock == "wall" else self.clock.cpu

    def _count(self) -> bool:
        if not self.clock.running and time.perf_counter() >= self._warm_until:
            self._first_steps = self.steps
            self.clock.start()
        if self.clock.running and self.clock.wall >= self.options.seconds:
            self.clock.stop()
            return False
        return True

    def _check(self) -> None:
        self.clock.stop()
        seconds = self.clock.wall
        number = len(self.curve)
        self.score = self._judge(2 * number)
        goal = GOALS[self.options.game]
        if self.score >= goal and self.options.game == "duel":
            self.score = (self.score + self._judge(2 * number + 1)) / 2
        self.reached = self.score >= goal
        self.curve.append([round(seconds, 2), round(self.score, 4)])
        line = f"{seconds:7.1f} s {self.clock.cpu:7.1f} CPU-s {self.steps:11,d} {self.score:.3f}"
        print(line, file=sys.stderr, flush=True)
        self._next_check = self._spent() + CHECK_EVERY_S[self.options.game]
        self.clock.start()
        if self.reached:
            self.clock.stop()

    def _judge(self, number: int) -> float:
        assert self.act is not None
        seed = 1_000 * (self.options.seed + 1) + number
        if self.options.game == "cartpole":
            return judge_poles(self.act, seed=seed)
        return judge_duel(
            self.act, self.options.reads, seed=seed, relative=self.options.aim == "relative"
        )

    def report(self) -> dict[str, Any]:
        """The numbers of the last line."""
        o, wall, cpu = self.options, self.clock.wall, self.clock.cpu
        steps = self.steps - self._first_steps
        result: dict[str, Any] = {"game": o.game, "mode": o.mode, "row": o.row, "seed": o.seed}
        result |= {"lanes": o.lanes, "epochs": o.epochs}
        result |= {"wall_s": round(wall, 2), "cpu_s": round(cpu, 2), "agent_steps": steps}
        result["agent_steps_per_s"] = round(steps / wall) if wall else 0
        result["agent_steps_per_cpu_s"] = round(steps / cpu) if cpu else 0
        if o.mode == "race":
            if not self._problem or self._late:
                result["seconds"] = round(wall, 2) if self.reached else o.limit_s
                result["cpu_seconds"] = round(cpu, 2)
            key = "win_rate" if o.game == "duel" else "mean_return"
            result |= {"reached": self.reached, key: round(self.score, 4), "curve": self.curve}
        if self._problem:
            result["problem"] = self._problem
        return result

    def _too_late(self, number: int, frame: FrameType | None) -> None:
        """The alarm: report what there is and leave at once, with every child."""
        self._problem, self._late = "stopped by the alarm", True
        print(json.dumps(self.report()), flush=True)
        for child in psutil.Process().children(recursive=True):
            child.kill()
        os._exit(1)
