"""Does a hunt find a hole that is known to be there? One budget, a champion with and without one.

    python benchmarks/planted_hole.py CHAMPION [--near 3] [--core-minutes 20] [--seed 0]
                                      [--only holed|whole] [--set entropy_coef=.003] [--home DIR]

The holed champion is the champion but for one thing: while it sees the enemy within --near units it
stands still and holds its fire. A deterministic fault that bots, who keep their distance, hardly
meet (rows "against master"), and that an exploiter has to walk into before it pays. A hunt counts
if it wins .80 or more against the holed one; its bound on the whole one is then worth something.
Prints the curve of every hunt. The last line is one JSON object.
"""

from __future__ import annotations

import argparse
import hashlib
import json
import tempfile
from dataclasses import asdict
from pathlib import Path
from typing import Any

import numpy as np

from levelcap.learn.engine.overrides import apply
from levelcap.learn.league.hunt import CORE_MINUTES, Hunt, hunt
from levelcap.learn.rl.config import for_world
from levelcap.nets.checkpoint import read_meta
from levelcap.play.load import load_checkpoint
from levelcap.play.matchup import play_games
from levelcap.play.roster import find
from levelcap.world.protocols import Decision, Policy, PolicyState, Views, World
from levelcap.world.rules.columns import HEAD, OBJ
from levelcap.world.spec import MOVE_BINS

COUNTS = 0.80
UNITS = 50.0  # of `distance`
STOOD = {HEAD.move_x: MOVE_BINS // 2, HEAD.move_y: MOVE_BINS // 2, HEAD.fire: 0, HEAD.ability: 0}


class Holed(Policy):
    """A champion that freezes while the enemy is near."""

    def __init__(self, champion: Policy, near: float) -> None:
        self.inner, self.near = champion, near
        self.name, self.decision_ticks = f"{champion.name} (holed)", champion.decision_ticks
        self.tick_hz = champion.tick_hz
        self.views = tuple(dict.fromkeys((*champion.views, "objects")))

    @property
    def content_hash(self) -> str:
        """Of the champion and the hole."""
        return hashlib.sha256(f"hole {self.near} {self.inner.content_hash}".encode()).hexdigest()

    def bind(self, world: World) -> None:
        """As the champion."""
        self.inner.bind(world)

    def sit(self, matches: Any, seats: Any) -> None:
        """As the champion."""
        self.inner.sit(matches, seats)

    def initial_state(self, num_rows: int) -> PolicyState:
        """The champion's."""
        return self.inner.initial_state(num_rows)

    def act(self, views: Views, state: PolicyState) -> Decision:
        """What the champion does, but near the enemy."""
        decided = self.inner.act(views, state)
        enemy = views["objects"][:, 0]  # the only one of a duel
        frozen = (enemy[:, OBJ.visible] > 0) & (enemy[:, OBJ.distance] * UNITS < self.near)
        actions = np.array(decided.actions)
        for head, value in STOOD.items():
            actions[frozen, head] = value
        return Decision(actions, decided.state)


def main() -> None:
    """Both hunts, and what bots make of the hole."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("champion", type=Path)
    parser.add_argument("--near", type=float, default=3.0)
    parser.add_argument("--core-minutes", type=float, default=CORE_MINUTES)
    parser.add_argument("--seed", type=int, default=0)
    parser.add_argument("--only", choices=("holed", "whole"))
    parser.add_argument("--set", action="append", default=[])
    parser.add_argument("--games", type=int, default=400)
    parser.add_argument("--home", type=Path, help="where hunts lie and are continued")
    options = parser.parse_args()
    whole = load_checkpoint(options.champion)
    prey: dict[str, Policy] = {"holed": Holed(whole, options.near), "whole": whole}
    found: dict[str, Any] = {"near": options.near, "core_minutes": options.core_minutes}
    config = apply(for_world("duel", read_meta(options.champion).architecture), options.set)
    with tempfile.TemporaryDirectory() as place:
        home = options.home or Path(place)
        for name, champion in prey.items():
            known = play_games(champion, find("master"), "duel", options.games, options.seed)
            found[f"{name}_against_master"] = known.win_rate
            print(f"{name}: {known.win_rate:.3f} against master", flush=True)
            if options.only in (None, name):
                asked = Hunt(
                    *("duel", options.champion, home / name, None, options.core_minutes),
                    seed=options.seed,
                )
                ended = hunt(asked, config, champion=champion)
                assert ended is not None
                for cost, rate in ended.curve:
                    print(f"  {cost:8,.0f} core-s  {rate:.2f}", flush=True)
                print(f"{name}: {ended.sentence()}", flush=True)
                found[name] = asdict(ended)
    if "holed" in found:
        found["counts"] = found["holed"]["bound"] >= COUNTS
    print(json.dumps(found))


if __name__ == "__main__":
    main()
