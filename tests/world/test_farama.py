"""Our game through Gymnasium and PettingZoo: their own checks, and that nothing gets lost."""

from __future__ import annotations

import warnings
from typing import Any

import gymnasium
import numpy as np
import pytest
from gymnasium.utils.env_checker import check_env
from pettingzoo.utils.conversions import parallel_to_aec

from levelcap.kit.errors import BadValue, UnknownName, UserError
from levelcap.play.gym_env import BotGameEnv
from levelcap.world.doors.farama import parallel_env, register
from levelcap.world.protocols import Decision, Policy
from levelcap.world.spec import RULESETS, arena_spec

# PettingZoo's own checks import one of its games in the way it has deprecated.
with warnings.catch_warnings():
    warnings.filterwarnings("ignore", "The old environment creation API", DeprecationWarning)
    from pettingzoo.test import parallel_api_test, parallel_seed_test, seed_test

IDS = {ruleset: f"levelcap/{ruleset.capitalize()}-v1" for ruleset in RULESETS}


class Recorder(Policy):
    """A policy that draws its moves from the keys, checks what it is shown and keeps it."""

    views = ("player", "context")

    def __init__(self, decision_ticks: int = 3) -> None:
        self.decision_ticks = decision_ticks
        self.moves: list[np.ndarray] = []
        self.resets: list[bool] = []

    def initial_state(self, num_rows: int) -> np.ndarray:
        return np.full(num_rows, num_rows)

    def act(self, views: dict[str, np.ndarray], rows: np.ndarray) -> Decision:
        state = len(rows)
        assert sorted(views) == ["alive", "context", "key", "mask", "player", "reset"]
        assert views["player"].shape == (state, 16) and views["context"].shape == (state, 16)
        assert views["mask"].shape == (state, 52) and views["key"].dtype == np.uint64
        sizes = np.array([head.size for head in arena_spec("duel").heads], np.uint64)
        shifts = np.arange(7, dtype=np.uint64) * np.uint64(8)
        actions = ((views["key"][:, None] >> shifts) % sizes).astype(np.int64)
        self.moves.append(actions)
        self.resets.append(bool(views["reset"].all()))
        return Decision(actions, rows)


def random_actions(env: Any) -> dict[str, np.ndarray]:
    return {agent: env.action_space(agent).sample() for agent in env.agents}


# The features have no hard bounds, and the checker would like some.
@pytest.mark.filterwarnings("ignore:.*A Box observation space m:UserWarning")
@pytest.mark.parametrize("ruleset", RULESETS)
def test_gymnasium_accepts_the_environment(ruleset: str) -> None:
    check_env(gymnasium.make(IDS[ruleset], opponent="rookie").unwrapped)


@pytest.mark.parametrize("ruleset", RULESETS)
def test_pettingzoo_accepts_the_environment(ruleset: str) -> None:
    parallel_api_test(parallel_env(ruleset), num_cycles=300)
    parallel_seed_test(lambda: parallel_env(ruleset), num_cycles=50)
    seed_test(lambda: parallel_to_aec(parallel_env(ruleset)), num_cycles=50)


def test_registering_twice_does_no_harm() -> None:
    register()
    assert all(env_id in gymnasium.registry for env_id in IDS.values())
    env = gymnasium.make(IDS["siege"], opponent="veteran", ally="idle")
    assert env.action_space.nvec.tolist() == [11, 11, 11, 11, 2, 4, 2]
    assert env.observation_space.shape == (19,)


def episode(env: Any, seed: int | None, num_steps: int) -> list[Any]:
    observation, info = env.reset(seed=seed)
    told = [observation.tolist()]
    env.action_space.seed(5)
    for _ in range(num_steps):
        action = env.action_space.sample(mask=info["action_mask"])
        observation, reward, terminated, truncated, info = env.step(action)
        told.append((observation.tolist(), reward, terminated, truncated))
        if terminated or truncated:
            break
    return told


