"""How fast the world is, beside team games written by others, measured in turns in one run.

    python benchmarks/world_speed.py [--quick]

An agent-step is one decision of one player who is still in the match (3 ticks simulated in it,
views, masks, rewards and restarts included). Players who wait for their respawn are still asked
and count; those who are out for good do not.

What is timed is `world.step` alone, on moments that really occur: veteran plays veteran (or
everybody acts at random) in 256 matches; at 16 ages of these matches the state is kept, with the
actions of the decisions that follow. A fresh world is set to those 4,096 moments (or some of them)
and given the recorded actions. Every repeat does exactly the same work, so the best repeat is the
one least disturbed by whatever else the machine does; the median stands beside it. The peers are
treated alike. The last line is one JSON object.
"""

from __future__ import annotations

import argparse
import json
import os
import statistics
import subprocess
import sys
import tempfile
import time
from collections.abc import Iterator
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

import numpy as np
import psutil
from numpy.typing import NDArray
from rich.console import Console
from rich.table import Table as Sheet

import levelcap.world
from levelcap.play.roster import find
from levelcap.play.seats import Seats
from levelcap.world.rules.state import match_hash

HERE = Path(__file__).resolve().parent
PEER_PYTHON = HERE.parent / ".venv-peers" / "bin" / "python"
VIEWS = {"features": ("features",), "full": ("features", "objects", "context")}
BASE_MATCHES, NUM_AGES, WINDOW = 256, 16, 16
# First age and distance of ages, in decisions (10 a second): beyond the opening. Duels of veterans
# last 6 s, so their ages only mix what many restarts have already mixed.
AGES = {"duel": (60, 30), "lms": (60, 30), "siege": (200, 80), "crown": (200, 60)}
QUICK_AGES = {"duel": (60, 16), "lms": (60, 16), "siege": (200, 24), "crown": (200, 16)}
HEADLINE = 1024  # matches of the numbers in the JSON line
TARGETS = {"duel_features": 2_000_000, "siege_features": 1_000_000, "siege_full": 600_000}

_START = """
import sys, time
began = time.perf_counter()
import numpy as np
import levelcap.world
for ruleset in sys.argv[1:]:
    world = levelcap.world.make(ruleset, num_matches=2)
    world.reset()
    world.step(np.full((2, world.spec.num_players, 7), 1, np.uint8))
    print(time.perf_counter() - began)
"""


@dataclass
class Moments:
    """States [N] and what was decided next: actions [WINDOW, N, P, 7], and by how many [N]."""

    states: NDArray[Any]
    actions: NDArray[np.uint8]
    deciders: NDArray[np.int64]
    alive_share: float

    def first(self, count: int) -> Moments:
        """Only the first `count` of them."""
        actions = np.ascontiguousarray(self.actions[:, :count])
        return Moments(self.states[:count], actions, self.deciders[:count], self.alive_share)


@dataclass
class Row:
    """One line of the table and its repeats, in agent-steps a second."""

    name: str
    play: str
    views: str
    num_matches: int
    obs_bytes: int
    wall: list[float] = field(default_factory=list)
    cpu: list[float] = field(default_factory=list)
    ticks: list[float] = field(default_factory=list)

    def add(self, wall: float, cpu: float, ticks: float = 0.0) -> None:
        """Note one repeat."""
        self.wall.append(wall)
        self.cpu.append(cpu)
        self.ticks.append(ticks)

    def numbers(self, name: str) -> dict[str, int | None]:
        """The best, the median and the best per CPU-second, for the JSON line."""
        if not self.wall:
            return {name: None, f"{name}_median": None, f"{name}_cpu": None}
        found = int(max(self.wall)), int(statistics.median(self.wall)), int(max(self.cpu))
        return dict(zip((name, f"{name}_median", f"{name}_cpu"), found, strict=True))


