"""What a league bears: a thousand snapshots, killed processes, lost files, divergence; its speed.

    python benchmarks/league_scale.py [--snapshots 1000] [--kills 500] [--diverge 20] [--quick]
                                      [--hero SNAPSHOT] [--parts start,speed,kills,diverge]

    start     seconds from a turn's beginning to its first batch, with 10 and with all snapshots
    memory    (with start) resident megabytes after each of a dozen turns among all of them
    files     (with start) 30 % of the opponents' files are deleted in mid-season: every turn counts
    kills     processes of the backend are killed while rated matches are played; scores compared
              with those of an undisturbed run
    speed     agent-steps/s of a league's main player over plain reinforcement's, in turns
    diverge   learners whose gradients become NaN or infinite, or whose weights explode: ended by an
              error, taken back, or refused by 96 games against the hero they began as; all else
              has escaped

Tiny nets but for speed and diverge. The last line is one JSON object.
"""

from __future__ import annotations

import argparse
import json
import os
import random
import shutil
import signal
import tempfile
import threading
import time
from dataclasses import replace
from pathlib import Path
from typing import Any

import numpy as np
import psutil
import torch
from league_value import clone

from levelcap.kit.backend import Inline, Processes
from levelcap.kit.errors import Corrupt, StateError
from levelcap.kit.files import read_jsonl
from levelcap.learn.engine.stops import Stops
from levelcap.learn.engine.task import Hooks
from levelcap.learn.league.config import LeagueConfig
from levelcap.learn.league.players import Player
from levelcap.learn.league.season import Season, play_season
from levelcap.learn.league.shelf import Shelf
from levelcap.learn.league.state import read_league
from levelcap.learn.rl.config import for_world
from levelcap.learn.rl.run import Request, reinforce
from levelcap.learn.rl.task import RlTask
from levelcap.nets.checkpoint import save_snapshot, weights_of
from levelcap.nets.family import describe, new_net
from levelcap.play.load import load_checkpoint
from levelcap.play.matchup import play_games
from levelcap.play.units import play_series
from levelcap.world.spec import arena_spec

SPOILED = {"nan": float("nan"), "infinite": float("inf")}
SMALL = {"lanes": 64, "unroll": 24, "minibatches": 2, "value_warmup": 0}
RULES = LeagueConfig(turn_updates=4, rated_games=2, rated_opponents=2, cousins=0)


def net(place: Path, seed: int, size: str = "dummy") -> Path:
    """A snapshot of untrained weights."""
    meta = describe("flat", arena_spec("duel"), size, False)
    save_snapshot(place, weights_of(new_net(meta, seed)), meta, "benchmark")
    return place


def crowd(home: Path, count: int) -> Path:
    """A season with so many frozen players."""
    season = home / f"crowd-{count}"
    rl = replace(for_world("duel"), **SMALL)
    start = net(home / f"start-{count}", 0)
    play_season(Season("duel", start, season, turns=10_000), RULES, rl, _stop_after(season, 1))
    league = read_league(season)
    shelf = Shelf(league)
    for number in range(count):
        place = net(home / f"net-{count}-{number}", number + 1)
        digest = shelf.keep(place)
        shutil.rmtree(place)
        name = f"main-{number + 1000}"
        league.put(Player(name, "main", f"frozen/{digest}", digest, parent_id="main"))
    league.save()
    return season


def _stop_after(season: Path, turns: int) -> Hooks:
    """Asks a season to stop when it has had some more turns."""
    seen: list[float] = []

    def report(values: dict[str, float]) -> None:
        done = len(read_jsonl(season / "turns.jsonl").records) if seen else 0
        seen.append(done)
        if done - seen[0] >= turns - 1:
            (season / "stop").touch()

    return Hooks(on_report=report)