@pytest.mark.parametrize("ruleset", RULESETS)
def test_a_seed_fixes_the_whole_episode(ruleset: str) -> None:
    env = BotGameEnv(ruleset, opponent="veteran")
    first = episode(env, 4, 60)
    assert episode(env, 4, 60) == first
    assert episode(BotGameEnv(ruleset, opponent="veteran"), 4, 60) == first
    assert episode(env, 3, 60) != first
    env.reset(seed=4)
    second = episode(env, None, 60)
    assert second != first
    env.reset(seed=4)
    assert episode(env, None, 60) == second


@pytest.mark.parametrize(("ruleset", "seat"), [("duel", 1), ("siege", 7), ("lms", 3)])
def test_one_hero_sees_what_the_whole_table_plays(ruleset: str, seat: int) -> None:
    crew = Recorder()
    hero, table = BotGameEnv(ruleset, opponent=crew, seat=seat), parallel_env(ruleset)
    agent = table.possible_agents[seat]
    observation, _ = hero.reset(seed=9)
    observations, _ = table.reset(seed=9)
    assert np.array_equal(observation, observations[agent])
    hero.action_space.seed(1)
    for _ in range(80):
        action = hero.action_space.sample()
        observation, reward, terminated, truncated, info = hero.step(action)
        rows = np.insert(crew.moves[-1], seat, action, axis=0)
        asked = {name: rows[table.possible_agents.index(name)] for name in table.agents}
        observations, rewards, ends, cuts, infos = table.step(asked)
        assert np.array_equal(observation, observations[agent])
        assert (reward, terminated, truncated) == (rewards[agent], ends[agent], cuts[agent])
        for ours, theirs in zip(info["action_mask"], infos[agent]["action_mask"], strict=True):
            assert np.array_equal(ours, theirs)
        if terminated:
            break
    assert crew.resets == [True] + [False] * (len(crew.resets) - 1)


def test_mates_and_foes_are_played_by_their_own_policies() -> None:
    mates, foes = Recorder(), Recorder()
    env = BotGameEnv("crown", opponent=foes, ally=mates, seat=6)
    env.reset(seed=0)
    env.step(np.zeros(7, np.int64))
    assert (len(mates.moves[0]), len(foes.moves[0])) == (4, 5)


@pytest.mark.parametrize(("ticks", "asked"), [(1, 30), (3, 10), (6, 5)])
def test_policies_are_asked_at_their_own_rate(ticks: int, asked: int) -> None:
    crew = Recorder(ticks)
    env = BotGameEnv("duel", opponent=crew)
    env.reset(seed=0)
    for _ in range(10):
        env.step(np.array([5, 5, 5, 5, 0, 0, 0]))
    assert len(crew.moves) == asked
    assert env._match.world.state["tick"][0] == 30


def test_players_who_are_out_leave_once_and_the_last_one_wins() -> None:
    env = parallel_env("lms")
    assert env.possible_agents == [f"player_{seat}" for seat in range(10)]
    env.reset(seed=2)
    ended: dict[str, float] = {}
    while env.agents:
        playing = list(env.agents)
        _, rewards, terminated, truncated, _ = env.step(
            {agent: np.array([5, 5, 5, 5, 0, 0, 0]) for agent in playing}
        )
        assert list(rewards) == playing and not any(truncated.values())
        for agent in playing:
            if terminated[agent]:
                assert agent not in ended and agent not in env.agents
                ended[agent] = rewards[agent]
            else:
                assert rewards[agent] == 0.0
    assert sorted(ended.values()) == [-1.0] * 9 + [1.0]
    assert env.step({}) == ({}, {}, {}, {}, {})


def test_two_teams_are_blue_and_red() -> None:
    assert parallel_env("duel").possible_agents == ["blue_0", "red_0"]
    names = parallel_env("siege").possible_agents
    assert (names[0], names[4], names[5], names[9]) == ("blue_0", "blue_4", "red_0", "red_4")


def test_a_step_limit_truncates() -> None:
    env = BotGameEnv("siege", opponent=Recorder(), max_decisions=3)
    env.reset(seed=0)
    stay = np.array([5, 5, 5, 5, 0, 0, 0])
    assert [env.step(stay)[2:4] for _ in range(3)] == [(False, False)] * 2 + [(False, True)]
    with pytest.raises(BadValue, match="Call reset"):
        env.step(stay)


