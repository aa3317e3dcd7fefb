"""Hindsight is not a health bar: does a Strategist know *why* it flees, a minute later?

    python benchmarks/hindsight.py [--world lms] [--strategist lstm] [--quick]

In lms, where one is alone and well most of the time: in a duel whoever is alone is fleeing, nearly
always, and nothing needs to be remembered. Teachers are wary: 40 hp lost within 5 s are fled from
for 20 s, whatever is seen. Two heroes are cloned from the same lessons with the same number of
updates: one looks back on 60 s, one on 2 s. In the lessons chance deals wounds, heals and flights
(`wound_lessons.py` says why); the ambush is not among them.

The ambush (evaluation only): when the teacher has taken to flight everybody near it is put far out
of sight, and four seconds later its wounds are healed, so that nothing of the last two seconds says
why it still flees. (Healed at once, the wound was in no summary at all: one is made a second.)
Judged are the looks 8 to 19 s after the last wound. "Elsewhere": looks of ordinary matches in which
no wound is being fled from. "Erased": the same ambushes with the hp of before the wound written
into every summary; the label must flip.
"""

from __future__ import annotations

import argparse
import json
import tempfile
import time
from dataclasses import dataclass, replace
from pathlib import Path
from typing import Any

import numpy as np
import torch
from wound_lessons import record_lessons

from levelcap.kit.stats import wilson
from levelcap.learn.engine.stops import Stops
from levelcap.learn.imitation.config import for_family
from levelcap.learn.imitation.run import Request, imitate
from levelcap.nets.checkpoint import load_world_net
from levelcap.nets.hierarchy.net import HierarchyNet
from levelcap.world.match import ArenaWorld
from levelcap.world.players.brain import FLEE
from levelcap.world.players.scripted import scripted
from levelcap.world.players.wary import FLIGHT
from levelcap.world.spec import SUMMARY

TEACHER = "master-wary"
LOOK = 10  # decisions
OUT_OF_SIGHT = (80, 190)  # decisions since the wound that are judged
HEALED = 40  # decisions after the flight began
NEAR = 14.0  # who is nearer is put away: sight is 10
HP = SUMMARY.index("hp")


@dataclass
class Looks:
    """One summary a second of M matches: [K, M, ...]."""

    summaries: np.ndarray
    intents: np.ndarray
    since: np.ndarray  # decisions since the flight began, -1: none
    alive: np.ndarray


def watch(ruleset: str, matches: int, seed: int, rival: str, ambush: bool) -> Looks:
    """The teacher in seat 0 against rivals; with `ambush` they disappear after their deed."""
    world = ArenaWorld(
        ruleset, matches, seed=seed, views=("player", "objects", "context", "summary")
    )
    players = world.spec.num_players
    decisions = 450 * (1 if ruleset == "duel" else 2)
    # A mind of its own for everybody, the teacher's first.
    sides = [scripted(TEACHER), *(scripted(rival) for _ in range(players - 1))]
    for policy in sides:
        policy.bind(world)
    minds: list[Any] = [policy.initial_state(matches) for policy in sides]
    views = world.reset()
    gone = np.zeros(matches, bool)
    over = np.zeros(matches, bool)
    kept: dict[str, list[np.ndarray]] = {n: [] for n in ("summary", "intent", "since", "alive")}
    for t in range(decisions):
        actions = np.zeros((matches, players, len(world.spec.heads)), np.int16)
        for side, policy in enumerate(sides):
            mine = {name: rows[:, side].copy() for name, rows in views.items()}
            decision = policy.act(mine, minds[side])
            minds[side] = decision.state
            actions[:, side] = decision.actions
            if side == 0 and t % LOOK == 0:
                left = minds[0]["left"]
                kept["summary"].append(mine["summary"].copy())
                kept["intent"].append(np.asarray(decision.intents).copy())
                kept["since"].append(np.where(left > 0, FLIGHT - left, -1))
                kept["alive"].append(mine["alive"].astype(bool) & ~over)
        views, _, _, _, info = world.step(actions)
        over |= info["ended"]
        if ambush:
            gone = minds[0]["left"] > 0
            flown = FLIGHT - minds[0]["left"]
            views = _hide(world, gone & ~over, gone & ~over & (flown >= HEALED))
    arrays = {name: np.stack(rows) for name, rows in kept.items()}
    return Looks(arrays["summary"], arrays["intent"], arrays["since"], arrays["alive"])


def _hide(world: ArenaWorld, gone: np.ndarray, healed: np.ndarray) -> dict[str, np.ndarray]:
    """Put whoever is near the teacher on the other side of the map, and heal the teacher."""
    state = world.snapshot()
    players, reach = world.spec.num_players, 0.8 * float(world.rules.half)
    x, y = state["x"][:, :players], state["y"][:, :players]
    near = np.hypot(x - x[:, :1], y - y[:, :1]) < NEAR
    near[:, 0] = False
    near &= gone[:, None]
    aside = np.linspace(0.7, 1.0, players)  # not on one spot
    for axis in (x, y):
        axis[near] = (np.where(axis[:, :1] > 0, -reach, reach) * aside)[near]
    state["hp"][healed, 0] = 100_000  # thousandths
    return world.restore(state)


