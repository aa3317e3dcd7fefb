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


def uniform(keys: NDArray[np.uint64], purpose: Any) -> NDArray[np.float64]:
    """Numbers in [0, 1) of the rows' keys for a purpose, or several: splitmix64's finaliser."""
    z = (keys ^ np.asarray(purpose, np.uint64)) + _GOLDEN
    z = (z ^ (z >> _S30)) * _M1
    z = (z ^ (z >> _S27)) * _M2
    return ((z ^ (z >> _S31)) >> _S11).astype(np.float64) * 2.0**-53


class Draw:
    """Draws the bins of given heads, all heads of all rows in one pass."""

    def __init__(self, sizes: Sequence[int]) -> None:
        """sizes: bins of each head."""
        self._sizes = np.array(sizes, np.int64)
        self._first = np.cumsum([0, *sizes[:-1]])
        self._bins = np.arange(sum(sizes)) - np.repeat(self._first, self._sizes)  # within a head
        self._purposes = np.arange(1, len(sizes) + 1, dtype=np.uint64)

    def __call__(
        self, logits: NDArray[np.float32], mask: NDArray[Any], keys: NDArray[np.uint64] | None
    ) -> NDArray[np.int16]:
        """Bins [n, H]; mask [n, A]: 0 forbids. keys None: the likeliest. Nothing allowed: bin 0."""
        allowed = np.where(mask != 0, logits, -np.inf)
        top = np.maximum.reduceat(allowed, self._first, axis=1)  # [n, H]
        if keys is None:
            best = allowed == np.repeat(top, self._sizes, axis=1)
            return self._lowest(best)
        top = np.where(np.isfinite(top), top, 0.0)
        p = np.exp(allowed - np.repeat(top, self._sizes, axis=1))  # not divided by their sum
        total = np.add.reduceat(p, self._first, axis=1)
        below = np.cumsum(p, axis=1, dtype=np.float64)
        start = below[:, self._first] - p[:, self._first]
        passes = start + uniform(keys[:, None], self._purposes) * total
        # The first bin whose cumulative distribution passes the chance; rounding may leave a little
        # behind the last bin that is possible, which is then taken.
        possible = p > 0
        ahead = (below > np.repeat(passes, self._sizes, axis=1)) & possible
        some = np.logical_or.reduceat(ahead, self._first, axis=1)
        found = self._lowest(ahead)
        if not some.all():
            last = np.maximum.reduceat(np.where(possible, self._bins, 0), self._first, axis=1)
            found = np.where(some, found, last).astype(np.int16)
        return found

    def _lowest(self, marked: NDArray[np.bool_]) -> NDArray[np.int16]:
        """The first marked bin of each head [n, H]."""
        number = np.where(marked, self._bins, np.iinfo(np.int16).max)
        found: NDArray[np.int16] = np.minimum.reduceat(number, self._first, axis=1)
        return found.astype(np.int16)


def draw_mode(logits: NDArray[np.float32], keys: NDArray[np.uint64] | None) -> NDArray[np.int64]:
    """A mode [n] from its log-odds [n, M]; keys None: the likeliest."""
    if keys is None:
        return logits.argmax(1)
    chance = uniform(keys, int(_CHOICE)).astype(np.float32)
    below = np.cumsum(_softmax(logits), axis=1)[:, :-1]
    found: NDArray[np.int64] = (chance[:, None] >= below).sum(1)
    return found


def _softmax(logits: NDArray[np.float32]) -> NDArray[np.float32]:
    p = np.exp(logits - logits.max(1, keepdims=True))
    found: NDArray[np.float32] = p / p.sum(1, keepdims=True)
    return found
