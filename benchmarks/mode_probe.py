"""Does the Strategist know more than its last look? Modes against the majority and a linear probe.

    python benchmarks/mode_probe.py CHECKPOINT SHARD... --world lms [--batches 48] [--seed 0]

On matches the checkpoint was not trained on (the same split as in imitation): the share of looks
whose intent is recognised, plain and balanced over the intents, for the Strategist, for the most
frequent intent, and for a linear classifier of the summary of that one look, trained on the same
matches as the hero, once as it is and once with every intent weighted alike; the Strategist's
second row divides its probabilities by the intents' frequencies among those matches (what is left
of them after `mode_evenness`), which is the same for one that is trained already.
"""

from __future__ import annotations

import argparse
import json
from collections.abc import Iterator
from dataclasses import replace
from pathlib import Path

import numpy as np
import torch
from numpy.typing import NDArray
from torch import Tensor, nn
from torch.nn import functional

from levelcap.lake.read import Shards, open_shards
from levelcap.learn.engine.worlds import spec_of_world
from levelcap.learn.imitation.cloner import Cloner, make_cloner
from levelcap.learn.imitation.config import ImitationConfig, for_family
from levelcap.nets.checkpoint import load_world_net
from levelcap.nets.net import Inputs, ViewLayout
from levelcap.world.spec import INTENTS

Looks = tuple[NDArray[np.float32], NDArray[np.int64], NDArray[np.float32]]


def looks_of(cloner: Cloner, shards: Shards, seed: int, batches: int) -> Looks:
    """Summaries [n, 192], true intents [n] and the Strategist's log-odds [n, 5] at its looks."""
    rows: Iterator[object] = cloner.stream(shards, seed, 0)
    summaries, true, said = [], [], []
    for _ in range(batches):
        stretch = cloner.prepare(next(rows))
        with torch.no_grad():
            out = cloner._unroll(stretch)
        after = slice(stretch.burn_in, None)
        intents = stretch.intents[after]
        looked = out.choice_due & (intents >= 0) & (stretch.alive[after] > 0)
        seen = Inputs(stretch.inputs[after], cloner.layout)["summary"]
        summaries.append(seen[looked].numpy())
        true.append(intents[looked].numpy())
        said.append(out.choice_logits[looked].numpy())
    return np.concatenate(summaries), np.concatenate(true), np.concatenate(said)


def evenly(
    logits: NDArray[np.float32], count: NDArray[np.int64], config: ImitationConfig
) -> NDArray[np.float64]:
    """Odds [n, 5] if all intents were equally frequent (`learn.imitation.layers.balanced`)."""
    p = np.exp(logits - logits.max(1, keepdims=True))
    p /= p.sum(1, keepdims=True)
    p = np.maximum(p - config.mode_smoothing / p.shape[1], 1e-4)
    odds: NDArray[np.float64] = p / np.maximum(count, 1) ** (1 - config.mode_evenness)
    return np.where(count > 0, odds, 0)


def linear_probe(x: Tensor, y: Tensor, weights: Tensor | None) -> nn.Linear:
    """Multinomial logistic regression by L-BFGS."""
    probe = nn.Linear(x.shape[1], len(INTENTS))
    nn.init.zeros_(probe.weight)
    optimizer = torch.optim.LBFGS(probe.parameters(), max_iter=200, line_search_fn="strong_wolfe")

    def loss() -> Tensor:
        optimizer.zero_grad()
        decay = 1e-4 * probe.weight.square().sum()
        found = functional.cross_entropy(probe(x), y, weight=weights) + decay
        found.backward()
        return found

    optimizer.step(loss)
    return probe


def scores(true: NDArray[np.int64], said: NDArray[np.int64]) -> dict[str, float]:
    """Accuracy, per intent and balanced over those that occur."""
    each = {
        name: float((said[true == i] == i).mean())
        for i, name in enumerate(INTENTS)
        if (true == i).any()
    }
    return {
        "accuracy": float((true == said).mean()),
        "balanced": float(np.mean(list(each.values()))),
    } | each


def main() -> None:
    """Print the table."""
    parser = argparse.ArgumentParser(description=__doc__.split("\n")[0])
    parser.add_argument("checkpoint", type=Path)
    parser.add_argument("shards", type=Path, nargs="+")
    parser.add_argument("--world", default="lms")
    parser.add_argument("--policy", default="master")
    parser.add_argument("--batches", type=int, default=48)
    parser.add_argument("--evenness", type=float, default=for_family("hierarchy").mode_evenness)
    parser.add_argument("--seed", type=int, default=0)
    asked = parser.parse_args()
    net, meta, _ = load_world_net(asked.checkpoint)
    net.eval()
    spec = spec_of_world(asked.world)
    config = replace(for_family("hierarchy"), mode_evenness=asked.evenness)
    shards = open_shards(asked.shards, world=asked.world).filtered(policies=[asked.policy])
    training, validation = shards.split(config.validation)
    cloner = make_cloner(net, meta, ViewLayout.of(spec, meta.views), config)
    x, y, _ = looks_of(cloner, training, asked.seed, asked.batches)
    held_x, held_y, logits = looks_of(cloner, validation, asked.seed, asked.batches)
    mean, std = x.mean(0), x.std(0) + 1e-6
    seen, held = (torch.from_numpy((part - mean) / std).clamp(-10, 10) for part in (x, held_x))
    count = np.bincount(y, minlength=len(INTENTS))
    even = torch.from_numpy(len(y) / np.maximum(count, 1) / (count > 0).sum()).float()
    rows = {
        "Strategist": scores(held_y, logits.argmax(-1)),
        "Strat., even": scores(held_y, evenly(logits, count, config).argmax(-1)),
        "majority": scores(held_y, np.full_like(held_y, count.argmax())),
    }
    for name, weights in (("linear", None), ("linear, even", even * torch.from_numpy(count > 0))):
        probe = linear_probe(seen, torch.from_numpy(y), weights)
        with torch.no_grad():
            rows[name] = scores(held_y, probe(held).argmax(-1).numpy())
    shown = ["accuracy", "balanced", *INTENTS]
    print(f"{len(y):,} looks to learn from, {len(held_y):,} held out")
    print(f"{'':14}" + "".join(f"{name:>10}" for name in shown))
    for name, found in rows.items():
        print(f"{name:14}" + "".join(f"{found.get(key, float('nan')):10.3f}" for key in shown))
    print(json.dumps({"looks": len(held_y), **rows}))


if __name__ == "__main__":
    main()