def predict(net: HierarchyNet, summaries: np.ndarray) -> np.ndarray:
    """The likeliest mode [K, M] of a Strategist that sees these from a match's beginning."""
    looks = torch.from_numpy(summaries.astype(np.float32))
    reset = torch.zeros(looks.shape[:2], dtype=torch.bool)
    reset[0] = True
    with torch.no_grad():
        state = net.strategist.initial_state(looks.shape[1])
        pooled, _ = net.strategist(looks, state, reset, None)
        return np.asarray(net.mode_head(pooled).argmax(-1))


def share(right: np.ndarray) -> dict[str, float]:
    """A share with its interval."""
    low, high = wilson(float(right.mean()), len(right))
    return {"share": float(right.mean()), "low": low, "high": high, "looks": len(right)}


def judge(net: HierarchyNet, ambush: Looks, ordinary: Looks) -> dict[str, Any]:
    """FLEE in the ambush, with and without the wound, and accuracy elsewhere."""
    judged = (ambush.since >= OUT_OF_SIGHT[0]) & (ambush.since <= OUT_OF_SIGHT[1]) & ambush.alive
    judged &= ambush.intents == FLEE
    said = predict(net, ambush.summaries)[judged]
    erased = ambush.summaries.copy()
    erased[..., HP] = 1.0
    without = predict(net, erased)[judged]
    elsewhere = (ordinary.since < 0) & ordinary.alive
    right = predict(net, ordinary.summaries) == ordinary.intents
    flipped = without[said == FLEE] != FLEE
    return {
        "flee": share(said == FLEE),
        "elsewhere": share(right[elsewhere]),
        "flips": share(flipped) if len(flipped) else None,
    }


def raise_hero(
    world: str, lessons: Path, out: Path, parts: tuple[str, ...], updates: int, seed: int
) -> tuple[Path, float]:
    """A hero whose Strategist is made of these parts; its snapshot and core-seconds."""
    began = time.process_time()
    request = Request(
        world, (lessons,), out, (TEACHER,), "slim", seed, family="hierarchy", options=parts
    )
    # What is judged is the Strategist: its loss counts for more than the actions.
    config = replace(for_family("hierarchy"), mode_coef=2.0)
    imitated = imitate(request, config, Stops(updates=updates))
    return imitated.outcome.snapshot, time.process_time() - began


def main() -> None:
    """Record, clone twice, judge, print."""
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--quick", action="store_true", help="a tenth of the matches and updates")
    parser.add_argument("--world", default="lms", choices=("duel", "lms"))
    parser.add_argument("--games", type=int, default=240, help="games of the lessons")
    parser.add_argument("--updates", type=int, default=1300)
    parser.add_argument("--seed", type=int, default=0, help="of the lessons and the weights")
    parser.add_argument("--strategist", default="lstm", help="lstm, ssd, transformer, ...")
    parser.add_argument("--keep", type=Path, help="folder for the shards and heroes")
    options = parser.parse_args()
    games, updates = options.games, options.updates
    if options.quick:
        games, updates = games // 10, updates // 10
    folder = options.keep or Path(tempfile.mkdtemp(prefix="hindsight-"))
    lessons = folder / "lessons"
    if not lessons.exists():
        record_lessons(options.world, TEACHER, games, options.seed, lessons)
    # Seeds nobody trained on.
    matches = 256 if options.world == "duel" else 96
    ambush = watch(options.world, matches, 901, "master", ambush=True)
    ordinary = watch(options.world, matches // 2, 902, "veteran", ambush=False)
    result: dict[str, Any] = {}
    for window in ("60", "2"):
        parts = (f"strategist={options.strategist}", f"window={window}")
        place = folder / f"window-{window}"
        path, seconds = raise_hero(options.world, lessons, place, parts, updates, options.seed)
        net, _, _ = load_world_net(path)
        assert isinstance(net, HierarchyNet)
        net.eval()
        result[f"window_{window}"] = {**judge(net, ambush, ordinary), "core_seconds": seconds}
    print(f"{'history':>8} {'FLEE in the ambush':>28} {'elsewhere':>28} {'flips when erased':>28}")
    for window in ("60", "2"):
        row = result[f"window_{window}"]
        cells = [
            f"{c['share']:.3f} ({c['low']:.3f}-{c['high']:.3f})" if c else "none said FLEE"
            for c in (row["flee"], row["elsewhere"], row["flips"])
        ]
        print(f"{window + ' s':>8} " + " ".join(f"{cell:>28}" for cell in cells))
    print("asked: >= .85 with 60 s, <= .60 with 2 s, elsewhere within .03, flips >= .80 (60 s)")
    print(json.dumps(result))


if __name__ == "__main__":
    main()