def collect(ruleset: str, play: str, ages: tuple[int, int]) -> Moments:
    """Play `BASE_MATCHES` matches and keep `NUM_AGES` moments of each; check that they replay."""
    views = ("player", "objects", "context") if play == "veteran" else ()
    world = levelcap.world.make(ruleset, num_matches=BASE_MATCHES, seed=0, views=views)
    chooser = _chooser(world, play)
    shown = world.reset()
    starts = [ages[0] + i * ages[1] for i in range(NUM_AGES)]
    states, after, actions, deciders, ended, alive = [], [], [], [], [], []
    for decision in range(starts[-1] + WINDOW):
        if decision in starts:
            states.append(world.snapshot())
            actions.append([])
            deciders.append(np.zeros(BASE_MATCHES, np.int64))
            ended.append(np.zeros(BASE_MATCHES, np.bool_))
        inside = bool(states) and decision < starts[len(states) - 1] + WINDOW
        if inside:
            deciders[-1] += world.buffers.active.sum(1)
            alive.append(shown["alive"].mean())
        shown, _, _, _, info = world.step(chooser(shown))
        if inside:
            actions[-1].append(info["actions"].copy())
            ended[-1] |= info["ended"]
            if len(actions[-1]) == WINDOW:
                after.append(world.snapshot())
    # Ages mixed by chance, so that any first part of the moments is a fair sample of them.
    order = np.random.default_rng(0).permutation(NUM_AGES * BASE_MATCHES)
    moments = Moments(
        np.concatenate(states)[order],
        np.ascontiguousarray(np.concatenate([np.stack(a) for a in actions], axis=1)[:, order]),
        np.concatenate(deciders)[order],
        float(np.mean(alive)),
    )
    _check_replay(ruleset, moments, np.concatenate(after)[order], np.concatenate(ended)[order])
    return moments


def _chooser(world: Any, play: str) -> Any:
    """views -> actions of everybody: veterans, or every bin equally likely."""
    shape = (world.num_matches, world.spec.num_players)
    if play == "veteran":
        return Seats(world, [find("veteran")], np.zeros(shape, np.int64)).act
    rng, sizes = np.random.default_rng(1), [head.size for head in world.spec.heads]
    return lambda _: rng.integers(0, sizes, (*shape, len(sizes))).astype(np.uint8)


def _check_replay(
    ruleset: str, moments: Moments, after: NDArray[Any], ended: NDArray[np.bool_]
) -> None:
    """The recorded actions lead a fresh world to the recorded states, bit for bit."""
    some = moments.first(64)
    world = _world(ruleset, "features", some)
    for actions in some.actions:
        world.step(actions)
    for m in range(64):
        # A match that ended went on with the seed of its old place in the batch.
        if not ended[m] and world.match_hash(m) != match_hash(after, m):
            raise SystemExit(f"replay of {ruleset} differs from the recording in moment {m}")


def _world(ruleset: str, views: str, moments: Moments) -> Any:
    count = len(moments.states)
    world = levelcap.world.make(ruleset, num_matches=count, seed=0, views=VIEWS[views])
    world.reset()
    world.restore(moments.states)
    return world


@dataclass
class Case:
    """One of our rows, and the world it is measured in."""

    row: Row
    moments: Moments
    world: Any

    def measure(self, seconds: float) -> None:
        """Step through the recorded window until `seconds` were spent in `world.step`."""
        wall = cpu = 0.0
        windows = 0
        while wall < seconds:
            self.world.restore(self.moments.states)
            began_wall, began_cpu = time.perf_counter(), time.process_time()
            for actions in self.moments.actions:
                self.world.step(actions)
            cpu += time.process_time() - began_cpu
            wall += time.perf_counter() - began_wall
            windows += 1
        steps = windows * int(self.moments.deciders.sum())
        ticks = windows * WINDOW * self.row.num_matches * self.world.decision_ticks
        self.row.add(steps / wall, steps / cpu, ticks / wall)


def measure_all(cases: list[Case], seconds: float) -> float:
    """One repeat of every case; how many cores other programs kept busy meanwhile."""
    began, wall, own = _busy_seconds(), time.perf_counter(), time.process_time()
    for case in cases:
        case.measure(seconds)
    others = _busy_seconds() - began - (time.process_time() - own)
    return max(0.0, others / (time.perf_counter() - wall))


def _busy_seconds() -> float:
    times = psutil.cpu_times()
    return sum(times) - times.idle - getattr(times, "iowait", 0.0)


def plan(quick: bool) -> Iterator[tuple[str, str, str, int]]:
    """(ruleset, play, views, matches) of all our rows."""
    for play in ("veteran", "random"):
        for matches in (1024, 4096):
            yield "duel", play, "features", matches
        for matches in (64, 256, 1024, 4096):
            yield "siege", play, "features", matches
        for matches in (1024,) if quick else (256, 1024, 4096):
            yield "siege", play, "full", matches
    for views in ("features",) if quick else ("features", "full"):
        for ruleset in ("lms", "crown"):
            yield ruleset, "veteran", views, 1024


