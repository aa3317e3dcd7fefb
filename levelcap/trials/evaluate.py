"""The quick evaluation of a checkpoint: sealed panel, bots, Elo, and the value's held-out loss."""

from __future__ import annotations

from dataclasses import replace
from functools import lru_cache
from pathlib import Path
from typing import Any

import numpy as np

from levelcap.kit.backend import Backend
from levelcap.learn.engine.worlds import spec_of_world
from levelcap.learn.rl.collect import open_actor
from levelcap.learn.rl.config import for_world
from levelcap.learn.rl.learner import make_learner
from levelcap.play.load import load_checkpoint
from levelcap.trials.intents import measure_intents
from levelcap.trials.panel import BASES, COUSINS, Progress, bot_ladder, judge
from levelcap.trials.ratings import Games, to_digits

HELD_OUT_SEED = 0x48454C44
HELD_OUT_LANES, HELD_OUT_STEPS = 64, 256


def evaluate(
    place: Path,
    *,
    games: int = 400,
    seed: int = 0,
    on_progress: Progress | None = None,
    backend: Backend | None = None,
) -> dict[str, Any]:
    """Judge the snapshot in `place`; plain values, every score included.

    backend: plays the games in units; None: here, in batches as large as they come.
    """
    policy = load_checkpoint(place)
    world = policy.meta.world
    ladder = _ladder(world, seed)
    each = max(2, games // COUSINS // 2 * 2)
    found = judge(
        policy if backend is None else str(place),
        world,
        seed=seed,
        games_per_cousin=each,
        bot_games=games,
        ladder=ladder,
        on_progress=on_progress,
        backend=backend,
    )
    elo, low, high = found.elo()
    return {
        "world": world,
        "elo": [elo, low, high],
        "text": found.ratings.text(found.name),
        "bound": found.ratings.bound(found.name),
        "accuracy": float(np.mean([record.win_rate for record in found.sealed.values()])),
        "sealed": {name: record.as_json() for name, record in found.sealed.items()},
        "trained": {name: record.as_json() for name, record in found.trained.items()},
        "scores": {name: to_digits(record.scores) for name, record in found.trained.items()},
        "ladder": [[row.a, row.b, to_digits(row.scores)] for row in ladder],
        "intents": measure_intents(policy, world, seed=seed),
        "value_loss": held_out_loss(policy.net, policy.meta),
        "games": games,
    }


@lru_cache(maxsize=8)
def _ladder(world: str, seed: int) -> tuple[Games, ...]:
    return tuple(bot_ladder(world, seed))


def held_out_loss(net: Any, meta: Any) -> float:
    """The value's loss on matches no training run plays: same games, a seed of their own."""
    config = replace(
        for_world(meta.world),
        lanes=HELD_OUT_LANES,
        unroll=HELD_OUT_STEPS,
        minibatches=1,
        cousins=0,
        self_play=0.0,
        kl_coef=0.0,
        gamma=spec_of_world(meta.world, meta.patch).gamma,
        scheme="even",
        floor=1.0,
    )
    actor = open_actor(net, meta, config, list(BASES), HELD_OUT_SEED)
    learner = make_learner(net, meta, actor.layout, config)
    values = learner.backward(actor.gather(0), 0, value_only=True)
    net.zero_grad(set_to_none=True)
    return float(values["value_loss"])
