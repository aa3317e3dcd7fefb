"""Does a hero carry out orders? Share of its decisions that pass an order's own test.

    python benchmarks/orders.py CHECKPOINT [--opponent veteran] [--matches 32]

An order is given in every match to the hero's team, 5 s after its start and every 15 s again, and
counts for 5 s; the decisions in these 5 s are tested, where the order applies (`coach/orders.py`).
Beside it the same hero in the same matches (seeds, opponents) without an order, tested in the same
seconds. Intervals (95 %) are of means over matches. The vectors must have been learned before with
`levelcap orders`. The last line is one JSON object.
"""

from __future__ import annotations

import argparse
import json
from pathlib import Path

import numpy as np
from numpy.typing import NDArray
from rich.console import Console
from rich.table import Table

from levelcap.coach.orders import ORDERS, read_deed, read_scene
from levelcap.kit.stats import mean_interval
from levelcap.play.load import load_checkpoint
from levelcap.play.orders import STANDS_S
from levelcap.play.roster import find
from levelcap.play.seats import Seats, views_of
from levelcap.world.match import ArenaWorld
from levelcap.world.spec import DECISIONS_HZ

PERIOD, FIRST, LASTS = (round(s * DECISIONS_HZ) for s in (15, 5, STANDS_S))
WINDOWS = {"duel": 4, "lms": 6, "siege": 6, "crown": 6}
BAR = 0.7


def obeyed(
    folder: Path, opponent: str, order: str | None, tests: tuple[str, ...], matches: int, seed: int
) -> dict[str, NDArray[np.float64]]:
    """[M, 2] decisions that passed and that counted, by test, in matches under an order."""
    policy, other = load_checkpoint(folder), find(opponent)
    world = ArenaWorld(
        policy.meta.world, matches, views=views_of([policy, other]), seed=seed, auto_reset=False
    )
    size = world.rules.team_size
    owner = np.ones((matches, world.spec.num_players), np.int64)
    owner[:, :size] = 0
    views = world.reset()
    seats = Seats(world, [policy, other], owner, minds=True)
    found = {name: np.zeros((matches, 2)) for name in tests}
    for decision in range(FIRST + PERIOD * WINDOWS[world.ruleset]):
        since = (decision - FIRST) % PERIOD if decision >= FIRST else PERIOD
        if since == 0 and order is not None:
            for row in range(len(seats.rows[0])):
                policy.order(seats.states[0], row, order, STANDS_S)
        views_now = {n: views[n][:, :size].copy() for n in ("objects", "body", "alive")}
        playing = ~world.state["over"].astype(bool)
        actions = seats.act(views)
        if since < LASTS:
            scene = read_scene(
                *(
                    views_now[n].reshape(matches * size, *views_now[n].shape[2:])
                    for n in ("objects", "body")
                )
            )
            move, fires = read_deed(actions[:, :size].reshape(matches * size, -1))
            alive = views_now["alive"].reshape(-1).astype(bool) & np.repeat(playing, size)
            for name, counts in found.items():
                applies = ORDERS[name].applies(scene) & alive
                holds = ORDERS[name].holds(scene, move, fires) & applies
                counts[:, 0] += holds.reshape(matches, size).sum(1)
                counts[:, 1] += applies.reshape(matches, size).sum(1)
        views = world.step(actions)[0]
        if not playing.any():
            break
    world.close()
    return found


def main() -> None:
    """Measure, print."""
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("checkpoint", type=Path)
    parser.add_argument("--opponent", default="veteran")
    parser.add_argument("--matches", type=int, default=32)
    parser.add_argument("--seed", type=int, default=0)
    options = parser.parse_args()
    hero = load_checkpoint(options.checkpoint)
    common = (options.matches, options.seed)
    plain = obeyed(options.checkpoint, options.opponent, None, hero.orders, *common)
    table = Table(title=f"{hero.meta.world}, {options.matches} matches v {options.opponent}")
    for column in ("order", "obeys", "95 %", "without", "difference", "95 %", "decisions"):
        table.add_column(column, justify="left" if column == "order" else "right")
    rows = {}
    for name in hero.orders:
        told = obeyed(options.checkpoint, options.opponent, name, (name,), *common)[name]
        free = plain[name]
        both = (told[:, 1] > 0) & (free[:, 1] > 0)
        if both.sum() < 2:
            continue
        with_, without = (c[both, 0] / c[both, 1] for c in (told, free))
        low, high = mean_interval(with_)
        gain = mean_interval(with_ - without)
        row = {
            "share": with_.mean(),
            "low": low,
            "high": high,
            "without": without.mean(),
            "gain": (with_ - without).mean(),
            "gain_low": gain[0],
            "gain_high": gain[1],
            "decisions": int(told[both, 1].sum()),
            "matches": int(both.sum()),
        }
        rows[name] = {key: round(float(value), 4) for key, value in row.items()}
        table.add_row(
            name,
            f"{row['share']:.2f}",
            f"{low:.2f} – {high:.2f}",
            f"{row['without']:.2f}",
            f"{row['gain']:+.2f}",
            f"{gain[0]:+.2f} – {gain[1]:+.2f}",
            f"{row['decisions']:,}",
        )
    console = Console(width=110)
    console.print(table)
    passed = [name for name, row in rows.items() if row["share"] >= BAR]
    missing = [name for name in ORDERS if name not in rows]
    console.print(f"obeyed in at least {BAR:.0%}: {len(passed)} of {len(ORDERS)}")
    console.print(f"not measured (nothing learned, or never applies): {', '.join(missing) or '-'}")
    document = {"world": hero.meta.world, "orders": rows, "at_least_70": len(passed)}
    console.print(json.dumps(document), soft_wrap=True)


if __name__ == "__main__":
    main()
