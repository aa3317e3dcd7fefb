"""State-space block of our own: Mamba-2 in its matmul form (Dao & Gu 2024, "SSD").

Shapes: T steps, B rows, C model width, I = 2 C inner width, H heads of P = I / H numbers, N state.

    h_t = a_t h_{t-1} + dt_t B_t x_t        a_t = exp(dt_t A), A < 0 a head
    y_t = C_t h_t + D x_t

Over T steps this is y = (L o (C B^T)) (dt x) with L[t, s] = a_{s+1} ... a_t, plus what came in with
the state; one step is the recurrence itself. Both carry the same state: `ssm` [B, H, P, N] and the
last inputs of the short convolution. Names of weights as in `transformers.Mamba2Mixer`, which the
tests hold it against.
"""

from __future__ import annotations

import math

import torch
from torch import Tensor, nn
from torch.nn import functional

from levelcap.nets.hierarchy.memory import State, newest, segments, short_convolution
from levelcap.nets.hierarchy.norm import make_norm

try:
    from mamba_ssm.ops.triton.ssd_combined import mamba_chunk_scan_combined
except ImportError:
    mamba_chunk_scan_combined = None
MAMBA_AVAILABLE = mamba_chunk_scan_combined is not None
"""can the CUDA package be imported? Then it does the scan of whole chunks, where its kernels run"""
KERNEL_DEVICES = ("cuda",)
CHUNK = 64  # steps in one pass: L is T x T, so twice the chunk is twice the work a step
STEP_RANGE = (1e-3, 1e-1)  # of dt at the start, spread evenly in its logarithm


