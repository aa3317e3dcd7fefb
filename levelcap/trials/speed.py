"""Speed: how long one decision of one player takes, and whether one hero decides cheaper. No torch.

measure(policy, "duel")["p99_ms"]
compare(new, old, "duel")        # (ratio, low, high) of their times; below 1: new is quicker
"""

from __future__ import annotations

import time
from collections.abc import Sequence
from pathlib import Path
from typing import Any

import numpy as np
import psutil
from numpy.typing import NDArray

from levelcap.kit.stats import Z95, mean_interval
from levelcap.play.roster import find
from levelcap.play.seats import Seats, views_of
from levelcap.trials.verdict import Figure
from levelcap.world import make
from levelcap.world.protocols import ALWAYS, Policy, Views

BOT = "rookie"  # plays the matches that are looked at
LOOKS, APART = 64, 5  # different moments, and decisions between two of them
WARM, DECISIONS = 50, 1_000
ROUNDS = 20  # of a comparison: turn about, so that whatever else the machine does hits both
BUDGET_MS = 10.0


def measure(policy: Policy, world: str, decisions: int = DECISIONS) -> dict[str, Any]:
    """p50 and p99 of a decision in ms with intervals; `rss_mb`: of the whole deciding process."""
    ((act, looks),) = _ready([policy], world)
    times = np.sort(_timed(act, looks, WARM + decisions)[WARM:])
    p50, p99 = (_quantile(times, share) for share in (0.5, 0.99))
    memory = round(psutil.Process().memory_info().rss / 2**20, 1)
    kept = p99[0] < BUDGET_MS
    why = f"p99 {p99[0]:.2f} ms, {'within' if kept else 'over'} {BUDGET_MS:g} ms"
    return {"p50_ms": p50, "p99_ms": p99, "rss_mb": memory, "passed": kept, "why": why}


def compare(one: Policy, other: Policy, world: str, decisions: int = DECISIONS) -> Figure:
    """Time of one over time of the other, with its interval over rounds."""
    pairs = _ready([one, other], world)
    for act, looks in pairs:
        _timed(act, looks, min(WARM, decisions))
    each = decisions // ROUNDS
    medians = [[np.median(_timed(act, looks, each)) for act, looks in pairs] for _ in range(ROUNDS)]
    logs = np.log([a / b for a, b in medians])  # a ratio and its inverse count alike
    low, high = mean_interval(logs)
    return float(np.exp(logs.mean())), float(np.exp(low)), float(np.exp(high))


def size_of(folder: Path) -> int:
    """Bytes of a checkpoint's files."""
    return sum(path.stat().st_size for path in folder.rglob("*") if path.is_file())


def _ready(policies: Sequence[Policy], name: str) -> list[tuple[Policy, list[Views]]]:
    """Policies that know the world, and what each sees of one player at different moments."""
    bot = find(BOT)
    world = make(name, 1, views=views_of([bot, *policies]), threads=1)
    table = Seats(world, [bot], np.zeros((1, world.spec.num_players), np.int64))
    views, looks = world.reset(), list[Views]()
    while len(looks) < LOOKS:
        for _ in range(APART):
            views = world.step(table.act(views))[0]
        if views["alive"][0, 0] and not views["reset"][0, 0]:
            looks.append({name: view[0, :1].copy() for name, view in views.items()})
    for policy in policies:
        policy.bind(world)
    return [(p, [{n: look[n] for n in (*p.views, *ALWAYS)} for look in looks]) for p in policies]


def _timed(policy: Policy, looks: list[Views], decisions: int) -> NDArray[np.float64]:
    """Milliseconds of each decision."""
    state, times = policy.initial_state(1), np.zeros(decisions)
    for number in range(decisions):
        began = time.perf_counter()
        state = policy.act(looks[number % len(looks)], state).state
        times[number] = 1e3 * (time.perf_counter() - began)
    return times


def _quantile(ordered: NDArray[np.float64], share: float) -> list[float]:
    """A quantile of sorted values, and the order statistics that are its 95 % interval."""
    n = len(ordered)
    half = Z95 * np.sqrt(n * share * (1 - share))
    ranks = (n * share, n * share - half, n * share + half)
    return [round(float(ordered[min(n - 1, max(0, int(rank)))]), 4) for rank in ranks]