def test_several_views_make_a_dict() -> None:
    env = parallel_env("duel", views=("player", "objects"))
    observations, _ = env.reset(seed=0)
    space = env.observation_space("blue_0")
    assert isinstance(space, gymnasium.spaces.Dict)
    assert space.contains(observations["blue_0"])
    assert observations["red_0"]["objects"].shape == (16, 20)
    frames = BotGameEnv("duel", opponent=Recorder(), views=("frame",))
    picture, _ = frames.reset(seed=0)
    assert frames.observation_space.contains(picture) and picture.shape == (64, 64, 3)


def test_pictures_for_people() -> None:
    env = gymnasium.make(IDS["crown"], opponent="idle", render_mode="rgb_array")
    env.reset(seed=0)
    picture = env.render()
    assert picture.dtype == np.uint8 and picture.ndim == 3 and picture.std() > 0
    assert BotGameEnv("duel", opponent=Recorder()).render() is None


def test_what_was_returned_is_not_overwritten() -> None:
    env = parallel_env("siege")
    observations, infos = env.reset(seed=0)
    kept = {agent: row.copy() for agent, row in observations.items()}
    masks = {agent: np.concatenate(info["action_mask"]) for agent, info in infos.items()}
    for _ in range(20):
        env.step(random_actions(env))
    assert all(np.array_equal(kept[agent], observations[agent]) for agent in kept)
    assert all(
        np.array_equal(np.concatenate(infos[agent]["action_mask"]), masks[agent]) for agent in kept
    )


GOOD = [5, 5, 5, 5, 0, 0, 0]
BAD_ACTIONS = [
    ([5, 5, 5, 5, 0, 4, 0], "ability of .* is out of range; got 4. Give a bin from 0 to 3"),
    ([-1, 5, 5, 5, 0, 0, 0], "move_x of .* is out of range; got -1"),
    ([0.0, 5.0, 5.0, 5.0, 0.0, 0.0, np.nan], "not a row of bins.*nan.*Give 7 whole numbers"),
    ([5, 5, 5], "not a row of bins; got .*5, 5, 5.*move_x, move_y"),
    (3, "not a row of bins; got 3"),
]


@pytest.mark.parametrize(("action", "message"), BAD_ACTIONS)
def test_bad_actions_change_nothing(action: Any, message: str) -> None:
    crew = Recorder()
    hero, table = BotGameEnv("duel", opponent=crew), parallel_env("duel")
    hero.reset(seed=0)
    table.reset(seed=0)
    before = [one.world.match_hash(0) for one in (hero._match, table._table)]
    with pytest.raises(BadValue, match=message):
        hero.step(action)
    with pytest.raises(BadValue, match=message):
        table.step({"blue_0": GOOD, "red_0": action})
    assert [one.world.match_hash(0) for one in (hero._match, table._table)] == before
    assert crew.moves == []


def test_actions_must_be_those_of_the_players() -> None:
    env = parallel_env("duel")
    env.reset(seed=0)
    with pytest.raises(BadValue, match="the action of red_0 is missing"):
        env.step({"blue_0": GOOD})
    with pytest.raises(UnknownName, match="red_0"):
        env.step({"blue_0": GOOD, "red_0": GOOD, "red_1": GOOD})


@pytest.mark.parametrize(
    ("options", "message"),
    [
        ({"ruleset": "dual"}, "duel"),
        ({"opponent": "vetran"}, "veteran"),
        ({"seat": 2}, "Use 0 to 1 in duel"),
        ({"views": ("feature",)}, "features"),
        ({"views": ()}, "Ask for 'features'"),
        ({"render_mode": "rgb_aray"}, "rgb_array"),
        ({"desicion_ticks": 3}, "decision_ticks"),
        ({"patch": "1.O"}, "1.0"),
    ],
)
def test_wrong_names_get_a_hint(options: dict[str, Any], message: str) -> None:
    with pytest.raises(UserError, match=message):
        BotGameEnv(**{"ruleset": "duel", **options})


def test_step_before_reset_says_so() -> None:
    with pytest.raises(BadValue, match="Call reset"):
        BotGameEnv("duel", opponent=Recorder()).step(GOOD)
