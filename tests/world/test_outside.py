"""Outside games as worlds: the same interface and the same guarantees as our own."""

from __future__ import annotations

import sys
import warnings
from types import ModuleType, SimpleNamespace
from typing import Any

import gymnasium
import numpy as np
import pytest
from gymnasium import spaces

from levelcap.kit.errors import BadValue
from levelcap.world.doors.batch import OutsideWorld
from levelcap.world.doors.outside import GymGame, make_outside, spec_of
from levelcap.world.doors.spaces import seat_codec
from levelcap.world.spec import WorldSpec

# Box2D's generated bindings warn when they are first imported, and crash if that is an error.
with warnings.catch_warnings():
    warnings.simplefilter("ignore", DeprecationWarning)
    import Box2D  # noqa: F401

SPREAD = "zoo:mpe2.simple_spread_v3"


def flat_size(spec: WorldSpec) -> int:
    """Width of the flat input."""
    return sum(spec.views[name].size for name in spec.flat_views)


def draw(world: Any, views: dict[str, np.ndarray]) -> np.ndarray:
    """Random allowed actions that depend on the rows' keys alone, as a policy's would."""
    columns = []
    for offset, head in zip(world.spec.head_offsets, world.spec.heads, strict=True):
        allowed = views["mask"][..., offset : offset + head.size]
        bins = np.arange(1, head.size + 1, dtype=np.uint64)
        noise = (views["key"][..., None] * (2 * bins + 1)) >> np.uint64(40)
        columns.append(np.argmax(np.where(allowed == 1, noise.astype(np.int64), -1), axis=-1))
    return np.stack(columns, axis=-1)


def play(name: str, num_matches: int, seed: int, num_steps: int, **options: Any) -> dict[str, Any]:
    """A stack of everything a world returned, one entry per step."""
    world = make_outside(name, num_matches=num_matches, seed=seed, **options)
    views = world.reset()
    assert views["reset"].all()
    story: dict[str, list[np.ndarray]] = {}
    for _ in range(num_steps):
        actions = draw(world, views)
        views, rewards, terminated, truncated, info = world.step(actions)
        check_shapes(world, views, rewards, terminated, truncated, info)
        told = {**views, "rewards": rewards, "terminated": terminated, "truncated": truncated}
        for key, value in (*told.items(), ("active", info["active"])):
            story.setdefault(key, []).append(value.copy())
    world.close()
    return {key: np.stack(values) for key, values in story.items()}


def check_shapes(
    world: Any,
    views: dict[str, np.ndarray],
    rewards: np.ndarray,
    terminated: np.ndarray,
    truncated: np.ndarray,
    info: dict[str, Any],
) -> None:
    rows = (world.num_matches, world.spec.num_players)
    assert views["features"].shape == rows + world.spec.views["features"].shape
    assert views["features"].dtype == np.float32
    assert views["mask"].shape == (*rows, world.spec.mask_size)
    assert views["mask"].dtype == np.uint8
    for offset, head in zip(world.spec.head_offsets, world.spec.heads, strict=True):
        assert views["mask"][..., offset : offset + head.size].any(axis=-1).all()
    assert (views["key"].shape, views["key"].dtype) == (rows, np.uint64)
    assert (rewards.shape, rewards.dtype) == (rows, np.float32)
    for flags in (terminated, truncated, views["reset"], views["alive"], info["active"]):
        assert (flags.shape, flags.dtype) == (rows, np.bool_)
    assert info["due"].all()
    assert not (terminated & truncated).any()
    assert np.array_equal(info["active"], views["alive"])
    assert np.array_equal(info["ended"], views["reset"].all(axis=1))
    assert (info["final"] is None) == (not truncated.any())
    if truncated.any():
        assert info["final_rows"].tolist() == np.argwhere(truncated).tolist()
        assert len(info["final"]["features"]) == truncated.sum()


@pytest.mark.parametrize("name", ["gym:CartPole-v1", SPREAD])
def test_500_random_steps_hold_the_contract(name: str) -> None:
    story = play(name, 4, 7, 500)
    ended = (story["terminated"] | story["truncated"]).all(axis=2)
    assert ended.sum() > 20
    assert (story["reset"].all(axis=2) == ended).all()
    assert len(np.unique(story["key"])) == story["key"].size
    again = play(name, 4, 7, 500)
    other = play(name, 4, 8, 60)
    for key, values in story.items():
        assert np.array_equal(values, again[key]), key
    assert not np.array_equal(story["features"][:60], other["features"])


@pytest.mark.parametrize("name", ["gym:CartPole-v1", "gym:Blackjack-v1", SPREAD])
def test_a_match_is_the_same_in_any_batch(name: str) -> None:
    large, small, single = (play(name, size, 3, 80) for size in (7, 3, 1))
    for key, values in large.items():
        assert np.array_equal(values[:, :3], small[key]), key
        assert np.array_equal(values[:, :1], single[key]), key


