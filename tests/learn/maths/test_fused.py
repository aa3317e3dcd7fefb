"""The fused kernels compute what the plain functions say, gradient included."""

import numpy as np
import torch

from levelcap.learn.maths import returns
from levelcap.learn.maths.fused import (
    HeadLayout,
    clip_advantages,
    log_softmax_rows,
    logit_gradients,
    row_statistics,
    traces,
)
from levelcap.learn.maths.heads import (
    entropy,
    joint_log_prob,
    kl_divergence,
    split_log_softmax,
    used_heads,
)

SIZES, AIM, USERS = (11, 3, 11, 2, 4), (0, 2), (3, 4)
LAYOUT = HeadLayout.of(SIZES, AIM, USERS)
F32 = np.float32
ROWS = 400


def sample(seed=0, spread=2.0):
    rng = np.random.default_rng(seed)
    logits = (rng.normal(size=(ROWS, LAYOUT.bins)) * spread).astype(F32)
    reference = rng.normal(size=(ROWS, LAYOUT.bins)).astype(F32)
    mask = (rng.random((ROWS, LAYOUT.bins)) < 0.7).astype(np.uint8)
    actions = np.zeros((ROWS, len(SIZES)), np.int16)
    first = 0
    for head, size in enumerate(SIZES):
        actions[:, head] = rng.integers(0, size, ROWS)
        mask[np.arange(ROWS), first + actions[:, head]] = 1
        first += size
    return logits, reference, mask, actions


def fused(logits, reference, mask, actions):
    p, log_p, q, log_q = (np.empty_like(logits) for _ in range(4))
    log_softmax_rows(logits, mask, LAYOUT.sizes, p, log_p)
    log_softmax_rows(reference, mask, LAYOUT.sizes, q, log_q)
    heads = (LAYOUT.sizes, LAYOUT.aim, LAYOUT.users)
    out = [np.empty(ROWS, F32) for _ in range(3)]
    row_statistics(p, log_p, log_q, actions, *heads, *out)
    return p, log_p, log_q, heads, out


def plain(logits, reference, mask, actions):
    parts = split_log_softmax(logits, torch.tensor(mask), SIZES)
    others = split_log_softmax(torch.tensor(reference), torch.tensor(mask), SIZES)
    taken = torch.tensor(actions)
    used = used_heads(taken, AIM, USERS)
    return (
        joint_log_prob(parts, taken, used),
        entropy(parts, used),
        kl_divergence(parts, others, used),
    )


def test_log_probability_entropy_and_kl_are_those_of_the_plain_functions():
    rows = sample()
    *_, out = fused(*rows)
    expected = plain(torch.tensor(rows[0]), *rows[1:])
    for mine, theirs in zip(out, expected, strict=True):
        np.testing.assert_allclose(mine, theirs.numpy(), rtol=2e-5, atol=2e-5)


def test_gradients_are_those_of_autograd():
    logits, reference, mask, actions = sample(1)
    p, log_p, log_q, heads, _ = fused(logits, reference, mask, actions)
    rng = np.random.default_rng(2)
    pull, weights = rng.normal(size=ROWS).astype(F32), rng.random(ROWS).astype(F32)
    slopes = np.empty_like(logits)
    logit_gradients(p, log_p, log_q, actions, *heads, pull, F32(0.3), F32(0.7), weights, slopes)
    leaf = torch.tensor(logits, requires_grad=True)
    log_prob, spread, distance = plain(leaf, reference, mask, actions)
    loss = -(torch.tensor(pull) * log_prob) + torch.tensor(weights) * (
        0.7 * distance - 0.3 * spread
    )
    loss.sum().backward()
    assert leaf.grad is not None
    np.testing.assert_allclose(slopes, leaf.grad.numpy(), rtol=1e-4, atol=2e-6)


def test_no_reference_means_no_kl():
    logits, reference, mask, actions = sample(3)
    p, log_p, _, heads, _ = fused(logits, reference, mask, actions)
    none = np.zeros((0, LAYOUT.bins), F32)
    out = [np.empty(ROWS, F32) for _ in range(3)]
    row_statistics(p, log_p, none, actions, *heads, *out)
    assert (out[2] == 0).all()


