"""Chance without state: every random number is a hash of what it is for.

A number depends on (match seed, tick, purpose, seat within the team) and on nothing else, so it is
the same in any batch, on any thread, in any order of calls. The mixing function is splitmix64's
finaliser, the same as in `levelcap.kit.seeds`.
"""

from __future__ import annotations

import numpy as np

from levelcap.kit.compiled import kernel

# Purposes: one number each, never reused.
SPAWN, ITEM_PLACE, ITEM_KIND, LINEUP, ZONE, SHUFFLE = 1, 2, 3, 4, 5, 6

_GOLDEN = np.uint64(0x9E3779B97F4A7C15)
_M1 = np.uint64(0xBF58476D1CE4E5B9)
_M2 = np.uint64(0x94D049BB133111EB)
_S30, _S27, _S31, _S11 = np.uint64(30), np.uint64(27), np.uint64(31), np.uint64(11)
_SCALE = 2.0**-53


@kernel
def mix(z):
    """splitmix64: one step from state `z` (uint64), its output."""
    z = z + _GOLDEN
    z = (z ^ (z >> _S30)) * _M1
    z = (z ^ (z >> _S27)) * _M2
    return z ^ (z >> _S31)


@kernel
def draw(seed, a, b, c):
    """A uint64 for (seed, a, b, c); seed uint64, the others non-negative integers."""
    z = mix(seed)
    z = mix(z ^ np.uint64(a))
    z = mix(z ^ np.uint64(b))
    return mix(z ^ np.uint64(c))


@kernel
def uniform(bits):
    """uint64 -> float in [0, 1)."""
    return np.float64(bits >> _S11) * _SCALE


@kernel
def match_seed(seed, match, restart):
    """Seed of one match: depends on the run's seed, the match's index and its restart index."""
    z = mix(np.uint64(seed))
    z = mix(z ^ np.uint64(match))
    return mix(z ^ np.uint64(restart))


@kernel
def row_key(seed, seat, decision):
    """The key a policy's row draws all its chance from."""
    return mix(mix(mix(seed) ^ np.uint64(seat + 1)) ^ np.uint64(decision))