def test_vectorised_cartpole_gives_the_bits_of_the_plain_environment() -> None:
    fast = make_outside("gym:CartPole-v1", num_matches=5, seed=11)
    games = [GymGame(gymnasium.make("CartPole-v1")) for _ in range(5)]
    codecs = [seat_codec(*games[0].spaces[0], "CartPole")]
    plain = OutsideWorld(fast.spec, codecs, games, 5, 11, None)
    views, plain_views = fast.reset(), plain.reset()
    assert np.array_equal(views["features"], plain_views["features"])
    for _ in range(1200):
        # A controller good enough to reach the time limit in some matches, not in all.
        push = views["features"] @ np.array([0.02, 0.1, 1.0, 0.5], np.float32) > 0
        actions = np.where(views["key"] % 16 == 0, 1 - push, push)[..., None].astype(np.int64)
        views, *rest, info = fast.step(actions)
        plain_views, *plain_rest, plain_info = plain.step(actions)
        for key, view in views.items():
            assert np.array_equal(view, plain_views[key]), key
        for ours, theirs in zip(rest, plain_rest, strict=True):
            assert np.array_equal(ours, theirs)
        if info["final"] is not None:
            assert np.array_equal(info["final"]["features"], plain_info["final"]["features"])


# name, players, features, bins per head
TABLE = [
    ("gym:Acrobot-v1", 1, 6, [3]),
    ("gym:MountainCar-v0", 1, 2, [3]),
    ("gym:MountainCarContinuous-v0", 1, 2, [11]),
    ("gym:Pendulum-v1", 1, 3, [11]),
    ("gym:FrozenLake-v1", 1, 16, [4]),
    ("gym:Taxi-v4", 1, 500, [6]),
    ("gym:Blackjack-v1", 1, 45, [2]),
    ("gym:CliffWalking-v1", 1, 48, [4]),
    ("gym:LunarLander-v3", 1, 8, [4]),
    ("gym:BipedalWalker-v3", 1, 24, [11, 11, 11, 11]),
    ("zoo:mpe2.simple_v3", 1, 4, [5]),
    ("zoo:mpe2.simple_tag_v3", 4, 16, [5]),
    ("zoo:mpe2.simple_adversary_v3", 3, 10, [5]),
    ("zoo:mpe2.simple_speaker_listener_v4", 2, 11, [5]),
    ("zoo:mpe2.simple_crypto_v3", 3, 8, [4]),
    ("zoo:pettingzoo.classic.rps_v2", 2, 4, [3]),
]


@pytest.mark.filterwarnings("ignore:The old environment creation API:DeprecationWarning")
@pytest.mark.parametrize(("name", "players", "features", "bins"), TABLE)
def test_further_environments_run(name: str, players: int, features: int, bins: list[int]) -> None:
    spec = spec_of(name)
    assert spec.name == name
    assert (spec.num_players, flat_size(spec)) == (players, features)
    assert [head.size for head in spec.heads] == bins
    assert spec.single_agent == name.startswith("gym:")
    story = play(name, 2, 0, 40)
    assert story["active"].all()


def test_time_limit_truncates_with_the_last_views() -> None:
    world = make_outside("gym:Pendulum-v1", num_matches=2, seed=0)
    world.reset()
    for _ in range(200):
        views, _, terminated, truncated, info = world.step(np.full((2, 1, 1), 10))
    assert truncated.all() and not terminated.any()
    assert views["reset"].all() and views["alive"].all()
    assert info["final_rows"].tolist() == [[0, 0], [1, 0]]
    final = info["final"]
    assert not final["reset"].any() and final["alive"].all()
    assert not np.array_equal(final["features"], views["features"][:, 0])
    assert len({*final["key"].tolist(), *views["key"].reshape(-1).tolist()}) == 4


def test_max_decisions_truncates_earlier_than_the_game() -> None:
    world = make_outside(SPREAD, num_matches=2, seed=0, max_decisions=3)
    world.reset()
    cut = [world.step(np.zeros((2, 3, 1), np.int64))[3].all() for _ in range(9)]
    assert cut == [False, False, True] * 3


BAD_ACTIONS = [
    (np.full((2, 1, 1), np.nan), "action.*float64.*nan.*whole numbers"),
    (np.zeros((2, 1, 1)), "action.*float64.*whole numbers"),
    (np.ones((2, 1, 1), np.bool_), "action.*bool.*whole numbers"),
    (np.zeros((2, 1), np.int64), r"action.*shape \(2, 1\).*\(2, 1, 1\)"),
    (np.array([[[0]], [[2]]]), "'action' of player 0 in match 1 got 2; pass a number from 0 to 1"),
    (np.array([[[-1]], [[0]]]), "'action' of player 0 in match 0 got -1"),
]


@pytest.mark.parametrize(("actions", "message"), BAD_ACTIONS)
@pytest.mark.parametrize("name", ["gym:CartPole-v1", "gym:Blackjack-v1"])
def test_bad_actions_change_nothing(name: str, actions: np.ndarray, message: str) -> None:
    world, twin = (make_outside(name, num_matches=2, seed=5) for _ in range(2))
    before = {key: view.copy() for key, view in world.reset().items()}
    after = twin.reset()
    with pytest.raises(BadValue, match=message):
        world.step(actions)
    good = np.ones((2, 1, 1), np.int64)
    assert all(np.array_equal(before[key], after[key]) for key in before)
    assert np.array_equal(world.step(good)[0]["features"], twin.step(good)[0]["features"])


