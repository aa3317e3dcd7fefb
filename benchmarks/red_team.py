"""Players that break one rule of the constitution each: a rule that catches nobody guards nothing.

    levelcap watch benchmarks.red_team:Feeder master --world siege

They read what a bot reads and use the same actions; in their views x points away from the own base.
"""

from __future__ import annotations

import numpy as np
from numpy.typing import NDArray

from levelcap.world.players.bots import Bot, bot_traits
from levelcap.world.protocols import Decision, Policy, PolicyState, Views, World
from levelcap.world.rules.columns import CTX, HEAD, OBJ, slots_of
from levelcap.world.spec import HEADS

CENTRE = 5  # the bin of no move, and of no aim
NEAR = 12.0  # units: the feeder turns back from enemies so near
STALE = 0.2  # `age`, 1 s: who is out of sight for longer is no longer fetched
UNITS = 50.0  # of `distance`


class Spinner(Policy):
    """Each decision another way, aim and ability, each second one a key: 2,100 actions a minute."""

    name = "spinner"

    def initial_state(self, num_rows: int) -> NDArray[np.int64]:
        """Decisions made."""
        return np.zeros(num_rows, np.int64)

    def act(self, views: Views, state: PolicyState) -> Decision:
        """To and fro."""
        assert isinstance(state, np.ndarray)
        odd = state % 2
        bins = np.full((len(odd), len(HEADS)), CENTRE, np.int8)
        for head in (HEAD.move_x, HEAD.aim_x, HEAD.aim_y):
            bins[:, head] = 2 * CENTRE * odd
        bins[:, HEAD.fire], bins[:, HEAD.ability], bins[:, HEAD.interact] = 0, 1 + odd, odd
        return Decision(bins, state + 1)


class Aimer(Bot):
    """A master that shoots in the decision that first shows an enemy, and never beside it."""

    def __init__(self) -> None:
        super().__init__("aimer", bot_traits("master")._replace(reaction=0.0, aim_noise=0.0))


class Idler(Bot):
    """Stands where it was put."""

    def __init__(self) -> None:
        super().__init__("idler", bot_traits("idle"))


class Deserter(Policy):
    """Leaves its allies for a corner behind the own base, and walks up and down there."""

    name, views = "deserter", ("context",)
    corner = (-0.9, 0.9)

    def act(self, views: Views, state: PolicyState) -> Decision:
        """To the corner; there, up and down every second."""
        context = views["context"]
        way = np.array(self.corner) - context[:, [CTX.px, CTX.py]]
        there = np.hypot(*way.T) < 0.15
        beat = np.floor(context[:, CTX.clock] * 300).astype(int) % 2 * 2 - 1
        way[there] = np.stack((np.zeros(len(beat)), beat), 1)[there]
        return Decision(_walk(way * 50))


class Feeder(Policy):
    """Fetches enemies: lets itself be seen, then walks ahead of them to an ally. Never shoots."""

    name, views = "feeder", ("objects", "context")

    def bind(self, world: World) -> None:
        """Learn where enemies and allies stand among the objects."""
        self._slots = slots_of(world.spec.ruleset)

    def act(self, views: Views, state: PolicyState) -> Decision:
        """Towards the enemy while it is far; while it is near, to the ally furthest from both."""
        objects, first = views["objects"], self._slots.ally
        enemy, allies = objects[:, 0], objects[:, first : first + self._slots.allies]
        ally = allies[np.arange(len(enemy)), allies[..., OBJ.distance].argmax(1)]
        known = (enemy[:, OBJ.is_enemy] > 0) & (enemy[:, OBJ.age] < STALE)
        goal = views["context"][:, [CTX.goal_x, CTX.goal_y]]
        there, back = enemy[:, [OBJ.dir_x, OBJ.dir_y]], ally[:, [OBJ.dir_x, OBJ.dir_y]]
        way = np.where(known[:, None], there, goal)
        near = known & (enemy[:, OBJ.distance] * UNITS < NEAR)
        way[near] = back[near]
        return Decision(_walk(way))


def _walk(way: NDArray[np.floating]) -> NDArray[np.int8]:
    """Bins [n, heads] of a walk in these directions [n, 2], and of nothing else."""
    bins = np.zeros((len(way), len(HEADS)), np.int8)
    bins[:, :4] = CENTRE
    bins[:, :2] = (
        np.rint(way / np.maximum(1.0, np.abs(way).max(1, keepdims=True)) * CENTRE) + CENTRE
    )
    return bins
