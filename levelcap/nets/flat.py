"""The flat actor-critic: all views flattened, a torso, one row of logits for all heads, a value.

Shapes: T decisions, B rows, D input numbers, H hidden, A bins of all heads together.

The baseline and the fastest learner. Sizes: `dummy` (tests), `slim` 2 x 128, `full` 2 x 256.
"""

from __future__ import annotations

from collections.abc import Iterable

from torch import Tensor, nn

from levelcap.nets.meta import Meta
from levelcap.nets.net import Inputs, Net, State, Unrolled
from levelcap.nets.row import Family, world_meta
from levelcap.world.spec import WorldSpec

# 2 x 128 is the smallest torso that beats master in duel within five minutes; twice the width
# learns as much per step at half the steps a second (benchmarks/log).
SIZES: dict[str, tuple[int, ...]] = {"dummy": (8,), "slim": (128, 128), "full": (256, 256)}


def flat_meta(
    spec: WorldSpec, size: str = "slim", standardise: bool = False, views: tuple[str, ...] = ()
) -> Meta:
    """The description of a new flat net for this world; views: what it reads if not the usual."""
    views = views or spec.flat_views
    shape = {
        "input_size": sum(spec.views[name].size for name in views),
        "hidden": SIZES[size],
        "standardise": standardise,
    }
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

    def forward(self, inputs: Tensor) -> tuple[Tensor, Tensor]:
        """inputs [B, D] -> logits [B, A], values [B]."""
        hidden = self.torso(self.standardised(inputs))  # [B, H]
        return self.policy(hidden), self.value(hidden).squeeze(-1)

    def unroll(
        self, views: Inputs, state: State, reset: Tensor, choices: Tensor | None = None
    ) -> Unrolled:
        """Every decision alone: T x B rows in one pass."""
        steps, rows = views.packed.shape[:2]
        logits, values = self(views.packed.reshape(steps * rows, -1))
        return Unrolled(logits.view(steps, rows, -1), values.view(steps, rows), state)


FAMILY = Family("flat", tuple(SIZES), FlatNet, flat_meta)
