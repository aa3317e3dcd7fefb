"""Drawing actions from logits, and their log-probability, in one pass over each row.

Chance comes from the row's key alone: head h uses splitmix64 of (key, h), so a row is drawn the
same in any batch that gives it the same logits.
"""

from __future__ import annotations

from math import exp, log

import numpy as np
from numpy.typing import NDArray

from levelcap.world.chance import mix, uniform
from levelcap.world.compiled import entry, kernel
from levelcap.world.spec import WorldSpec


@kernel
def _pick(row, allowed, first, size, chance, greedy):
    """(bin, log-probability) of one head: the inverse of its cumulative distribution at chance."""
    top, best = -1e30, 0
    for b in range(size):
        if allowed[first + b] != 0 and row[first + b] > top:
            top, best = row[first + b], b
    total = 0.0
    for b in range(size):
        if allowed[first + b] != 0:
            total += exp(row[first + b] - top)
    chosen = best
    if not greedy:
        left = chance * total
        for b in range(size):
            if allowed[first + b] != 0:
                chosen = b
                left -= exp(row[first + b] - top)
                if left < 0.0:
                    break
    return chosen, row[first + chosen] - top - log(total)


@entry
def sample_rows(logits, mask, keys, sizes, aim, users, greedy, actions, log_probs):
    """Fill actions [n, heads] and log_probs [n] (over used heads) for all rows.

    aim [heads]: 1 where a head counts only when one of the heads marked in users [heads] is used.
    """
    for i in range(logits.shape[0]):
        first, in_use = 0, False
        row, allowed = logits[i], mask[i]
        total, aimed = 0.0, 0.0
        for h in range(sizes.shape[0]):
            bits = mix(keys[i] ^ np.uint64(h + 1))
            chosen, log_p = _pick(row, allowed, first, sizes[h], uniform(bits), greedy)
            actions[i, h] = chosen
            if aim[h] == 1:
                aimed += log_p
            else:
                total += log_p
            if users[h] == 1 and chosen != 0:
                in_use = True
            first += sizes[h]
        log_probs[i] = total + aimed if in_use else total


class Sampler:
    """`sample_rows` for the heads of one world."""

    def __init__(self, spec: WorldSpec) -> None:
        count = len(spec.heads)
        self._sizes = np.array([head.size for head in spec.heads], np.int64)
        self._aim = np.isin(np.arange(count), spec.aim_heads).astype(np.uint8)
        self._users = np.isin(np.arange(count), spec.aim_users).astype(np.uint8)

    def __call__(
        self,
        logits: NDArray[np.float32],
        mask: NDArray[np.uint8],
        keys: NDArray[np.uint64],
        greedy: bool = False,
    ) -> tuple[NDArray[np.int64], NDArray[np.float64]]:
        """Bins [n, heads] and joint log-probabilities [n] over used heads."""
        actions = np.empty((len(logits), len(self._sizes)), np.int64)
        log_probs = np.empty(len(logits), np.float64)
        sample_rows(
            np.ascontiguousarray(logits), np.ascontiguousarray(mask), np.ascontiguousarray(keys),
            self._sizes, self._aim, self._users, greedy, actions, log_probs,
        )  # fmt: skip
        return actions, log_probs