def prepare(quick: bool) -> tuple[list[Case], dict[str, float]]:
    """All our cases, and the share of deciding players that are alive in each kind of play."""
    recorded: dict[tuple[str, str], Moments] = {}
    cases = []
    for ruleset, play, views, count in plan(quick):
        if (ruleset, play) not in recorded:
            ages = (QUICK_AGES if quick else AGES)[ruleset]
            recorded[ruleset, play] = collect(ruleset, play, ages)
        moments = recorded[ruleset, play].first(count)
        world = _world(ruleset, views, moments)
        size = sum(world.spec.views[name].size * 4 for name in VIEWS[views])
        cases.append(Case(Row(ruleset, play, views, count, size), moments, world))
    shares = {f"{ruleset}_{play}": m.alive_share for (ruleset, play), m in recorded.items()}
    return cases, shares


class Peer:
    """A game of others, measured by a process of its own that waits while it is not asked."""

    def __init__(self, script: str, **rows: Row) -> None:
        """rows: the answer's key of the rate -> the row it goes into."""
        self.script, self.rows, self.problem = script, rows, ""
        self._process: subprocess.Popen[str] | None = None
        if not PEER_PYTHON.exists():
            self.problem = "not installed: make bench-peers"
            return
        self._process = subprocess.Popen(
            [str(PEER_PYTHON), str(HERE / "peers" / script), "--asked"],
            stdin=subprocess.PIPE,
            stdout=subprocess.PIPE,
            stderr=subprocess.DEVNULL,
            text=True,
        )

    def ask(self, keep: bool = True) -> None:
        """One measurement; the first waits until the game is ready and is not kept."""
        if self._process is None or self.problem:
            return
        assert self._process.stdin and self._process.stdout
        try:
            print(file=self._process.stdin, flush=True)
        except BrokenPipeError:
            pass  # it has ended: there is no answer either
        answer = "?"
        while answer and not answer.startswith("{"):  # some packages greet on standard output
            answer = self._process.stdout.readline()
        if not answer:
            self.problem = f"failed: run benchmarks/peers/{self.script}"
            return
        found = json.loads(answer)
        for key, row in self.rows.items():
            row.obs_bytes = found["obs_bytes"]
            if keep:
                row.add(found[key], found[f"{key}_cpu"])

    def close(self) -> None:
        """End the process by closing its input."""
        if self._process is not None:
            self._process.communicate()


def start_seconds(rulesets: tuple[str, ...], cache: str | None = None) -> list[float]:
    """A new process: import, make and step each ruleset; seconds until each was done, then all."""
    settings = {"LEVELCAP_KERNEL_CACHE": cache} if cache else {}
    began = time.perf_counter()
    done = subprocess.run(
        [sys.executable, "-c", _START, *rulesets],
        env={**os.environ, **settings},
        capture_output=True,
        text=True,
        check=True,
    )
    return [*map(float, done.stdout.split()), time.perf_counter() - began]


def cold_compile() -> dict[str, float]:
    """Seconds to a first step with an empty cache: duel, then the ten-player rulesets."""
    with tempfile.TemporaryDirectory() as cache:
        duel, both, _ = start_seconds(("duel", "siege"), cache)
    return {"duel": round(duel, 1), "ten_players": round(both - duel, 1)}


def draw_sheet(rows: list[Row], problems: dict[str, str]) -> Sheet:
    """The table; rates in thousands."""
    sheet = Sheet(title="thousand agent-steps a second: best (median) of the repeats")
    for name in ("world", "play", "views"):
        sheet.add_column(name, no_wrap=True)
    for name in ("bytes", "matches", "wall", "per CPU-second", "M ticks/s"):
        sheet.add_column(name, justify="right", no_wrap=True)

    def both(values: list[float]) -> str:
        return f"{max(values) / 1e3:,.0f} ({statistics.median(values) / 1e3:,.0f})"

    for row in rows:
        if not row.wall:
            sheet.add_row(row.name, row.play, row.views, "", "", problems.get(row.name, ""))
            continue
        matches = str(row.num_matches or "")
        ticks = f"{max(row.ticks) / 1e6:.2f}" if max(row.ticks) else ""
        cells = str(row.obs_bytes), matches, both(row.wall), both(row.cpu), ticks
        sheet.add_row(row.name, row.play, row.views, *cells)
    return sheet


