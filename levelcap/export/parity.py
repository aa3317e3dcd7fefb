"""Does a bundle decide as its original, and what does a decision of it cost?

Both play the same rows of real matches: the original drives the seats and remembers, the bundle is
shown the same views with a memory of its own, so that a difference in what is remembered shows up
as soon as it matters. A bundle drives whole matches in the games of `benchmarks/export_speed.py`.
"""

from __future__ import annotations

import time
from dataclasses import asdict, dataclass, field
from typing import Any

import numpy as np
from numpy.typing import NDArray

from levelcap.export.policy import BundlePolicy
from levelcap.play.load import NetPolicy
from levelcap.play.roster import find
from levelcap.play.seats import Seats, views_of
from levelcap.trials.cost import Meter
from levelcap.world import make
from levelcap.world.protocols import ALWAYS, Policy, Views
from levelcap.world.spec import WORLDS

OBSERVATIONS = 1_000
MATCHES = 4
SEED = 20261118
BATCHES = (1, 64, 256)
WARM, TIMED = 20, 300
MOST_TIMED_S = 3.0


@dataclass(frozen=True)
class Parity:
    """How far bundle and original differ over real observations."""

    observations: int
    max_difference: float
    """of logits, where a bin is allowed"""
    action_agreement: float
    """share of rows whose likeliest actions are the same in every head"""
    source: str = "matches of our own world, the original in half of the seats against rookie"


@dataclass(frozen=True)
class Latency:
    """One decision of a batch, and what it needs."""

    p50_ms: dict[str, float] = field(default_factory=dict)
    p99_ms: dict[str, float] = field(default_factory=dict)
    torch_p50_ms: dict[str, float] = field(default_factory=dict)
    energy_mj: float | None = None
    """millijoules of one decision of one player"""
    energy_source: str = "unknown"


def compare(original: NetPolicy, bundle: BundlePolicy, rows: int = OBSERVATIONS) -> Parity:
    """Likeliest actions of both, row by row, over whole stretches of matches."""
    if original.meta.world not in WORLDS:
        return _random(original, bundle, rows)
    worst, same, seen = 0.0, 0, 0
    memory = _Memory(bundle)
    for views, out, allowed in _played(original, bundle, rows):
        told = memory.act(views)
        gap = np.abs(told.logits - out.logits[0].numpy())
        worst = max(worst, float(gap[allowed].max()))
        both = (told.logits, out.logits[0].numpy())
        mine, theirs = (_likeliest(logits, allowed, bundle) for logits in both)
        same += int((mine == theirs).all(1).sum())
        seen += len(mine)
    return Parity(seen, worst, same / seen)


def _random(original: NetPolicy, bundle: BundlePolicy, rows: int) -> Parity:
    """Of a game of others, whose states nobody can make up: numbers around 0."""
    views = _some(bundle, rows)
    out = original.think(views, original.initial_state(rows)).logits[0].numpy()
    told = bundle.hero.act(views).logits
    allowed = views["mask"] != 0
    mine, theirs = (_likeliest(logits, allowed, bundle) for logits in (told, out))
    source = "random numbers: the game's own observations are not to be had here"
    return Parity(
        rows, float(np.abs(told - out).max()), float((mine == theirs).all(1).mean()), source
    )


def measure(original: NetPolicy, bundle: BundlePolicy) -> Latency:
    """Milliseconds of a decision by batch, beside torch, and energy by the machine's meter."""
    p50: dict[str, float] = {}
    p99: dict[str, float] = {}
    beside: dict[str, float] = {}
    meter, spent = Meter(), 0.0
    for batch in BATCHES:
        views = _some(bundle, batch)
        before = time.process_time()
        times = _timed(bundle, views)
        spent = (time.process_time() - before) / (WARM + len(times)) if batch == 1 else spent
        p50[str(batch)], p99[str(batch)] = (float(np.quantile(times, q)) for q in (0.5, 0.99))
        beside[str(batch)] = float(np.quantile(_timed(original, views), 0.5))
    watts, source = meter.watts_per_core()
    parts = [{k: round(v, 4) for k, v in part.items()} for part in (p50, p99, beside)]
    error = (
        "a model, good to a factor of two" if source.startswith("model") else "other work counts"
    )
    return Latency(
        parts[0], parts[1], parts[2], round(1e3 * watts * spent, 4), f"{source}; {error}"
    )


