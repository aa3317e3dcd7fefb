"""One update: right targets at ends, a warm-up that spares the policy, NaN that is seen."""

from dataclasses import replace

import numpy as np
import pytest
import torch

from levelcap.learn.maths import heads, losses, returns
from levelcap.learn.rl.fused import FusedLearner
from levelcap.learn.rl.general import GeneralLearner
from levelcap.learn.rl.learner import make_learner
from tests.learn.rl.test_actor import small_task


def learner_of(task, config):
    return make_learner(task.net, task._meta, task.actor.layout, config)


def test_gradients_are_those_of_the_plain_losses():
    """The whole update against autograd over learn/maths, masks and dead rows included."""
    task = small_task("lms", lanes=20, unroll=24, self_play=0.5, kl_coef=0.0, advantage_scale=0.0)
    batch, meta, config = task.gather(0), task._meta, task.config
    part, (length, lanes) = 1, task.gather(0).rewards.shape[1:]
    task.net.zero_grad()
    task.learner.backward(batch, part)
    fused = [p.grad.clone() for p in task.net.parameters()]

    task.net.zero_grad()
    inputs = torch.tensor(batch.inputs[part])
    logits, values = task.net(inputs.reshape(-1, meta.input_size))
    logits = logits.reshape(length + 1, lanes, -1)[:-1]
    values = values.reshape(length + 1, lanes)
    mask, actions = torch.tensor(batch.mask[part]), torch.tensor(batch.actions[part])
    parts = heads.split_log_softmax(logits, mask, meta.head_sizes)
    used = heads.used_heads(actions, meta.aim_heads, meta.aim_users)
    log_prob = heads.joint_log_prob(parts, actions, used)
    rewards, terminated, truncated = (
        torch.tensor(a[part]) for a in (batch.rewards, batch.terminated, batch.truncated)
    )
    here, ahead = values[:-1].detach(), values[1:].detach()
    log_rhos = log_prob.detach() - torch.tensor(batch.log_probs[part])
    both = {"gamma": config.gamma, "lambda_": config.lambda_}
    trace = returns.vtrace(log_rhos, rewards, here, ahead, terminated, truncated, **both)
    targets = returns.td_lambda_targets(rewards, ahead, terminated, truncated, **both)
    climb = returns.upgo_returns(rewards, here, ahead, terminated, truncated, gamma=config.gamma)
    alive, active = torch.tensor(batch.alive[part]), torch.tensor(batch.active[part])
    advantage = trace.advantages + config.upgo_coef * (climb - here)
    loss = (
        losses.policy_gradient_loss(log_prob, advantage, alive)
        + config.value_coef * losses.value_loss(values[:-1], targets, active)
        - config.entropy_coef * losses.masked_mean(heads.entropy(parts, used), alive)
    )
    loss.backward()
    for mine, parameter in zip(fused, task.net.parameters(), strict=True):
        torch.testing.assert_close(mine, parameter.grad, rtol=2e-3, atol=2e-6)


def test_while_the_value_warms_up_only_its_head_learns():
    task = small_task(value_warmup=10)
    batch = task.gather(0)
    task.net.zero_grad(set_to_none=True)
    task.backward(batch, 0, 3)
    assert task.net.value.weight.grad is not None
    assert all(p.grad is None for p in (*task.net.torso.parameters(), task.net.policy.weight))
    task.backward(batch, 0, 10)
    assert task.net.policy.weight.grad is not None


@pytest.mark.parametrize("field", ["inputs", "rewards", "log_probs"])
def test_a_nan_in_a_batch_shows_in_the_metrics_or_the_gradient(field):
    task = small_task(value_warmup=0)
    batch = task.gather(0)
    getattr(batch, field)[0, 3, 2] = np.nan
    task.net.zero_grad(set_to_none=True)
    metrics = task.backward(batch, 0, 5)
    norm = torch.nn.utils.clip_grad_norm_(task.net.parameters(), 1.0)
    assert not (np.isfinite(list(metrics.values())).all() and torch.isfinite(norm))


def test_the_advantage_scale_sets_the_std_of_the_push():
    task = small_task(value_warmup=0, entropy_coef=0.0, kl_coef=0.0)
    batch = task.gather(0)
    norms = []
    for scale in (1.0, 2.0):
        learner = learner_of(task, replace(task.config, advantage_scale=scale))
        task.net.zero_grad(set_to_none=True)
        learner.backward(batch, 0)
        norms.append(float(task.net.policy.weight.grad.norm()))
    assert norms[1] == pytest.approx(2 * norms[0], rel=1e-3)


