"""One seed in, any number of independent random streams out.

Everything is built on one function of 64-bit words (all arithmetic modulo 2^64):

    splitmix64(x):  z = x + 0x9E3779B97F4A7C15
                    z = (z xor (z >> 30)) * 0xBF58476D1CE4E5B9
                    z = (z xor (z >> 27)) * 0x94D049BB133111EB
                    return z xor (z >> 31)

which is the k-th output of the published SplitMix64 generator with seed s at
x = s + (k-1) * 0x9E3779B97F4A7C15 (Steele, Lea and Flood, 2014). Words are joined by a chain:

    chain(seed, w1, w2, …):  h = splitmix64(seed);  h = splitmix64(h xor w1);  …

and the seed of a match is chain(seed, match_index, restart_index): it does not depend on how many
matches are played at once. Kernels hold the same few lines; a test compares them with these.
"""

import hashlib

import numpy as np
import numpy.typing as npt

from levelcap.kit.errors import BadValue, refuse

GAMMA = 0x9E3779B97F4A7C15
MIX_1 = 0xBF58476D1CE4E5B9
MIX_2 = 0x94D049BB133111EB
MASK = 0xFFFFFFFFFFFFFFFF


def splitmix64(word: int) -> int:
    """Mixes one word: Python int in (taken modulo 2^64), Python int in [0, 2^64) out."""
    z = (word + GAMMA) & MASK
    z = ((z ^ (z >> 30)) * MIX_1) & MASK
    z = ((z ^ (z >> 27)) * MIX_2) & MASK
    return z ^ (z >> 31)


def splitmix64_array(words: npt.ArrayLike) -> npt.NDArray[np.uint64]:
    """Mixes every word of an array: uint64 [...] in, uint64 [...] of the same shape out."""
    # Arrays of at least one dimension wrap silently, scalars would warn of the overflow.
    flat = np.atleast_1d(np.asarray(words, dtype=np.uint64))
    z = flat + np.uint64(GAMMA)
    z = (z ^ (z >> np.uint64(30))) * np.uint64(MIX_1)
    z = (z ^ (z >> np.uint64(27))) * np.uint64(MIX_2)
    return (z ^ (z >> np.uint64(31))).reshape(np.shape(words))


def chain(seed: int, *words: int) -> int:
    """Joins a seed and any number of words into one 64-bit word (see the module's text)."""
    mixed = splitmix64(seed)
    for word in words:
        mixed = splitmix64(mixed ^ (word & MASK))
    return mixed


def check_seed(seed: int, name: str = "seed") -> None:
    """Refuses what is no seed.

    Raises:
        BadValue: negative, or more than 64 bits.
    """
    if not 0 <= seed <= MASK:
        raise BadValue(refuse(f"{name} must be in [0, 2^64)", seed, "Use a smaller one"))


def match_seed(seed: int, match_index: int, restart_index: int) -> int:
    """Returns the seed of one match, independent of the batch it is played in.

    Args:
        seed: the caller's seed, any int in [0, 2^64).
        match_index: place of the match in the batch, from 0.
        restart_index: how often that place was restarted, from 0.

    Returns:
        chain(seed, match_index, restart_index), an int in [0, 2^64).

    Raises:
        BadValue: one of the three is negative or needs more than 64 bits.
    """
    named = {"seed": seed, "match_index": match_index, "restart_index": restart_index}
    for name, value in named.items():
        check_seed(value, name)
    return chain(seed, match_index, restart_index)


def stream(seed: int, name: str) -> np.random.Generator:
    """Returns the random stream called `name` of this seed.

    Streams of different names or seeds are independent; the same pair gives the same stream in
    every process. The name enters as the first eight bytes (little endian) of its sha256.

    Args:
        seed: any int in [0, 2^64).
        name: what the numbers are for, e.g. "replay order".
    """
    check_seed(seed)
    word = int.from_bytes(hashlib.sha256(name.encode()).digest()[:8], "little")
    return np.random.Generator(np.random.PCG64(chain(seed, word)))
