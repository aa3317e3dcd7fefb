"""Heads and losses against hand-worked numbers and torch's own distributions."""

import math

import pytest
import torch
from torch.distributions import Categorical
from torch.distributions import kl_divergence as torch_kl

from levelcap.learn.maths.heads import (
    entropy,
    joint_log_prob,
    kl_divergence,
    split_log_softmax,
    used_heads,
)
from levelcap.learn.maths.losses import (
    masked_mean,
    policy_gradient_loss,
    smoothed_cross_entropy,
    value_loss,
)

SIZES = (3, 2)


def test_log_probabilities_agree_with_torch_categoricals():
    torch.manual_seed(0)
    logits, actions = (
        torch.randn(6, 5),
        torch.stack([torch.randint(0, 3, (6,)), torch.randint(0, 2, (6,))], -1),
    )
    parts = split_log_softmax(logits, torch.ones(6, 5), SIZES)
    used = torch.ones(6, 2)
    first, second = Categorical(logits=logits[:, :3]), Categorical(logits=logits[:, 3:])
    expected = first.log_prob(actions[:, 0]) + second.log_prob(actions[:, 1])
    torch.testing.assert_close(joint_log_prob(parts, actions, used), expected)
    torch.testing.assert_close(entropy(parts, used), first.entropy() + second.entropy())
    other = split_log_softmax(torch.flip(logits, (0,)), torch.ones(6, 5), SIZES)
    flipped = torch.flip(logits, (0,))
    expected = torch_kl(first, Categorical(logits=flipped[:, :3])) + torch_kl(
        second, Categorical(logits=flipped[:, 3:])
    )
    torch.testing.assert_close(kl_divergence(parts, other, used), expected)


def test_masked_bins_have_no_probability_and_no_gradient():
    logits = torch.zeros(1, 5, requires_grad=True)
    mask = torch.tensor([[1, 0, 1, 1, 0]])
    parts = split_log_softmax(logits, mask, SIZES)
    assert parts[0].exp().tolist() == [[0.5, 0.0, 0.5]]
    assert parts[1].exp().tolist() == [[1.0, 0.0]]
    (entropy(parts, torch.ones(1, 2)).sum() + parts[0][0, 0]).backward()
    assert torch.isfinite(logits.grad).all()
    assert logits.grad[0, 1] == 0 and logits.grad[0, 4] == 0


def test_entropy_of_masked_heads_by_hand():
    parts = split_log_softmax(torch.zeros(1, 5), torch.tensor([[1, 0, 1, 1, 0]]), SIZES)
    assert entropy(parts, torch.ones(1, 2)).item() == pytest.approx(math.log(2))


def test_a_row_with_everything_masked_stays_finite():
    parts = split_log_softmax(torch.randn(1, 5), torch.zeros(1, 5), SIZES)
    assert torch.isfinite(entropy(parts, torch.ones(1, 2))).all()


def test_aim_counts_only_with_fire_or_ability():
    actions = torch.tensor(
        [[5, 5, 1, 2, 0, 0, 0], [5, 5, 1, 2, 1, 0, 0], [5, 5, 1, 2, 0, 3, 0], [5, 5, 1, 2, 0, 0, 1]]
    )
    used = used_heads(actions, (2, 3), (4, 5))
    assert used[:, 2].tolist() == used[:, 3].tolist() == [0, 1, 1, 0]
    assert used[:, [0, 1, 4, 5, 6]].all()


def test_an_unused_head_gets_no_gradient():
    logits = torch.randn(1, 5, requires_grad=True)
    parts = split_log_softmax(logits, torch.ones(1, 5), SIZES)
    used = torch.tensor([[0.0, 1.0]])
    actions = torch.tensor([[1, 0]])
    loss = joint_log_prob(parts, actions, used) + entropy(parts, used)
    loss.sum().backward()
    assert (logits.grad[0, :3] == 0).all()
    assert (logits.grad[0, 3:] != 0).all()


def test_losses_by_hand():
    weights = torch.tensor([[1.0, 1.0], [0.0, 1.0]])
    assert masked_mean(torch.tensor([[1.0, 2.0], [9.0, 3.0]]), weights).item() == 2.0
    log_prob = torch.tensor([[-1.0, -2.0], [-3.0, -4.0]])
    advantage = torch.tensor([[1.0, 2.0], [3.0, -1.0]])
    # (1*1 + 2*2 + -4... ) = (1 + 4 - 4) / 3
    assert policy_gradient_loss(log_prob, advantage, weights).item() == pytest.approx(1 / 3)
    assert value_loss(log_prob, torch.zeros(2, 2), weights).item() == pytest.approx(
        0.5 * (1 + 4 + 16) / 3
    )
    assert masked_mean(log_prob, torch.zeros(2, 2)).item() == 0.0


def test_targets_and_advantages_carry_no_gradient():
    advantage = torch.ones(1, 1, requires_grad=True)
    log_prob = torch.zeros(1, 1, requires_grad=True)
    policy_gradient_loss(log_prob, advantage, torch.ones(1, 1)).backward()
    assert advantage.grad is None and log_prob.grad.item() == -1.0


def test_smoothing_spreads_over_allowed_bins_only():
    # Head of three bins, one forbidden, even logits: log p = -ln 2 on the allowed ones.
    mask = torch.tensor([[1, 1, 0]])
    parts = split_log_softmax(torch.zeros(1, 3), mask, (3,))
    arguments = (parts, [mask], torch.tensor([[0]]), torch.ones(1, 1), torch.ones(1))
    assert smoothed_cross_entropy(*arguments).item() == pytest.approx(math.log(2))
    assert smoothed_cross_entropy(*arguments, smoothing=0.1).item() == pytest.approx(math.log(2))


def test_smoothed_cross_entropy_agrees_with_torch():
    torch.manual_seed(1)
    logits, taken = torch.randn(8, 3), torch.randint(0, 3, (8, 1))
    parts = split_log_softmax(logits, torch.ones(8, 3), (3,))
    ours = smoothed_cross_entropy(
        parts, [torch.ones(8, 3)], taken, torch.ones(8, 1), torch.ones(8), smoothing=0.1
    )
    theirs = torch.nn.functional.cross_entropy(logits, taken[:, 0], label_smoothing=0.1)
    torch.testing.assert_close(ours, theirs)
