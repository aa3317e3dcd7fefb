"""Drills: in some seconds the teacher shows what it would do if it wanted something else.

Nobody who copies a bot has to listen to a goal: the situation tells what the bot does, and what it
wants follows from it. A layer that is shown the same situation with another intent, and other
actions, must read the intent. The learner's own play is not touched: it is asked in the situations
it comes into, and learns `pi(action | situation, intent)` for intents it would not have had.
"""

from __future__ import annotations

import numpy as np
from numpy.typing import NDArray

from levelcap.coach.rules import aimed_at
from levelcap.learn.rl.batch import MODE, TARGET, TOLD
from levelcap.play.sample import Sampler
from levelcap.world.actions import CENTRE
from levelcap.world.match import ArenaWorld
from levelcap.world.players.brain import CAUTIOUS, FIGHT
from levelcap.world.players.drill import drilled
from levelcap.world.protocols import Views
from levelcap.world.rules.columns import HEAD
from levelcap.world.spec import INTENTS

HOLD_S = 2  # looks of the Strategist that one drill lasts
# Odd and large: neighbouring seconds and seats get unrelated keys.
_SECOND, _SEAT = np.uint64(0x9E3779B97F4A7C15), np.uint64(0xC2B2AE3D27D4EB4F)
_READ = ("objects", "context", "mask")


def drill_rows(
    world: ArenaWorld, views: Views, lanes: NDArray[np.int64], share: float, told: NDArray[np.int16]
) -> None:
    """Into `told` [lanes, heads + TOLD]: targets of all, and what is done in drills."""
    own = {name: views[name].reshape(-1, *views[name].shape[2:])[lanes] for name in _READ}
    ordered = drill_modes(world, lanes, share)
    # Who wants that anyway shows it better itself.
    ordered[ordered == told[:, MODE]] = -1
    told[:, MODE] = np.where(ordered >= 0, ordered, told[:, MODE])
    modes, bins = told[:, MODE], told[:, :-TOLD]
    cursor = (bins[:, [HEAD.aim_x, HEAD.aim_y]] - CENTRE) / CENTRE
    aimed = aimed_at(own["objects"], cursor, (bins[:, [HEAD.fire, HEAD.ability]] != 0).any(1))
    actions, targets = drilled(own, bins, modes, world.spec.ruleset)
    # Who shoots looks at whom it shoots at.
    shoots = np.isin(modes, (FIGHT, CAUTIOUS)) & (aimed >= 0)
    told[:, TARGET] = np.where(shoots, aimed, targets)
    told[:, :-TOLD] = np.where((ordered >= 0)[:, None], actions, bins)


def drill_modes(world: ArenaWorld, lanes: NDArray[np.int64], share: float) -> NDArray[np.int16]:
    """The intent ordered in each lane now, -1: none. The same for whole seconds of a match."""
    players = world.spec.num_players
    match, seat = lanes // players, (lanes % players).astype(np.uint64)
    # A match's seconds begin where its Strategists look.
    period = world.state["tick"][match].astype(np.uint64) // np.uint64(HOLD_S * world.spec.tick_hz)
    chance = Sampler.chance(world.match_seeds[match] + period * _SECOND + seat * _SEAT)
    drawn = np.floor(chance / share * len(INTENTS)).astype(np.int16)
    return np.where(chance < share, np.minimum(drawn, len(INTENTS) - 1), -1).astype(np.int16)
