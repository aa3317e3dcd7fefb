"""The league's matchmaking on games with exact answers: how exploitable is its mixture?

    python benchmarks/league_maths.py [--seeds 20] [--quick] [--pictures FOLDER]

A turn of learning is one exact best response, in both seats, to the mixture of opponents that
`learn.league.pairing.plan` gives; every turn freezes; the mixture is the Nash mass of all frozen
players (`trials.nash`). Beside it at equal best-response calls: pure self-play (the present self,
and the Nash mass of its snapshots) and PSRO with the Nash meta-solver. All begin with one random
pure player. `area` is NashConv averaged over all calls, `ratio` that of the arm to PSRO's.

Leduc, and OpenSpiel's own PSRO and NashConv, need `.venv-open-spiel` (`make bench-peers`); without
it those rows are printed as not run. OpenSpiel's PSRO mixes each seat by itself, so the league is
measured so, too, beside it. The last line is JSON.
"""

from __future__ import annotations

import argparse
import json
import subprocess
import tempfile
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any

import numpy as np
from PIL import Image

from benchmarks.exact.arms import Population, league, nash_convs, psro, self_play, snapshots
from benchmarks.exact.games import (
    Game,
    Player,
    biased,
    from_file,
    kuhn,
    kuhn_behaviour,
    noisy,
    rock_paper_scissors,
)
from benchmarks.peers.environment import environment
from levelcap.learn.league.config import LeagueConfig
from levelcap.play.show.plot import Series, plot_curves

ROOT = Path(__file__).parent.parent
OPEN_SPIEL = ROOT / ".venv-open-spiel" / "bin" / "python"
TIME_OUT_S = 240.0
Arm = Callable[[Game, np.random.Generator], Iterator[Population]]
ALONE = {"main_exploiter_weight": 0.0, "league_exploiter_weight": 0.0}


def _rules(by_nash: bool = False, **changes: Any) -> Arm:
    return lambda game, rng: league(game, rng, LeagueConfig(**changes), by_nash=by_nash)


# The league as it is, then one rule changed at a time, then some together.
LEAGUES: dict[str, Arm] = {
    "league": _rules(),
    "no league exploiter": _rules(league_exploiter_weight=0.0),
    "no main exploiter": _rules(main_exploiter_weight=0.0),
    "no exploiters": _rules(**ALONE),
    "no self-play": _rules(self_play=0.0),
    "self-play .6": _rules(self_play=0.6),
    "floor 0": _rules(floor=0.0),
    "power 8": _rules(power=8.0),
    "64 opponents": _rules(opponents=64),
    "no exploiters, 64": _rules(opponents=64, **ALONE),
    "by Nash mass": _rules(by_nash=True),
    "by Nash, no self-play": _rules(by_nash=True, self_play=0.0, forgotten=0.0),
    "by Nash, main alone": _rules(by_nash=True, self_play=0.0, forgotten=0.0, **ALONE),
}
ARMS: dict[str, Arm] = {"self-play": self_play, "snapshots": snapshots, "PSRO": psro, **LEAGUES}
SHOWN = ("self-play", "snapshots", "PSRO", "league", "no exploiters, 64", "by Nash, main alone")


def ask(*words: str) -> Any:
    """What OpenSpiel's process prints, None when it has no time; raises what it says otherwise."""
    command = [str(OPEN_SPIEL), "-m", "benchmarks.peers.open_spiel_games", *words]
    surrounding = environment() | {"PYTHONPATH": str(ROOT)}
    try:
        done = subprocess.run(
            command, env=surrounding, capture_output=True, text=True, timeout=TIME_OUT_S
        )
    except subprocess.TimeoutExpired:
        return None
    if done.returncode:
        raise RuntimeError(f"{' '.join(words)}: {done.stderr[-400:]}")
    return json.loads(done.stdout.splitlines()[-1]) if done.stdout.strip() else None


def measure(game: Game, arm: Arm, calls: int, seeds: int, by_seat: bool = False) -> np.ndarray:
    """NashConv [seeds, calls + 1]."""
    rows = []
    for seed in range(seeds):
        start = np.random.default_rng(seed)  # every arm's first draw is the first player
        rows.append(nash_convs(arm(game, start), game, calls, by_seat=by_seat))
    return np.array(rows)


def table(game: Game, curves: dict[str, np.ndarray]) -> dict[str, Any]:
    """Print a game's rows; returns them."""
    calls = next(iter(curves.values())).shape[1] - 1
    at = [call for call in (0, 2, 5, 10, 15, 20, 30, 60, 100, 200) if call <= calls]
    print(f"\n{game.name}: NashConv after n best-response calls, mean of seeds")
    print(f"{'':24}" + "".join(f"{call:>8}" for call in at) + f"{'area':>8}{'ratio':>7}")
    found: dict[str, Any] = {}
    reference = curves["PSRO"].mean()
    for name, rows in curves.items():
        mean = rows.mean(0)
        ratio = float(mean.mean() / reference)
        cells = "".join(f"{abs(mean[call]):8.4f}" for call in at)
        print(f"{name:24}{cells}{mean.mean():8.4f}{ratio:7.2f}")
        found[name] = {
            "nash_conv": {str(call): round(float(abs(mean[call])), 6) for call in at},
            "area": round(float(mean.mean()), 6),
            "ratio": round(ratio, 4),
        }
    return found


