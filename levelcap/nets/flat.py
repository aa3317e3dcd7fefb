"""The flat actor-critic: all views flattened, a torso, one row of logits for all heads, a value.

Shapes: B rows, D input numbers, H hidden, A bins of all heads together.

The baseline and the fastest learner. Sizes: `dummy` (tests), `slim` 2 x 128, `full` 2 x 256.
"""

from __future__ import annotations

import torch
from torch import Tensor, nn

from levelcap.kit.errors import unknown_name
from levelcap.nets.meta import Meta
from levelcap.world.spec import WorldSpec

SIZES: dict[str, tuple[int, ...]] = {"dummy": (8,), "slim": (128, 128), "full": (256, 256)}


def flat_meta(spec: WorldSpec, size: str = "slim") -> Meta:
    """The description of a new flat net for this world."""
    if size not in SIZES:
        raise unknown_name("net size", size, tuple(SIZES))
    return Meta(
        architecture="flat",
        size=size,
        world=spec.name,
        world_version=spec.version,
        patch=spec.patch,
        views=spec.flat_views,
        input_size=spec.flat_size,
        hidden=SIZES[size],
        head_names=tuple(head.name for head in spec.heads),
        head_sizes=tuple(head.size for head in spec.heads),
        aim_heads=spec.aim_heads,
        aim_users=spec.aim_users,
    )


class FlatNet(nn.Module):
    """Input [B, D] -> logits [B, A] and value [B]."""

    def __init__(self, meta: Meta) -> None:
        super().__init__()
        layers: list[nn.Module] = []
        width = meta.input_size
        for hidden in meta.hidden:
            layers += [nn.Linear(width, hidden), nn.ReLU()]
            width = hidden
        self.torso = nn.Sequential(*layers)
        self.policy = nn.Linear(width, sum(meta.head_sizes))
        self.value = nn.Linear(width, 1)
        self._initialise()

    def _initialise(self) -> None:
        """Orthogonal; small logits, so that an untrained net is close to uniform."""
        for module in self.torso:
            if isinstance(module, nn.Linear):
                nn.init.orthogonal_(module.weight, 2**0.5)
                nn.init.zeros_(module.bias)
        nn.init.orthogonal_(self.policy.weight, 0.01)
        nn.init.zeros_(self.policy.bias)
        nn.init.orthogonal_(self.value.weight, 1.0)
        nn.init.zeros_(self.value.bias)

    def forward(self, inputs: Tensor) -> tuple[Tensor, Tensor]:
        """inputs [B, D] -> logits [B, A], values [B]."""
        hidden = self.torso(inputs)  # [B, H]
        return self.policy(hidden), self.value(hidden).squeeze(-1)


def count_parameters(net: nn.Module) -> int:
    """Trainable numbers of a net."""
    return sum(p.numel() for p in net.parameters())


def new_flat(meta: Meta, seed: int = 0) -> FlatNet:
    """A fresh net whose weights depend on the seed alone."""
    with torch.random.fork_rng(devices=[]):
        torch.manual_seed(seed)
        return FlatNet(meta)
