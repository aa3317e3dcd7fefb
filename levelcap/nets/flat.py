"""The flat actor-critic: all views flattened, a torso, one row of logits for all heads, a value.

Shapes: B rows, D input numbers, H hidden, A bins of all heads together.

The baseline and the fastest learner. Sizes: `dummy` (tests), `slim` 2 x 128, `full` 2 x 256.
"""

from __future__ import annotations

import numpy as np
import torch
from numpy.typing import NDArray
from torch import Tensor, nn

from levelcap.kit.errors import unknown_name
from levelcap.nets.meta import Meta
from levelcap.world.spec import WorldSpec

LIMIT = 10.0  # standardised inputs beyond this are cut
SIZES: dict[str, tuple[int, ...]] = {"dummy": (8,), "slim": (128, 128), "full": (256, 256)}


def flat_meta(
    spec: WorldSpec,
    size: str = "slim",
    standardise: bool = False,
    views: tuple[str, ...] = (),
) -> Meta:
    """The description of a new flat net for this world; views: what it reads if not the usual."""
    if size not in SIZES:
        raise unknown_name("net size", size, tuple(SIZES))
    views = views or spec.flat_views
    for name in views:
        if name not in spec.views:
            raise unknown_name(f"view of {spec.name}", name, tuple(spec.views))
    return Meta(
        architecture="flat",
        size=size,
        world=spec.name,
        world_version=spec.version,
        patch=spec.patch,
        views=views,
        input_size=sum(spec.views[name].size for name in views),
        hidden=SIZES[size],
        head_names=tuple(head.name for head in spec.heads),
        head_sizes=tuple(head.size for head in spec.heads),
        aim_heads=spec.aim_heads,
        aim_users=spec.aim_users,
        standardise=standardise,
    )


class FlatNet(nn.Module):
    """Input [B, D] -> logits [B, A] and value [B].

    With `standardise`, inputs are first shifted and scaled by the moments of what was seen.
    """

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
        self.standardise = meta.standardise
        if meta.standardise:
            self.register_buffer("shift", torch.zeros(meta.input_size))
            self.register_buffer("scale", torch.ones(meta.input_size))
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

    @torch.no_grad()
    def set_moments(self, mean: NDArray[np.float64], var: NDArray[np.float64]) -> None:
        """Standardise with these moments from now on; a column that never changed is centred."""
        scale = 1.0 / np.sqrt(np.where(var > 1e-12, var, 1.0))
        self.shift.copy_(torch.from_numpy(mean.astype(np.float32)))
        self.scale.copy_(torch.from_numpy(scale.astype(np.float32)))

    def hidden_matrices(self) -> list[nn.Parameter]:
        """What Muon steps: the matrices between hidden layers."""
        layers = [module for module in self.torso if isinstance(module, nn.Linear)]
        return [layer.weight for layer in layers[1:]]

    def forward(self, inputs: Tensor) -> tuple[Tensor, Tensor]:
        """inputs [B, D] -> logits [B, A], values [B]."""
        if self.standardise:
            inputs = ((inputs - self.shift) * self.scale).clamp(-LIMIT, LIMIT)
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
