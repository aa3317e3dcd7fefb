"""Stable-Baselines3's PPO, unmodified. Runs in `.venv-peers`, from the repository's root.

    .venv-peers/bin/python -m benchmarks.peers.sb3 --documented [--subproc] [--mode race|speed]
    .venv-peers/bin/python -m benchmarks.peers.sb3 --row duel-a

`--documented` is what its documentation shows: 8 Gymnasium environments, the default settings, and
`net_arch` of our size (policy and value then have a torso of 2 x 128 each). Otherwise the game is
a `VecEnv` over the batch of lanes, and both share a torso of 2 x 128, as our own net does. PPO
there knows no masks. `referee.py` says what is printed.
"""

from __future__ import annotations

import argparse
import os
import sys
from typing import Any

# One waiting thread must not keep a core busy; has to be set before torch is loaded.
os.environ.setdefault("OMP_WAIT_POLICY", "PASSIVE")

import gymnasium
import numpy as np
import torch
from gymnasium import spaces
from numpy.typing import NDArray
from stable_baselines3 import PPO
from stable_baselines3.common.callbacks import BaseCallback
from stable_baselines3.common.monitor import Monitor
from stable_baselines3.common.torch_layers import BaseFeaturesExtractor
from stable_baselines3.common.vec_env import DummyVecEnv, SubprocVecEnv, VecEnv
from torch import Tensor, nn

from benchmarks.peers.arena_env import OPPONENT, Lanes, open_lanes
from benchmarks.peers.referee import Referee, read_options

DEFAULTS = {
    "documented": False, "subproc": False, "lanes": 256, "steps": 64, "batch_size": 4096,
    "epochs": 2, "lr": 7e-4, "entropy": 0.003, "gamma": 0.99, "lam": 0.95, "threads": 1,
    "world_threads": 2, "pseudo": 0.0, "reads": "features", "greedy": False, "aim": "free",
}  # fmt: skip
ROWS: dict[str, dict[str, Any]] = {
    "duel_documented": {"documented": True, "lanes": 8, "steps": 2048, "epochs": 10},
    "duel_all_views": {
        "reads": "all", "batch_size": 2048, "lr": 1e-3, "lam": 0.9, "world_threads": 1,
    },
    "duel_relative_aim": {
        "reads": "all", "batch_size": 2048, "lr": 1e-3, "lam": 0.9, "world_threads": 1,
        "aim": "relative",
    },
    "cartpole_documented": {"documented": True, "lanes": 8, "steps": 2048, "epochs": 10},
    "cartpole_64": {
        "lanes": 64, "steps": 32, "batch_size": 512, "epochs": 8, "lr": 2e-3, "lam": 0.8,
        "gamma": 0.98, "entropy": 0.0,
    },
}  # fmt: skip


class LaneVecEnv(VecEnv):
    """A batch of lanes as Stable-Baselines3 wants it."""

    def __init__(self, lanes: Lanes) -> None:
        self.lanes = lanes
        rows = spaces.Box(-np.inf, np.inf, (lanes.num_features,), np.float32)
        single = len(lanes.heads) == 1
        bins = spaces.Discrete(lanes.heads[0]) if single else spaces.MultiDiscrete(lanes.heads)
        super().__init__(lanes.num_lanes, rows, bins)
        self._nothing: list[dict[str, Any]] = [{} for _ in range(lanes.num_lanes)]
        self._actions: NDArray[Any] = np.zeros(0)

    def reset(self) -> NDArray[np.float32]:
        return self.lanes.reset()

    def step_async(self, actions: NDArray[Any]) -> None:
        self._actions = actions

    def step_wait(self) -> Any:
        step = self.lanes.step(self._actions)
        infos = self._nothing
        if step.last is not None:
            infos = infos.copy()
            for lane, row in zip(np.flatnonzero(step.truncated), step.last, strict=True):
                infos[lane] = {"terminal_observation": row, "TimeLimit.truncated": True}
        return step.rows, step.rewards, step.terminated | step.truncated, infos

    def close(self) -> None:
        """There is nothing to close."""

    def get_attr(self, attr_name: str, indices: Any = None) -> list[Any]:
        return [getattr(self.lanes, attr_name, None)] * self.num_envs

    def set_attr(self, attr_name: str, value: Any, indices: Any = None) -> None:
        raise NotImplementedError("lanes have no attributes to set")

    def env_method(self, method_name: str, *args: Any, indices: Any = None, **kwargs: Any) -> Any:
        raise NotImplementedError("lanes have no methods of their own")

    def env_is_wrapped(self, wrapper_class: Any, indices: Any = None) -> list[bool]:
        return [False] * self.num_envs


