"""Optimizers: AdamW, and MuonAdamW, which steps matrices by Muon and everything else by AdamW.

Muon (Jordan et al. 2024): momentum, made orthogonal by five Newton-Schulz iterations, so that a
step has the same length in every direction of a matrix. `torch.optim.Muon` iterates in bfloat16,
which processors without bfloat16 units emulate; ours iterates in float32. The tests hold it
against torch's.
"""

from __future__ import annotations

from collections.abc import Callable
from concurrent.futures import Executor
from typing import Any

import torch
from torch import Tensor, nn

from levelcap.kit.errors import unknown_name
from levelcap.learn.engine.config import OPTIMIZERS

# The slope at 0 is 3.4: small singular values grow fastest, and .7 … 1.2 is close enough to 1.
_A, _B, _C = 3.4445, -4.7750, 2.0315  # the quintic of Jordan et al.
ITERATIONS = 5


def orthogonalise(matrix: Tensor, eps: float = 1e-7) -> Tensor:
    """About U V^T of matrix = U S V^T: all singular values between roughly .7 and 1.2."""
    assert matrix.ndim == 2, f"a matrix, got {tuple(matrix.shape)}"
    # The Frobenius norm bounds the largest singular value: all start below 1, where it converges.
    x = matrix / matrix.norm().clamp(min=eps)
    # The Gram matrix of the short side is the small one.
    tall = x.shape[0] > x.shape[1]
    x = x.T if tall else x
    for _ in range(ITERATIONS):
        gram = x @ x.T
        x = _A * x + (_B * gram + _C * gram @ gram) @ x
    return x.T if tall else x


class MuonAdamW(torch.optim.Optimizer):
    """Parameter groups with `use_muon` True step by Muon, the others by AdamW; one state dict."""

    def __init__(self, groups: list[dict[str, Any]]) -> None:
        defaults = dict(
            # beta2 .99: a run of minutes has too few updates for the usual .999.
            lr=1e-3,
            betas=(0.9, 0.99),
            eps=1e-8,
            weight_decay=0.0,
            momentum=0.95,
            use_muon=False,
        )
        super().__init__(groups, defaults)
        self.helper: Executor | None = None
        """steps every other matrix at the same time; they do not depend on each other"""

    @torch.no_grad()
    def step(self, closure: Callable[[], float] | None = None) -> None:  # type: ignore[override]
        """One step of all groups with the gradients there are."""
        assert closure is None, "gradients are computed before the step"
        found = [
            (parameter, group)
            for group in self.param_groups
            for parameter in group["params"]
            if parameter.grad is not None
        ]
        if self.helper is None:
            return self._take(found)
        ahead = self.helper.submit(self._take, found[1::2])
        self._take(found[::2])
        ahead.result()

    @torch.no_grad()  # of the thread
    def _take(self, found: list[tuple[Tensor, dict[str, Any]]]) -> None:
        for parameter, group in found:
            # Decoupled weight decay: before the step, and never through the moments.
            parameter.mul_(1 - group["lr"] * group["weight_decay"])
            (self._muon if group["use_muon"] else self._adamw)(parameter, group)

    def _muon(self, parameter: Tensor, group: dict[str, Any]) -> None:
        state = self.state[parameter]
        if not state:
            state["momentum"] = torch.zeros_like(parameter)
        momentum, grad = state["momentum"], parameter.grad
        assert grad is not None
        momentum.lerp_(grad, 1 - group["momentum"])
        # Nesterov: look one step of momentum ahead.
        update = orthogonalise(grad.lerp(momentum, group["momentum"]))
        # A wide layer's step is no smaller than a square one's.
        scale = max(1.0, parameter.shape[0] / parameter.shape[1]) ** 0.5
        parameter.add_(update, alpha=-group["lr"] * scale)

    def _adamw(self, parameter: Tensor, group: dict[str, Any]) -> None:
        state = self.state[parameter]
        if not state:
            state["step"] = torch.zeros(())
            state["mean"] = torch.zeros_like(parameter)
            state["square"] = torch.zeros_like(parameter)
        grad, (beta1, beta2) = parameter.grad, group["betas"]
        assert grad is not None
        state["step"] += 1
        count = float(state["step"])
        # First and second moments; their bias to 0 is corrected below.
        state["mean"].lerp_(grad, 1 - beta1)
        state["square"].mul_(beta2).addcmul_(grad, grad, value=1 - beta2)
        std = (state["square"] / (1 - beta2**count)).sqrt_().add_(group["eps"])
        parameter.addcdiv_(state["mean"], std, value=-group["lr"] / (1 - beta1**count))


def make_optimizer(
    net: nn.Module,
    name: str,
    *,
    lr: float,
    hidden_lr: float,
    weight_decay: float,
    betas: tuple[float, float],
    eps: float,
) -> MuonAdamW:
    """The optimizer of this name. muon: matrices inside the net at hidden_lr, the rest at lr.

    The first and the last layers (inputs, heads, value) are stepped by AdamW as embeddings are.
    """
    if name not in OPTIMIZERS:
        raise unknown_name("optimizer", name, OPTIMIZERS)
    inner = hidden_matrices(net) if name == "muon" else []
    # By identity: `in` would compare tensors element by element.
    rest = [p for p in net.parameters() if not any(p is q for q in inner)]
    groups: list[dict[str, Any]] = [
        dict(params=rest, lr=lr, betas=betas, eps=eps, weight_decay=weight_decay)
    ]
    if inner:
        groups.append(dict(params=inner, lr=hidden_lr, weight_decay=weight_decay, use_muon=True))
    for group in groups:
        group["peak_lr"] = group["lr"]
    return MuonAdamW(groups)


def hidden_matrices(net: nn.Module) -> list[nn.Parameter]:
    """The matrices inside the net; a module may name them itself as `hidden_matrices()`."""
    named = getattr(net, "hidden_matrices", None)
    if named is None:
        return [p for p in net.parameters() if p.ndim == 2]
    found: list[nn.Parameter] = named()
    return found
