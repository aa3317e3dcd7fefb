"""Policies in the seats of many matches: take my rows, act, put back, keep the state.

    seats = Seats(world, [find("master"), find("rookie")], owner)     # owner int [M, P]
    views = world.reset()
    views, *_ , info = world.step(seats.act(views))

The one place where a policy meets a world: match-ups, recording, live play, the opponents of a
training run and the Gymnasium environment all sit their players down here.
"""

from __future__ import annotations

from collections.abc import Sequence
from concurrent.futures import ThreadPoolExecutor
from typing import Any

import numpy as np
from numpy.typing import NDArray

from levelcap.kit.errors import BadValue, refuse
from levelcap.world.players.bots import Bot
from levelcap.world.protocols import (
    ALWAYS,
    Decision,
    Policy,
    PolicyState,
    Views,
    World,
    put_rows,
    take_rows,
    ticks_of,
)

NOBODY = -1  # owner of a seat that none of these policies plays
NO_INTENT = -1
_POOL = ThreadPoolExecutor(2, thread_name_prefix="policies")


def views_of(policies: Sequence[Policy]) -> tuple[str, ...]:
    """All views that at least one of the policies reads."""
    names: dict[str, None] = {}
    for policy in policies:
        names.update(dict.fromkeys(policy.views))
    return tuple(names)


def ask_every_tick(policy: Policy, tick_hz: int) -> Policy:
    """The same policy, asked at every tick of a world of this rate instead of at its own.

    Raises:
        BadValue: a scripted bot, whose reaction is counted in its decisions.
    """
    if isinstance(policy, Bot):
        remedy = "Ask a net at every tick, or leave the bot its rate"
        raise BadValue(refuse("a bot keeps its reaction in seconds", policy.name, remedy))
    policy.decision_ticks, policy.tick_hz = 1, tick_hz
    return policy


