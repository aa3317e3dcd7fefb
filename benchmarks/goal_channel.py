"""Is the goal channel dead? What a trained hierarchy loses when its goals are exchanged or erased.

    python benchmarks/goal_channel.py CHECKPOINT [--world siege] [--foe veteran] [--games 100]

Five players of one net against the same bot, game for game from the same seeds: as it is; with
every goal erased; with every goal exchanged for that of a player in another mode; with FLEE and
with LOOT forced. Printed: win rates and what the change costs (intervals of the paired
difference), the share of decisions whose target changes with the exchanged goal, the true distance
of living players to the nearest living enemy, seen or not, and pick-ups a minute, both with the
interval of the paired difference.
"""

from __future__ import annotations

import argparse
import json
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

import numpy as np
import torch
from torch import Tensor

from levelcap.kit.stats import mean_interval
from levelcap.nets.checkpoint import load_world_net
from levelcap.nets.hierarchy.net import HierarchyNet
from levelcap.nets.net import Inputs, State, Unrolled
from levelcap.play.load import NetPolicy
from levelcap.play.matchup import seats_of_game
from levelcap.play.seats import Seats
from levelcap.world.match import ArenaWorld
from levelcap.world.players.scripted import scripted
from levelcap.world.spec import INTENTS

# Rewards that count what was picked up, and nothing else but the end.
PICKS = {
    "base": "1.0",
    "name": "picks",
    "pseudo": {"damage": 0.0, "kill": 0.0, "objective": 0.0, "pickup": 1.0},
}
CHANGES = ("as it is", "erased", "exchanged", "FLEE forced", "LOOT forced")


@dataclass
class Probe:
    """Changes the goals that reach Tactician and Executor, and notes what follows."""

    net: HierarchyNet
    change: str
    chance: np.random.Generator = field(default_factory=lambda: np.random.default_rng(0))
    modes: Tensor = field(default_factory=lambda: torch.zeros(0))
    goal: Tensor = field(default_factory=lambda: torch.zeros(0))
    decisions: int = 0
    moved: int = 0

    def __post_init__(self) -> None:
        self._unroll = self.net.unroll
        self.net.unroll = self.unroll  # type: ignore[method-assign]
        self._plan = self.net._plan
        self.net._plan = self.plan  # type: ignore[method-assign]
        self._look = self.net.tactician.forward
        self.net.tactician.forward = self.look  # type: ignore[method-assign]
        self.net.executor.register_forward_pre_hook(self._replace)

    def unroll(
        self, views: Inputs, state: State, reset: Tensor, choices: Tensor | None = None
    ) -> Unrolled:
        """With the forced mode, if one is."""
        if "forced" in self.change:
            mode = INTENTS.index(self.change.split()[0])
            choices = torch.full(reset.shape, mode)
        return self._unroll(views, state, reset, choices)

    def plan(self, *given: Any) -> Any:
        """Notes the mode of every row."""
        held, memory = self._plan(*given)
        self.modes = held["mode"][0]
        return held, memory

    def look(self, objects: Tensor, goal: Tensor) -> Any:
        """The Tactician with the changed goal."""
        self.goal = self._changed(goal)
        seen = self._look(objects, self.goal)
        alive = (objects != 0).any(-1).any(-1)
        if self.change == "exchanged":
            own = self._look(objects, goal)
            different = ((self.goal != goal).any(-1)) & alive
            self.decisions += int(different.sum())
            self.moved += int((own.target != seen.target)[different].sum())
        return seen

    def _changed(self, goal: Tensor) -> Tensor:
        if self.change == "erased":
            return torch.zeros_like(goal)
        if self.change != "exchanged":
            return goal
        # Of a player in another mode, drawn by chance; alone with its mode a player keeps its own.
        other = torch.from_numpy(self.chance.permutation(len(goal)))
        for _ in range(4):
            same = self.modes[other] == self.modes
            again = torch.from_numpy(self.chance.permutation(len(goal)))
            other = torch.where(same, again, other)
        return torch.where((self.modes[other] != self.modes)[:, None], goal[other], goal)

    def _replace(self, module: Any, given: tuple[Tensor, ...]) -> tuple[Tensor, ...]:
        body, goal, *rest = given
        return (body, self.goal.view_as(goal), *rest)


