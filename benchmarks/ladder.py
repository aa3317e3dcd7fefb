"""The bot ladder: is each bot stronger than the one below, is the game fair, does it end?

    python benchmarks/ladder.py [--quick]

Prints four tables (ladder, fairness, skills of `master` switched off, seers) and, as the last
line, one JSON object. --quick plays a tenth of the games.
"""

from __future__ import annotations

import argparse
import json
import time
from typing import Any

import numpy as np
from rich.console import Console
from rich.table import Table

from levelcap.play.matchup import Result, play_games
from levelcap.play.roster import find
from levelcap.world.players.bot_names import BOTS, SEERS
from levelcap.world.rules.patches import load_patch

TICKS = 30
# Where each skill of `master` should matter.
SKILL_WORLDS = {
    "lead": "duel",
    "kite": "duel",
    "loot": "duel",
    "objective": "siege",
    "retreat": "lms",
    "group": "crown",
}
LADDER_GAMES = {"duel": 1000, "lms": 1000, "siege": 400, "crown": 400}


def games_between(a: str, b: str, world: str, games: int, seed: int = 0) -> Result:
    """A result by policy names."""
    return play_games(find(a), find(b), world, games, seed)


def shown(result: Result) -> str:
    """Win rate with its interval."""
    return f"{result.win_rate:.3f} ({result.ci_low:.3f}–{result.ci_high:.3f})"


def ladder(console: Console, share: float) -> dict[str, Any]:
    """Every bot against the one below it, in every ruleset."""
    table = Table(title="Ladder: win rate against the bot below")
    for column in ("ruleset", "games", *BOTS[1:], "bar"):
        table.add_column(column)
    found: dict[str, Any] = {}
    for world, full in LADDER_GAMES.items():
        games = max(40, int(full * share) // 2 * 2)
        row = []
        for below, bot in zip(BOTS, BOTS[1:], strict=False):
            result = games_between(bot, below, world, games)
            found[f"{world}_{bot}_over_{below}"] = round(result.win_rate, 4)
            row.append(shown(result))
        bar = "0.75–0.95" if world == "duel" else "≥ 0.65"
        if world in ("siege", "crown"):
            bar += " from rookie up"
        table.add_row(world, str(games), *row, bar)
    console.print(table)
    return found


def fairness(console: Console, share: float) -> dict[str, Any]:
    """Equal bots: do the sides win alike, and how do matches end?"""
    table = Table(title="master against master")
    for column in (
        "ruleset",
        "games",
        "side 0",
        "draws",
        "before T",
        "median s",
        "< 60 s",
        "lead changes",
        "deaths",
        "deaths ≤ 3 s after respawn",
    ):
        table.add_column(column)
    found: dict[str, Any] = {}
    rulesets = load_patch("1.0")["rulesets"]
    for world in ("duel", "siege", "crown"):
        # The second game of a pair of equal bots is the first again: twice as many are played.
        games = max(40, int(2000 * share) // 2 * 2)
        result = games_between("master", "master", world, 2 * games, seed=7)
        limit = rulesets[world]["time_s"] * TICKS
        deaths = int(result.stats["num_deaths"].sum())
        values = {
            "side0": float(result.first_side.mean()),
            "draws": result.draws / result.games,
            "decided": float((result.lengths < limit).mean()),
            "median_s": float(np.median(result.lengths)) / TICKS,
            "under_60s": float((result.lengths < 60 * TICKS).mean()),
            "lead_changes": float(result.stats["lead_changes"].mean()),
            "deaths": deaths / result.games,
            "early_deaths": float(result.stats["early_deaths"].sum()) / max(1, deaths),
        }
        found[world] = {key: round(value, 4) for key, value in values.items()}
        table.add_row(world, str(games), *(f"{value:.3f}" for value in values.values()))
    console.print(table)
    return found


def skills(console: Console, share: float) -> dict[str, Any]:
    """`master` without one skill against `master`: what does the skill cost?"""
    table = Table(title="master without one skill, against the whole master")
    for column in ("skill", "ruleset", "games", "win rate", "points lost", "interval"):
        table.add_column(column)
    found = {}
    for skill, world in SKILL_WORLDS.items():
        games = max(40, int(4000 * share) // 2 * 2)
        result = games_between(f"master-no-{skill}", "master", world, games, seed=11)
        lost = 100 * (0.5 - result.win_rate)
        low, high = 100 * (0.5 - result.ci_high), 100 * (0.5 - result.ci_low)
        found[skill] = {"world": world, "points": round(lost, 2), "low": round(low, 2)}
        table.add_row(
            skill,
            world,
            str(games),
            f"{result.win_rate:.3f}",
            f"{lost:.1f}",
            f"{low:.1f} to {high:.1f}",
        )
    console.print(table)
    return found


def seers(console: Console, share: float) -> dict[str, Any]:
    """Seers against `master` (they read the true state and simulate it)."""
    table = Table(title="Seers against master, duel (they read the true state)")
    for column in ("seer", "games", "win rate"):
        table.add_column(column)
    found = {}
    for k in SEERS:
        games = max(40, int(200 * share) // 2 * 2)
        result = games_between(f"seer-{k}", "master", "duel", games, seed=3)
        found[f"seer-{k}"] = round(result.win_rate, 4)
        table.add_row(f"seer-{k}", str(games), shown(result))
    console.print(table)
    return found


def main() -> None:
    """Run all four parts."""
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--quick", action="store_true", help="a tenth of the games")
    share = 0.1 if parser.parse_args().quick else 1.0
    console, began = Console(width=140), time.monotonic()
    found = {
        "ladder": ladder(console, share),
        "fairness": fairness(console, share),
        "skills": skills(console, share),
        "seers": seers(console, share),
    }
    found["seconds"] = round(time.monotonic() - began, 1)
    print(json.dumps(found))


if __name__ == "__main__":
    main()
