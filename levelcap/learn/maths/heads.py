"""Distributions over factorised action heads.

An action is one bin per head. Logits of all heads lie side by side in one row [..., bins] as the
mask does (`WorldSpec.head_offsets`). A head that a step does not use (aim without fire or ability)
counts in nothing: not in the log-probability, entropy, KL or imitation loss, neither when acting
nor when learning.
"""

from __future__ import annotations

from collections.abc import Sequence

import torch
from torch import Tensor

# Finite, so that a row with everything masked gives zeros and not NaN.
NEVER = -1e9


def split_log_softmax(logits: Tensor, mask: Tensor, sizes: Sequence[int]) -> list[Tensor]:
    """Log-probabilities per head, [..., size] each; masked bins get about -1e9.

    logits: [..., bins]; mask: [..., bins], non-zero = allowed; sizes: bins of each head.
    """
    assert logits.shape[-1] == sum(sizes), f"{logits.shape[-1]} logits for {sum(sizes)} bins"
    assert mask.shape == logits.shape, f"mask {tuple(mask.shape)}, logits {tuple(logits.shape)}"
    masked = torch.where(mask.bool(), logits, NEVER)
    return [torch.log_softmax(part, -1) for part in masked.split(list(sizes), -1)]


def used_heads(
    actions: Tensor, aim_heads: Sequence[int] = (), aim_users: Sequence[int] = ()
) -> Tensor:
    """Which heads count, float [..., heads]: aim heads only where one of `aim_users` is not 0."""
    used = torch.ones_like(actions, dtype=torch.float32)
    if aim_heads:
        wanted = (actions[..., list(aim_users)] != 0).any(-1, keepdim=True)
        used[..., list(aim_heads)] = wanted.to(torch.float32)
    return used


def joint_log_prob(log_probs: Sequence[Tensor], actions: Tensor, used: Tensor) -> Tensor:
    """log pi(action) [...]: the sum over used heads. actions: int [..., heads]."""
    chosen = [
        part.gather(-1, actions[..., h : h + 1].long()).squeeze(-1)
        for h, part in enumerate(log_probs)
    ]
    return (torch.stack(chosen, -1) * used).sum(-1)


def entropy(log_probs: Sequence[Tensor], used: Tensor) -> Tensor:
    """Entropy [...] summed over used heads."""
    parts = [-(part.exp() * part.clamp(min=NEVER)).sum(-1) for part in log_probs]
    return (torch.stack(parts, -1) * used).sum(-1)


def kl_divergence(log_probs: Sequence[Tensor], reference: Sequence[Tensor], used: Tensor) -> Tensor:
    """KL(pi || reference) [...] per head, summed over used heads."""
    parts = [(p.exp() * (p - q)).sum(-1) for p, q in zip(log_probs, reference, strict=True)]
    return (torch.stack(parts, -1) * used).sum(-1)
