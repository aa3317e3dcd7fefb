"""What an outside game may not be, what it may not do, and what a caller is told then."""

from __future__ import annotations

import sys
from types import ModuleType
from typing import Any

import gymnasium
import numpy as np
import pytest
from gymnasium import spaces

from levelcap.kit.errors import BadValue, MissingPackage, UnknownName, UserError
from levelcap.world.doors.outside import make_outside, spec_of


class Toy(gymnasium.Env):
    """Three steps of anything; remembers the actions it was given."""

    def __init__(self, observation_space: spaces.Space, action_space: spaces.Space) -> None:
        self.observation_space, self.action_space = observation_space, action_space
        self.taken: list[Any] = []

    def reset(self, *, seed: int | None = None, options: Any = None) -> tuple[Any, dict[str, Any]]:
        super().reset(seed=seed)
        self.observation_space.seed(seed)
        self._left = 3
        return self.observation_space.sample(), {"action_mask": [0, 1, 0]}

    def step(self, action: Any) -> tuple[Any, float, bool, bool, dict[str, Any]]:
        assert self.action_space.contains(action), action
        self.taken.append(action)
        self._left -= 1
        mask = [0, 0, 0] if self._left == 2 else [1, 0, 1]
        over = self._left == 0
        return self.observation_space.sample(), 1.0, over, over, {"action_mask": mask}


def toy(monkeypatch: pytest.MonkeyPatch, observed: spaces.Space, acted: spaces.Space) -> str:
    """Register a toy for the length of a test and return its world name."""
    monkeypatch.setattr(gymnasium.envs.registration, "registry", dict(gymnasium.registry))
    monkeypatch.setattr(gymnasium, "registry", gymnasium.envs.registration.registry)
    gymnasium.register("levelcap-toy/Toy-v0", entry_point=lambda: Toy(observed, acted))
    return "gym:levelcap-toy/Toy-v0"


VECTOR = spaces.Box(-1, 1, (2,))
REFUSED = [
    (spaces.Text(5), spaces.Discrete(2), "observation space holds Text"),
    (spaces.Sequence(VECTOR), spaces.Discrete(2), "observation space holds Sequence"),
    (spaces.Dict(a=VECTOR, g=spaces.Graph(VECTOR, None)), spaces.Discrete(2), "holds Graph"),
    (spaces.Box(0, 255, (96, 96, 3), np.uint8), spaces.Discrete(2), "has 27,648 numbers"),
    (spaces.Box(0, 1, (0,)), spaces.Discrete(2), "has 0 numbers"),
    (VECTOR, spaces.Box(-np.inf, np.inf, (1,)), "is unbounded"),
    (VECTOR, spaces.Box(-3e38, 3e38, (1,)), "is unbounded"),
    (VECTOR, spaces.Discrete(5000), "'action' has 5,000 choices, at most 1,024"),
    (VECTOR, spaces.Text(5), "action space holds Text"),
    (VECTOR, spaces.MultiBinary(100), "its action has 100 parts"),
]


