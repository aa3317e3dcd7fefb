"""One hero without a world of ours: an observation in, an action out. For programs of others.

hero = levelcap.load("champion")
env = gymnasium.make("levelcap/Duel-v1", views=hero.views)
action = hero.act(observation)
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any

import numpy as np
from numpy.typing import ArrayLike, NDArray

from levelcap.kit.errors import BadValue, check_known, refuse
from levelcap.kit.seeds import chain
from levelcap.play.load import NetPolicy
from levelcap.world import make
from levelcap.world.spec import WORLDS, arena_spec

Observation = ArrayLike | Mapping[str, ArrayLike]


class Hero:
    """A net in one seat; what it remembers of its match stays here."""

    def __init__(self, policy: NetPolicy, seed: int = 0) -> None:
        self.policy, self.world = policy, policy.meta.world
        self.views = policy.views
        """what an observation has to hold"""
        spec = arena_spec(self.world) if self.world in WORLDS else make(self.world).spec
        policy.fit(spec)
        self._spec, self._seed, self._asked = spec, seed, 0
        self.reset()

    def reset(self) -> None:
        """A match begins: forget the last one."""
        self._state = self.policy.initial_state(1)
        self._begins = True

    def act(
        self, observation: Observation, action_mask: Sequence[ArrayLike] | None = None
    ) -> NDArray[np.int64]:
        """Decide: one index per head, as Gymnasium's MultiDiscrete takes it.

        Args:
            observation: an array, if the hero reads one view; else a table of `views`.
            action_mask: `info["action_mask"]`; without it a choice may do nothing.

        Raises:
            BadValue: a view is missing or has another shape. UnknownName: it has no such view.
        """
        rows = self._rows(observation)
        sizes = sum(head.size for head in self._spec.heads)
        mask = np.ones(sizes) if action_mask is None else np.concatenate(list(action_mask))
        if mask.shape != (sizes,):
            remedy = 'Give info["action_mask"] as the environment returns it'
            raise BadValue(refuse(f"a mask has {sizes} entries", mask.shape, remedy))
        rows["mask"] = mask.astype(np.uint8)[None]
        rows["key"] = np.array([chain(self._seed, self._asked)], np.uint64)
        rows["reset"], rows["alive"] = np.array([self._begins]), np.array([True])
        decision = self.policy.act(rows, self._state)
        self._state, self._begins = decision.state, False
        self._asked += 1
        return np.asarray(decision.actions[0], np.int64)

    def _rows(self, observation: Observation) -> dict[str, NDArray[Any]]:
        if not isinstance(observation, Mapping):
            if len(self.views) > 1:
                remedy = f"Make the environment with views={self.views}, or give a table of them"
                raise BadValue(refuse("this hero reads several views", "one array", remedy))
            observation = {self.views[0]: observation}
        for name in self.views:
            check_known("view of this observation", name, tuple(observation))
        rows = {name: np.asarray(observation[name], np.float32)[None] for name in self.views}
        for name, row in rows.items():
            if row.shape[1:] != (shape := self._spec.views[name].shape):
                remedy = f"Make the environment of {self.world} with views={self.views}"
                raise BadValue(refuse(f"{name} has the shape {shape}", row.shape[1:], remedy))
        return rows
