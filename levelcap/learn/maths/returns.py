"""Targets from traces: V-trace, TD(lambda), UPGO.

All functions take the same inputs, time first:

    rewards      [T, B]  of the step
    values       [T, B]  V of the state the step starts in
    next_values  [T, B]  V of the state the step leads to; where a match is truncated, V of its
                         last state (not of the match that starts there); unused where terminated
    terminated   [T, B]  bool: the match ended, nothing follows
    truncated    [T, B]  bool: the match was cut off here, the trace ends but the value goes on

The last row is not special: it bootstraps from `next_values` unless it is terminated. The
rewarded terminal step keeps its reward and its gradient.
"""

from __future__ import annotations

from typing import NamedTuple

import torch
from torch import Tensor


class VTrace(NamedTuple):
    """Value targets and policy-gradient advantages, both [T, B] and without gradient."""

    targets: Tensor
    advantages: Tensor


def _check(rewards: Tensor, **others: Tensor) -> None:
    assert rewards.ndim == 2, f"rewards must be [T, B], got {tuple(rewards.shape)}"
    for name, tensor in others.items():
        assert tensor.shape == rewards.shape, (
            f"{name} must be {tuple(rewards.shape)}, got {tuple(tensor.shape)}"
        )


@torch.no_grad()
def vtrace(
    log_rhos: Tensor,
    rewards: Tensor,
    values: Tensor,
    next_values: Tensor,
    terminated: Tensor,
    truncated: Tensor,
    *,
    gamma: float,
    lambda_: float = 1.0,
    rho_bar: float = 1.0,
    c_bar: float = 1.0,
) -> VTrace:
    """V-trace (Espeholt et al. 2018, IMPALA, equations 1 and 4.2).

    log_rhos: log pi(a|x) - log mu(a|x) [T, B], target over behaviour policy.
    gamma, lambda_: discount; lambda_ multiplies the trace coefficients c.
    rho_bar, c_bar: where the importance weights are cut.
    """
    _check(
        rewards,
        log_rhos=log_rhos,
        values=values,
        next_values=next_values,
        terminated=terminated,
        truncated=truncated,
    )
    # Cut the importance weights; the discount is zero where the match ends.
    ratios = log_rhos.exp()
    rhos, cs = ratios.clamp(max=rho_bar), lambda_ * ratios.clamp(max=c_bar)
    discounts = gamma * (~terminated).to(rewards.dtype)
    goes_on = ~(terminated | truncated)
    # One-step errors, weighted.
    deltas = rhos * (rewards + discounts * next_values - values)
    # Accumulate them backwards, never across the end of a match.
    carry = torch.zeros_like(rewards[0])
    errors = torch.empty_like(rewards)
    for t in range(rewards.shape[0] - 1, -1, -1):
        carry = deltas[t] + discounts[t] * cs[t] * torch.where(goes_on[t], carry, 0.0)
        errors[t] = carry
    targets = values + errors
    # The advantage looks one step ahead to the corrected value of the same match.
    follow = torch.cat([targets[1:], next_values[-1:]])
    follow = torch.where(goes_on, follow, next_values)
    return VTrace(targets, rhos * (rewards + discounts * follow - values))


@torch.no_grad()
def td_lambda_targets(
    rewards: Tensor,
    next_values: Tensor,
    terminated: Tensor,
    truncated: Tensor,
    *,
    gamma: float,
    lambda_: float,
) -> Tensor:
    """TD(lambda) targets [T, B] (Sutton 1988): a mixture of all n-step returns."""
    _check(rewards, next_values=next_values, terminated=terminated, truncated=truncated)
    discounts = gamma * (~terminated).to(rewards.dtype)
    goes_on = ~(terminated | truncated)
    targets = torch.empty_like(rewards)
    follow = next_values[-1]
    for t in range(rewards.shape[0] - 1, -1, -1):
        # Where the trace ends, all weight is on the bootstrap.
        mixed = (1 - lambda_) * next_values[t] + lambda_ * follow
        targets[t] = rewards[t] + discounts[t] * torch.where(goes_on[t], mixed, next_values[t])
        follow = targets[t]
    return targets


@torch.no_grad()
def upgo_returns(
    rewards: Tensor,
    values: Tensor,
    next_values: Tensor,
    terminated: Tensor,
    truncated: Tensor,
    *,
    gamma: float,
) -> Tensor:
    """UPGO returns [T, B] (Vinyals et al. 2019): follow the trajectory while it beats the value.

    G_t = r_t + gamma * (G_{t+1} if r_{t+1} + gamma V(s_{t+2}) >= V(s_{t+1}) else V(s_{t+1})).
    """
    _check(
        rewards, values=values, next_values=next_values, terminated=terminated, truncated=truncated
    )
    discounts = gamma * (~terminated).to(rewards.dtype)
    goes_on = ~(terminated | truncated)
    # Was the step at least as good as expected?
    good = rewards + discounts * next_values >= values
    returns = torch.empty_like(rewards)
    returns[-1] = rewards[-1] + discounts[-1] * next_values[-1]
    for t in range(rewards.shape[0] - 2, -1, -1):
        ahead = torch.where(good[t + 1], returns[t + 1], next_values[t])
        follow = torch.where(goes_on[t], ahead, next_values[t])
        returns[t] = rewards[t] + discounts[t] * follow
    return returns
