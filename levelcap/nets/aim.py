"""Residual aim: an untrained net aims at its target, and training learns the correction.

A cursor offset x in [-1, 1] (units of sight) is u = (x + 1) / 2 in [0, 1]. The distribution over
the bins of an aim head is a logistic distribution in logit(u), cut into the bins: its centre is
`output + logit(target)`, so an output of zero is the target itself.

Shapes: N rows, A bins of a head, S object slots, O columns of an object.
"""

from __future__ import annotations

import math

import torch
from torch import Tensor
from torch.nn import functional

from levelcap.world.spec import OBJECT

NEAREST, FARTHEST = 0.01, 0.99  # of u: the logit of a target at the edge of sight stays finite
# In logits the narrowest bin, the middle one, is 0.4 wide: at an eighth of that a sample falls
# outside its bin once in eight, and the likeliest bin is the target's own.
SCALE = 0.05
# Share spread evenly over all bins: far from the centre the logistic alone gives e^-180, and ratios
# of such probabilities, or the loss of one such shot of a teacher, would drown everything else.
FLOOR = 0.01

DX, DY, DISTANCE = (OBJECT.index(name) for name in ("dx", "dy", "distance"))
ENEMY, VISIBLE, SHOT = (OBJECT.index(name) for name in ("is_enemy", "visible", "is_shot"))


def bin_edges(bins: int) -> Tensor:
    """Logits [bins - 1] of where one bin ends and the next begins; bin k is x = 2k/(bins-1) - 1."""
    return torch.logit((torch.arange(bins - 1) + 0.5) / (bins - 1))


def target_logit(offset: Tensor) -> Tensor:
    """Cursor offsets in [-1, 1] -> logits, finite at and beyond the edge of sight."""
    return torch.logit(((offset + 1) / 2).clamp(NEAREST, FARTHEST))


def logistic_bins(centre: Tensor, log_scale: Tensor, edges: Tensor) -> Tensor:
    """Log-probabilities [..., A] of the bins of a logistic around `centre` [...].

    log_scale [...] or a number: 0 is a scale of `SCALE`. edges: `bin_edges`.
    """
    below = torch.sigmoid((edges - centre[..., None]) / (SCALE * log_scale.exp())[..., None])
    # The outermost bins reach to infinity.
    below = functional.pad(below, (1, 0))
    p = torch.diff(below, append=torch.ones_like(below[..., :1]))
    # Differences of nearly equal numbers are wrong by 1e-7, which the floor makes harmless.
    return torch.log(p * (1 - FLOOR) + FLOOR / p.shape[-1])


def nearest_enemy(objects: Tensor) -> Tensor:
    """Offsets [N, 2] of the nearest visible enemy of objects [N, S, O]; none: straight ahead, 0."""
    here = (objects[..., ENEMY] > 0) & (objects[..., VISIBLE] > 0) & (objects[..., SHOT] == 0)
    far = objects[..., DISTANCE].masked_fill(~here, math.inf)
    nearest = far.argmin(-1)
    # `gather`, not an index of rows: a traced graph then takes any number of them.
    at = nearest[:, None, None].expand(-1, 1, objects.shape[-1])
    found = objects.gather(1, at)[:, 0, [DX, DY]]
    return found * here.any(-1, keepdim=True)