def behaviour(game: Game, player: Player) -> dict[str, list[float]]:
    """Chances by information set, in OpenSpiel's names."""
    if game.trees is None:
        return kuhn_behaviour(player)
    return game.trees[0].behaviour(player[0]) | game.trees[1].behaviour(player[1])


def check(game: Game, name: str, folder: Path) -> dict[str, float]:
    """Our NashConv of ten random mixtures beside OpenSpiel's."""
    rng = np.random.default_rng(1)
    players = []
    for _ in range(10):
        a, b = game.anybody(rng), game.anybody(rng)
        share = rng.random()
        mixture = tuple(share * x + (1 - share) * y for x, y in zip(a, b, strict=True))
        players.append((mixture[0], mixture[1]))
    path = folder / "policies.json"
    path.write_text(json.dumps([behaviour(game, player) for player in players]))
    theirs = ask("judge", name, str(path))
    ours = [game.nash_conv(player) for player in players]
    worst = float(np.abs(np.array(theirs) - ours).max())
    print(f"{game.name}: NashConv of 10 mixtures, ours minus OpenSpiel's: at most {worst:.1e}")
    return {"worst_difference": worst}


def beside(game: Game, name: str, calls: int, seeds: int, folder: Path) -> dict[str, Any]:
    """OpenSpiel's own PSRO from our first players, and the league mixed seat by seat."""
    curves: dict[str, list[Any]] = {"OpenSpiel PSRO": []}
    for seed in range(seeds):
        path = folder / "start.json"
        start = game.anybody(np.random.default_rng(seed))
        path.write_text(json.dumps([behaviour(game, start)]))
        theirs = ask("psro", name, str(path), str(calls))
        if theirs is None:
            print(f"{game.name}: OpenSpiel's PSRO, {calls} calls: not run, over {TIME_OUT_S:.0f} s")
            return {}
        curves["OpenSpiel PSRO"].append(theirs)
    rows = {arm: np.array(found) for arm, found in curves.items()}
    rows["PSRO"] = rows.pop("OpenSpiel PSRO")
    for arm in ("league", "no exploiters", "no exploiters, 64", "by Nash, main alone"):
        rows[arm] = measure(game, ARMS[arm], calls, seeds, by_seat=True)
    print(f"\nSeat by seat, PSRO being OpenSpiel's ({seeds} seeds):", end="")
    return table(game, rows)


def draw(folder: Path, game: Game, curves: dict[str, np.ndarray]) -> Path:
    """Mean and quartiles of the seeds."""
    calls = np.arange(next(iter(curves.values())).shape[1])
    series: list[Series] = []
    for name in SHOWN:
        low, high = np.quantile(curves[name], (0.25, 0.75), axis=0)
        series.append((name, calls, curves[name].mean(0), low, high))
    path = folder / f"league-maths-{game.name}.png"
    title = f"{game.name}: NashConv of the mixture, mean and quartiles"
    plot_curves(path, series, title=title, x_label="best-response calls", y_label="NashConv")
    # A third of the bytes: these pictures are committed.
    Image.open(path).convert("RGB").quantize(64).save(path, optimize=True)
    return path


def main() -> None:
    """Run, print, draw."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--seeds", type=int, default=20)
    parser.add_argument("--quick", action="store_true")
    parser.add_argument("--pictures", type=Path)
    options = parser.parse_args()
    few = 3 if options.quick else options.seeds
    asked = [(rock_paper_scissors(), "", 20, few), (biased(), "", 20, few), (noisy(), "", 20, few)]
    asked.append((kuhn(), "kuhn_poker", 30, few))
    found: dict[str, Any] = {}
    with tempfile.TemporaryDirectory() as home:
        folder = Path(home)
        if OPEN_SPIEL.exists():
            ask("export", "leduc_poker", str(folder / "leduc.npz"))
            leduc = from_file(folder / "leduc.npz", "leduc")
            asked.append((leduc, "leduc_poker", *((30, 1) if options.quick else (200, 5))))
        for game, name, calls, seeds in asked:
            curves = {arm: measure(game, how, calls, seeds) for arm, how in ARMS.items()}
            row: dict[str, Any] = {"arms": table(game, curves), "calls": calls, "seeds": seeds}
            if name and OPEN_SPIEL.exists():
                row["check"] = check(game, name, folder)
                # OpenSpiel's takes seconds a call in Leduc, and more with every one.
                whole = (12, 2) if game.trees else (30, 3)
                fewer = (6, 1) if options.quick else whole
                row["by_seat"] = beside(game, name, *fewer, folder)
            if name and options.pictures:
                print(f"drawn: {draw(options.pictures, game, curves)}")
            found[game.name] = row
    if not OPEN_SPIEL.exists():
        print("\nleduc: not run; OpenSpiel's PSRO: not run (make bench-peers)")
    print(json.dumps(found))


if __name__ == "__main__":
    main()
