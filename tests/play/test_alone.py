"""`levelcap.load`: a hero in somebody else's program."""

import subprocess
import sys

import gymnasium
import numpy as np
import pytest

import levelcap
import levelcap.world
from levelcap.kit.errors import BadValue, UnknownName
from levelcap.nets.family import describe
from levelcap.world.spec import arena_spec
from tests.cli.kept import crown, keep, keep_arena


def play(hero, decisions=12):
    """Actions of the first decisions of a match."""
    env = gymnasium.make("levelcap/Duel-v1", opponent="veteran", views=hero.views)
    hero.reset()
    (observation, info), taken = env.reset(seed=3), []
    for _ in range(decisions):
        action = hero.act(observation, info["action_mask"])
        assert env.action_space.contains(action)
        observation, _, over, cut, info = env.step(action)
        taken.append(action)
        if over or cut:
            break
    env.close()
    return np.array(taken)


def test_the_champion_plays_in_a_gymnasium_environment(realm):
    row, place = keep_arena(realm, 10)
    crown(realm, row)
    first = play(levelcap.load("champion"))
    assert (first == play(levelcap.load(row.id[:16]))).all()  # the same hero by another name
    assert (first == play(levelcap.load(str(place)))).all()
    assert (first != play(levelcap.load("champion", seed=1))).any()  # chance is the seed's


def test_a_hero_with_a_memory_reads_several_views(realm):
    keep(realm, describe("hierarchy", arena_spec("duel"), "dummy"), 10)
    hero = levelcap.load("latest")
    assert len(hero.views) > 1 and len(play(hero)) == 12
    with pytest.raises(BadValue, match="reads several views"):
        hero.act(np.zeros(19))


def test_what_is_no_observation_is_refused(realm):
    keep_arena(realm, 10)
    hero = levelcap.load("latest")
    with pytest.raises(BadValue, match="has the shape"):
        hero.act(np.zeros(7) if len(hero.views) == 1 else {v: np.zeros(7) for v in hero.views})
    with pytest.raises(UnknownName, match="unknown view"):
        hero.act({"picture": np.zeros(3)})
    with pytest.raises(UnknownName, match="unknown checkpoint"):
        levelcap.load("kestral")


def test_importing_levelcap_loads_nothing_heavy():
    code = "import sys, levelcap; heavy = {'torch', 'numpy', 'numba', 'rich', 'cyclopts'}"
    check = f"{code}; assert callable(levelcap.load); assert not heavy & set(sys.modules)"
    run = subprocess.run([sys.executable, "-c", check], capture_output=True, text=True, timeout=60)
    assert run.returncode == 0, run.stderr