def test_a_clip_refers_to_the_policy_the_batch_was_begun_with():
    """First visit: nothing has moved, all steps push. After a long step almost none do."""
    task = small_task(value_warmup=0, entropy_coef=0.0, value_coef=0.0, kl_coef=0.0)
    batch = task.gather(0)
    batch.log_probs -= 3.0  # the policy that acted was another one: it does not matter
    free = learner_of(task, task.config)
    clipped = learner_of(task, replace(task.config, clip=0.2))
    clipped.begin(batch)
    gradients = []
    for learner in (free, clipped):
        task.net.zero_grad(set_to_none=True)
        metrics = learner.backward(batch, 0)
        gradients.append(task.net.policy.weight.grad.clone())
    assert metrics["clipped"] == 0
    torch.testing.assert_close(gradients[0], gradients[1])
    with torch.no_grad():
        task.net.policy.weight -= 100.0 * gradients[1]
    task.net.zero_grad(set_to_none=True)
    again = clipped.backward(batch, 0)
    assert again["clipped"] > 0.3
    clipped.begin(batch)
    assert clipped.backward(batch, 0)["clipped"] == 0


def test_every_epoch_learns_from_every_minibatch():
    task = small_task(value_warmup=0, epochs=3, clip=0.2)
    seen = []
    backward = task.learner.backward
    task.learner.backward = lambda batch, part, **more: (
        seen.append(part) or backward(batch, part, **more)
    )
    batch = task.gather(0)
    for index in range(task.minibatches):
        task.backward(batch, index, index)
    assert seen == [0, 1, 0, 1, 0, 1] and task.summary()["reuse"] == 3


def test_the_push_towards_chance_falls_evenly_over_the_run():
    task = small_task(entropy_coef=0.01, entropy_final=0.2)
    pushes = []
    for done in (0.0, 0.5, 1.0, 2.0):
        task.sync(0, done)
        pushes.append(task.learner.entropy_coef)
    np.testing.assert_allclose(pushes, [0.01, 0.006, 0.002, 0.002])


@pytest.mark.parametrize("overrides", [{}, {"clip": 0.2, "centre_advantage": True}])
def test_the_general_path_and_the_fused_one_give_the_same_numbers(overrides):
    task = small_task("lms", lanes=20, unroll=24, self_play=0.5, kl_coef=0.1, **overrides)
    batch = task.gather(0)
    chance = np.random.default_rng(0).uniform(0.5, 1.5, batch.mask.shape)
    batch.reference = np.log(chance / 52).astype(np.float32)
    found = []
    for kind in (FusedLearner, GeneralLearner):
        learner = kind(task.net, task._meta, task.actor.layout, task.config)
        learner.begin(batch)
        task.net.zero_grad(set_to_none=True)
        logged = learner.backward(batch, 1)
        found.append((logged, [p.grad.clone() for p in task.net.parameters()]))
    (fused, mine), (general, theirs) = found
    assert fused == pytest.approx(general, rel=1e-3, abs=1e-5)
    for one, other in zip(mine, theirs, strict=True):
        torch.testing.assert_close(one, other, rtol=2e-3, atol=2e-6)


def test_a_sampled_choice_is_part_of_the_policy():
    """log pi and entropy get the choice's share exactly where it was drawn, gradient included."""
    task = small_task(kl_coef=0.0)
    batch = task.gather(0)
    learner = GeneralLearner(task.net, task._meta, task.actor.layout, task.config)
    plain = learner.unroll(batch, 0)
    logits = torch.randn(*plain.values.shape, 5, requires_grad=True)
    due = torch.rand(plain.values.shape) < 0.3
    choices = torch.randint(0, 5, plain.values.shape)
    chosen = replace(plain, choices=choices, choice_logits=logits, choice_due=due)
    without, with_choice = (learner._terms(batch, 0, out) for out in (plain, chosen))
    picked = torch.log_softmax(logits, -1).gather(-1, choices[..., None]).squeeze(-1)
    gained = with_choice.log_prob - without.log_prob
    torch.testing.assert_close(gained, torch.where(due, picked, 0.0), rtol=1e-4, atol=1e-5)
    more = with_choice.entropy - without.entropy
    expected = torch.distributions.Categorical(logits=logits).entropy()
    torch.testing.assert_close(more, torch.where(due, expected, 0.0), rtol=1e-4, atol=1e-4)
    with_choice.log_prob.sum().backward()
    assert (logits.grad[due] != 0).any() and (logits.grad[~due] == 0).all()