class Torso(BaseFeaturesExtractor):
    """2 x 128 ReLU, shared by policy and value."""

    def __init__(self, observation_space: spaces.Box) -> None:
        super().__init__(observation_space, 128)
        width = observation_space.shape[0]
        self.layers = nn.Sequential(
            nn.Linear(width, 128), nn.ReLU(), nn.Linear(128, 128), nn.ReLU()
        )

    def forward(self, rows: Tensor) -> Tensor:
        return self.layers(rows)


class Whistle(BaseCallback):
    """Asks the referee before every rollout."""

    def __init__(self, referee: Referee) -> None:
        super().__init__()
        self.referee, self.going = referee, True

    def _act(self, rows: NDArray[np.float32], mask: NDArray[np.uint8]) -> NDArray[Any]:
        options = self.referee.options
        greedy = options.greedy or options.game == "cartpole"
        return self.model.predict(rows, deterministic=greedy)[0]

    def _on_training_start(self) -> None:
        self.referee.start(self._act)

    def _on_rollout_start(self) -> None:
        self.going = self.referee.goes_on(self.model.num_timesteps)

    def _on_step(self) -> bool:
        return self.going


def _one_env(game: str, number: int, pseudo: float) -> Any:
    """A function that makes one Gymnasium environment; sides in turn."""

    def make() -> gymnasium.Env[Any, Any]:
        if game == "cartpole":
            return Monitor(gymnasium.make("CartPole-v1"))
        import levelcap.world  # registers the id, in a process of its own too

        assert levelcap.world
        options = {"opponent": OPPONENT, "seat": number % 2, "pseudo_reward_scale": pseudo}
        return Monitor(gymnasium.make("levelcap/Duel-v1", **options))

    return make


def build(options: argparse.Namespace) -> PPO:
    """The learner over its environments."""
    if options.documented:
        makers = [_one_env(options.game, i, options.pseudo) for i in range(8)]
        # Spawned, not forked: compiled kernels may not be used in a forked process.
        envs: VecEnv = SubprocVecEnv(makers, "spawn") if options.subproc else DummyVecEnv(makers)
        net = {"net_arch": [128, 128], "activation_fn": nn.ReLU}
        return PPO("MlpPolicy", envs, policy_kwargs=net, seed=options.seed, device="cpu")
    lanes = open_lanes(options)
    net = {"net_arch": [], "features_extractor_class": Torso}
    return PPO(
        "MlpPolicy",
        LaneVecEnv(lanes),
        policy_kwargs=net,
        seed=options.seed,
        device="cpu",
        n_steps=options.steps,
        batch_size=options.batch_size,
        n_epochs=options.epochs,
        learning_rate=options.lr,
        ent_coef=options.entropy,
        gamma=options.gamma,
        gae_lambda=options.lam,
    )


def main() -> None:
    """One run."""
    options = read_options(ROWS, DEFAULTS, "Stable-Baselines3 PPO")
    if options.documented:
        options.lanes, options.steps, options.epochs = 8, 2048, 10
    with Referee(options) as referee:
        torch.set_num_threads(options.threads)
        model = build(options)
        model.learn(sys.maxsize, callback=Whistle(referee))
        model.env.close()


if __name__ == "__main__":
    main()