def test_extreme_logits_stay_finite():
    logits, reference, mask, actions = sample(4, spread=1000.0)
    p, log_p, log_q, heads, out = fused(logits, reference * 1000, mask, actions)
    slopes = np.empty_like(logits)
    ones = np.ones(ROWS, F32)
    logit_gradients(p, log_p, log_q, actions, *heads, ones, F32(0.1), F32(0.1), ones, slopes)
    for array in (p, log_p, slopes, *out):
        assert np.isfinite(array).all()
    np.testing.assert_allclose(p[:, :11].sum(1), 1.0, rtol=1e-5)


def test_a_row_with_everything_masked_gives_zeros():
    logits, reference, mask, actions = sample(5)
    mask[0] = 0
    p, log_p, log_q, heads, out = fused(logits, reference, mask, actions)
    assert (p[0] == 0).all() and np.isfinite(log_p[0]).all()
    assert out[1][0] == 0 and out[2][0] == 0


def test_traces_are_those_of_the_plain_functions():
    rng = np.random.default_rng(6)
    shape = (24, 50)
    rewards, values, following, log_rhos = (rng.normal(size=shape).astype(F32) for _ in range(4))
    terminated = rng.random(shape) < 0.1
    truncated = (rng.random(shape) < 0.1) & ~terminated
    out = [np.empty(shape, F32) for _ in range(3)]
    arguments = (rewards, values, following, terminated, truncated)
    traces(log_rhos, *arguments, F32(0.97), F32(0.8), F32(1.2), F32(0.9), *out)
    tensors = [torch.tensor(a) for a in arguments]
    expected = returns.vtrace(
        torch.tensor(log_rhos), *tensors, gamma=0.97, lambda_=0.8, rho_bar=1.2, c_bar=0.9
    )
    td = returns.td_lambda_targets(
        tensors[0], tensors[2], tensors[3], tensors[4], gamma=0.97, lambda_=0.8
    )
    climb = returns.upgo_returns(*tensors, gamma=0.97) - tensors[1]
    np.testing.assert_allclose(out[0], td.numpy(), rtol=1e-4, atol=1e-5)
    np.testing.assert_allclose(out[1], expected.advantages.numpy(), rtol=1e-4, atol=1e-5)
    np.testing.assert_allclose(out[2], climb.numpy(), rtol=1e-4, atol=1e-5)


def test_a_step_that_has_moved_far_enough_pushes_no_further():
    """Worked by hand for clip = .2: held are A > 0 with r > 1.2 and A < 0 with r < .8."""
    ratios = np.array([1.3, 1.1, 0.5, 0.7, 0.9, 1.3, 1.0, 1.3], F32)
    pull = np.array([1.0, 1.0, 1.0, -1.0, -1.0, -1.0, -2.0, 0.0], F32)
    assert clip_advantages(pull, np.log(ratios), F32(0.2)) == 2
    assert pull.tolist() == [0.0, 1.0, 1.0, 0.0, -1.0, -1.0, -2.0, 0.0]


def test_gradients_with_a_clip_are_those_of_autograd():
    logits, reference, mask, actions = sample(7)
    p, log_p, log_q, heads, (log_prob, *_) = fused(logits, reference, mask, actions)
    rng = np.random.default_rng(8)
    before = log_prob + rng.normal(size=ROWS).astype(F32) * F32(0.4)
    gain = rng.normal(size=ROWS).astype(F32)
    pull = gain * np.exp(log_prob - before)
    assert 0 < clip_advantages(pull, log_prob - before, F32(0.3)) < ROWS
    zero, slopes = np.zeros(ROWS, F32), np.empty_like(logits)
    logit_gradients(p, log_p, log_q, actions, *heads, pull, F32(0), F32(0), zero, slopes)
    leaf = torch.tensor(logits, requires_grad=True)
    ratio = plain(leaf, reference, mask, actions)[0] - torch.tensor(before)
    # -min(r A, clip(r, 1 - c, 1 + c) A) (PPO, Schulman et al. 2017, equation 7)
    moved, wanted = ratio.exp(), torch.tensor(gain)
    (-torch.minimum(moved * wanted, moved.clamp(0.7, 1.3) * wanted)).sum().backward()
    assert leaf.grad is not None
    np.testing.assert_allclose(slopes, leaf.grad.numpy(), rtol=2e-4, atol=5e-6)
