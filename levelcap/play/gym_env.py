"""Our game as a Gymnasium environment: one hero is the caller's, policies play all other seats.

    env = gymnasium.make("levelcap/Duel-v1", opponent="veteran")

`levelcap.world.doors.farama` registers the ids and says what observations and actions look like.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import gymnasium
import numpy as np
from numpy.typing import NDArray

from levelcap.kit.errors import BadValue, refuse
from levelcap.play.roster import find
from levelcap.play.seats import NOBODY, Seats, views_of
from levelcap.world.doors.farama import (
    RENDER_MODES,
    OneMatch,
    action_space,
    checked_action,
    checked_mode,
    observation_space,
)
from levelcap.world.protocols import Policy, ticks_of
from levelcap.world.spec import DECISIONS_HZ, WorldSpec


class BotGameEnv(gymnasium.Env):
    """One hero's match: the caller plays `seat`, policies play all other seats.

    `opponent` and `ally` are names of policies or policies; `ally` plays the hero's team mates and
    is the same as `opponent` unless given. The episode ends when the hero is out for good or the
    match is decided. `options` are those of `levelcap.world.match.World` listed in `OPTIONS`.
    """

    metadata: dict[str, Any] = {"render_modes": RENDER_MODES, "render_fps": DECISIONS_HZ}

    def __init__(
        self,
        ruleset: str = "duel",
        opponent: Any = "veteran",
        ally: Any = None,
        seat: int = 0,
        views: Sequence[str] = ("features",),
        render_mode: str | None = None,
        **options: Any,
    ) -> None:
        self.render_mode = checked_mode(render_mode)
        self._match = OneMatch(ruleset, views, options)
        spec = self._match.spec
        if not 0 <= seat < spec.num_players:
            remedy = f"Use 0 to {spec.num_players - 1} in {ruleset}"
            raise BadValue(refuse("there is no such seat", seat, remedy))
        self.observation_space = observation_space(spec, self._match.shown)
        self.action_space = action_space(spec)
        self._seat = seat
        self._policies, self._owner = _crew(
            spec, seat, opponent, opponent if ally is None else ally
        )
        own = self._match.world.decision_ticks
        owners = [None if k < 0 else self._policies[k] for k in self._owner.tolist()]
        ticks = [ticks_of(who, spec.tick_hz) if who else own for who in owners]
        self._match.invite(views_of(self._policies), ticks)
        # The grid is as fine as the quickest policy; the hero's action is held in between.
        self._hero_decisions = own // self._match.world.decision_ticks
        self._others = np.flatnonzero(self._owner != NOBODY)
        self._seats: Seats | None = None

    def reset(
        self, *, seed: int | None = None, options: dict[str, Any] | None = None
    ) -> tuple[Any, dict[str, Any]]:
        super().reset(seed=seed)
        self._match.start(self.np_random)
        self._seats = Seats(self._match.world, self._policies, self._owner[None], threads=False)
        return self._match.observation(self._seat), self._match.info(self._seat)

    def step(self, action: Any) -> tuple[Any, float, bool, bool, dict[str, Any]]:
        if self._seats is None:
            raise BadValue(refuse("step without a match", "no match", "Call reset() first"))
        match, seat = self._match, self._seat
        actions = match.blank_actions()
        actions[seat] = checked_action(match.spec, action, f"seat {seat}")
        reward, terminated, truncated = 0.0, False, False
        for _ in range(self._hero_decisions):
            actions[self._others] = self._seats.act(match.rows, match.due)[0, self._others]
            rewards, ended, cut = match.play(actions)
            reward += float(rewards[seat])
            terminated, truncated = bool(ended[seat]), bool(cut[seat])
            if terminated or truncated:
                self._seats = None
                break
        return match.observation(seat), reward, terminated, truncated, match.info(seat)

    def render(self) -> Any:
        return self._match.picture() if self.render_mode == "rgb_array" else None


def _crew(
    spec: WorldSpec, hero: int, opponent: str | Policy, ally: str | Policy
) -> tuple[list[Policy], NDArray[np.int64]]:
    """Who plays the other seats [P]; one policy when allies and opponents are the same."""
    team_size = spec.num_players // spec.num_teams
    seats = np.arange(spec.num_players)
    owner = np.where(seats // team_size == hero // team_size, 1, 0)
    owner[hero] = NOBODY
    if ally == opponent or not (owner == 1).any():
        return [_policy(opponent)], np.where(owner == 1, 0, owner)
    return [_policy(opponent), _policy(ally)], owner


def _policy(given: str | Policy) -> Policy:
    return find(given) if isinstance(given, str) else given
