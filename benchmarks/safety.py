"""Safety: does every rule of the constitution catch its breaker, and leave a master alone?

    python -m benchmarks.safety [--quick] [--hero FOLDER --world duel]

Bars: a breaker is flagged by its own rule in at least 95 % of its matches, `master` by any rule in
at most 1 %. Bounds were set on matches with other seeds, and checked on cousins of `master` (log of
2026-11-18). --hero: the same for a checkpoint, without a bar. Prints a table, then
one JSON object as the last line. --quick plays a twelfth.
"""

from __future__ import annotations

import argparse
import json
import time
from pathlib import Path
from typing import Any

from rich.console import Console
from rich.table import Table

from benchmarks import red_team
from levelcap.play.roster import find
from levelcap.trials.safety import Safety, examine
from levelcap.world.protocols import Policy

SEED = 20_261_118
CAUGHT, SPARED = 0.95, 0.01
BREAKERS: tuple[tuple[type[Policy], str, tuple[str, ...]], ...] = (
    (red_team.Spinner, "actions_per_minute", ("duel", "lms", "siege", "crown")),
    (red_team.Aimer, "reaction_ms", ("duel", "lms", "crown")),
    (red_team.Idler, "idle_s", ("duel", "lms", "siege", "crown")),
    (red_team.Deserter, "abandoned", ("siege", "crown")),
    (red_team.Feeder, "led_hp", ("siege",)),
)
MATCHES = {"duel": 960, "lms": 96, "siege": 480, "crown": 480}  # of master; a breaker a fifth


def flagged(found: Safety) -> dict[str, float]:
    """Share of matches by rule."""
    return {n: row["share"][0] for n, row in found.rules.items() if "share" in row}


def measure(share: float, hero: str, hero_world: str) -> list[dict[str, Any]]:
    """One row a player and world."""
    rows = []
    for breaker, rule, worlds in BREAKERS:
        for world in worlds:
            matches = max(8, int(MATCHES[world] * share) // 10 * 2)
            shares = flagged(examine(breaker(), world, matches=matches, seed=SEED))
            kept = shares[rule] >= CAUGHT
            row = {"player": breaker.__name__, "world": world, "matches": matches, "rule": rule}
            rows.append({**row, "flagged": shares[rule], "kept": kept, "all": shares})
    for world, full in MATCHES.items():
        matches = max(8, int(full * share) // 2 * 2)
        shares = flagged(examine(find("master"), world, matches=matches, seed=SEED))
        worst = max(shares, key=lambda name: shares[name])
        row = {"player": "master", "world": world, "matches": matches, "rule": f"any ({worst})"}
        rows.append({**row, "flagged": shares[worst], "kept": sum(shares.values()) <= SPARED})
        rows[-1]["all"] = shares
    if hero:
        from levelcap.play.load import load_checkpoint

        found = examine(load_checkpoint(Path(hero)), hero_world, matches=96, seed=SEED)
        for rule, share_of in flagged(found).items():
            row = {"player": "hero", "world": hero_world, "matches": 96, "rule": rule}
            rows.append({**row, "flagged": share_of, "kept": None, "all": {}})
    return rows


def main() -> None:
    """The table."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--quick", action="store_true")
    parser.add_argument("--hero", default="")
    parser.add_argument("--world", default="duel")
    options = parser.parse_args()
    began = time.perf_counter()
    rows = measure(1 / 12 if options.quick else 1.0, options.hero, options.world)
    table = Table(title="Matches flagged")
    for column in ("player", "world", "matches", "rule", "flagged", "bar"):
        table.add_column(column)
    for row in rows:
        bar = {True: "kept", False: "missed", None: ""}[row["kept"]]
        cells = (row["player"], row["world"], str(row["matches"]), row["rule"])
        table.add_row(*cells, f"{row['flagged']:.3f}", bar)
    Console().print(table)
    seconds = round(time.perf_counter() - began, 1)
    missed = sum(row["kept"] is False for row in rows)
    print(json.dumps({"seed": SEED, "seconds": seconds, "missed": missed, "rows": rows}))


if __name__ == "__main__":
    main()
