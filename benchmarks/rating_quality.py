"""Are ratings and sequential tests what they say? On simulated players whose strength is known.

    python benchmarks/rating_quality.py [--leagues 1000] [--tests 300] [--quick]

Coverage: how often the 95 % interval of `trials.ratings.rate` holds the true Elo, for six players
who all meet, with draws, and with the two games of a pair alike (+), independent (0) or opposed
(-): with the given chance the second game ends as the first did, or is drawn with the opposite
luck. Either leaves the chances of a single game as they are, so the true Elo stays what it is.

GSPRT: preset `gain`, [0, 10] normalised Elo, looked at every 64 games as `levelcap test` does.
Games used beside Wald's expectation for a walk of the same drift, and how often it says "passed",
both without a limit; `capped` is the share still undecided at the preset's limit. The last line is
JSON.
"""

from __future__ import annotations

import argparse
import json
import math
import time
from dataclasses import replace
from typing import Any

import numpy as np
from scipy.optimize import brentq

from levelcap.kit.stats import mean_interval, wilson
from levelcap.trials.ratings import ELO, Games, rate
from levelcap.trials.sprt import NORMALISED, PAIR, PRESETS, Preset, SequentialTest

# Close, as checkpoints of a run are; and a ladder, as the bots are.
FIELDS = {"close": (0, 20, 40, 60, 80, 100), "ladder": (0, 150, 300, 450, 600, 750)}
BASE = np.array([0.06, 0.2, 0.42, 0.24, 0.08])  # pairs: draws, and games of a pair not independent
TRUE = (-10.0, 0.0, 5.0, 10.0, 20.0)
STEP = 32  # pairs between two looks
NO_LIMIT = 10**9


def simulate(
    gap: float, nu: float, likeness: float, pairs: int, rng: np.random.Generator
) -> np.ndarray:
    """Scores [2 * pairs] of games by Davidson's model at a difference of Elo."""
    half = gap / ELO / 2
    weights = np.array([math.exp(-half), nu, math.exp(half)])  # lost, drawn, won
    edges = np.cumsum(weights / weights.sum())[:2]
    luck = rng.random((pairs, 2))
    linked = rng.random(pairs) < abs(likeness)
    luck[linked, 1] = luck[linked, 0] if likeness > 0 else 1 - luck[linked, 0]
    return np.searchsorted(edges, luck, side="right").reshape(-1) / 2


