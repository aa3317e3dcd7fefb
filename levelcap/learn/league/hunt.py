"""The hunt: what a fresh exploiter with a fixed budget finds against a frozen champion.

    hunt(Hunt("duel", champion, folder))        # -> Found(bound=.61, low=.56, high=.66, …)

Its best snapshot is chosen by some games and measured by others, so the bound is not the luck of
the best of many looks. A lower bound on how much the champion can be exploited: somebody with more
core-hours may find more.
"""

from __future__ import annotations

from dataclasses import asdict, dataclass, replace
from pathlib import Path
from typing import Any

import numpy as np
import torch

from levelcap.kit.errors import BadFile, BadValue, refuse
from levelcap.kit.files import read_json, write_json
from levelcap.kit.seeds import chain, check_seed
from levelcap.learn.engine.stops import Stops
from levelcap.learn.engine.task import Hooks
from levelcap.learn.league.turn import Turn, take_turn
from levelcap.learn.rl.config import RlConfig
from levelcap.play.load import load_checkpoint
from levelcap.play.matchup import play_games
from levelcap.world.protocols import Policy
from levelcap.world.spec import WORLDS

FILE = "hunt.json"
CORE_MINUTES = 20.0
SNAPSHOTS = 8  # looks at the exploiter's course
LOOK_GAMES, FINAL_GAMES = 96, 400
FOREVER = 2**62


@dataclass(frozen=True)
class Hunt:
    """What is asked for."""

    world: str
    champion: Path
    out: Path
    start: Path | None = None
    """whom the exploiter begins as; None: as the champion itself"""
    core_minutes: float = CORE_MINUTES
    seed: int = 0
    patch: str = "1.0"


@dataclass(frozen=True)
class Found:
    """What the hunt came to."""

    champion: str
    """sha256"""
    bound: float
    low: float
    high: float
    """the best exploiter's win rate on fresh games, and its 95 % interval"""
    games: int
    core_seconds: float
    snapshot: str
    """the exploiter's folder under the hunt's"""
    curve: list[list[float]]
    """[core-seconds, win rate on 96 games] of every look"""

    def sentence(self) -> str:
        """The bound as it is published."""
        return (
            f"best found with {self.core_seconds / 3600:.2f} core-hours: {self.bound:.2f} "
            f"({self.low:.2f} to {self.high:.2f}) on {self.games} games"
        )


class _Cage:
    """The champion is the only opponent there is."""

    def __init__(self, champion: Policy) -> None:
        self.champion = champion

    def load(self, key: str) -> Policy:
        return self.champion

    def stand_in(self, key: str) -> str:
        return key


def hunt(
    asked: Hunt, config: RlConfig, hooks: Hooks | None = None, champion: Policy | None = None
) -> Found | None:
    """Train an exploiter and measure it; the same call again goes on, or tells what was found.

    None: it was asked to stop before its budget was spent.

    champion: the policy itself where it is not simply the net in `asked.champion`.
    """
    check_seed(asked.seed)
    if asked.world not in WORLDS:
        remedy = "Give one of our rulesets: the bound is measured in pairs of games"
        raise BadValue(refuse("a hunt needs two sides", asked.world, remedy))
    if not 0 < asked.core_minutes <= 100_000:
        remedy = "Give --core-minutes above 0"
        raise BadValue(refuse("a hunt needs a budget", asked.core_minutes, remedy))
    torch.set_num_threads(1)
    net = load_checkpoint(asked.champion)
    prey = champion or net
    digest = prey.content_hash
    if (asked.out / FILE).exists():
        return _known(asked.out, digest)
    budget = 60 * asked.core_minutes
    # The budget is core-seconds, whose number of updates nobody knows: no schedule but the warm-up.
    engine = replace(config.engine, schedule="constant", snapshot_s=budget / 2 / SNAPSHOTS)
    turn = Turn(
        asked.world,
        asked.patch,
        asked.out,
        asked.start or asked.champion,
        replace(config, self_play=0.0, engine=engine),
        Stops(updates=FOREVER),
        asked.seed,
        {f"champion@{digest[:12]}": 1.0},
        core_seconds=budget,
    )
    played = take_turn(turn, _Cage(prey), hooks or Hooks())
    if played.interrupted:
        return None
    found = _measure(asked, prey, played.outcome.core_seconds, digest)
    write_json(asked.out / FILE, asdict(found))
    return found


def _measure(asked: Hunt, prey: Policy, spent: float, digest: str) -> Found:
    """The best snapshot by a look at each, and its win rate on games of its own."""
    looks: list[tuple[float, Path, float]] = []
    places = sorted((asked.out / "snapshots").glob("step-*"))
    # Evenly spaced, the last one among them.
    chosen = np.unique(np.linspace(len(places) - 1, 0, SNAPSHOTS).round().astype(int))
    for place in (places[index] for index in chosen):
        policy = load_checkpoint(place)
        # The same games for every look: they differ by the exploiter alone.
        seed = chain(asked.seed, 1)
        rate = play_games(policy, prey, asked.world, LOOK_GAMES, seed).win_rate
        looks.append((rate, place, float(policy.meta.metrics.get("core_seconds", spent))))
    _, best, _ = max(looks, key=lambda look: look[0])
    final = play_games(load_checkpoint(best), prey, asked.world, FINAL_GAMES, chain(asked.seed, 2))
    curve = [[round(cost, 1), round(rate, 4)] for rate, _, cost in looks]
    name = f"snapshots/{best.name}"
    bound, low, high = (round(x, 6) for x in (final.win_rate, final.ci_low, final.ci_high))
    return Found(digest, bound, low, high, final.games, round(spent, 1), name, curve)


def _known(out: Path, digest: str) -> Found:
    """What a hunt in this folder has found before."""
    values: dict[str, Any] = read_json(out / FILE)
    found = Found(**values)
    if found.champion != digest:
        remedy = "Give another --out"
        raise BadFile(refuse("this hunt was for another champion", found.champion[:12], remedy))
    return found
