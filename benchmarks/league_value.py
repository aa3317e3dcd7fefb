"""What a league is worth: the same clone, the same minutes, ways to choose opponents.

    python benchmarks/league_value.py [--world duel] [--minutes 15 | --updates 6000] [--seeds 3]
                                      [--hunt 10]
                                      [--arms league,mixed,self,plain,alone,tuned] [--quick]

    league  main player and two exploiters, opponents by PFSP, bots among them
    alone   the same without exploiters: all turns are the main player's
    tuned   as alone, with two siblings on other settings (population-based tuning)
    mixed   80 % of the matches against itself, 20 % against its past, no bots
    self    only against itself
    plain   `levelcap reinforce` as it is: bots, their cousins, past selves by x (1 - x)

With --updates all learners of an arm have so many together, which costs about the same core-seconds
whatever else the machine does. Judged by the sealed panel (Elo, and the share won against cousins
of master) and by a hunt: what a fresh exploiter that begins as the same clone wins after --hunt
core-minutes (0 = none). Finished rows are appended to benchmarks/log/league_value.jsonl and not
played again. The last line is JSON.
"""

from __future__ import annotations

import argparse
import json
import tempfile
import time
from pathlib import Path
from typing import Any

import numpy as np

from levelcap.kit.files import append_jsonl, read_jsonl
from levelcap.learn.engine.stops import Stops
from levelcap.learn.first_hero import recipe_of
from levelcap.learn.imitation.config import for_family
from levelcap.learn.imitation.run import Request as ImitationRequest
from levelcap.learn.imitation.run import imitate
from levelcap.learn.league.config import LeagueConfig
from levelcap.learn.league.hunt import Hunt, hunt
from levelcap.learn.league.season import Season, play_season
from levelcap.learn.rl.config import for_world
from levelcap.learn.rl.run import Request, reinforce
from levelcap.nets.checkpoint import read_meta
from levelcap.play.load import load_checkpoint
from levelcap.play.record.games import record
from levelcap.trials.panel import judge

LOG = Path(__file__).parent / "log" / "league_value.jsonl"
UPDATES = 1500  # of the clone's imitation
ALONE = {"main_exploiter_weight": 0.0, "league_exploiter_weight": 0.0}
ARMS: dict[str, dict[str, Any] | None] = {
    "league": {},
    "alone": ALONE,
    "tuned": {**ALONE, "siblings": 2},
    "mixed": {**ALONE, "self_play": 0.8, "forgotten": 0.0, "bots": ()},
    "self": {**ALONE, "self_play": 1.0, "forgotten": 0.0, "bots": ()},
    "plain": None,
}


def clone(world: str, home: Path, seed: int) -> Path:
    """The hero all arms begin as: a clone of master, by updates and not by time."""
    place, recipe = home / f"clone-{seed}", recipe_of(world, "flat")
    assert recipe is not None
    if not (place / "imitate" / "snapshots").exists():
        bots = [recipe.teacher, recipe.partner]
        record(bots, world, recipe.games, seed, place / "demos", keep=bots[:1])
        request = ImitationRequest(
            world, (place / "demos",), place / "imitate", (recipe.teacher,), "slim", seed
        )
        imitate(request, for_family("flat"), Stops(updates=UPDATES))
    return sorted((place / "imitate" / "snapshots").iterdir())[-1]


