import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from levelcap.kit.errors import BadValue
from levelcap.kit.seeds import GAMMA, MASK, chain, match_seed, splitmix64, splitmix64_array, stream

WORDS = st.integers(0, MASK)


def test_the_published_generator_with_seed_0():
    outputs = [splitmix64(k * GAMMA) for k in range(3)]
    assert outputs == [0xE220A8397B1DCDAF, 0x6E789E6AA1B965F4, 0x06C45D188009454F]


def test_the_published_generator_with_seed_1234567():
    outputs = [splitmix64(1234567 + k * GAMMA) for k in range(3)]
    assert outputs == [6457827717110365317, 3203168211198807973, 9817491932198370423]


@given(st.lists(WORDS, max_size=20))
def test_arrays_and_ints_agree(words):
    assert splitmix64_array(np.array(words, np.uint64)).tolist() == [splitmix64(w) for w in words]


@given(WORDS)
def test_a_scalar_keeps_its_shape(word):
    mixed = splitmix64_array(np.uint64(word))
    assert mixed.shape == ()
    assert int(mixed) == splitmix64(word)


def test_a_match_seed_is_the_documented_chain():
    expected = splitmix64(splitmix64(splitmix64(7) ^ 3) ^ 2)
    assert match_seed(7, 3, 2) == chain(7, 3, 2) == expected


def test_match_seeds_of_a_grid_are_all_different():
    grid = {match_seed(s, m, r) for s in range(10) for m in range(30) for r in range(30)}
    assert len(grid) == 9000


@pytest.mark.parametrize("bad", [(-1, 0, 0), (0, -1, 0), (0, 0, -1), (MASK + 1, 0, 0)])
def test_negative_or_too_large_words_are_refused(bad):
    with pytest.raises(BadValue, match=r"in \[0, 2\^64\)"):
        match_seed(*bad)


def test_a_stream_depends_on_seed_and_name_only():
    first = stream(1, "replay order").integers(0, 1000, 8).tolist()
    assert stream(1, "replay order").integers(0, 1000, 8).tolist() == first
    assert stream(2, "replay order").integers(0, 1000, 8).tolist() != first
    assert stream(1, "dropout").integers(0, 1000, 8).tolist() != first
