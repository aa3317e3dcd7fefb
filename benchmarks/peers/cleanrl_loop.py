"""PPO in the manner of CleanRL: one file, one loop, over a batch of lanes. Runs in `.venv-peers`.

    .venv-peers/bin/python -m benchmarks.peers.cleanrl_loop --row duel-a [--mode race|speed]

Our own writing after the description of CleanRL's `ppo.py` (clipped policy loss, GAE, normalised
advantages, Adam with eps 1e-5, gradients clipped at .5), with the net we use ourselves: a torso of
2 x 128 ReLU, one row of logits for all heads, a value. Forbidden bins are masked, when acting and
when learning. Run from the repository's root; `referee.py` says what is printed.
"""

from __future__ import annotations

import argparse
import os
from typing import Any, NamedTuple

# One waiting thread must not keep a core busy; has to be set before torch is loaded.
os.environ.setdefault("OMP_WAIT_POLICY", "PASSIVE")

import numpy as np
import torch
from numpy.typing import NDArray
from torch import Tensor, nn

from benchmarks.peers.arena_env import Lanes, open_lanes
from benchmarks.peers.referee import Referee, read_options

DEFAULTS = {
    "lanes": 256, "steps": 64, "epochs": 2, "batches": 4, "lr": 7e-4, "entropy": 0.003,
    "gamma": 0.99, "lam": 0.95, "clip": 0.2, "threads": 1, "world_threads": 2, "pseudo": 0.0,
    "reads": "features", "greedy": False, "no_mask": False, "aim": "free",
}  # fmt: skip
# The best of about twenty rows tried; benchmarks/log has them.
ROWS: dict[str, dict[str, Any]] = {
    "duel_all_views": {
        "reads": "all", "batches": 8, "lr": 1e-3, "lam": 0.9, "world_threads": 1,
    },
    "duel_relative_aim": {
        "reads": "all", "batches": 8, "lr": 1e-3, "lam": 0.9, "world_threads": 1,
        "aim": "relative",
    },
    "duel_features": {"batches": 8, "lr": 1e-3, "lam": 0.9, "world_threads": 1},
    "cartpole_128": {
        "lanes": 128, "steps": 32, "batches": 8, "epochs": 4, "lr": 3e-3, "lam": 0.9,
        "gamma": 0.98, "entropy": 0.0,
    },
}  # fmt: skip
FORBIDDEN = -1e8


class Net(nn.Module):
    """Rows [B, D] -> logits of all heads [B, A], values [B]."""

    def __init__(self, num_features: int, num_bins: int) -> None:
        super().__init__()
        self.torso = nn.Sequential(
            _layer(num_features, 128, 2**0.5), nn.ReLU(), _layer(128, 128, 2**0.5), nn.ReLU()
        )
        self.policy, self.value = _layer(128, num_bins, 0.01), _layer(128, 1, 1.0)

    def forward(self, rows: Tensor) -> tuple[Tensor, Tensor]:
        hidden = self.torso(rows)
        return self.policy(hidden), self.value(hidden).squeeze(-1)


def _layer(width: int, out: int, gain: float) -> nn.Linear:
    layer = nn.Linear(width, out)
    nn.init.orthogonal_(layer.weight, gain)
    nn.init.zeros_(layer.bias)
    return layer


class Heads:
    """Several categorical distributions in one row of logits.

    They are laid out side by side, padded to the widest head, so that all heads are one operation:
    [B, A] -> [B, H, W].
    """

    def __init__(self, sizes: tuple[int, ...]) -> None:
        self.width, self.sizes = max(sizes), sizes
        places, first = [], 0
        for size in sizes:
            places += [first + min(b, size - 1) for b in range(self.width)]
            first += size
        self._places = torch.tensor(places)
        padding = [[b >= size for b in range(self.width)] for size in sizes]
        self._padding = torch.tensor(padding)

    def forbidden(self, mask: Tensor) -> Tensor:
        """Mask of bins [B, A] -> bins that cannot be chosen [B, H, W]."""
        spread = (mask[:, self._places] == 0).view(-1, len(self.sizes), self.width)
        return spread | self._padding

    def log_softmax(self, logits: Tensor, forbidden: Tensor) -> Tensor:
        spread = logits[:, self._places].view(-1, len(self.sizes), self.width)
        return spread.masked_fill(forbidden, FORBIDDEN).log_softmax(-1)

    @staticmethod
    def draw(log_probs: Tensor, greedy: bool = False) -> Tensor:
        """Bins [B, H]: the largest, or one by chance (Gumbel's trick)."""
        if greedy:
            return log_probs.argmax(-1)
        return (log_probs - torch.empty_like(log_probs).exponential_().log_()).argmax(-1)


class Data(NamedTuple):
    """A batch of play; T steps of L lanes, later flattened to [T x L, ...]."""

    rows: Tensor
    forbidden: Tensor
    actions: Tensor
    log_probs: Tensor  # [T, L] of the joint action
    values: Tensor
    advantages: Tensor


