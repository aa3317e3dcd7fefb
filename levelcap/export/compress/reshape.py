"""A flat net with other hidden widths: what matters most is kept, what is new changes nothing yet.

Shapes: n rows, H hidden units of a layer.

Units are cut, not masked: zeros in a matrix save neither bytes nor time, and a masked unit's bias
would still reach the next layer. A unit matters by its mean activation over real observations
times the length of the weights that read it. New units are read with weight 0; a new layer copies
the one below (what passed a ReLU passes it again); a layer that goes takes what is above with it,
and the heads begin anew.
"""

from __future__ import annotations

from dataclasses import replace
from typing import Any

import numpy as np
import torch
from numpy.typing import NDArray
from torch import Tensor, nn

from levelcap.nets.family import new_net
from levelcap.nets.flat import FlatNet
from levelcap.nets.meta import Meta


def reshaped_meta(meta: Meta, hidden: tuple[int, ...], parent: str) -> Meta:
    """The description of the same net with other hidden widths; parent: digest of its teacher."""
    size = "x".join(map(str, hidden))
    shape = meta.shape | {"hidden": hidden}
    return replace(meta, size=size, shape=shape, parents=(parent,), steps=0, metrics={})


def reshape(
    net: FlatNet, meta: Meta, wanted: Meta, rows: NDArray[np.float32], seed: int
) -> FlatNet:
    """A net of the shape `wanted` that begins as near to `net` as its shape allows."""
    made = new_net(wanted, seed)
    assert isinstance(made, FlatNet)
    old, new = _layers(net), _layers(made)
    order = _order(net, rows)
    chosen: Tensor = torch.arange(meta.input_size)
    with torch.no_grad():
        for target, source, best in zip(new, old, order, strict=False):
            kept = best[: target.out_features].sort().values
            _copy(target, source, kept, chosen)
            chosen = kept
        for above in new[len(old) :]:
            above.weight.zero_()
            above.bias.zero_()
            above.weight.fill_diagonal_(1.0)
            chosen = chosen[: above.out_features]
        if len(new) >= len(old):
            for head, source in ((made.policy, net.policy), (made.value, net.value)):
                _copy(head, source, torch.arange(source.out_features), chosen)
        if hasattr(net, "aim_scale"):
            made.aim_scale.copy_(net.aim_scale)
        for name, buffer in net.named_buffers():
            made.get_buffer(name).copy_(buffer)
    return made


def _copy(target: nn.Linear, source: nn.Linear, kept: Tensor, read: Tensor) -> None:
    """The kept units of a layer, reading the units that were kept below."""
    count, width = len(kept), len(read)
    target.weight[:count, :width] = source.weight[kept][:, read]
    target.weight[:count, width:] = 0.0
    target.bias[:count] = source.bias[kept]


def _order(net: FlatNet, rows: NDArray[np.float32]) -> list[Tensor]:
    """Units of each hidden layer, the most important first."""
    layers = _layers(net)
    heads = torch.cat((net.policy.weight, net.value.weight))
    readers = [*(layer.weight for layer in layers[1:]), heads]
    found, active = list[Tensor](), net.standardised(torch.from_numpy(rows))
    with torch.no_grad():
        for layer, reader in zip(layers, readers, strict=True):
            active = torch.relu(layer(active))  # [n, H]
            found.append((active.mean(0) * reader.norm(dim=0)).argsort(descending=True))
    return found


def _layers(net: FlatNet) -> list[Any]:
    return [module for module in net.torso if isinstance(module, nn.Linear)]
