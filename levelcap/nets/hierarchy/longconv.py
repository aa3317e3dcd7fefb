"""Long convolution (Hyena, Poli et al. 2023), order 2: a gate, a filter of 1,024 steps, a gate.

Shapes: T steps, B rows, C width, L filter steps, F numbers of a position.

    q, k, v = short convolutions of three projections of x        y = q o (h * (k o v) + D k o v)

The filter h is a small net of the lag, under a window that decays. Over T steps the convolution is
a product of Fourier transforms. A step has no O(1) form: it keeps the last 1,023 inputs and costs
1,024 products a channel, 65,000 numbers a row at width 64. So it is measured in imitation only.
"""

from __future__ import annotations

import math

import torch
from torch import Tensor, nn

from levelcap.nets.hierarchy.memory import State, newest, segments, short_convolution
from levelcap.nets.hierarchy.norm import make_norm

LONGEST = 1024
BANDS = 8  # frequencies that say where in the filter a lag is
HIDDEN = 32
TAPS = 3
DECAYS = (0.3, 1.5)  # share of LONGEST after which the window has fallen to 1 %, fast and slow


class Filter(nn.Module):
    """Lags [L, F] -> weights [L, C]."""

    positions: Tensor
    window: Tensor

    def __init__(self, width: int) -> None:
        super().__init__()
        lag = torch.arange(LONGEST) / LONGEST
        angles = 2 * math.pi * lag[:, None] * torch.arange(1, BANDS + 1)
        positions = torch.cat((lag[:, None], angles.cos(), angles.sin()), 1)
        rates = math.log(100) / torch.linspace(*DECAYS, width)
        self.register_buffer("positions", positions, persistent=False)
        self.register_buffer("window", torch.exp(-lag[:, None] * rates), persistent=False)
        self.inner, self.middle = nn.Linear(2 * BANDS + 1, HIDDEN), nn.Linear(HIDDEN, HIDDEN)
        self.out = nn.Linear(HIDDEN, width, bias=False)

    def forward(self) -> Tensor:
        """[L, C]. Sines between the layers: a filter may swing quickly."""
        hidden = torch.sin(self.middle(torch.sin(self.inner(self.positions))))
        # As loud as one step whatever its length.
        weights: Tensor = self.out(hidden) * self.window / math.sqrt(LONGEST)
        return weights


class LongConvolution(nn.Module):
    """One block with its input norm and residual. See `Memory`."""

    def __init__(self, width: int, norm: str = "layer") -> None:
        super().__init__()
        self.width = width
        self.norm_in = make_norm(width, norm)
        self.in_proj = nn.Linear(width, 3 * width)
        self.conv1d = nn.Conv1d(3 * width, 3 * width, TAPS, groups=3 * width)
        self.filter = Filter(width)
        self.D = nn.Parameter(torch.ones(width))
        self.out_proj = nn.Linear(width, width)

    def initial_state(self, rows: int) -> State:
        """Zeros: what was convolved before the match was nothing."""
        return {
            "past": torch.zeros(rows, LONGEST - 1, self.width),
            "conv": torch.zeros(rows, TAPS - 1, 3 * self.width),
        }

    def forward(
        self, x: Tensor, state: State, reset: Tensor | None, valid: Tensor | None = None
    ) -> tuple[Tensor, State]:
        """See `Memory`."""
        if reset is None:
            reset = x.new_zeros(x.shape[:2], dtype=torch.bool)
        match = segments(reset)
        mixed, before = short_convolution(
            self.in_proj(self.norm_in(x)), state["conv"], match, self.conv1d
        )
        q, k, v = mixed.chunk(3, -1)
        inflow = k * v  # [T, B, C]
        long = torch.cat((state["past"].transpose(0, 1), inflow))  # [L - 1 + T, B, C]
        found = self._step(long, match) if len(x) == 1 else self._convolve(long, match)
        y = self.out_proj(q * (found + self.D * inflow))
        after = {"past": newest(long, match, valid), "conv": newest(before, match, valid)}
        return x + y, after

    def _step(self, long: Tensor, match: Tensor) -> Tensor:
        """The sum itself: the newest input last, under lag 0."""
        weights = self.filter().flip(0)
        # A match that begins now has no past.
        past = torch.einsum("lbc,lc->bc", long[:-1], weights[:-1]) * (match[0] == 0)[:, None]
        return (past + long[-1] * weights[-1])[None]

    def _convolve(self, long: Tensor, match: Tensor) -> Tensor:
        """T outputs at once, one match after the other: no input reaches into the next."""
        # What wraps around in so short a transform lands in the past, which nobody asks for.
        steps, size = len(match), 1 << (len(long) - 1).bit_length()
        number = nn.functional.pad(match, (0, 0, LONGEST - 1, 0))[..., None]
        weights = torch.fft.rfft(self.filter(), n=size, dim=0)[:, None]
        out = torch.zeros_like(long[-steps:])
        for one in range(int(match.max()) + 1):
            mine = number == one
            spectrum = torch.fft.rfft(long * mine, n=size, dim=0)
            whole = torch.fft.irfft(spectrum * weights, n=size, dim=0)
            out = out + (whole[: len(long)] * mine)[-steps:]
        return out
