"""Seeded draws."""

from collections import Counter

from levelcap.guild.rng import Rng, word_of


def test_the_same_words_give_the_same_draws_for_ever():
    dice = Rng(1, 2, 3)
    assert [dice.below(1_000) for _ in range(5)] == [863, 357, 504, 601, 987]
    assert Rng(1, 2, 3).word() != Rng(1, 3, 2).word() != Rng(2, 1, 3).word()
    assert word_of("lesson") != word_of("exam")


def test_draws_are_even_and_within_bounds():
    dice = Rng(7)
    counts = Counter(dice.below(6) for _ in range(12_000))
    assert set(counts) == set(range(6)) and all(1_800 < n < 2_200 for n in counts.values())
    assert {dice.between(3, 5) for _ in range(100)} == {3, 4, 5}
    assert 2_800 < sum(dice.chance(30) for _ in range(10_000)) < 3_200
    assert not any(dice.chance(0) for _ in range(1_000))
    assert all(dice.chance(100) for _ in range(1_000))


def test_weights_are_followed_and_zero_is_never_drawn():
    dice = Rng(8)
    counts = Counter(dice.weighted({"a": 3, "b": 0, "c": 1}) for _ in range(8_000))
    assert set(counts) == {"a", "c"} and 5_800 < counts["a"] < 6_200


def test_shuffles_and_samples_hold_what_they_were_given():
    dice = Rng(9)
    assert sorted(dice.shuffled(range(20))) == list(range(20)) != dice.shuffled(range(20))
    sample = dice.sample("abcdefgh", 5)
    assert len(set(sample)) == 5 and set(sample) <= set("abcdefgh")
    firsts = Counter(dice.shuffled("abcd")[0] for _ in range(4_000))
    assert all(850 < n < 1_150 for n in firsts.values())