def coverage(
    field: str, nu: float, likeness: float, games: int, leagues: int, seed: int
) -> dict[str, Any]:
    """Share of intervals that hold the truth: against the anchor, and of neighbours."""
    rng, elos = np.random.default_rng(seed), FIELDS[field]
    names = [f"p{index}" for index in range(len(elos))]
    held = np.zeros((leagues, 2 * len(elos) - 3))
    for league in range(leagues):
        series = [
            Games(names[i], names[j], simulate(elos[i] - elos[j], nu, likeness, games // 2, rng))
            for i in range(len(elos))
            for j in range(i)
        ]
        found = rate(series, anchor=names[0])
        ends = [(i, 0) for i in range(1, len(elos))] + [(i, i - 1) for i in range(2, len(elos))]
        for place, (i, j) in enumerate(ends):
            _, low, high = found.difference(names[i], names[j])
            held[league, place] = low <= elos[i] - elos[j] <= high
    # Intervals of one league hang together: leagues are the independent units.
    low, high = mean_interval(held.mean(1))
    return {
        "field": field,
        "nu": nu,
        "likeness": likeness,
        "games": games,
        "coverage": round(float(held.mean()), 4),
        "low": round(low, 4),
        "high": round(high, 4),
    }


def pairs_of(elo: float) -> np.ndarray:
    """A distribution of pairs [5] whose t-value is that of a normalised Elo."""
    want = elo * math.sqrt(2) / NORMALISED

    def tilted(x: float) -> np.ndarray:
        weights = BASE * np.exp(x * PAIR)
        return np.asarray(weights / weights.sum())

    def off(x: float) -> float:
        shares = tilted(x)
        mean = shares @ PAIR
        return float((mean - 0.5) / math.sqrt(shares @ (PAIR - mean) ** 2) - want)

    return tilted(brentq(off, -20, 20))


def wald(elo: float, preset: Preset) -> tuple[float, float]:
    """(chance to pass, pairs) of a Brownian walk between the test's bounds."""
    low, high, now = (e * math.sqrt(2) / NORMALISED for e in (preset.low, preset.high, elo))
    bottom, top = SequentialTest(preset).bounds
    drift, variance = (now - (low + high) / 2) * (high - low), (high - low) ** 2
    if abs(drift) < 1e-12:
        return -bottom / (top - bottom), -bottom * top / variance
    steep = -2 * drift / variance
    passed = (1 - math.exp(steep * bottom)) / (math.exp(steep * top) - math.exp(steep * bottom))
    return passed, (passed * top + (1 - passed) * bottom) / drift


def sequential(elo: float, tests: int, seed: int) -> dict[str, Any]:
    """Tests of one true difference to their end."""
    preset = next(p for p in PRESETS if p.name == "gain")
    rng, shares = np.random.default_rng(seed), pairs_of(elo)
    used, passed = np.zeros(tests), np.zeros(tests)
    for number in range(tests):
        test = SequentialTest(replace(preset, most_pairs=NO_LIMIT))
        verdict = None
        while verdict is None:
            test.counts = test.counts + rng.multinomial(STEP, shares)
            verdict = test.verdict
        used[number], passed[number] = test.counts.sum(), verdict == "passed"
    chance, pairs = wald(elo, preset)
    share = float(passed.mean())
    fewest, most = mean_interval(used)
    low, high = wilson(share, tests)
    return {
        "elo": elo,
        "games": round(2 * float(used.mean())),
        "games_low": round(2 * fewest),
        "games_high": round(2 * most),
        "games_wald": round(2 * pairs),
        "passed": round(share, 4),
        "passed_low": round(low, 4),
        "passed_high": round(high, 4),
        "passed_wald": round(chance, 4),
        "capped": round(float((used > preset.most_pairs).mean()), 4),
    }


def main() -> None:
    """Simulate, print."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--leagues", type=int, default=1000)
    parser.add_argument("--tests", type=int, default=300)
    parser.add_argument("--quick", action="store_true")
    options = parser.parse_args()
    leagues, tests = (60, 8) if options.quick else (options.leagues, options.tests)
    began = time.monotonic()
    print(f"coverage of 95 % intervals, {leagues} leagues of six players a row")
    print(f"{'field':8}{'nu':>6}{'pairs alike':>13}{'games':>7}{'coverage':>10}{'interval':>18}")
    rows = []
    for field, nu, likeness, games in [
        *(("close", 0.5, likeness, 64) for likeness in (-0.5, 0.0, 0.5)),
        *(("ladder", 0.5, likeness, 64) for likeness in (-0.5, 0.0, 0.5)),
        *(("close", 0.0, 0.5, games) for games in (16, 400)),
        ("ladder", 0.1, 0.5, 400),
    ]:
        row = coverage(field, nu, likeness, games, leagues, seed=len(rows))
        rows.append(row)
        span = f"{row['low']:.3f} to {row['high']:.3f}"
        told = f"{field:8}{nu:6.1f}{likeness:13.1f}{games:7}{row['coverage']:10.3f}{span:>18}"
        print(told, flush=True)
    print(f"\nGSPRT gain [0, 10], {tests} tests a row; games used, chance to pass")
    print(f"{'true':>6}{'games':>9}{'interval':>18}{'Wald':>8}{'ratio':>7}", end="")
    print(f"{'passed':>9}{'interval':>16}{'Wald':>7}{'capped':>8}")
    found = []
    for elo in TRUE:
        row = sequential(elo, tests, seed=round(100 + elo))
        found.append(row)
        span = f"{row['games_low']} to {row['games_high']}"
        chance = f"{row['passed_low']:.3f} to {row['passed_high']:.3f}"
        print(f"{elo:6.0f}{row['games']:9}{span:>18}{row['games_wald']:8}", end="")
        print(f"{row['games'] / row['games_wald']:7.2f}{row['passed']:9.3f}{chance:>16}", end="")
        print(f"{row['passed_wald']:7.3f}{row['capped']:8.3f}", flush=True)
    print(f"{time.monotonic() - began:.0f} s")
    covered = [row["coverage"] for row in rows]
    summary = {"coverage_min": min(covered), "coverage_max": max(covered)}
    print(json.dumps(summary | {"coverage": rows, "gsprt": found}))


if __name__ == "__main__":
    main()
