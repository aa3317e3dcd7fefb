"""The flat actor-critic: all views flattened, a torso, one row of logits for all heads, a value.

Shapes: T decisions, B rows, D input numbers, H hidden, A bins of all heads together.

The baseline and the fastest learner. Sizes: `dummy` (tests), `slim` 2 x 128, `full` 2 x 256.
With `aim=residual` the aim heads begin at the nearest visible enemy (`nets.aim`).
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping

import numpy as np
import torch
from torch import Tensor, nn
from torch.nn import functional

from levelcap.kit.errors import BadValue, refuse
from levelcap.nets.aim import bin_edges, logistic_bins, nearest_enemy, target_logit
from levelcap.nets.meta import Meta
from levelcap.nets.net import Inputs, Net, State, Unrolled
from levelcap.nets.row import Family, world_meta
from levelcap.world.spec import WorldSpec

# 2 x 128 is the smallest torso that beats master in duel within five minutes; twice the width
# learns as much per step at half the steps a second (benchmarks/log).
SIZES: dict[str, tuple[int, ...]] = {"dummy": (8,), "slim": (128, 128), "full": (256, 256)}


def flat_meta(
    spec: WorldSpec,
    size: str,
    standardise: bool,
    views: tuple[str, ...],
    options: Mapping[str, str],
) -> Meta:
    """The description of a new flat net for this world; views: what it reads if not the usual."""
    views = views or spec.flat_views
    shape: dict[str, object] = {
        "input_size": sum(spec.views[name].size for name in views),
        "hidden": SIZES[size],
        "standardise": standardise,
    }
    if options.get("aim") == "residual":
        if "objects" not in views or not spec.aim_heads:
            remedy = "Let it read objects of our own rulesets, or leave aim=residual out"
            raise BadValue(refuse("residual aim needs objects to aim at", views, remedy))
        before = views[: views.index("objects")]
        shape["aim"] = "residual"
        # Where the objects begin in a row of inputs, and their slots and columns.
        at = sum(spec.views[name].size for name in before)
        shape["objects"] = (at, *spec.views["objects"].shape)
    return world_meta("flat", spec, size, views, shape)


class FlatNet(Net):
    """Input [.., D] -> logits [.., A] and value [..]; it remembers nothing."""

    def __init__(self, meta: Meta) -> None:
        super().__init__()
        layers: list[nn.Module] = []
        width = meta.input_size
        for hidden in meta.shape["hidden"]:
            layers += [nn.Linear(width, hidden), nn.ReLU()]
            width = hidden
        self.torso = nn.Sequential(*layers)
        self.policy = nn.Linear(width, sum(meta.head_sizes))
        self.value = nn.Linear(width, 1)
        if meta.shape["standardise"]:
            self.keep_moments(meta.input_size)
        first = np.cumsum([0, *meta.head_sizes]).tolist()
        self._aim_rows = [row for h in meta.aim_heads for row in range(first[h], first[h + 1])]
        self._objects: tuple[int, int, int] | None = None
        if meta.shape.get("aim") == "residual":
            self._objects = meta.shape["objects"]
            first, second = meta.aim_heads
            self._aim_at = sum(meta.head_sizes[:first])
            assert second == first + 1 and meta.head_sizes[first] == meta.head_sizes[second]
            self._edges = bin_edges(meta.head_sizes[first])
            # One scale an axis, learned: 0 is the scale of `nets.aim`.
            self.aim_scale = nn.Parameter(torch.zeros(len(meta.aim_heads)))
        self._initialise()

    def _initialise(self) -> None:
        """Orthogonal; small logits, so that an untrained net is close to uniform."""
        for module in self.torso:
            if isinstance(module, nn.Linear):
                nn.init.orthogonal_(module.weight, 2**0.5)  # keeps the variance through a ReLU
                nn.init.zeros_(module.bias)
        nn.init.orthogonal_(self.policy.weight, 0.01)
        nn.init.zeros_(self.policy.bias)
        nn.init.orthogonal_(self.value.weight, 1.0)
        nn.init.zeros_(self.value.bias)

    def hidden_matrices(self) -> list[nn.Parameter]:
        """What Muon steps: the matrices between hidden layers."""
        layers = [module for module in self.torso if isinstance(module, nn.Linear)]
        # The first layer reads inputs of unlike scales, as an embedding does: AdamW.
        return [layer.weight for layer in layers[1:]]

    def shared_parameters(self) -> Iterable[nn.Parameter]:
        """The torso."""
        return self.torso.parameters()

    def steadied(self, weights: State, factor: float) -> State:
        """Larger logits of the aim heads; a residual aim, a sum of two opinions, stays as it is."""
        if "aim_scale" in weights:
            return weights
        found = dict(weights)
        for name in ("policy.weight", "policy.bias"):
            found[name] = weights[name].clone()
            found[name][self._aim_rows] *= factor
        return found

    def forward(self, inputs: Tensor) -> tuple[Tensor, Tensor]:
        """inputs [B, D] -> logits [B, A], values [B]."""
        hidden = self.torso(self.standardised(inputs))  # [B, H]
        logits = self.policy(hidden)
        if self._objects is not None:
            logits = logits + self._aim_logits(inputs, logits.shape[-1])
        return logits, self.value(hidden).squeeze(-1)

    def _aim_logits(self, inputs: Tensor, bins: int) -> Tensor:
        """Log-probabilities [B, A] of aiming at the nearest visible enemy; 0 in other heads."""
        assert self._objects is not None
        at, slots, columns = self._objects
        objects = inputs[:, at : at + slots * columns].unflatten(1, (slots, columns))
        target = target_logit(nearest_enemy(objects))  # [B, 2]
        scale = self.aim_scale.expand_as(target)
        aimed = logistic_bins(target, scale, self._edges).flatten(1)  # both heads side by side
        return functional.pad(aimed, (self._aim_at, bins - self._aim_at - aimed.shape[1]))

    def unroll(
        self, views: Inputs, state: State, reset: Tensor, choices: Tensor | None = None
    ) -> Unrolled:
        """Every decision alone: T x B rows in one pass."""
        steps, rows = views.packed.shape[:2]
        logits, values = self(views.packed.reshape(steps * rows, -1))
        return Unrolled(logits.view(steps, rows, -1), values.view(steps, rows), state)


FAMILY = Family("flat", tuple(SIZES), FlatNet, flat_meta)
