"""A bot that has been hurt and does not forget it: whatever it sees, it flees for twenty seconds.

The trait *wary* is what a test of memory needs: why such a bot flees cannot be seen in the last two
seconds, only in the last minute. Rated bots do not have it.
"""

from __future__ import annotations

import hashlib
from typing import Any

import numpy as np
from numpy.typing import NDArray

from levelcap.world.players.bots import Bot
from levelcap.world.players.brain import FLEE
from levelcap.world.protocols import Decision, Policy, PolicyState, Views, World
from levelcap.world.rules.columns import CTX, HEAD, OBJ, OWN

WITHIN = 50  # decisions: 5 s
HURT = 0.4  # share of hp lost in that time
FLIGHT = 200  # decisions: 20 s
CENTRE = 5  # the bin of no move, and of no aim
HOMEWARD = 0.6  # share of the way that leads to the objective: outside the zone nobody lives long


class WaryBot(Policy):
    """Another bot until it loses 40 hp within 5 s."""

    def __init__(self, name: str, bot: Bot) -> None:
        self.name, self._bot = name, bot
        self.views, self.decision_ticks = bot.views, bot.decision_ticks

    @property
    def content_hash(self) -> str:
        """Of the bot it is, and of the trait."""
        return hashlib.sha256(f"wary {self._bot.content_hash}".encode()).hexdigest()

    def bind(self, world: World) -> None:
        """As the bot does."""
        self._bot.bind(world)

    def initial_state(self, num_rows: int) -> PolicyState:
        """The bot's own memory, hp lost at each of the last decisions, and the flight."""
        mind = self._bot.initial_state(num_rows)
        return {
            "mind": mind,
            "lost": np.zeros((num_rows, WITHIN), np.float32),
            "at": np.zeros(num_rows, np.int64),
            "hp": np.zeros(num_rows, np.float32),
            "left": np.zeros(num_rows, np.int64),  # decisions of flight left
            "away": np.zeros((num_rows, 2), np.float32),
        }

    def act(self, views: Views, state: PolicyState) -> Decision:
        """What the bot does, or flight."""
        assert isinstance(state, dict)
        decided = self._bot.act(views, state["mind"])
        assert decided.intents is not None
        alive = views["alive"].astype(bool)
        self._feel(views, state, alive)
        flees = (state["left"] > 0) & alive
        state["left"][flees] -= 1
        actions, intents = decided.actions.copy(), decided.intents.copy()
        goal = views["context"][:, [CTX.goal_x, CTX.goal_y]]
        way = state["away"] + HOMEWARD * _unit(goal)
        actions[flees, HEAD.move_x : HEAD.move_y + 1] = _bins(way[flees])
        for head in (HEAD.aim_x, HEAD.aim_y):
            actions[flees, head] = CENTRE
        actions[flees, HEAD.fire] = actions[flees, HEAD.ability] = 0
        intents[flees] = FLEE
        return Decision(actions, state, intents=intents)

    def _feel(self, views: Views, state: dict[str, NDArray[Any]], alive: NDArray[np.bool_]) -> None:
        """Note what was lost since the last decision, and take to flight when it is too much."""
        hp = views["player"][:, OWN.hp]
        begins = views["reset"].astype(bool) | (alive & (state["hp"] <= 0))  # or is back
        state["lost"][begins], state["left"][begins] = 0.0, 0
        before = np.where(begins, hp, state["hp"])
        rows = np.arange(len(hp))
        state["lost"][rows, state["at"]] = np.where(alive, np.maximum(before - hp, 0.0), 0.0)
        state["at"][:] = (state["at"] + 1) % WITHIN
        state["hp"][:] = hp
        hurt = alive & (state["lost"].sum(1) >= HURT - 1e-6)
        state["lost"][hurt] = 0.0  # the next flight needs new wounds
        state["left"][hurt] = FLIGHT
        # Away from the nearest enemy, and on that way when it is lost from sight.
        enemy = views["objects"][:, 0]
        known = (enemy[:, OBJ.is_enemy] > 0) & ((state["left"] > 0) | hurt)
        state["away"][known] = -_unit(enemy[known][:, [OBJ.dx, OBJ.dy]])


def _unit(way: NDArray[np.float32]) -> NDArray[np.float32]:
    """Directions [n, 2] of length 1; none stays none."""
    length = np.sqrt((way * way).sum(1, keepdims=True))
    return (way / np.maximum(length, 1e-9)).astype(np.float32)


def _bins(way: NDArray[np.float32]) -> NDArray[np.int8]:
    """Move bins of full speed in this direction."""
    longest = np.maximum(np.abs(way).max(1, keepdims=True), 1e-9)
    return (np.rint(way / longest * CENTRE) + CENTRE).astype(np.int8)
