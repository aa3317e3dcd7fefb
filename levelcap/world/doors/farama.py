"""Our game for programs that speak Gymnasium or PettingZoo.

    env = gymnasium.make("levelcap/Duel-v1", opponent="veteran")   # one hero, the rest are bots
    env = parallel_env("siege")                                    # every seat is the caller's

Ids: `levelcap/Duel-v1`, `Lms`, `Siege`, `Crown`; the number is the world's version. Importing this
file registers them; Gymnasium does so itself for "levelcap.world.doors.farama:levelcap/Duel-v1".
The class behind the ids is `levelcap.play.gym_env.BotGameEnv`, named here and never imported: who
sits in a match belongs to `play`.

Observations are the 19 features, or the views asked for: one is a Box, several are a Dict. Actions
are MultiDiscrete, one index per head; `info["action_mask"]` is a tuple with one int8 row per head,
as `action_space.sample(mask=...)` takes it. Masked choices are allowed and do nothing. Everything
returned is a copy.

A match is fixed by `reset(seed=...)` and the actions; without a seed every reset draws the next
match. Both classes play one match at a time; batches are far faster through `levelcap.world.make`.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import TYPE_CHECKING, Any

import gymnasium
import numpy as np
from gymnasium import spaces
from gymnasium.utils import seeding
from pettingzoo import ParallelEnv

from levelcap.kit.errors import BadValue, check_known, refuse, unknown_name
from levelcap.world.spec import (
    MOVE_BINS,
    RULESETS,
    WORLD_VERSION,
    ViewSpec,
    WorldSpec,
)

if TYPE_CHECKING:
    from levelcap.world.match import ArenaWorld

RENDER_MODES = ["rgb_array"]
OPTIONS = (
    "patch",
    "decision_ticks",
    "tick_hz",
    "champions",
    "pseudo_reward_scale",
    "draw_reward",
    "max_decisions",
)
Rows = dict[str, np.ndarray]


def register() -> None:
    """Make the four ids known to `gymnasium.make`; doing it twice does no harm."""
    for ruleset in RULESETS:
        env_id = f"levelcap/{ruleset.capitalize()}-v{WORLD_VERSION}"
        if env_id not in gymnasium.registry:
            gymnasium.register(
                env_id,
                entry_point="levelcap.play.gym_env:BotGameEnv",
                kwargs={"ruleset": ruleset},
            )


class ArenaParallelEnv(ParallelEnv):
    """All seats of one match: `blue_0` … and `red_0` …, in lms `player_0` ….

    Who is out for good is terminated once and leaves `agents`; players who wait for their return
    (siege, crown) stay, their actions do nothing. `options` as for `BotGameEnv`.
    """

    def __init__(
        self,
        ruleset: str,
        views: Sequence[str] = ("features",),
        render_mode: str | None = None,
        **options: Any,
    ) -> None:
        self.render_mode = checked_mode(render_mode)
        self._table = OneMatch(ruleset, views, options)
        spec = self._table.spec
        self.metadata = {
            "name": f"levelcap_{ruleset}_v{WORLD_VERSION}",
            "render_modes": RENDER_MODES,
            "render_fps": max(1, spec.tick_hz // self._table.world.decision_ticks),
            "is_parallelizable": True,
        }
        self.possible_agents = _seat_names(spec)
        self.agents: list[str] = []
        self._seats = {agent: seat for seat, agent in enumerate(self.possible_agents)}
        # One space object per player: each is seeded on its own.
        self.observation_spaces = {
            agent: observation_space(spec, self._table.shown) for agent in self.possible_agents
        }
        self.action_spaces = {agent: action_space(spec) for agent in self.possible_agents}
        self._chance, _ = seeding.np_random(None)

    def observation_space(self, agent: str) -> spaces.Space:
        return self.observation_spaces[agent]

    def action_space(self, agent: str) -> spaces.Space:
        return self.action_spaces[agent]

    def reset(
        self, seed: int | None = None, options: dict[str, Any] | None = None
    ) -> tuple[dict[str, Any], dict[str, dict[str, Any]]]:
        if seed is not None:
            self._chance, _ = seeding.np_random(seed)
        self._table.start(self._chance)
        self.agents = list(self.possible_agents)
        return self._told(self.agents)

    def step(self, actions: dict[str, Any]) -> tuple[dict[str, Any], ...]:
        playing, seats = self.agents, self._seats
        if not playing:  # PettingZoo's way to say that the match is over
            return {}, {}, {}, {}, {}
        rewards, terminated, truncated = self._table.play(self._joined(actions))
        observations, infos = self._told(playing)
        ends = {agent: bool(terminated[seats[agent]]) for agent in playing}
        cuts = {agent: bool(truncated[seats[agent]]) for agent in playing}
        self.agents = [agent for agent in playing if not (ends[agent] or cuts[agent])]
        gains = {agent: float(rewards[seats[agent]]) for agent in playing}
        return observations, gains, ends, cuts, infos

    def render(self) -> Any:
        return self._table.picture() if self.render_mode == "rgb_array" else None

    def close(self) -> None:
        self.agents = []

    def _joined(self, actions: dict[str, Any]) -> np.ndarray:
        """Everybody's actions as one array; those who have left stand still."""
        joined = self._table.blank_actions()
        for agent in actions:
            check_known("player in this match", str(agent), self.agents)
        for agent in self.agents:
            if agent not in actions:
                remedy = "Give an action for everyone in env.agents"
                raise BadValue(refuse(f"the action of {agent} is missing", list(actions), remedy))
            joined[self._seats[agent]] = checked_action(self._table.spec, actions[agent], agent)
        return joined

    def _told(self, agents: list[str]) -> tuple[dict[str, Any], dict[str, dict[str, Any]]]:
        table, seats = self._table, self._seats
        return (
            {agent: table.observation(seats[agent]) for agent in agents},
            {agent: table.info(seats[agent]) for agent in agents},
        )