def train(
    arm: str, options: argparse.Namespace, start: Path, out: Path, seed: int
) -> dict[str, Any]:
    """Train one arm; where its last snapshot lies and what it cost."""
    rl = for_world(options.world, read_meta(start).architecture)
    changes = ARMS[arm]
    if changes is None:
        request = Request(options.world, out, start, seed=seed)
        length = {"updates": options.updates} if options.updates else {"minutes": options.minutes}
        done = reinforce(request, rl, Stops(**length))
        return {
            "snapshot": done.snapshot,
            "core_s": done.core_seconds,
            "steps": done.progress.steps,
        }
    # At least twelve turns each: three players share the turns of a tuned season.
    players = 1 + changes.get("siblings", 0)
    turn_s, turns = min(30.0, options.minutes * 60 / 12) / players, 0
    if options.updates:
        turns = 12 * players
        changes = {**changes, "turn_updates": options.updates // turns}
    config = LeagueConfig(turn_s=turn_s or 30.0, **changes)
    season = Season(options.world, start, out, options.minutes, turns, seed)
    league = play_season(season, config, rl).league
    main = league.players["main"]
    steps = sum(player.steps for player in league.learners())
    snapshot = sorted((out / "snapshots").iterdir())[-1]
    return {"snapshot": snapshot, "core_s": league.core_seconds, "steps": steps, "main": main.steps}


def row(arm: str, options: argparse.Namespace, home: Path, seed: int) -> dict[str, Any]:
    """Train, judge and hunt one arm."""
    start = clone(options.world, home, seed)
    began = time.monotonic()
    done = train(arm, options, start, home / f"{arm}-{seed}", seed)
    took = time.monotonic() - began
    policy = load_checkpoint(done["snapshot"])
    found = judge(
        policy,
        options.world,
        seed=100 + seed,
        games_per_cousin=max(2, options.games // 40 * 2),
        bot_games=options.games,
    )
    elo, low, high = found.elo()
    made = {
        "world": options.world,
        "arm": arm,
        "seed": seed,
        "minutes": options.minutes,
        "updates": options.updates,
        "elo": round(elo, 1),
        "elo_low": round(low, 1),
        "elo_high": round(high, 1),
        "sealed_master": round(found.sealed["master"].win_rate, 4),
        "core_s": round(done["core_s"], 1),
        "wall_s": round(took, 1),
        "steps": done["steps"],
    }
    if options.hunt:
        asked = Hunt(
            options.world, done["snapshot"], home / f"hunt-{arm}-{seed}", start, options.hunt, seed
        )
        bound = hunt(asked, for_world(options.world))
        assert bound is not None
        made |= {"hunt": bound.bound, "hunt_low": bound.low, "hunt_high": bound.high}
        made["hunt_core_min"] = options.hunt
    return made


def main() -> None:
    """Play what the log does not hold, print all of it."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--world", default="duel")
    parser.add_argument("--minutes", type=float, default=15.0)
    parser.add_argument("--updates", type=int, default=0, help="or: of all learners together")
    parser.add_argument("--seeds", type=int, default=3)
    parser.add_argument("--hunt", type=float, default=10.0, help="core-minutes; 0 = none")
    parser.add_argument("--arms", default=",".join(ARMS))
    parser.add_argument("--games", type=int, default=400)
    parser.add_argument("--home", type=Path, help="where runs lie and are continued")
    parser.add_argument("--quick", action="store_true", help="1 minute, 1 seed, no hunt, no log")
    options = parser.parse_args()
    if options.quick:
        options.minutes, options.seeds, options.hunt, options.games = 1.0, 1, 0.0, 100
    if options.updates:
        options.minutes = 0.0
    known = [] if options.quick or not LOG.exists() else read_jsonl(LOG).records
    keys = ("world", "arm", "seed", "minutes", "updates")
    rows = []
    with tempfile.TemporaryDirectory() as place:
        home = options.home or Path(place)
        for seed in range(options.seeds):
            for arm in options.arms.split(","):
                want = (options.world, arm, seed, options.minutes, options.updates)
                had = [r for r in known if tuple(r.get(k, 0) for k in keys) == want]
                made = had[-1] if had else row(arm, options, home, seed)
                if not had and not options.quick:
                    append_jsonl(LOG, [made], sync=True)
                rows.append(made)
                print(line(made), flush=True)
    print(json.dumps({"rows": rows, **summary(rows)}))


def line(made: dict[str, Any]) -> str:
    """One row for people."""
    hunted = f"  hunt {made['hunt']:.2f}" if "hunt" in made else ""
    return (
        f"{made['arm']:7} seed {made['seed']}  Elo {made['elo']:6.0f} ({made['elo_low']:.0f} to "
        f"{made['elo_high']:.0f})  sealed master {made['sealed_master']:.2f}{hunted}  "
        f"{made['core_s']:.0f} core-s, {made['steps']:,} steps"
    )


def summary(rows: list[dict[str, Any]]) -> dict[str, Any]:
    """Means by arm."""
    found: dict[str, Any] = {}
    for arm in dict.fromkeys(made["arm"] for made in rows):
        mine = [made for made in rows if made["arm"] == arm]
        found[f"elo_{arm}"] = round(float(np.mean([made["elo"] for made in mine])), 1)
        if all("hunt" in made for made in mine):
            found[f"hunt_{arm}"] = round(float(np.mean([made["hunt"] for made in mine])), 4)
    return found


if __name__ == "__main__":
    main()
