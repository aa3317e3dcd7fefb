"""Sample Factory's APPO, unmodified. Runs in `.venv-sample-factory`, from the repository's root.

    .venv-sample-factory/bin/python -m benchmarks.peers.sample_factory --row duel-a

The game is a batched environment (`batched_sampling`): a process of it steps all its lanes at
once. `--serial` keeps everything in one process and alternates between playing and learning;
otherwise `--workers` processes play while the learner learns, and are halted while the referee
judges. The net is a shared torso of 2 x 128 ReLU, policy and value heads; inputs and returns are
normalised by running moments, as is its default. It knows no masks. CartPole is Gymnasium's own
vectorised one. `referee.py` says what is printed.
"""

from __future__ import annotations

import argparse
import os
import tempfile
from functools import partial
from typing import Any

# One waiting thread must not keep a core busy; has to be set before torch is loaded.
os.environ.setdefault("OMP_WAIT_POLICY", "PASSIVE")

import gymnasium
import numpy as np
import psutil
import torch
from gymnasium import spaces
from gymnasium.envs.classic_control.cartpole import CartPoleVectorEnv
from numpy.typing import NDArray
from sample_factory.algo.runners.runner import AlgoObserver, Runner
from sample_factory.algo.utils.action_distributions import argmax_actions
from sample_factory.cfg.arguments import parse_full_cfg, parse_sf_args
from sample_factory.envs.env_utils import register_env
from sample_factory.model.actor_critic import create_actor_critic
from sample_factory.train import make_runner
from signal_slot.signal_slot import EventLoopObject

from benchmarks.peers.arena_env import open_lanes
from benchmarks.peers.referee import Referee, read_options

DEFAULTS = {
    "serial": False, "lanes": 256, "workers": 1, "splits": 1, "steps": 32, "epochs": 2,
    "batches": 2, "lr": 7e-4, "entropy": 0.003, "gamma": 0.99, "lam": 0.95, "clip": 0.2,
    "lr_schedule": "constant", "norm_input": "True", "norm_returns": "True", "threads": 1,
    "world_threads": 1, "pseudo": 0.0, "reads": "features", "greedy": False,
    "aim": "free",
}  # fmt: skip
ROWS: dict[str, dict[str, Any]] = {
    "duel_all_views": {
        "serial": True, "reads": "all", "steps": 64, "batches": 8, "lr": 1e-3, "lam": 0.9,
    },
    "duel_relative_aim": {
        "serial": True, "reads": "all", "steps": 64, "batches": 8, "lr": 1e-3, "lam": 0.9,
        "aim": "relative",
    },
    "cartpole_128": {
        "serial": True, "lanes": 128, "batches": 8, "epochs": 4, "lr": 3e-3, "lam": 0.9,
        "gamma": 0.98, "entropy": 0.0,
    },
}  # fmt: skip


class BatchedEnv(gymnasium.Env):
    """Some of the lanes as one environment with many agents."""

    is_multiagent = True

    def __init__(self, options: argparse.Namespace, number: int) -> None:
        self.num_agents = options.lanes // (options.workers * options.splits)
        self.render_mode = None
        mine = argparse.Namespace(**vars(options))
        mine.lanes, mine.seed = self.num_agents, 1_000 * options.seed + number
        self._poles: Any = None
        if options.game == "cartpole":
            self._poles = CartPoleVectorEnv(self.num_agents)
            num_features, heads = 4, (2,)
            self._seed = mine.seed
        else:
            self._lanes = open_lanes(mine)
            num_features, heads = self._lanes.num_features, self._lanes.heads
        self.observation_space = spaces.Box(-np.inf, np.inf, (num_features,), np.float32)
        bins = [spaces.Discrete(size) for size in heads]
        self.action_space = bins[0] if len(bins) == 1 else spaces.Tuple(bins)

    def reset(self, **_: Any) -> tuple[NDArray[np.float32], dict[str, Any]]:
        if self._poles is not None:
            return self._poles.reset(seed=self._seed)[0].copy(), {}
        return self._lanes.reset(), {}

    def step(self, actions: NDArray[Any]) -> Any:
        if self._poles is not None:
            rows, rewards, terminated, truncated, _ = self._poles.step(actions.astype(np.int64))
            return rows.astype(np.float32), rewards, terminated, truncated, {}
        step = self._lanes.step(actions)
        return step.rows, step.rewards, step.terminated, step.truncated, {}

    def render(self) -> None:
        """There is no picture."""


def make_env(
    options: argparse.Namespace, name: str, cfg: Any, place: Any, render_mode: str | None = None
) -> BatchedEnv:
    """Called by Sample Factory in each of its processes."""
    return BatchedEnv(options, place.env_id if place else 0)


