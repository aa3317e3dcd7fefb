"""A group of matches in one world: the learner's seats, and opponents in the others."""

from __future__ import annotations

from typing import Any

import numpy as np
from numpy.typing import NDArray

from levelcap.learn.engine.state import State
from levelcap.learn.rl.batch import INTENT, MODE, TARGET, TOLD, MatchResult
from levelcap.learn.rl.drills import drill_rows
from levelcap.learn.rl.opponents import Pool
from levelcap.play.seats import NOBODY, Seats
from levelcap.world.match import ArenaWorld
from levelcap.world.protocols import Info, Policy, PolicyState, Views, World

CLEAR = "clear "  # prefix of a view as it is, in a world that shows another


class MatchGroup:
    """One world and who plays in it; opponents are drawn anew for every match."""

    def __init__(
        self,
        world: World,
        learned: NDArray[np.bool_],
        pool: Pool | None,
        teacher: Policy | None = None,
        team_reward: float = 0.0,
        drill: float = 0.0,
    ) -> None:
        """learned [M, P]: the learner's seats. pool: opponents for the others (None: no others).

        teacher: looks over the learner's shoulder and says what it would do there.
        team_reward: share of every reward that is the mean of the team's. drill: share of the
        seconds in which the teacher shows what it would do with an intent drawn by chance.
        """
        self.drill = drill
        self.world, self.pool, self.team_reward = world, pool, team_reward
        self.learned = learned
        self.lanes = np.flatnonzero(learned)  # flat seat match * P + player of each lane
        players = learned.shape[1]
        self.team_of_seat = np.arange(players) * world.spec.num_teams // players
        # Teams on which the learner has a seat, for every match.
        self.lane_teams = [set(self.team_of_seat[row].tolist()) for row in learned]
        self.foe = np.full(len(learned), NOBODY, np.int64)  # opponent's number of each match
        self.views: Views = {}
        self.active = np.ones(learned.shape, np.bool_)
        self.results: list[MatchResult] = []  # since they were last taken
        self.actions = np.zeros((learned.size, len(world.spec.heads)), np.int16)
        # One after the other: the second core belongs to the learner.
        nobody = np.full(learned.shape, NOBODY, np.int64)
        both = self.actions.reshape(*learned.shape, -1)  # the learner's and the opponents'
        self.opponents = Seats(world, [], nobody, threads=False, actions=both)
        self._due: NDArray[np.bool_] | None = None
        self.advice: Seats | None = None
        if teacher is not None:
            beside = np.where(learned, 0, NOBODY)
            self.advice = Seats(world, [teacher], beside, threads=False)

    def advise(self) -> NDArray[np.int16]:
        """What the teacher would do now, [lanes, heads + TOLD]: see `batch`; -1 is unknown."""
        assert self.advice is not None
        actions = self.advice.act(self.views, self._due)
        told = np.empty((len(self.lanes), actions.shape[-1] + TOLD), np.int16)
        told[:, :-TOLD] = actions.reshape(len(self.actions), -1)[self.lanes]
        told[:, TARGET] = -1
        told[:, MODE] = told[:, INTENT] = self.advice.intents.reshape(-1)[self.lanes]
        if self.drill > 0:
            assert isinstance(self.world, ArenaWorld), "only scripted bots teach"
            drill_rows(self.world, self.views, self.lanes, self.drill, told)
        return told

    def start(self) -> None:
        """Reset the world and draw the first opponents."""
        self.views = self.world.reset()
        self.active[:] = True
        if self.pool is not None:
            for member in self.pool.members:
                self.opponents.add(member.policy)
            self.redraw(np.arange(len(self.foe)))

    def welcome(self, index: int, policy: Policy) -> None:
        """A member of the pool is new, or has taken the place of another."""
        if index < len(self.opponents.policies):
            self.opponents.replace(index, policy)
        else:
            self.opponents.add(policy)

    def redraw(self, matches: NDArray[np.int64]) -> None:
        """Draw opponents for matches that have just begun."""
        assert self.pool is not None
        self.foe[matches] = self.pool.draw(self.world.match_seeds[matches])
        self._seat_opponents()

    def _seat_opponents(self) -> None:
        self.opponents.reseat(np.where(self.learned, NOBODY, self.foe[:, None]))

    def step(self) -> tuple[NDArray[Any], NDArray[Any], NDArray[Any], Info]:
        """One decision of everybody, the learner's in `actions` [M * P, heads] already.

        Returns rewards, terminated, truncated [M, P] and info.
        """
        if self.pool is not None:
            self.opponents.act(self.views, self._due)
        outcome = self.world.step(self.opponents.actions)
        # [M, P] each
        self.views, rewards, terminated, truncated, info = outcome
        if self.team_reward > 0:
            teams = rewards.reshape(len(rewards), self.world.spec.num_teams, -1)
            teams += self.team_reward * (teams.mean(-1, keepdims=True) - teams)
        self.active[:] = info["active"]
        self._due = info["due"]
        if self.pool is not None and info["ended"].any():
            ended = np.flatnonzero(info["ended"])
            for match in ended.tolist():
                self._count(match, int(info["winner"][match]))
            self.redraw(ended)
        return rewards, terminated, truncated, info

    def take_results(self) -> list[MatchResult]:
        """Matches that ended since the last call."""
        results, self.results = self.results, []
        return results

    def state(self) -> State:
        """The matches as they stand, who plays them, and what the opponents remember."""
        state = State({"foe": self.foe, "active": self.active})
        saved = self.world.snapshot()
        if saved is not None:
            state.arrays["world"] = saved
        for index in range(len(self.opponents.policies)):
            _keep_memory(state, f"mind{index}", self.opponents.memory(index))
        if self.advice is not None:
            _keep_memory(state, "teacher", self.advice.memory(0))
        return state

    def restore(self, state: State) -> None:
        """Take the matches back; every opponent must have been welcomed."""
        self.foe[:] = state.arrays["foe"]
        self.active[:] = state.arrays["active"]
        kept = self.world.snapshot()  # for its type and shape
        if kept is not None:
            kept = state.arrays["world"].view(kept.dtype).reshape(kept.shape)
        self.views = self.world.restore(kept)
        if kept is None:
            self.active[:] = True
        if self.advice is not None:
            self.advice.remember(0, _read_memory(state, "teacher", self.advice.memory(0)))
        if self.pool is None:
            return
        self._seat_opponents()
        for index in range(len(self.opponents.policies)):
            like = self.opponents.memory(index)
            self.opponents.remember(index, _read_memory(state, f"mind{index}", like))

    def _count(self, match: int, winner: int) -> None:
        assert self.pool is not None
        # One win for the learner if any of its teams won.
        score = 0.5 if winner < 0 else float(winner in self.lane_teams[match])
        member = int(self.foe[match])
        self.results.append(MatchResult(self.pool.members[member].name, score))
        self.pool.record(member, score)


def _keep_memory(state: State, name: str, memory: PolicyState) -> None:
    if isinstance(memory, dict):
        state.put(name, State(dict(memory)))
    elif memory is not None:
        state.arrays[name] = memory


def _read_memory(state: State, name: str, like: PolicyState) -> PolicyState:
    """What an opponent remembered, in the type of a fresh memory."""
    if like is None:
        return None
    if isinstance(like, dict):
        saved = state.get(name).arrays
        return {
            key: saved[key].view(array.dtype).reshape(array.shape) for key, array in like.items()
        }
    return state.arrays[name].view(like.dtype).reshape(like.shape)