def test_step_before_reset_says_so() -> None:
    with pytest.raises(BadValue, match="call reset"):
        make_outside("gym:CartPole-v1").step(np.zeros((1, 1, 1), np.int64))


class Relay:
    """Parallel toy: c sits out every other match, a leaves after two steps, b is cut after four."""

    metadata: dict[str, Any] = {"name": "relay"}
    possible_agents = ("a", "b", "c")

    def __init__(self) -> None:
        self.agents: list[str] = []
        self._matches = 0
        bare = spaces.Box(-9, 9, (2,))
        masked = spaces.Dict(observation=bare, action_mask=spaces.MultiBinary(4))
        self._observed = {"a": spaces.Box(-9, 9, (3,)), "b": masked, "c": bare}
        self._acted = {
            "a": spaces.MultiDiscrete([2, 3]),
            "b": spaces.Discrete(4),
            "c": spaces.Discrete(2),
        }

    def observation_space(self, agent: str) -> spaces.Space:
        return self._observed[agent]

    def action_space(self, agent: str) -> spaces.Space:
        return self._acted[agent]

    def reset(self, seed: int | None = None, options: Any = None) -> tuple[dict, dict]:
        self._matches += 1
        self._clock = 0
        self.agents = ["a", "b"] if self._matches % 2 else ["a", "b", "c"]
        return self._tell(self.agents), {agent: {} for agent in self.agents}

    def step(self, actions: dict[str, Any]) -> tuple[dict, dict, dict, dict, dict]:
        assert sorted(actions) == self.agents
        assert all(self._acted[agent].contains(action) for agent, action in actions.items())
        self._clock += 1
        told = self.agents
        terminated = {agent: agent == "a" and self._clock == 2 for agent in told}
        truncated = {agent: self._clock == 4 for agent in told}
        self.agents = [agent for agent in told if not (terminated[agent] or truncated[agent])]
        rewards = dict.fromkeys(told, 1.0)
        return self._tell(told), rewards, terminated, truncated, {agent: {} for agent in told}

    def close(self) -> None:
        self.agents = []

    def _tell(self, agents: list[str]) -> dict[str, Any]:
        rows: dict[str, Any] = {"a": np.full(3, 1.0), "b": np.full(2, 2.0), "c": np.full(2, 3.0)}
        mask = np.array([0, 1, 1, 0], np.int8)
        rows["b"] = {"observation": rows["b"] + self._clock, "action_mask": mask}
        return {agent: rows[agent] for agent in agents}


def test_uneven_players_are_padded(monkeypatch: pytest.MonkeyPatch) -> None:
    module = ModuleType("relay_v0")
    module.parallel_env = Relay  # type: ignore[attr-defined]
    monkeypatch.setitem(sys.modules, "relay_v0", module)
    world = make_outside("zoo:relay_v0", num_matches=1)
    assert [(head.name, head.size) for head in world.spec.heads] == [
        ("action_0", 4),
        ("action_1", 3),
    ]
    assert (flat_size(world.spec), world.spec.num_teams) == (3, 3)
    views = world.reset()
    assert views["features"][0].tolist() == [[1, 1, 1], [2, 2, 0], [0, 0, 0]]
    assert views["mask"][0].tolist() == [
        [1, 1, 0, 0, 1, 1, 1],
        [0, 1, 1, 0, 1, 0, 0],
        [1, 0, 0, 0, 1, 0, 0],
    ]
    assert views["alive"][0].tolist() == [True, True, False]
    with pytest.raises(BadValue, match="'action_0' of player 0 in match 0 got 2"):
        world.step(np.array([[[2, 0], [1, 0], [0, 0]]]))
    anything = np.array([[[1, 2], [1, 0], [99, -5]]])  # nobody reads the row of a player who is out
    told = [copied(world.step(anything)) for _ in range(4)]
    assert [step.active for step in told] == [
        [True, True, False],
        [False, True, False],
        [False, True, False],
        [True, True, True],
    ]
    assert [step.rewards for step in told] == [[1, 1, 0], [1, 1, 0], [0, 1, 0], [0, 1, 0]]
    assert told[1].terminated == [True, False, False] and not told[1].reset
    assert told[1].features == [[0, 0, 0], [4, 4, 0], [0, 0, 0]]
    assert told[3].truncated == [False, True, False]
    assert told[3].final["features"].tolist() == [[6, 6, 0]]
    assert told[3].reset and told[3].alive == [True, True, True]


def copied(returned: tuple[Any, ...]) -> SimpleNamespace:
    """One match's part of what `step` returned, as lists."""
    views, rewards, terminated, truncated, info = returned
    return SimpleNamespace(
        features=views["features"][0].tolist(),
        alive=views["alive"][0].tolist(),
        reset=views["reset"].all(),
        rewards=rewards[0].tolist(),
        terminated=terminated[0].tolist(),
        truncated=truncated[0].tolist(),
        active=info["active"][0].tolist(),
        final=info["final"],
    )
