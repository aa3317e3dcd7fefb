"""Drawing actions from logits, and their log-probability, in one pass over each row.

Chance comes from the row's key alone: head h uses splitmix64 of (key, h), so a row is drawn the
same in any batch that gives it the same logits.
"""

from __future__ import annotations

import numpy as np
from numpy.typing import NDArray

from levelcap.kit.compiled import entry, kernel
from levelcap.world.rules.chance import mix, uniform
from levelcap.world.spec import WorldSpec

F32 = np.float32
_LOG2E, _LN2_HIGH, _LN2_LOW = F32(1.44269504), F32(0.693359375), F32(-2.12194440e-4)
_C1, _C2, _C3, _C4, _C5 = F32(0.5), F32(1 / 6), F32(1 / 24), F32(1 / 120), F32(1 / 720)
_LOWEST = F32(-80.0)  # exp of it is a normal float32 still
_CHOICE = np.uint64(255)  # beyond the number of any head
_ONE, _HALF, _ZERO = F32(1.0), F32(0.5), F32(0.0)


@kernel
def exp_row(x, out, size):
    """exp of x[:size] <= 0 in single precision, relative error < 3e-7; a loop SIMD can take."""
    for i in range(size):
        z = max(x[i], _LOWEST)
        k = np.int32(z * _LOG2E - _HALF)  # towards zero: z is not positive
        r = z - F32(k) * _LN2_HIGH - F32(k) * _LN2_LOW
        p = _ONE + r * (_ONE + r * (_C1 + r * (_C2 + r * (_C3 + r * (_C4 + r * _C5)))))
        out[i] = p * np.int32((k + np.int32(127)) << np.int32(23)).view(np.float32)


@kernel
def log_softmax_row(row, allowed, sizes, z, p):
    """One row of logits -> log-probabilities z and probabilities p of every head.

    Masked bins get p = 0 and a finite, low z.
    """
    first = 0
    for h in range(sizes.shape[0]):
        last = first + sizes[h]
        top = F32(-1e30)
        for j in range(first, last):
            if allowed[j] != 0 and row[j] > top:
                top = row[j]
        for j in range(first, last):
            z[j] = row[j] - top if allowed[j] != 0 else _LOWEST
        first = last
    exp_row(z, p, first)
    first = 0
    for h in range(sizes.shape[0]):
        last = first + sizes[h]
        total = _ZERO
        for j in range(first, last):
            if allowed[j] == 0:
                p[j] = _ZERO
            total += p[j]
        share = _ONE / total if total > _ZERO else _ZERO
        for j in range(first, last):
            p[j] *= share
        shift = np.log(total) if total > _ZERO else _ZERO
        for j in range(first, last):
            z[j] -= shift
        first = last


@kernel
def _draw(p, first, size, chance):
    """The bin where the cumulative distribution passes `chance`."""
    left, chosen = chance, 0
    for b in range(size):
        if p[first + b] > _ZERO:
            chosen = b
            left -= p[first + b]
            if left < 0.0:
                break
    return chosen


@kernel
def _likeliest(p, first, size):
    best = 0
    for b in range(size):
        if p[first + b] > p[first + best]:
            best = b
    return best


@entry
def sample_rows(logits, mask, keys, sizes, aim, users, greedy, scratch, actions, log_probs):
    """Fill actions [n, heads] and log_probs [n] (over used heads) for all rows.

    aim [heads]: 1 where a head counts only when one of the heads marked in users [heads] is used.
    scratch: float32 [2, bins].
    """
    z, p = scratch[0], scratch[1]
    for i in range(logits.shape[0]):
        log_softmax_row(logits[i], mask[i], sizes, z, p)
        first, in_use = 0, False
        total, aimed = 0.0, 0.0
        for h in range(sizes.shape[0]):
            if greedy:
                chosen = _likeliest(p, first, sizes[h])
            else:
                chosen = _draw(p, first, sizes[h], uniform(mix(keys[i] ^ np.uint64(h + 1))))
            actions[i, h] = chosen
            if aim[h] == 1:
                aimed += z[first + chosen]
            else:
                total += z[first + chosen]
            if users[h] == 1 and chosen != 0:
                in_use = True
            first += sizes[h]
        log_probs[i] = total + aimed if in_use else total


@entry
def chance_rows(keys, out):
    """Numbers [n] in [0, 1) of the rows' keys, for a choice that is drawn beside the heads."""
    for i in range(keys.shape[0]):
        out[i] = uniform(mix(keys[i] ^ _CHOICE))


class Sampler:
    """`sample_rows` for the heads of one world."""

    def __init__(self, spec: WorldSpec) -> None:
        count = len(spec.heads)
        self._sizes = np.array([head.size for head in spec.heads], np.int64)
        self._aim = np.isin(np.arange(count), spec.aim_heads).astype(np.uint8)
        self._users = np.isin(np.arange(count), spec.aim_users).astype(np.uint8)
        self._scratch = np.zeros((2, spec.mask_size), np.float32)

    def __call__(
        self,
        logits: NDArray[np.float32],
        mask: NDArray[np.uint8],
        keys: NDArray[np.uint64],
        greedy: bool = False,
    ) -> tuple[NDArray[np.int16], NDArray[np.float32]]:
        """Bins [n, heads] and joint log-probabilities [n] over used heads."""
        actions = np.empty((len(logits), len(self._sizes)), np.int16)
        log_probs = np.empty(len(logits), np.float32)
        rows = (np.ascontiguousarray(array) for array in (logits, mask, keys))
        heads = (self._sizes, self._aim, self._users)
        sample_rows(*rows, *heads, greedy, self._scratch, actions, log_probs)
        return actions, log_probs

    @staticmethod
    def chance(keys: NDArray[np.uint64]) -> NDArray[np.float32]:
        """What a net draws its choice with, [n] in [0, 1)."""
        found = np.empty(len(keys), np.float32)
        chance_rows(np.ascontiguousarray(keys), found)
        return found