class Inbox(EventLoopObject):
    """Receives the weights that the learner shares with those who play."""

    def __init__(self, runner: Runner) -> None:
        super().__init__(runner.event_loop, "inbox")
        self.weights: Any = None
        runner.learners[0].model_initialized.connect(self.take)

    def take(self, data: Any) -> None:
        _, self.weights, _, _ = data


class Whistle(AlgoObserver):
    """Asks the referee after every training iteration."""

    def __init__(self, referee: Referee) -> None:
        self.referee, self.started = referee, False
        self.inbox: Inbox | None = None
        self.net: Any = None

    def on_connect_components(self, runner: Runner) -> None:
        if not runner.cfg.serial_mode:
            self.inbox = Inbox(runner)

    def on_training_step(self, runner: Runner, iteration: int) -> None:
        if runner.stopped:
            return
        if not self.started:
            self.started = True
            self.referee.start(self._act)
        halted = []
        if self.referee.due():
            halted = [] if runner.cfg.serial_mode else _halt()
            self._fetch(runner)
        goes_on = self.referee.goes_on(runner.env_steps.get(0, 0))
        for process in halted:
            process.resume()
        if not goes_on:
            runner.cfg.train_for_env_steps = -1

    def _fetch(self, runner: Runner) -> None:
        """The weights as they are now."""
        if self.net is None:
            info = runner.env_info
            self.net = create_actor_critic(runner.cfg, info.obs_space, info.action_space)
            self.net.eval()
        if self.inbox is None:
            self.net.load_state_dict(runner.learners[0].learner.actor_critic.state_dict())
        else:
            self.net.load_state_dict(self.inbox.weights)

    def _act(self, rows: NDArray[np.float32], mask: NDArray[np.uint8]) -> NDArray[Any]:
        options = self.referee.options
        with torch.no_grad():
            shown = self.net.normalize_obs({"obs": torch.from_numpy(rows.copy())})
            out = self.net(shown, torch.zeros(len(rows), 1))
            if options.greedy or options.game == "cartpole":
                found = argmax_actions(self.net.action_distribution())
                return found.reshape(-1, len(rows)).T.numpy()
            return out["actions"].numpy()


def _halt() -> list[psutil.Process]:
    """Stop everybody else while the referee judges; their time is not on the clock."""
    children = psutil.Process().children(recursive=True)
    for child in children:
        child.suspend()
    return children


def configure(options: argparse.Namespace, folder: str) -> Any:
    """Sample Factory's configuration of these options."""
    settings = {
        "algo": "APPO",
        "env": "levelcap",
        "experiment": "run",
        "train_dir": folder,
        "device": "cpu",
        "seed": options.seed,
        "serial_mode": options.serial,
        "async_rl": not options.serial,
        "batched_sampling": True,
        "num_workers": options.workers,
        "num_envs_per_worker": options.splits,
        "worker_num_splits": options.splits,
        "rollout": options.steps,
        "batch_size": options.lanes * options.steps // options.batches,
        "num_batches_per_epoch": options.batches,
        "num_epochs": options.epochs,
        "learning_rate": options.lr,
        "lr_schedule": options.lr_schedule,
        "exploration_loss_coeff": options.entropy,
        "gamma": options.gamma,
        "gae_lambda": options.lam,
        "ppo_clip_ratio": options.clip,
        "normalize_input": options.norm_input,
        "normalize_returns": options.norm_returns,
        "use_rnn": False,
        "nonlinearity": "relu",
        "set_workers_cpu_affinity": False,
        "default_niceness": os.nice(0),
        "log_to_file": False,
        "save_every_sec": 100_000,
        "save_best_every_sec": 100_000,
        "use_env_info_cache": False,
        "with_wandb": False,
    }
    words = [f"--{name}={value}" for name, value in settings.items()]
    words += ["--encoder_mlp_layers", "128", "128"]
    parser, _ = parse_sf_args(words)
    return parse_full_cfg(parser, words)


def main() -> None:
    """One run."""
    options = read_options(ROWS, DEFAULTS, "Sample Factory APPO")
    with tempfile.TemporaryDirectory() as folder, Referee(options) as referee:
        torch.set_num_threads(options.threads)
        register_env("levelcap", partial(make_env, options))
        _, runner = make_runner(configure(options, folder))
        runner.register_observer(Whistle(referee))
        if runner.init():
            raise ValueError("Sample Factory refused the settings; its log says why")
        if runner.run():
            raise RuntimeError("Sample Factory failed; its log says why")


if __name__ == "__main__":
    main()