@dataclass(frozen=True)
class Report:
    """What `report.json` holds."""

    parity: Parity
    latency: Latency
    bytes: dict[str, int]
    """of each graph"""
    target: str = "onnx"
    notes: str = ""

    def as_json(self) -> dict[str, Any]:
        """Plain values."""
        return asdict(self)


def report(original: NetPolicy, bundle: BundlePolicy, sizes: dict[str, int]) -> Report:
    """Both measurements."""
    return Report(compare(original, bundle), measure(original, bundle), sizes)


class _Memory:
    """A bundle with what it remembers."""

    def __init__(self, bundle: BundlePolicy) -> None:
        self.hero, self.state = bundle.hero, None

    def act(self, views: Views) -> Any:
        out = self.hero.act(views, self.state, mask=views["mask"], reset=views["reset"])
        self.state = out.state or None  # type: ignore[assignment]
        return out


def _played(original: NetPolicy, bundle: BundlePolicy, rows: int) -> Any:
    """Views, the original's thoughts and what is allowed, decision after decision."""
    foe = find("rookie")
    name = original.meta.world
    world = make(name, MATCHES, seed=SEED, views=views_of([original, foe]), threads=1)
    players = world.spec.num_players
    owner = np.tile((np.arange(players) >= players // 2).astype(np.int64), (MATCHES, 1))
    table = Seats(world, [original, foe], owner, threads=False)
    seats = table.rows[0]
    state = original.initial_state(len(seats))
    views, seen = world.reset(), 0
    while seen < rows:
        mine = {
            n: views[n].reshape(-1, *views[n].shape[2:]).take(seats, axis=0)
            for n in (*original.views, *ALWAYS)
        }
        out = original.think(mine, state)
        state = {n: t.numpy() for n, t in out.state.items()} or None
        yield mine, out, mine["mask"] != 0
        seen += len(seats)
        views = world.step(table.act(views))[0]


def _likeliest(
    logits: NDArray[Any], allowed: NDArray[np.bool_], bundle: BundlePolicy
) -> NDArray[np.int64]:
    found, first = [], 0
    shown = np.where(allowed, logits, -np.inf)
    for size in bundle.hero.bundle.heads.values():
        found.append(shown[:, first : first + size].argmax(1))
        first += size
    return np.stack(found, 1)


def _some(bundle: BundlePolicy, rows: int) -> Views:
    rng = np.random.default_rng(SEED)
    made: dict[str, NDArray[Any]] = {
        name: rng.standard_normal((rows, *shape)).astype(np.float32)
        for name, shape in bundle.hero.bundle.views.items()
    }
    size = sum(bundle.hero.bundle.heads.values())
    made |= {"mask": np.ones((rows, size), np.uint8), "reset": np.zeros(rows, np.bool_)}
    made["key"] = rng.integers(0, 2**63, rows, dtype=np.uint64)
    return made


def _timed(policy: Policy, views: Views) -> NDArray[np.float64]:
    """Milliseconds of decisions one after the other, with the memory carried on."""
    state = policy.initial_state(len(views["key"]))
    times: list[float] = []
    ends = time.perf_counter() + MOST_TIMED_S
    for number in range(WARM + TIMED):
        began = time.perf_counter()
        state = policy.act(views, state).state
        if number >= WARM:
            times.append(1e3 * (time.perf_counter() - began))
        if began > ends and len(times) > WARM:
            break
    return np.array(times)