def apart(state: np.ndarray, mine: np.ndarray) -> tuple[np.ndarray, np.ndarray]:
    """Units from each living player of ours to the nearest living enemy: sums and counts a game."""
    x, y, lives = state["x"], state["y"], state["hp"] > 0
    far = np.hypot(x[:, :, None] - x[:, None], y[:, :, None] - y[:, None])  # [games, P, P]
    foes = mine[:, :, None] & ~mine[:, None] & lives[:, None]
    nearest = np.where(foes, far, np.inf).min(-1)
    counts = lives & mine & np.isfinite(nearest)
    return np.where(counts, nearest, 0.0).sum(1), counts.sum(1)


def play(path: Path, world: str, foe: str, games: int, change: str) -> dict[str, Any]:
    """One row: scores of the games and what was noted."""
    net, meta, digest = load_world_net(path)
    if not isinstance(net, HierarchyNet):
        raise SystemExit(f"goal_channel: {path} is no hierarchy; it is a {meta.architecture}")
    net.eval()
    probe = Probe(net, change)
    policies = [NetPolicy(net, meta, digest), scripted(foe)]
    seats = np.stack([seats_of_game(world, game, 7) for game in range(games)])
    seeds = np.array([1_000 + game // 2 for game in range(games)], np.uint64)
    views = tuple({*policies[0].views, *policies[1].views})
    arena = ArenaWorld(
        world,
        games,
        views=views,
        match_seeds=seeds,
        auto_reset=False,
        patch=PICKS,
        pseudo_reward_scale=1.0,
    )
    table = Seats(arena, policies, seats)
    seen, picks, minutes = arena.reset(), np.zeros(games), np.zeros(games)
    far, looks = np.zeros(games), np.zeros(games)
    mine = seats == 0
    while not arena.state["over"].all():
        going = arena.state["over"] == 0
        seen, rewards, terminated, *_ = arena.step(table.act(seen, None))
        # The end's reward is no pick-up; half own, half the team's mean: the sum is the team's.
        picks += (rewards * mine * ~terminated).sum(1) * going
        minutes += going * mine.sum(1) * 0.1 / 60
        sums, counts = apart(arena.state, mine)
        far, looks = far + sums * going, looks + counts * going
    first = np.where(mine[:, 0], 0, 1)
    winner = arena.state["winner"]
    scores = np.where(winner < 0, 0.5, (winner == first).astype(float))
    return {
        "scores": scores,
        "distances": far / np.maximum(looks, 1),
        "picks": picks / minutes,
        "target_changes": probe.moved / probe.decisions if probe.decisions else None,
    }


def paired(difference: np.ndarray) -> tuple[float, float, float]:
    """Mean and interval; pairs of games share a seed."""
    pairs = difference.reshape(-1, 2).mean(1)
    return float(pairs.mean()), *mean_interval(pairs)


def main() -> None:
    """All five rows."""
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("checkpoint", type=Path)
    parser.add_argument("--world", default="siege")
    parser.add_argument("--foe", default="veteran")
    parser.add_argument("--games", type=int, default=100)
    options = parser.parse_args()
    torch.set_num_threads(1)
    rows = {}
    head = f"{'distance, more':>28} {'picks/min, more':>28} {'target':>7}"
    print(f"{'goals':>12} {'win rate':>9} {'costs':>24} {head}")
    usual: dict[str, Any] = {}
    for change in CHANGES:
        row = play(options.checkpoint, options.world, options.foe, options.games, change)
        lists = {name: row.pop(name) for name in ("scores", "distances", "picks")}
        usual = usual or lists
        scores = lists["scores"]
        row |= {"win_rate": float(scores.mean())}
        row["costs"], row["low"], row["high"] = paired(usual["scores"] - scores)
        cells = []
        for name in ("distances", "picks"):
            more = paired(lists[name] - usual[name])
            row[name] = {"mean": float(lists[name].mean()), "more": more}
            cells.append(
                f"{lists[name].mean():7.3f} {more[0]:+.3f} ({more[1]:+.3f} {more[2]:+.3f})"
            )
        rows[change] = row
        cost = f"{row['costs']:+.3f} ({row['low']:+.3f} to {row['high']:+.3f})"
        moved = "" if row["target_changes"] is None else f"{row['target_changes']:.2f}"
        figures = f"{cells[0]:>28} {cells[1]:>28} {moved:>7}"
        print(f"{change:>12} {row['win_rate']:9.3f} {cost:>24} {figures}", flush=True)
    print(json.dumps({"checkpoint": str(options.checkpoint), "foe": options.foe, "rows": rows}))


if __name__ == "__main__":
    main()
