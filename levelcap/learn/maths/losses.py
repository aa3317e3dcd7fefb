"""Scalar losses. Each is a mean over the steps that count; no step counts = zero, not NaN."""

from __future__ import annotations

from collections.abc import Sequence

import torch
from torch import Tensor


def masked_mean(values: Tensor, weights: Tensor) -> Tensor:
    """Mean of `values` where `weights` is not zero, both of one shape."""
    assert values.shape == weights.shape, f"{tuple(values.shape)} and {tuple(weights.shape)}"
    weights = weights.to(values.dtype)
    return (values * weights).sum() / weights.sum().clamp(min=1.0)


def policy_gradient_loss(log_prob: Tensor, advantages: Tensor, weights: Tensor) -> Tensor:
    """-log pi(a) * advantage; the advantage carries no gradient. All [T, B]."""
    return masked_mean(-log_prob * advantages.detach(), weights)


def value_loss(values: Tensor, targets: Tensor, weights: Tensor) -> Tensor:
    """Half the squared error to the targets, which carry no gradient. All [T, B]."""
    return masked_mean(0.5 * (values - targets.detach()) ** 2, weights)


def smoothed_cross_entropy(
    log_probs: Sequence[Tensor],
    masks: Sequence[Tensor],
    actions: Tensor,
    used: Tensor,
    weights: Tensor,
    smoothing: float = 0.0,
) -> Tensor:
    """Imitation loss: cross-entropy to the taken bins, smoothed over the *allowed* bins.

    log_probs, masks: per head [..., size]; actions int [..., heads]; used [..., heads];
    weights [...]. smoothing: share of the target spread evenly over the allowed bins.
    """
    total = torch.zeros_like(weights, dtype=log_probs[0].dtype)
    for h, (log_p, mask) in enumerate(zip(log_probs, masks, strict=True)):
        taken = log_p.gather(-1, actions[..., h : h + 1].long()).squeeze(-1)
        loss = -(1 - smoothing) * taken
        if smoothing > 0:
            allowed = mask.to(log_p.dtype)
            even = (log_p * allowed).sum(-1) / allowed.sum(-1).clamp(min=1.0)
            loss = loss - smoothing * even
        total = total + loss * used[..., h]
    return masked_mean(total, weights)
