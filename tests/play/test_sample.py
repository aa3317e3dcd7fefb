"""Sampling: the right distribution, the right log-probability, chance from the key alone."""

import numpy as np
import torch

from levelcap.kit.seeds import splitmix64_array
from levelcap.learn.maths.heads import joint_log_prob, split_log_softmax, used_heads
from levelcap.play.sample import Sampler
from levelcap.world.spec import arena_spec

SPEC = arena_spec("duel")
SIZES = [head.size for head in SPEC.heads]


def rows(count, seed=0):
    rng = np.random.default_rng(seed)
    logits = rng.normal(size=(count, sum(SIZES))).astype(np.float32) * 2
    mask = (rng.random((count, sum(SIZES))) < 0.7).astype(np.uint8)
    mask[:, list(SPEC.head_offsets)] = 1  # something is always allowed
    return logits, mask, splitmix64_array(np.arange(count, dtype=np.uint64) + np.uint64(seed))


def test_log_probabilities_are_those_of_learning():
    logits, mask, keys = rows(200)
    actions, log_probs = Sampler(SPEC)(logits, mask, keys)
    parts = split_log_softmax(torch.tensor(logits), torch.tensor(mask), SIZES)
    taken = torch.tensor(actions)
    used = used_heads(taken, SPEC.aim_heads, SPEC.aim_users)
    expected = joint_log_prob(parts, taken, used).numpy()
    np.testing.assert_allclose(log_probs, expected, rtol=1e-5, atol=1e-5)


def test_frequencies_are_the_probabilities():
    logits, mask, _ = rows(1, seed=4)
    count = 40_000
    keys = splitmix64_array(np.arange(count, dtype=np.uint64))
    actions, _ = Sampler(SPEC)(np.repeat(logits, count, 0), np.repeat(mask, count, 0), keys)
    parts = split_log_softmax(torch.tensor(logits), torch.tensor(mask), SIZES)
    for h, part in enumerate(parts):
        expected = part[0].exp().numpy()
        seen = np.bincount(actions[:, h], minlength=SIZES[h]) / count
        assert np.abs(seen - expected).max() < 4 * np.sqrt(0.25 / count)


def test_a_row_is_drawn_the_same_in_any_batch():
    logits, mask, keys = rows(64)
    whole, _ = Sampler(SPEC)(logits, mask, keys)
    for i in (0, 17, 63):
        alone, _ = Sampler(SPEC)(logits[i : i + 1], mask[i : i + 1], keys[i : i + 1])
        assert (alone[0] == whole[i]).all()


def test_greedy_takes_the_best_allowed_bin():
    logits, mask, keys = rows(50)
    actions, _ = Sampler(SPEC)(logits, mask, keys, greedy=True)
    first = 0
    for h, size in enumerate(SIZES):
        part = np.where(mask[:, first : first + size], logits[:, first : first + size], -np.inf)
        assert (actions[:, h] == part.argmax(1)).all()
        first += size


def test_forbidden_bins_are_never_drawn():
    logits, mask, keys = rows(2000, seed=9)
    actions, _ = Sampler(SPEC)(logits, mask, keys)
    chosen = np.take_along_axis(mask, actions + np.array(SPEC.head_offsets), 1)
    assert (chosen == 1).all()
