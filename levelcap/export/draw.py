"""Drawing actions from logits with numpy alone: what `levelcap.play.sample` does, without numba.

Shapes: n rows, A bins of all heads together, H heads.

Chance comes from a row's key: head h uses splitmix64 of (key, h), so that a bundle and the original
draw the same action from the same logits.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import numpy as np
from numpy.typing import NDArray

_GOLDEN = np.uint64(0x9E3779B97F4A7C15)
_M1, _M2 = np.uint64(0xBF58476D1CE4E5B9), np.uint64(0x94D049BB133111EB)
_S30, _S27, _S31, _S11 = (np.uint64(bits) for bits in (30, 27, 31, 11))
_CHOICE = np.uint64(255)  # beyond the number of any head


def uniform(keys: NDArray[np.uint64], purpose: int) -> NDArray[np.float64]:
    """Numbers [n] in [0, 1) of the rows' keys for one purpose: splitmix64's finaliser."""
    z = (keys ^ np.uint64(purpose)) + _GOLDEN
    z = (z ^ (z >> _S30)) * _M1
    z = (z ^ (z >> _S27)) * _M2
    return ((z ^ (z >> _S31)) >> _S11).astype(np.float64) * 2.0**-53


def draw_heads(
    logits: NDArray[np.float32],
    mask: NDArray[Any],
    sizes: Sequence[int],
    keys: NDArray[np.uint64] | None,
) -> NDArray[np.int16]:
    """Bins [n, H]; mask [n, A]: 0 forbids. keys None: the likeliest."""
    actions = np.zeros((len(logits), len(sizes)), np.int16)
    allowed = np.where(mask != 0, logits, -np.inf)
    first = 0
    for head, size in enumerate(sizes):
        part = allowed[:, first : first + size]
        first += size
        if keys is None:
            actions[:, head] = part.argmax(1)
        else:
            actions[:, head] = _draw(part, uniform(keys, head + 1))
    return actions


def draw_mode(logits: NDArray[np.float32], keys: NDArray[np.uint64] | None) -> NDArray[np.int64]:
    """A mode [n] from its log-odds [n, M]; keys None: the likeliest."""
    if keys is None:
        return logits.argmax(1)
    chance = uniform(keys, int(_CHOICE)).astype(np.float32)
    below = np.cumsum(_softmax(logits), axis=1)[:, :-1]
    found: NDArray[np.int64] = (chance[:, None] >= below).sum(1)
    return found


def _draw(logits: NDArray[np.float32], chance: NDArray[np.float64]) -> NDArray[np.int64]:
    """The bin where the cumulative distribution passes `chance`; a forbidden one never is."""
    p = _softmax(logits)
    left = chance[:, None] - np.cumsum(p, axis=1, dtype=np.float64)
    passed = (left < 0) & (p > 0)
    some = p > 0
    # Rounding may leave a little behind the last bin; a row without bins takes the first.
    last = np.where(some.any(1), p.shape[1] - 1 - some[:, ::-1].argmax(1), 0)
    return np.where(passed.any(1), passed.argmax(1), last)


def _softmax(logits: NDArray[np.float32]) -> NDArray[np.float32]:
    """A row with nothing allowed has no probability at all: its first bin is taken."""
    top = logits.max(1, keepdims=True)
    some = np.isfinite(top)
    p = np.where(some, np.exp(logits - np.where(some, top, 0)), 0)
    total = p.sum(1, keepdims=True)
    found: NDArray[np.float32] = np.divide(p, total, out=np.zeros_like(p), where=total > 0)
    return found
