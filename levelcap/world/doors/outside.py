"""Games of others as worlds of ours: `gym:CartPole-v1`, `zoo:mpe2.simple_spread_v3`.

    world = make_outside("gym:CartPole-v1", num_matches=64, seed=0)
    views = world.reset()
    views, rewards, terminated, truncated, info = world.step(actions)

`gym:` is followed by a Gymnasium id (or `module:id`, where importing the module registers the id),
`zoo:` by a module with a PettingZoo `parallel_env`. There is one view, `features`, and one
categorical head per number of the action (`spaces.py` says how). Every game keeps its own rules,
rewards and time limit. In a PettingZoo game the players are `possible_agents` in that order, and
each is a team of its own, because the API does not say who plays together; players whose spaces
are smaller than the largest are padded, and the mask forbids the bins they do not have.

Match i is the same match whatever the batch size: its environment is seeded from (seed, i, number
of restarts) alone. Environments are stepped one after the other, except CartPole-v1, whose own
vectorised form gives the same bits at several times the speed (a test compares them).
"""

from __future__ import annotations

import importlib
import pkgutil
import traceback
from collections.abc import Iterable, Iterator, Sequence
from contextlib import contextmanager
from pathlib import Path
from types import ModuleType
from typing import Any

import gymnasium
import numpy as np
from gymnasium.utils import seeding

from levelcap.kit.errors import BadValue, MissingPackage, check_known, refuse, unknown_name
from levelcap.world.doors.batch import Outcome, OutsideWorld
from levelcap.world.doors.spaces import SeatCodec, common_heads, no_world, seat_codec
from levelcap.world.spec import TICK_HZ, ViewSpec, WorldSpec

CARTPOLE = "gym:CartPole-v1"


def make_outside(
    name: str,
    num_matches: int = 1,
    seed: int = 0,
    views: Sequence[str] | None = None,
    max_decisions: int | None = None,
) -> OutsideWorld:
    """A world of `num_matches` matches of the named outside game.

    `views` may only ask for `features`. `max_decisions` truncates matches earlier than the game
    itself would.
    """
    for label, count in (("num_matches", num_matches), ("max_decisions", max_decisions)):
        if count is not None and count < 1:
            raise BadValue(f"{label} of {name} is {count}; pass a whole number of at least 1.")
    game = _open(name)
    codecs = _codecs(name, game)
    spec = _spec(name, game, codecs)
    for view in views or ():
        check_known("view", view, spec.views)
    rest = (num_matches, seed, max_decisions)
    if name == CARTPOLE:
        game.close()
        return CartPoleWorld(spec, codecs, (), *rest)
    games = [game, *(_open(name) for _ in range(num_matches - 1))]
    return OutsideWorld(spec, codecs, games, *rest)


def spec_of(name: str) -> WorldSpec:
    """Sizes and names of the named outside game."""
    game = _open(name)
    try:
        return _spec(name, game, _codecs(name, game))
    finally:
        game.close()


@contextmanager
def _its_own_errors(env: Any, call: str) -> Iterator[None]:
    """Whatever a game of others raises becomes one sentence with the game's own words."""
    try:
        yield
    except Exception as error:
        last = traceback.extract_tb(error.__traceback__)[-1]
        said = f"{type(error).__name__}: {error}".strip(": ")
        remedy = f"Correct the game (line {last.lineno} of {Path(last.filename).name})"
        raise BadValue(refuse(f"the game {env} failed in {call}()", said, remedy)) from error


class GymGame:
    """A Gymnasium environment: one seat."""

    players = ("player",)
    single_agent = True

    def __init__(self, env: Any) -> None:
        self.env, self.over = env, True
        self.spaces = ((env.observation_space, env.action_space),)

    def start(self, seed: int) -> Iterable[tuple[int, Any, dict[str, Any]]]:
        self.over = False
        with _its_own_errors(self.env, "reset"):
            observation, info = self.env.reset(seed=seed)
        return ((0, observation, info),)

    def play(self, row: Sequence[Sequence[int]], codecs: Sequence[SeatCodec]) -> list[Outcome]:
        action = codecs[0].decode(row[0])
        with _its_own_errors(self.env, "step"):
            observation, reward, terminated, truncated, info = self.env.step(action)
        self.over = terminated or truncated
        return [(0, observation, reward, terminated, truncated, info)]

    def close(self) -> None:
        self.env.close()


class ZooGame:
    """A PettingZoo parallel environment: a seat for every possible agent."""

    single_agent = False

    def __init__(self, env: Any) -> None:
        self.env, self.over = env, True
        self._agents = tuple(env.possible_agents)
        self.players = tuple(str(agent) for agent in self._agents)
        self.spaces = tuple(
            (env.observation_space(agent), env.action_space(agent)) for agent in self._agents
        )

    def start(self, seed: int) -> Iterable[tuple[int, Any, dict[str, Any]]]:
        self.over = False
        with _its_own_errors(self.env, "reset"):
            observations, infos = self.env.reset(seed=seed)
        return [
            (seat, observations[agent], infos.get(agent, {}))
            for seat, agent in enumerate(self._agents)
            if agent in self.env.agents
        ]

    def play(self, row: Sequence[Sequence[int]], codecs: Sequence[SeatCodec]) -> list[Outcome]:
        before = set(self.env.agents)
        actions = {
            agent: codec.decode(indices)
            for agent, codec, indices in zip(self._agents, codecs, row, strict=True)
            if agent in before
        }
        with _its_own_errors(self.env, "step"):
            observations, rewards, terminated, truncated, infos = self.env.step(actions)
        after = set(self.env.agents)
        outcomes: list[Outcome] = [
            (
                seat,
                observations.get(agent),
                rewards.get(agent, 0.0),
                bool(terminated.get(agent)),
                # Who leaves without a word was not judged by the game: that is a truncation.
                bool(truncated.get(agent)) or agent not in after,
                infos.get(agent, {}),
            )
            for seat, agent in enumerate(self._agents)
            if agent in before or agent in after  # agents may also join in the middle of a match
        ]
        self.over = all(outcome[3] or outcome[4] for outcome in outcomes)
        return outcomes

    def close(self) -> None:
        self.env.close()