def take_turns(season: Path, start: Path, turns: int) -> list[dict[str, float]]:
    """Some more turns: seconds to the first batch of each, and memory after it."""
    rows: list[dict[str, float]] = []
    rl = replace(for_world("duel"), **SMALL)
    began = [time.monotonic()]
    first: list[float] = []

    def report(values: dict[str, float]) -> None:
        if not first:
            first.append(time.monotonic() - began[0] - 1 / max(1e-9, values["steps_per_s"]))

    def on_turn(league: Any, row: dict[str, Any]) -> None:
        rss = psutil.Process().memory_info().rss / 1e6
        rows.append({"start_s": round(first[0], 3), "rss_mb": round(rss, 1)})
        first.clear()
        began[0] = time.monotonic()
        if len(rows) >= turns:
            (season / "stop").touch()

    asked = Season("duel", start, season, turns=10_000)
    play_season(asked, RULES, rl, Hooks(on_report=report), on_turn)
    return rows


def lose_files(season: Path, start: Path) -> dict[str, Any]:
    """Delete 30 % of the frozen players' files, then go on."""
    league = read_league(season)
    victims = [p for p in league.frozen() if p.player_id.startswith("main-1")]
    lost = random.Random(0).sample(victims, int(0.3 * len(victims)))
    for player in lost:
        shutil.rmtree(season / str(player.checkpoint), ignore_errors=True)
    before = league.turn
    rows = take_turns(season, start, 12)
    after = read_league(season)
    dead = sum(player.dead for player in after.players.values())
    return {"deleted": len(lost), "turns": after.turn - before, "asked": len(rows), "dead": dead}


def kill_processes(home: Path, kills: int) -> dict[str, Any]:
    """Rated matches while their processes are killed one after the other."""
    name = str(net(home / "killed", 5))
    games = 64 * 60
    want = play_series(Inline(), name, "rookie", "duel", games, 3)
    rounds = wrong = 0
    with Processes(4) as backend:
        stop = threading.Event()

        def killer() -> None:
            rng = random.Random(1)
            while not stop.wait(rng.uniform(0.5, 3.0)):
                busy = backend.busy  # in the middle of a unit: a death that could cost something
                for pid in rng.sample(busy, min(1, len(busy))):
                    try:
                        os.kill(pid, signal.SIGKILL)
                    except ProcessLookupError:
                        continue

        thread = threading.Thread(target=killer)
        thread.start()
        try:
            while backend.deaths < kills:
                found = play_series(backend, name, "rookie", "duel", games, 3)
                rounds += 1
                wrong += int((found != want).sum())
        finally:
            stop.set()
            thread.join()
        return {"kills": backend.deaths, "rounds": rounds, "games": rounds * games, "wrong": wrong}


def speed(home: Path, seconds: float) -> dict[str, float]:
    """Plain reinforcement and a league's main player in turns, steps/s without evaluation."""
    start, rl = net(home / "slim", 1, "slim"), for_world("duel")
    rates: dict[str, list[float]] = {"plain": [], "league": []}
    # The first of each compiles and fills caches; it does not count.
    for number in range(3):
        out = home / f"plain-{number}"
        done = reinforce(Request("duel", out, start), rl, Stops(minutes=seconds / 60))
        rates["plain"].append(done.progress.steps / done.seconds)
        alone = {"main_exploiter_weight": 0.0, "league_exploiter_weight": 0.0}
        rules = LeagueConfig(turn_s=seconds / 2, self_play=rl.self_play, rated_games=0, **alone)
        began = time.monotonic()
        season = Season("duel", start, home / f"league-{number}", turns=2)
        league = play_season(season, rules, rl).league
        rates["league"].append(league.players["main"].steps / (time.monotonic() - began))
    found = {name: float(np.mean(row[1:])) for name, row in rates.items()}
    return {**found, "ratio": found["league"] / found["plain"]}