@pytest.mark.parametrize(("observed", "acted", "reason"), REFUSED)
def test_what_cannot_be_mapped_is_refused_in_one_sentence(
    observed: spaces.Space, acted: spaces.Space, reason: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    name = toy(monkeypatch, observed, acted)
    with pytest.raises(UserError, match=reason) as refusal:
        make_outside(name)
    text = str(refusal.value)
    assert text.startswith(f"{name} cannot be a world: ")
    assert ". " not in text and text.endswith(".") and "\n" not in text


def test_masks_from_info_are_honoured_and_empty_ones_ignored(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    world = make_outside(toy(monkeypatch, VECTOR, spaces.Discrete(3)))
    masks = [world.reset()["mask"][0, 0].tolist()]
    for _ in range(3):
        views, _, terminated, truncated, _ = world.step(np.ones((1, 1, 1), np.int64))
        masks.append(views["mask"][0, 0].tolist())
    assert masks == [[0, 1, 0], [1, 1, 1], [1, 0, 1], [0, 1, 0]]
    # The toy says both at once: a game that ended by its rules is not bootstrapped.
    assert terminated.all() and not truncated.any()


def test_numbers_that_are_not_finite_are_reported(monkeypatch: pytest.MonkeyPatch) -> None:
    name = toy(monkeypatch, VECTOR, spaces.Discrete(3))
    monkeypatch.setattr(VECTOR, "sample", lambda: np.array([0.0, np.nan], np.float32))
    with pytest.raises(BadValue, match="player 0 of match 0 the observation nan"):
        make_outside(name).reset()


WRONG_NAMES = [
    ("gym:CartPol-v1", UnknownName, "CartPole-v1"),
    ("gym:CartPole", UnknownName, "CartPole-v1"),
    ("gim:CartPole-v1", UnknownName, "gym"),
    ("zoo:mpe2.simple_spred_v3", UnknownName, "mpe2.simple_spread_v3"),
    ("zoo:mpe.simple_spread_v3", UnknownName, "mpe2.simple_spread_v3"),
    ("zoo:no-module", BadValue, "no module path"),
    ("zoo:json", BadValue, "parallel_env"),
    ("gym:no_such_package:Thing-v0", UnknownName, "no_such_package"),
    ("zoo:pettingzoo.mpe.simple_spread_v3", MissingPackage, "mpe2"),
]


@pytest.mark.parametrize(("name", "kind", "hint"), WRONG_NAMES)
def test_wrong_names_get_a_hint(name: str, kind: type[Exception], hint: str) -> None:
    with pytest.raises(kind, match=hint):
        spec_of(name)


def test_a_missing_package_is_named(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setitem(sys.modules, "Box2D", None)
    for module in [key for key in sys.modules if key.startswith("gymnasium.envs.box2d")]:
        monkeypatch.delitem(sys.modules, module)
    with pytest.raises(MissingPackage, match="LunarLander-v3 needs a package.*pip install"):
        spec_of("gym:LunarLander-v3")


def test_turn_based_games_are_refused(monkeypatch: pytest.MonkeyPatch) -> None:
    module = ModuleType("turns_v0")
    module.env = object  # type: ignore[attr-defined]
    monkeypatch.setitem(sys.modules, "turns_v0", module)
    with pytest.raises(BadValue, match="turn-based"):
        make_outside("zoo:turns_v0")


@pytest.mark.parametrize(
    ("options", "message"),
    [
        ({"num_matches": 0}, "num_matches of gym:CartPole-v1 is 0"),
        ({"max_decisions": 0}, "max_decisions of gym:CartPole-v1 is 0"),
        ({"views": ("feature",)}, "features"),
    ],
)
def test_bad_options_are_named(options: dict[str, Any], message: str) -> None:
    with pytest.raises(UserError, match=message):
        make_outside("gym:CartPole-v1", **options)


class Broken(Toy):
    """A game with a mistake of its own."""

    def __init__(self, call: str) -> None:
        super().__init__(VECTOR, spaces.Discrete(3))
        self._call = call

    def reset(self, **given: Any) -> tuple[Any, dict[str, Any]]:
        return super().reset(**given) if self._call != "reset" else {}["left"]

    def step(self, action: Any) -> tuple[Any, float, bool, bool, dict[str, Any]]:
        raise Overboard("fell off the ship")


class Overboard(Exception):
    """An error of the game's own."""


@pytest.mark.parametrize("call, said", [("reset", "KeyError: 'left'"), ("step", "fell off")])
def test_a_game_that_raises_ends_in_one_sentence_with_its_own_words(monkeypatch, call, said):
    name = toy(monkeypatch, VECTOR, spaces.Discrete(3))
    gymnasium.envs.registration.registry["levelcap-toy/Toy-v0"].entry_point = lambda: Broken(call)
    world = make_outside(name)
    with pytest.raises(BadValue) as refused:
        world.reset()
        world.step(np.zeros((1, 1, 1), np.int64))
    assert said in str(refused.value) and f"failed in {call}()" in str(refused.value)
    assert "\n" not in str(refused.value)