def summarise(cases: list[Case], peers: list[Row]) -> dict[str, Any]:
    """The JSON object without the starts: rates, ratios, flatness, targets."""
    result: dict[str, Any] = {"matches": HEADLINE}
    found = {(c.row.name, c.row.play, c.row.views, c.row.num_matches): c.row for c in cases}
    for (name, play, views, matches), row in found.items():
        if matches == HEADLINE:
            result |= row.numbers(f"{name}_{views}" + ("_random" if play == "random" else ""))
    for row in peers:
        result |= row.numbers(row.name)
    result["obs_bytes"] = {c.row.views: c.row.obs_bytes for c in cases if c.row.name == "siege"}
    result["obs_bytes"] |= {row.name: row.obs_bytes or None for row in peers}
    for key, rows in (("peer", peers), ("peer_interface", peers[1:])):
        best = max((max(row.wall) for row in rows if row.wall), default=None)
        result[f"ratio_to_best_{key}"] = best and round(result["siege_features"] / best, 2)
    few, many = (max(found["siege", "veteran", "features", n].cpu) for n in (256, 4096))
    result["flatness_256_to_4096"] = round(few / many, 3)
    result["targets"] = {}
    for name, target in TARGETS.items():
        _judge(result, f"{name}_random", target)
        _judge(result, name, target * 6 // 10)
    flat = {"target": [0.8, 1.2], "met": 0.8 <= result["flatness_256_to_4096"] <= 1.2}
    result["targets"]["flatness_256_to_4096"] = flat
    return result


def _judge(result: dict[str, Any], name: str, target: float) -> None:
    """Was the target met by the clock; would it be with two free cores that scale perfectly?"""
    met, would = result[name] >= target, 2 * result[f"{name}_cpu"] >= target
    result["targets"][name] = {"target": target, "met": met, "met_if_extrapolated": would}


def main() -> None:
    """Record, measure in turns, print."""
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--quick", action="store_true", help="under 90 s once compiled")
    quick = parser.parse_args().quick
    console = Console(width=None if sys.stdout.isatty() else 110)
    peer_rows = [
        Row("magent2", "random", "engine", 0, 0),
        Row("magent2_interface", "random", "PettingZoo", 0, 0),
        Row("smax", "random", "5 v 5", 0, 0),
    ]
    battle = Peer("magent2_battle.py", rate=peer_rows[0], rate_interface=peer_rows[1])
    peers = [battle, Peer("smax.py", rate=peer_rows[2])]
    cases, shares = prepare(quick)
    for peer in peers:
        peer.ask(keep=False)
    others = []
    for _ in range(4 if quick else 9):
        others.append(measure_all(cases, 0.12 if quick else 0.3))
        for peer in peers:
            peer.ask()
    for peer in peers:
        peer.close()
    start_seconds(("duel",))  # whatever is not compiled yet
    second_start = min(start_seconds(("duel",))[-1] for _ in range(3))
    cold = None if quick else cold_compile()
    problems = {row.name: peer.problem for peer in peers for row in peer.rows.values()}
    console.print(draw_sheet([*(case.row for case in cases), *peer_rows], problems))
    result = summarise(cases, peer_rows)
    result |= {"second_start_s": round(second_start, 2), "cold_compile_s": cold}
    result["targets"]["second_start_s"] = {"target": 2.0, "met": second_start < 2.0}
    result["alive_share"] = {name: round(share, 3) for name, share in shares.items()}
    result |= {"cores": os.cpu_count(), "cores_used_by_others": round(statistics.mean(others), 2)}
    for name, judged in result["targets"].items():
        would = " (twice the CPU-second rate would)" if judged.get("met_if_extrapolated") else ""
        word = "met" if judged["met"] else f"not met{would}"
        console.print(f"{name}: {result[name]} (target {judged['target']}): {word}")
    console.print(f"Other programs kept {result['cores_used_by_others']} cores busy meanwhile.")
    print(json.dumps(result))


if __name__ == "__main__":
    main()