def diverge(home: Path, hero: Path, count: int) -> dict[str, Any]:
    """Seasons in which the main player's learning is spoiled at some update, and what stops it."""
    rl = replace(for_world("duel"), lanes=256, value_warmup=0)
    rules = replace(RULES, turn_updates=16, main_exploiter_weight=0.0, league_exploiter_weight=0.0)
    real, ends = RlTask.backward, {"error": 0, "taken back": 0, "refused by games": 0, "escaped": 0}
    rng = random.Random(7)
    # The last one is not spoiled: it has to end without an error, or the others prove nothing.
    for number in range(count + 1):
        kind, at = ("nan", "infinite", "explodes")[number % 3], rng.randrange(1, 30)
        kind = "none" if number == count else kind

        def spoiled(task: Any, batch: Any, part: int, update: int, *, kind=kind, at=at) -> Any:  # type: ignore[no-untyped-def]
            values = real(task, batch, part, update)
            with torch.no_grad():
                for parameter in task.net.parameters():
                    if kind == "explodes" and update == at:
                        parameter.mul_(1e6)
                    elif kind in SPOILED and update >= at and parameter.grad is not None:
                        parameter.grad.mul_(SPOILED[kind])
            return values

        out = home / f"diverge-{number}"
        RlTask.backward = spoiled  # type: ignore[method-assign]
        try:
            play_season(Season("duel", hero, out, turns=2, seed=number), rules, rl)
            end = None
        except (StateError, Corrupt) as error:
            end = "error" if "finite" in str(error) else str(error)
        finally:
            RlTask.backward = real  # type: ignore[method-assign]
        if end is None:
            last = sorted((out / "snapshots").iterdir())[-1]
            played = play_games(load_checkpoint(last), load_checkpoint(hero), "duel", 96, number)
            events = read_jsonl(out / "players" / "main-0" / "events.jsonl").records
            back = any(event["event"] == "rolled back" for event in events)
            weaker = played.ci_low <= 0.5
            end = "taken back" if back else "refused by games" if weaker else "escaped"
        if kind == "none":
            ends["unspoiled ended"] = int(end in ("refused by games", "escaped"))
        else:
            ends[end] = ends.get(end, 0) + 1
    return ends


def main() -> None:
    """Everything."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--snapshots", type=int, default=1000)
    parser.add_argument("--kills", type=int, default=500)
    parser.add_argument("--diverge", type=int, default=20)
    parser.add_argument("--hero", type=Path, help="of diverge; default: a clone, made first")
    parser.add_argument("--parts", default="start,speed,kills,diverge")
    parser.add_argument("--seconds", type=float, default=60.0, help="of a run of the speed part")
    parser.add_argument("--quick", action="store_true", help="50 snapshots, 5 kills, 10 s")
    options = parser.parse_args()
    if options.quick:
        options.snapshots, options.kills, options.seconds, options.diverge = 50, 5, 10.0, 3
    torch.set_num_threads(1)
    found: dict[str, Any] = {}
    with tempfile.TemporaryDirectory() as place:
        home = Path(place)
        parts = options.parts.split(",")
        for count in (10, options.snapshots) if "start" in parts else ():
            season = crowd(home, count)
            rows = take_turns(season, home / f"start-{count}", 13)[1:]
            start = [row["start_s"] for row in rows]
            memory = [row["rss_mb"] for row in rows]
            found[f"start_{count}"] = {"median": float(np.median(start)), "most": max(start)}
            found[f"rss_{count}"] = {"first": memory[0], "last": memory[-1]}
            print(
                f"{count} snapshots: start {np.median(start):.2f} s (most {max(start):.2f}), ",
                end="",
            )
            print(f"memory {memory[0]:.0f} -> {memory[-1]:.0f} MB", flush=True)
        if "start" in parts:
            found["files"] = lose_files(season, home / f"start-{options.snapshots}")
            print("files:", found["files"], flush=True)
        if "speed" in parts:
            found["speed"] = speed(home, options.seconds)
            print("speed:", {k: round(v, 2) for k, v in found["speed"].items()}, flush=True)
        if "kills" in parts:
            found["kills"] = kill_processes(home, options.kills)
            print("kills:", found["kills"], flush=True)
        if "diverge" in parts:
            hero = options.hero or clone("duel", home, 0)
            found["diverge"] = diverge(home, hero, options.diverge)
            print("diverge:", found["diverge"], flush=True)
    print(json.dumps(found))


if __name__ == "__main__":
    main()
