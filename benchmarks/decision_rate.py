"""Is a hero as strong when it is asked at every tick as at the rate it was trained at?

    python benchmarks/decision_rate.py CHECKPOINT [--opponent veteran] [--games 400]

Both rows play the same matches (seeds, sides, champions) against the same bot, which keeps its own
rate. Prints win rates with 95 % intervals, and their difference, whose interval is made of the
differences of pairs. Live play asks at every tick only where that is not worse: where the interval
of the difference does not lie below 0. The last line is one JSON object.
"""

from __future__ import annotations

import argparse
import json
from pathlib import Path

import numpy as np
from rich.console import Console
from rich.table import Table

from levelcap.kit.stats import Z95
from levelcap.play.load import NetPolicy, load_checkpoint
from levelcap.play.matchup import Result, play_games
from levelcap.play.roster import find
from levelcap.play.seats import ask_every_tick


def play_both(folder: Path, opponent: str, games: int, seed: int) -> dict[str, Result]:
    """The same games at the trained rate and at every tick."""
    found = {}
    for name in ("trained", "every tick"):
        policy = load_checkpoint(folder)
        if name == "every tick":
            ask_every_tick(policy, policy.meta.tick_hz)
        found[name] = play_games(policy, find(opponent), policy.meta.world, games, seed)
    return found


def gain(results: dict[str, Result]) -> tuple[float, float, float]:
    """Win rate at every tick minus that at the trained rate, from the differences of pairs."""
    apart = results["every tick"].scores - results["trained"].scores
    pairs = apart[: len(apart) // 2 * 2].reshape(-1, 2).mean(1)
    half = Z95 * float(pairs.std(ddof=1)) / np.sqrt(len(pairs))
    return float(apart.mean()), float(apart.mean() - half), float(apart.mean() + half)


def main() -> None:
    """Play, print."""
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("checkpoint", type=Path)
    parser.add_argument("--opponent", default="veteran")
    parser.add_argument("--games", type=int, default=400)
    parser.add_argument("--seed", type=int, default=0)
    options = parser.parse_args()
    policy: NetPolicy = load_checkpoint(options.checkpoint)
    results = play_both(options.checkpoint, options.opponent, options.games, options.seed)
    table = Table(title=f"{policy.meta.world} against {options.opponent}, {options.games} games")
    for column in ("asked every", "win rate", "95 % interval"):
        table.add_column(column, justify="right")
    for name, result in results.items():
        ticks = f"{policy.meta.decision_ticks} ticks" if name == "trained" else "1 tick"
        interval = f"{result.ci_low:.3f} – {result.ci_high:.3f}"
        table.add_row(f"{ticks} ({name})", f"{result.win_rate:.3f}", interval)
    Console().print(table)
    difference, low, high = gain(results)
    verdict = "worse" if high < 0 else "not worse"
    print(f"every tick: {difference:+.3f} ({low:+.3f} to {high:+.3f}), {verdict}")
    document = {
        "world": policy.meta.world,
        "opponent": options.opponent,
        **{name.replace(" ", "_"): result.as_json() for name, result in results.items()},
        "difference": [round(v, 4) for v in (difference, low, high)],
        "verdict": verdict,
    }
    print(json.dumps(document))


if __name__ == "__main__":
    main()
