"""Policies at a table: who sits where in many matches, and what they do.

    table = Table(world, [load("master"), load("rookie")], seats)     # seats int [M, P]
    views = world.reset()
    views, *_ = world.step(table.act(views))
"""

from __future__ import annotations

from collections.abc import Sequence
from concurrent.futures import ThreadPoolExecutor
from typing import Any

import numpy as np
from numpy.typing import NDArray

from levelcap.kit.errors import BadValue, refuse

ALWAYS = ("mask", "reset", "key", "alive")
_POOL = ThreadPoolExecutor(2, thread_name_prefix="policies")


def views_of(policies: Sequence[Any]) -> tuple[str, ...]:
    """All views that at least one of the policies reads."""
    names: dict[str, None] = {}
    for policy in policies:
        names.update(dict.fromkeys(policy.views))
    return tuple(names)


class Table:
    """Seats of many matches filled with policies; keeps each policy's state."""

    def __init__(self, world: Any, policies: Sequence[Any], seats: NDArray[Any]) -> None:
        """seats: int [M, P], which policy plays that seat; world must offer their views."""
        shape = (world.num_matches, world.spec.num_players)
        seats = np.asarray(seats)
        if seats.shape != shape or seats.min() < 0 or seats.max() >= len(policies):
            remedy = f"Give policy indices below {len(policies)} in shape {shape}"
            raise BadValue(refuse("seats do not fit the world", seats.shape, remedy))
        for policy in policies:  # a policy may refuse the world in its own words
            if hasattr(policy, "bind"):
                policy.bind(world)
        missing = [name for name in views_of(policies) if name not in world.views]
        if missing:
            raise BadValue(refuse("the world lacks views", missing, "Make it with views_of(...)"))
        self.policies, self.seats = list(policies), seats
        self._actions = np.zeros((*shape, len(world.spec.heads)), np.uint8)
        self.rows: list[tuple[NDArray[Any], NDArray[Any]]] = []
        self.states: list[Any] = []
        for index, policy in enumerate(self.policies):
            rows = np.nonzero(seats == index)
            self.rows.append((rows[0], rows[1]))
            if hasattr(policy, "sit"):  # a seer must know whose future it looks at
                policy.sit(*rows)
            self.states.append(policy.initial_state(len(rows[0])))

    def act(self, views: dict[str, NDArray[Any]]) -> NDArray[np.uint8]:
        """Actions [M, P, heads] of everybody (reused by the next call)."""
        tasks = [
            _POOL.submit(self._act_one, index, views)
            for index in range(1, len(self.policies))
            if len(self.rows[index][0])
        ]
        if len(self.rows[0][0]):
            self._act_one(0, views)
        for task in tasks:
            task.result()
        return self._actions

    def _act_one(self, index: int, views: dict[str, NDArray[Any]]) -> None:
        policy, rows = self.policies[index], self.rows[index]
        mine = {name: views[name][rows] for name in (*policy.views, *ALWAYS)}
        actions, self.states[index] = policy.act(mine, self.states[index])
        self._actions[rows] = actions
