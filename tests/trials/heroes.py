"""Tiny nets that know what they want: untrained, but as unlike each other as trained ones."""

from __future__ import annotations

from pathlib import Path

import torch

from levelcap.nets.checkpoint import save_snapshot, weights_of
from levelcap.nets.family import describe, new_net
from levelcap.play.load import NetPolicy, load_checkpoint
from levelcap.world.spec import arena_spec

SHARP = 0.3


def hero(place: Path, seed: int) -> NetPolicy:
    """A flat net of the smallest size with weights of its own."""
    torch.set_num_threads(1)
    meta = describe("flat", arena_spec("duel"), "dummy")
    net = new_net(meta)
    rng = torch.Generator().manual_seed(seed)
    with torch.no_grad():
        for weights in net.parameters():
            weights.add_(SHARP * torch.randn(weights.shape, generator=rng))
    save_snapshot(place, weights_of(net), meta, "test")
    return load_checkpoint(place)