parallel_env = ArenaParallelEnv  # PettingZoo's name for it


class OneMatch:
    """One match at a time: a world of one match, set up anew for each seed."""

    def __init__(self, ruleset: str, views: Sequence[str], options: dict[str, Any]) -> None:
        for name in options:
            check_known("option of the world", name, OPTIONS)
        self.shown = (views,) if isinstance(views, str) else tuple(views)
        if not self.shown:
            raise BadValue(refuse("no view was asked for", views, "Ask for 'features'"))
        self._ruleset, self._options = ruleset, dict(options)
        self._asked = self.shown
        self.world = self._build([0])
        # Parsed once here; later worlds take the patch as it is.
        self._options["patch"] = self.world.patch
        self.spec: WorldSpec = self.world.spec
        self.due: np.ndarray | None = None  # [1, P]; at the start everybody is asked
        self.rows: Rows = {}  # the world's views, [1, P, ...]

    def invite(self, views: Sequence[str], ticks: Sequence[int]) -> None:
        """Also show what the other players ask for, each seat [P] at its own rate in ticks."""
        self._asked = tuple(dict.fromkeys((*self.shown, *views)))
        self._options.update(decision_ticks=min(ticks), seat_ticks=list(ticks))
        self.world = self._build([0])

    def start(self, chance: np.random.Generator) -> None:
        self.world = self._build([int(chance.integers(2**63))])
        self.rows = self.world.reset()
        self.due = None

    def play(self, actions: np.ndarray) -> tuple[np.ndarray, np.ndarray, np.ndarray]:
        """Carry out one decision [P, heads]; rewards, terminated, truncated [P]."""
        views, rewards, terminated, truncated, info = self.world.step(actions[None])
        self.rows = views
        self.due = info["due"]
        return rewards[0], terminated[0], truncated[0]

    def blank_actions(self) -> np.ndarray:
        """Actions [P, heads] that do nothing: the middle of the four directions, 0 elsewhere."""
        middle = [MOVE_BINS // 2 if head.size == MOVE_BINS else 0 for head in self.spec.heads]
        return np.tile(np.array(middle, np.int64), (self.spec.num_players, 1))

    def observation(self, seat: int) -> Any:
        if len(self.shown) == 1:
            return self.rows[self.shown[0]][0, seat].copy()
        return {name: self.rows[name][0, seat].copy() for name in self.shown}

    def info(self, seat: int) -> dict[str, Any]:
        row = self.rows["mask"][0, seat].astype(np.int8)
        return {"action_mask": tuple(np.split(row, self.spec.head_offsets[1:]))}

    def picture(self) -> np.ndarray:
        """The match for a person to look at, uint8 [height, width, 3]."""
        from levelcap.world.draw.picture import draw  # only who looks pays for the import

        return draw(self.world, 0)

    def _build(self, seeds: list[int]) -> ArenaWorld:
        from levelcap.world.match import ArenaWorld  # registering the ids needs no kernels

        return ArenaWorld(
            self._ruleset,
            1,
            views=self._asked,
            auto_reset=False,
            match_seeds=seeds,
            threads=1,
            **self._options,
        )


def checked_action(spec: WorldSpec, action: Any, who: str) -> np.ndarray:
    """The action as a row of head indices, checked before anything moves."""
    row = np.asarray(action)
    names = ", ".join(head.name for head in spec.heads)
    if row.shape != (len(spec.heads),) or row.dtype.kind not in "iu":
        remedy = f"Give {len(spec.heads)} whole numbers: {names}"
        raise BadValue(refuse(f"the action of {who} is not a row of bins", action, remedy))
    for head, value in zip(spec.heads, row.tolist(), strict=True):
        if not 0 <= value < head.size:
            what = f"{head.name} of {who} is out of range"
            raise BadValue(refuse(what, value, f"Give a bin from 0 to {head.size - 1}"))
    return row


def checked_mode(render_mode: str | None) -> str | None:
    if render_mode not in (None, *RENDER_MODES):
        raise unknown_name("render mode", str(render_mode), RENDER_MODES)
    return render_mode


def _seat_names(spec: WorldSpec) -> list[str]:
    if spec.num_teams != 2:
        return [f"player_{seat}" for seat in range(spec.num_players)]
    size = spec.num_players // 2
    return [f"{team}_{seat}" for team in ("blue", "red") for seat in range(size)]


def observation_space(spec: WorldSpec, views: Sequence[str]) -> spaces.Space:
    boxes = {name: _box(spec.views[name]) for name in views}
    return boxes[views[0]] if len(views) == 1 else spaces.Dict(boxes)


def _box(view: ViewSpec) -> spaces.Box:
    if view.dtype == "uint8":
        return spaces.Box(0, 255, view.shape, np.uint8)
    # Values are scaled to about [-1, 1], but nothing in the rules bounds them there.
    return spaces.Box(-np.inf, np.inf, view.shape, np.float32)


def action_space(spec: WorldSpec) -> spaces.MultiDiscrete:
    return spaces.MultiDiscrete([head.size for head in spec.heads])


register()