class Seats:
    """Who plays which seat, what each of them remembers, and what was decided last.

    After `act`: `log_probs` (of policies that know them), `values` float32 [M, P], NaN where
    unknown; `intents` int8 [M, P], -1 where unknown; `decisions`, a policy's last whole decision.
    """

    def __init__(
        self,
        world: World,
        policies: Sequence[Policy],
        owner: NDArray[Any],
        *,
        threads: bool = True,
        actions: NDArray[Any] | None = None,
        minds: bool = False,
    ) -> None:
        """Sit the policies down.

        owner: int [M, P], which policy plays that seat; NOBODY: somebody else.
        threads: policies decide side by side. actions [M, P, H]: where to write decisions, if
        somebody else writes some of them too. minds: ask for what is worth drawing, in `minds`.
        """
        self._world = world
        self._shape = (world.num_matches, world.spec.num_players)
        self.policies: list[Policy] = list(policies)
        self._owner = self._checked(owner).reshape(-1).copy()
        self._minds = minds
        self.minds: dict[str, NDArray[np.float32]] = {}  # [M, P, ...] by name, NaN where unknown
        for policy in self.policies:
            self._bind(policy)
        self._threads = threads
        wide = max(head.size for head in world.spec.heads) > 256
        if actions is None:
            shape = (*self._shape, len(world.spec.heads))
            actions = np.zeros(shape, np.int16 if wide else np.uint8)
        self.actions = actions
        self._rows_of_actions = actions.reshape(-1, actions.shape[2])  # shares memory
        self.log_probs = np.full(self._shape, np.nan, np.float32)
        self.values = np.full(self._shape, np.nan, np.float32)
        self.intents = np.full(self._shape, NO_INTENT, np.int8)
        self.decisions: list[Decision | None] = [None] * len(self.policies)
        self.rows: list[NDArray[np.int64]] = []  # flat seats match * P + player of each policy
        self.states: list[PolicyState] = []
        for index, policy in enumerate(self.policies):
            self.rows.append(np.flatnonzero(self._owner == index))
            self._introduce(index)
            self.states.append(policy.initial_state(len(self.rows[index])))

    def act(self, views: Views, due: NDArray[np.bool_] | None = None) -> NDArray[Any]:
        """Actions [M, P, H] of everybody who is asked (the array is reused by the next call).

        due [M, P]: whose turn it is, where rates differ; policies at the rate of the grid are
        always asked. Who is not keeps the last action, and remembers nothing new.
        """
        asked = [index for index, rows in enumerate(self.rows) if len(rows)]
        if not self._threads or len(asked) < 2:
            for index in asked:
                self._act_one(index, views, due)
            return self.actions
        tasks = [_POOL.submit(self._act_one, index, views, due) for index in asked[1:]]
        self._act_one(asked[0], views, due)
        for task in tasks:
            task.result()
        return self.actions

    def reseat(self, owner: NDArray[Any]) -> None:
        """Exchange players: a seat that keeps its player keeps the memory, the others start."""
        owner = self._checked(owner).reshape(-1)
        changed = owner != self._owner
        # A few matches end at a time: most policies stay where they are.
        for index in {*self._owner[changed].tolist(), *owner[changed].tolist()} - {NOBODY}:
            policy = self.policies[index]
            old, new = self.rows[index], np.flatnonzero(owner == index)
            state = policy.initial_state(len(new))
            if state is not None:
                place = np.full(owner.size, -1, np.int64)
                place[old] = np.arange(len(old))
                kept = np.flatnonzero(place[new] >= 0)
                put_rows(state, kept, take_rows(self.states[index], place[new[kept]]))
            self.rows[index], self.states[index] = new, state
            self._introduce(index)
        self._owner[:] = owner

    def drop(self, finished: NDArray[np.bool_]) -> None:
        """No longer ask about the matches [M] that are over."""
        owner = self._owner.reshape(self._shape).copy()
        owner[finished] = NOBODY
        self.reseat(owner)

    def add(self, policy: Policy) -> int:
        """Let one more policy in, without a seat yet; returns its number."""
        self._bind(policy)
        self.policies.append(policy)
        self.decisions.append(None)
        self.rows.append(np.zeros(0, np.int64))
        self.states.append(policy.initial_state(0))
        return len(self.policies) - 1

    def replace(self, index: int, policy: Policy) -> None:
        """Put another policy in the place of one, in the same seats, with no memory."""
        self._bind(policy)
        self.policies[index] = policy
        self.states[index] = policy.initial_state(len(self.rows[index]))
        self._introduce(index)

    def keep_first(self, count: int) -> None:
        """Send all policies away but the first `count`; their seats are nobody's until `reseat`."""
        for column in (self.policies, self.decisions, self.rows, self.states):
            del column[count:]  # type: ignore[attr-defined]
        self._owner[self._owner >= count] = NOBODY

    def memory(self, index: int) -> PolicyState:
        """What a policy remembers, a row for every seat of every match; unused rows are fresh."""
        whole = self.policies[index].initial_state(self._shape[0] * self._shape[1])
        put_rows(whole, self.rows[index], self.states[index])
        return whole

    def remember(self, index: int, whole: PolicyState) -> None:
        """Take back what `memory` gave; the seats must be those of that moment."""
        self.states[index] = take_rows(whole, self.rows[index])

    def _act_one(self, index: int, views: Views, due: NDArray[np.bool_] | None) -> None:
        policy, rows, state = self.policies[index], self.rows[index], self.states[index]
        part: NDArray[np.int64] | None = None
        if due is not None and self._ticks(policy) > self._world.decision_ticks:
            part = np.flatnonzero(due.reshape(-1)[rows])
            if len(part) == 0:
                return
            if len(part) < len(rows):
                rows, state = rows[part], take_rows(state, part)
            else:
                part = None
        mine = {
            name: views[name].reshape(-1, *views[name].shape[2:]).take(rows, axis=0)
            for name in (*policy.views, *ALWAYS)
        }
        decision = policy.act(mine, state)
        if part is None:
            self.states[index] = decision.state
        else:
            put_rows(self.states[index], part, decision.state)
        self._rows_of_actions[rows] = decision.actions
        if decision.log_probs is not None and policy.knows_log_probs:
            self.log_probs.reshape(-1)[rows] = decision.log_probs
        if decision.values is not None:
            self.values.reshape(-1)[rows] = decision.values
        if decision.intents is not None:
            self.intents.reshape(-1)[rows] = decision.intents
        for name, mind in decision.mind.items() if self._minds else ():
            if name not in self.minds:
                shape = (*self._shape, *mind.shape[1:])
                self.minds[name] = np.full(shape, np.nan, np.float32)
            self.minds[name].reshape(-1, *mind.shape[1:])[rows] = mind
        self.decisions[index] = decision

    def _ticks(self, policy: Policy) -> int:
        return ticks_of(policy, self._world.spec.tick_hz)

    def _bind(self, policy: Policy) -> None:
        """A policy may refuse the world in its own words, before anything else is said."""
        if self._minds:
            policy.shows_mind = True
        policy.bind(self._world)
        spec = self._world.spec
        secret = [n for n in policy.views if n in spec.views and spec.views[n].critic_only]
        if secret:
            remedy = f"Read {', '.join(spec.acting_views)}"
            raise BadValue(refuse("a policy reads what only a critic may see", secret, remedy))
        missing = [name for name in policy.views if name not in self._world.views]
        if missing:
            raise BadValue(refuse("the world lacks views", missing, "Make it with views_of(...)"))

    def _introduce(self, index: int) -> None:
        """Tell a policy which match and seat its rows are."""
        self.policies[index].sit(*np.divmod(self.rows[index], self._shape[1]))

    def _checked(self, owner: NDArray[Any]) -> NDArray[Any]:
        owner = np.asarray(owner)
        count = len(self.policies)
        if owner.shape != self._shape or owner.min() < NOBODY or owner.max() >= count:
            remedy = f"Give policy indices below {count} in shape {self._shape}"
            raise BadValue(refuse("seats do not fit the world", owner.shape, remedy))
        return owner