class CartPoleWorld(OutsideWorld):
    """CartPole-v1 on Gymnasium's own vectorised implementation.

    That one draws all starting states from one generator, so a match would depend on the batch
    size; here every match starts from the state its own seed gives in the plain environment.
    """

    def __init__(self, *args: Any) -> None:
        super().__init__(*args)
        self._poles = gymnasium.make_vec(
            "CartPole-v1", num_envs=self.num_matches, vectorization_mode="vector_entry_point"
        ).unwrapped
        self._poles.reset(seed=0)

    def _begin(self, match: int, seed: int) -> None:
        generator, _ = seeding.np_random(seed)
        state = generator.uniform(-0.05, 0.05, size=(4,))
        self._poles.state[:, match] = state
        self._poles.steps[match] = 0
        self._features[match, 0] = state
        self._alive[match] = True

    def _advance(self, actions: np.ndarray) -> np.ndarray:
        # Ended matches have been restarted by `_begin`, the poles must not do it again.
        self._poles.prev_done[:] = False
        rows, rewards, terminated, truncated, _ = self._poles.step(actions[:, 0, 0])
        self._features[:, 0] = rows
        self._rewards[:, 0] = rewards
        self._terminated[:, 0] = terminated
        self._truncated[:, 0] = truncated & ~terminated
        self._alive[:, 0] = ~terminated
        return terminated | truncated

    def close(self) -> None:
        super().close()
        self._poles.close()


def _open(name: str) -> GymGame | ZooGame:
    """One environment of the named game."""
    kind, _, rest = name.partition(":")
    if kind == "gym":
        return GymGame(_gym_env(name, rest))
    if kind == "zoo":
        return ZooGame(_zoo_env(name, rest))
    raise unknown_name("kind of outside world", kind, ("gym", "zoo"))


def _gym_env(name: str, env_id: str) -> Any:
    module, _, plain_id = env_id.rpartition(":")
    if module:
        _module(name, module)
    check_known("Gymnasium environment", plain_id, gymnasium.registry)
    try:
        return gymnasium.make(plain_id, disable_env_checker=True)
    except (gymnasium.error.DependencyNotInstalled, ImportError) as error:
        raise _missing(name, error) from error
    except (gymnasium.error.Error, TypeError) as error:
        why = f"Gymnasium could not build it by its name alone ({error})"
        raise no_world(name, why, "register a variant that needs no arguments") from error


def _zoo_env(name: str, path: str) -> Any:
    module = _module(name, path)
    build = getattr(module, "parallel_env", None)
    if build is None:
        turns = "offers only a turn-based (AEC) env" if hasattr(module, "env") else "is no game"
        remedy = "name a module that has a PettingZoo parallel_env"
        raise no_world(name, f"the module {turns}", remedy)
    try:
        env = build()
    except ImportError as error:
        raise _missing(name, error) from error
    if not getattr(env, "possible_agents", None):
        why = "its parallel_env has no possible_agents, so the number of players is unknown"
        raise no_world(name, why, "set possible_agents in the environment")
    return env


def _module(name: str, path: str) -> ModuleType:
    if not all(part.isidentifier() for part in path.split(".")):
        remedy = "write it with dots, as in zoo:mpe2.simple_spread_v3"
        raise no_world(name, f"'{path}' is no module path", remedy)
    try:
        return importlib.import_module(path)
    except ImportError as error:
        # Either the path itself is wrong or the module exists and misses something it needs.
        itself = isinstance(error, ModuleNotFoundError) and error.name
        if itself and f"{path}.".startswith(f"{error.name}."):
            raise unknown_name("module", path, _modules_near(path)) from error
        raise _missing(name, error) from error


def _modules_near(path: str) -> tuple[str, ...]:
    """Modules the caller may have meant: those of the same package, and the games of mpe2."""
    near: list[str] = []
    for package in (path.rpartition(".")[0], "mpe2"):
        try:
            folders = importlib.import_module(package).__path__ if package else ()
        except (ModuleNotFoundError, AttributeError):
            continue
        near.extend(f"{package}.{entry.name}" for entry in pkgutil.iter_modules(folders))
    return tuple(near)


def _missing(name: str, error: ImportError | gymnasium.error.Error) -> MissingPackage:
    package = getattr(error, "name", None)
    remedy = f"pip install {package.partition('.')[0]}" if package else "install what it asks for"
    return MissingPackage(f"{name} needs a package that is not here ({error}); {remedy}.")


def _codecs(name: str, game: GymGame | ZooGame) -> list[SeatCodec]:
    return [seat_codec(observed, acted, name) for observed, acted in game.spaces]


def _spec(name: str, game: GymGame | ZooGame, codecs: Sequence[SeatCodec]) -> WorldSpec:
    width = max(codec.num_features for codec in codecs)
    metadata = getattr(game.env, "metadata", None) or {}
    return WorldSpec(
        name=name,
        num_players=len(codecs),
        num_teams=len(codecs),
        heads=common_heads(codecs),
        views={"features": ViewSpec((width,))},
        flat_views=("features",),
        gamma=0.99,
        tick_hz=int(metadata.get("render_fps") or TICK_HZ),
        single_agent=game.single_agent,
        extras={"players": game.players},
    )