class Player:
    """The lanes, and the row each of them waits with."""

    def __init__(self, net: Net, lanes: Lanes, options: argparse.Namespace) -> None:
        self.net, self.lanes, self.options = net, lanes, options
        self.heads = Heads(lanes.heads)
        self.rows = torch.from_numpy(lanes.reset())
        shape = (options.steps, lanes.num_lanes)
        wide = (len(lanes.heads), self.heads.width)
        self._data = Data(
            torch.zeros(*shape, lanes.num_features),
            torch.zeros(*shape, *wide, dtype=torch.bool),
            torch.zeros(*shape, wide[0], dtype=torch.long),
            torch.zeros(shape),
            torch.zeros(shape),
            torch.zeros(shape),
        )
        self._rewards, self._goes_on = torch.zeros(shape), torch.zeros(shape)

    def mask(self) -> Tensor:
        mask = torch.from_numpy(self.lanes.mask)
        return torch.ones_like(mask) if self.options.no_mask else mask

    @torch.inference_mode()
    def play(self) -> Data:
        """`steps` decisions of every lane, with advantages."""
        data, lanes = self._data, self.lanes
        for t in range(self.options.steps):
            logits, values = self.net(self.rows)
            forbidden = self.heads.forbidden(self.mask())
            log_probs = self.heads.log_softmax(logits, forbidden)
            actions = self.heads.draw(log_probs)
            data.rows[t], data.forbidden[t], data.actions[t] = self.rows, forbidden, actions
            data.log_probs[t] = log_probs.gather(-1, actions[..., None]).sum((-2, -1))
            data.values[t] = values
            step = lanes.step(actions.numpy())
            rewards = torch.from_numpy(step.rewards)
            if step.last is not None:  # a time limit is no ending: its value is added
                cut = torch.from_numpy(step.truncated)
                rewards[cut] += self.options.gamma * self.net(torch.from_numpy(step.last))[1]
            self._rewards[t] = rewards
            self._goes_on[t] = torch.from_numpy(~(step.terminated | step.truncated)).float()
            self.rows = torch.from_numpy(step.rows)
        self._estimate(self.net(self.rows)[1])
        return Data(*(tensor.flatten(0, 1) for tensor in data))

    def _estimate(self, following: Tensor) -> None:
        """Generalised advantage estimation (Schulman et al. 2016)."""
        gamma, decay = self.options.gamma, self.options.gamma * self.options.lam
        values, later = self._data.values, torch.zeros_like(following)
        for t in reversed(range(self.options.steps)):
            delta = self._rewards[t] + gamma * self._goes_on[t] * following - values[t]
            later = delta + decay * self._goes_on[t] * later
            self._data.advantages[t], following = later, values[t]

    def act(self, rows: NDArray[np.float32], mask: NDArray[np.uint8]) -> NDArray[Any]:
        """For the judge: sampled in duel (unless --greedy), the best in cartpole."""
        greedy = self.options.greedy or self.options.game == "cartpole"
        mask = np.ones_like(mask) if self.options.no_mask else mask
        with torch.inference_mode():
            logits, _ = self.net(torch.from_numpy(rows))
            forbidden = self.heads.forbidden(torch.from_numpy(mask))
            return self.heads.draw(self.heads.log_softmax(logits, forbidden), greedy).numpy()


def learn(net: Net, heads: Heads, optimizer: Any, data: Data, options: argparse.Namespace) -> None:
    """Some epochs of minibatches over one batch of play."""
    size = len(data.rows) // options.batches
    for _ in range(options.epochs):
        for index in torch.randperm(len(data.rows)).split(size):
            loss = _loss(net, heads, Data(*(tensor[index] for tensor in data)), options)
            optimizer.zero_grad()
            loss.backward()
            nn.utils.clip_grad_norm_(net.parameters(), 0.5)
            optimizer.step()


def _loss(net: Net, heads: Heads, data: Data, options: argparse.Namespace) -> Tensor:
    logits, values = net(data.rows)
    log_probs = heads.log_softmax(logits, data.forbidden)
    chosen = log_probs.gather(-1, data.actions[..., None]).sum((-2, -1))
    ratio = (chosen - data.log_probs).exp()
    gain = (data.advantages - data.advantages.mean()) / (data.advantages.std() + 1e-8)
    limited = ratio.clamp(1 - options.clip, 1 + options.clip)
    policy = -torch.min(ratio * gain, limited * gain).mean()
    value = 0.5 * (values - data.values - data.advantages).square().mean()
    entropy = -(log_probs.exp() * log_probs).sum((-2, -1)).mean()
    return policy + 0.5 * value - options.entropy * entropy


def main() -> None:
    """One run."""
    options = read_options(ROWS, DEFAULTS, "PPO in the manner of CleanRL")
    with Referee(options) as referee:
        torch.set_num_threads(options.threads)
        torch.manual_seed(options.seed)
        lanes = open_lanes(options)
        net = Net(lanes.num_features, sum(lanes.heads))
        optimizer = torch.optim.Adam(net.parameters(), options.lr, eps=1e-5)
        player, steps = Player(net, lanes, options), 0
        referee.start(player.act)
        while referee.goes_on(steps):
            learn(net, player.heads, optimizer, player.play(), options)
            steps += options.lanes * options.steps


if __name__ == "__main__":
    main()