class Ssd(nn.Module):
    """One Mamba-2 block with its input norm and residual. See `Memory`."""

    def __init__(
        self, width: int, state: int = 64, conv: int = 4, head: int = 32, norm: str = "layer"
    ) -> None:
        super().__init__()
        self.inner = 2 * width
        self.head = math.gcd(head, self.inner)
        self.heads, self.state, self.conv = self.inner // self.head, state, conv
        self.mixed = self.inner + 2 * state  # what the convolution sees: x, B, C
        self.norm_in = make_norm(width, norm)
        self.in_proj = nn.Linear(width, self.inner + self.mixed + self.heads, bias=False)
        self.conv1d = nn.Conv1d(self.mixed, self.mixed, conv, groups=self.mixed, padding=conv - 1)
        steps = torch.exp(torch.linspace(*(math.log(s) for s in STEP_RANGE), self.heads))
        # The inverse of softplus, so that dt begins at these steps.
        self.dt_bias = nn.Parameter(steps + torch.log(-torch.expm1(-steps)))
        self.A_log = nn.Parameter(torch.log(torch.arange(1, self.heads + 1).float()))
        self.D = nn.Parameter(torch.ones(self.heads))
        self.norm = nn.RMSNorm(self.inner, eps=1e-5)
        self.out_proj = nn.Linear(self.inner, width, bias=False)

    def initial_state(self, rows: int) -> State:
        """Zeros."""
        return {
            "ssm": torch.zeros(rows, self.heads, self.head, self.state),
            "conv": torch.zeros(rows, self.conv - 1, self.mixed),
        }

    def forward(
        self, x: Tensor, state: State, reset: Tensor | None, valid: Tensor | None = None
    ) -> tuple[Tensor, State]:
        """See `Memory`."""
        if len(x) == 1 and valid is None:
            begins = None if reset is None else reset[0]
            y, state = self.step(self.norm_in(x[0]), state, begins)
            return x + y[None], state
        assert reset is not None, "only a single step may leave it out"
        out = []
        for first in range(0, len(x), CHUNK):
            here = slice(first, first + CHUNK)
            kept = None if valid is None else valid[here]
            y, state = self.mix(self.norm_in(x[here]), state, reset[here], kept)
            out.append(y)
        return x + torch.cat(out), state

    def mix(
        self, x: Tensor, state: State, reset: Tensor, valid: Tensor | None = None
    ) -> tuple[Tensor, State]:
        """The block alone over one chunk, x [T, B, C]: without norm and residual."""
        steps, rows = x.shape[:2]
        gate, mixed, dt = self.in_proj(x).split([self.inner, self.mixed, self.heads], -1)
        match = segments(reset)  # [T, B]
        mixed, long = short_convolution(mixed, state["conv"], match, self.conv1d)
        conv = newest(long, match, valid)
        value, b, c = functional.silu(mixed).split([self.inner, self.state, self.state], -1)
        value = value.view(steps, rows, self.heads, self.head)
        dt = functional.softplus(dt + self.dt_bias)  # [T, B, H]
        if valid is not None:
            # No time passes where no step is: the state stays.
            dt = dt * valid[..., None]
        scan = self._kernel if MAMBA_AVAILABLE and x.device.type in KERNEL_DEVICES else self._matmul
        y, ssm = scan(value, dt, b, c, state["ssm"], match)
        y = y + value * self.D[:, None]
        y = self._gated(y.reshape(steps, rows, self.inner), gate)
        return y, {"ssm": ssm, "conv": conv}

    def _matmul(
        self, value: Tensor, dt: Tensor, b: Tensor, c: Tensor, before: Tensor, match: Tensor
    ) -> tuple[Tensor, Tensor]:
        """y [T, B, H, P] without D, and the state after the last step: the form of the module."""
        steps = len(value)
        decay = torch.cumsum(-dt * self.A_log.exp(), 0)  # log of a_1 ... a_t
        # L[t, s], time last: [B, H, T, T]; nothing passes from one match into the next.
        log_l = (decay[:, None] - decay[None]).permute(2, 3, 0, 1)
        same = (match[:, None] == match[None]).permute(2, 0, 1)
        seen = same & torch.ones(steps, steps, dtype=torch.bool).tril()
        weights = torch.exp(log_l.masked_fill(~seen[:, None], -math.inf))
        scores = torch.einsum("tbn,sbn->bts", c, b)[:, None] * weights
        inflow = value * dt[..., None]  # [T, B, H, P]
        y = torch.einsum("bhts,sbhp->tbhp", scores, inflow)
        # What came in with the state, until the first new match.
        first = (match == 0)[..., None] * decay.exp()  # [T, B, H]
        y = y + torch.einsum("tbn,bhpn,tbh->tbhp", c, before, first)
        # After the last step: the last row of L carries the sum on.
        last = weights[:, :, -1]  # [B, H, S]
        ssm = torch.einsum("bhs,sbhp,sbn->bhpn", last, inflow, b)
        return y, ssm + before * first[-1][..., None, None]

    def _kernel(
        self, value: Tensor, dt: Tensor, b: Tensor, c: Tensor, before: Tensor, match: Tensor
    ) -> tuple[Tensor, Tensor]:
        """The same by the CUDA package, which wants rows first; b and c are one group of heads."""
        assert mamba_chunk_scan_combined is not None
        rows_first = (t.transpose(0, 1).contiguous() for t in (value, dt, b, c, match))
        value, dt, b, c, match = rows_first
        # Its sequence numbers begin at 0, as ours do: what came with the state is sequence 0's.
        y, ssm = mamba_chunk_scan_combined(
            value,
            dt,
            -self.A_log.exp(),
            b[:, :, None],
            c[:, :, None],
            CHUNK,
            initial_states=before,
            seq_idx=match.int(),
            return_final_states=True,
        )
        return y.transpose(0, 1), ssm

    def step(self, x: Tensor, state: State, reset: Tensor | None) -> tuple[Tensor, State]:
        """One step of B rows, x [B, C]: the recurrence itself."""
        ssm, conv = state["ssm"], state["conv"]
        if reset is not None and reset.any():
            goes_on = (~reset).to(x.dtype)
            ssm, conv = ssm * goes_on.view(-1, 1, 1, 1), conv * goes_on.view(-1, 1, 1)
        gate, mixed, dt = self.in_proj(x).split([self.inner, self.mixed, self.heads], -1)
        taps = torch.cat((conv, mixed[:, None]), 1)  # [B, conv, mixed]
        mixed = (taps * self.conv1d.weight[:, 0].t()).sum(1) + self.conv1d.bias
        value, b, c = functional.silu(mixed).split([self.inner, self.state, self.state], -1)
        value = value.view(-1, self.heads, self.head)
        dt = functional.softplus(dt + self.dt_bias)  # [B, H]
        decay = torch.exp(-dt * self.A_log.exp())
        inflow = (value * dt[..., None])[..., None] * b[:, None, None]
        ssm = ssm * decay[..., None, None] + inflow
        y = torch.einsum("bhpn,bn->bhp", ssm, c) + value * self.D[:, None]
        return self._gated(y.reshape(-1, self.inner), gate), {"ssm": ssm, "conv": taps[:, 1:]}

    def _gated(self, y: Tensor, gate: Tensor) -> Tensor:
        """Norm after the gate, as Mamba-2 has it."""
        out: Tensor = self.out_proj(self.norm(y * functional.silu(gate)))
        return out


class SsdStack(nn.Module):
    """Several blocks one after the other. See `Memory`."""

    def __init__(self, width: int, layers: int, state: int, norm: str = "layer") -> None:
        super().__init__()
        self.blocks = nn.ModuleList([Ssd(width, state, norm=norm) for _ in range(layers)])

    def initial_state(self, rows: int) -> State:
        """Zeros."""
        found: State = {}
        for index, block in enumerate(self.blocks):
            assert isinstance(block, Ssd)
            found |= {f"{index}.{n}": t for n, t in block.initial_state(rows).items()}
        return found

    def forward(
        self, x: Tensor, state: State, reset: Tensor | None, valid: Tensor | None = None
    ) -> tuple[Tensor, State]:
        """See `Memory`."""
        after: State = {}
        for index, block in enumerate(self.blocks):
            mine = {n: state[f"{index}.{n}"] for n in ("ssm", "conv")}
            x, mine = block(x, mine, reset, valid)
            after |= {f"{index}.{n}": t for n, t in mine.items()}
        return x, after
