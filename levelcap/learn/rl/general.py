"""One update by autograd over `learn/maths`: any net, with a memory or a sampled choice or neither.

Shapes: T decisions, n lanes, A bins of all heads, K options of the choice.
"""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
import torch
from torch import Tensor
from torch.nn import functional

from levelcap.learn.maths import heads, losses, returns
from levelcap.learn.rl.batch import INTENT, TARGET, TOLD, Batch
from levelcap.learn.rl.learner import Floats, Learner
from levelcap.nets.net import Unrolled, choice_log_prob

# Of a teacher's intent and target, as in imitation (`ImitationConfig.mode_coef`, `mode_smoothing`,
# `target_coef`).
MODE_WEIGHT, MODE_SMOOTHING, TARGET_WEIGHT = 0.5, 0.1, 0.3


@dataclass(frozen=True)
class Terms:
    """What the loss is made of, each [T, n]."""

    log_prob: Tensor
    entropy: Tensor
    kl: Tensor


class GeneralLearner(Learner):
    """See `Learner`."""

    def log_prob(self, batch: Batch, minibatch: int, out: Unrolled) -> Floats:
        """log pi(a) [T * n] of what was done."""
        return self._terms(batch, minibatch, out).log_prob.detach().flatten().numpy().copy()

    def backward(
        self, batch: Batch, minibatch: int, *, value_only: bool = False
    ) -> dict[str, float]:
        """Add the gradients of one minibatch to the net's parameters; returns what to log."""
        config = self.config
        # One unroll with gradient; everything else comes from its results.
        out = self.unroll(batch, minibatch)
        terms = self._terms(batch, minibatch, out)
        log_rhos = terms.log_prob.detach() - torch.from_numpy(batch.log_probs[minibatch])
        alive = torch.from_numpy(batch.alive[minibatch]).float()
        active = torch.from_numpy(batch.active[minibatch]).float()
        # Both without gradient.
        targets, advantage = self._targets(batch, minibatch, out, log_rhos)
        count = alive.sum().clamp(min=1.0)
        advantage = advantage * alive
        if config.centre_advantage:
            advantage = (advantage - advantage.sum() / count) * alive
        std = float((advantage.square().sum() / count).sqrt()) + 1e-6
        # Scaled to one std: the learning rate means the same at +-1 and at pseudo-rewards of .1.
        if config.advantage_scale > 0:
            advantage = advantage * (config.advantage_scale / std)
        clipped = torch.zeros_like(alive)
        if config.clip > 0:
            assert batch.anchors is not None, "begin comes first"
            anchors = torch.from_numpy(batch.anchors[minibatch])
            # log of PPO's ratio since this batch was begun.
            moved = terms.log_prob.detach() - anchors
            clipped = _clipped(advantage, moved, config.clip)
            advantage = advantage * (1.0 - clipped)
        value_loss = losses.value_loss(out.values, targets, active)
        loss = config.value_coef * value_loss
        taught: dict[str, float] = {}
        if batch.taught is not None:
            teaching, taught = self._teaching(batch, minibatch, out, alive)
            loss = loss + config.teacher_coef * teaching
        elif not value_only:
            loss = loss + losses.policy_gradient_loss(terms.log_prob, advantage, alive)
            loss = loss - self.entropy_coef * losses.masked_mean(terms.entropy, alive)
            loss = loss + config.kl_coef * losses.masked_mean(terms.kl, alive)
        loss.backward()  # type: ignore[no-untyped-call]
        errors = (out.values.detach() - targets) * active
        variance = float((targets * active).var(correction=0)) + 1e-6
        return {
            "policy_loss": -float((advantage * terms.log_prob.detach()).sum() / count),
            "value_loss": float(value_loss.detach()),
            "entropy": float(losses.masked_mean(terms.entropy.detach(), alive)),
            "kl": float(losses.masked_mean(terms.kl.detach(), alive)),
            "explained": 1.0 - float(errors.var(correction=0)) / variance,
            "advantage_spread": std,
            "clipped": float(clipped.sum() / count),
            "rho": float((log_rhos.clamp(max=10).exp() * alive).sum() / count),
            **taught,
        }

    def _teaching(
        self, batch: Batch, minibatch: int, out: Unrolled, alive: Tensor
    ) -> tuple[Tensor, dict[str, float]]:
        """-log pi of what the teacher would have done where the learner went, and what to log.

        A clone of recorded matches has never seen where its own mistakes lead; asked there, the
        teacher shows the way back (DAgger, Ross et al. 2011).
        """
        assert batch.taught is not None
        told = torch.from_numpy(batch.taught[minibatch])
        actions, intents = told[..., :-TOLD], told[..., INTENT].long()
        mask = torch.from_numpy(batch.mask[minibatch])
        log_p = heads.split_log_softmax(out.logits, mask, self.meta.head_sizes)
        used = heads.used_heads(actions, self.meta.aim_heads, self.meta.aim_users)
        loss = -losses.masked_mean(heads.joint_log_prob(log_p, actions, used), alive)
        logged = {"taught_loss": float(loss.detach())}
        if out.choice_logits is not None and out.choice_due is not None:
            looked = out.choice_due & (intents >= 0) & (alive > 0)
            if bool(looked.any()):
                mode = functional.cross_entropy(
                    out.choice_logits[looked], intents[looked], label_smoothing=MODE_SMOOTHING
                )
                loss = loss + MODE_WEIGHT * mode
                right = out.choice_logits[looked].argmax(-1) == intents[looked]
                logged["taught_mode"] = float(right.float().mean())
        if (scores := out.mind.get("target_scores")) is not None:
            targets = told[..., TARGET].long()
            here = (targets >= 0) & (alive > 0)
            if bool(here.any()):
                loss = loss + TARGET_WEIGHT * functional.cross_entropy(scores[here], targets[here])
                logged["taught_target"] = float(
                    (scores[here].argmax(-1) == targets[here]).float().mean()
                )
        return loss, logged

    def _targets(
        self, batch: Batch, minibatch: int, out: Unrolled, log_rhos: Tensor
    ) -> tuple[Tensor, Tensor]:
        """Value targets and advantages [T, n], without gradient."""
        config = self.config
        # [T, n]
        values = out.values.detach()
        ahead = np.empty(values.shape, np.float32)
        next_values = torch.from_numpy(
            self.next_values(batch, minibatch, values.numpy(), out.state, ahead)
        )
        rewards, terminated, truncated = (
            torch.from_numpy(rows[minibatch])
            for rows in (batch.rewards, batch.terminated, batch.truncated)
        )
        ends = (terminated, truncated)
        trace = returns.vtrace(
            log_rhos,
            rewards,
            values,
            next_values,
            *ends,
            gamma=config.gamma,
            lambda_=config.lambda_,
            rho_bar=config.rho_bar,
            c_bar=config.c_bar,
        )
        targets = returns.td_lambda_targets(
            rewards, next_values, *ends, gamma=config.gamma, lambda_=config.lambda_
        )
        climb = returns.upgo_returns(rewards, values, next_values, *ends, gamma=config.gamma)
        return targets, trace.advantages + config.upgo_coef * (climb - values)

    def _terms(self, batch: Batch, minibatch: int, out: Unrolled) -> Terms:
        """log pi(a), entropy and KL to pi_sup over used heads, and over the choice where drawn."""
        sizes = self.meta.head_sizes
        mask = torch.from_numpy(batch.mask[minibatch])
        actions = torch.from_numpy(batch.actions[minibatch])
        log_p = heads.split_log_softmax(out.logits, mask, sizes)
        used = heads.used_heads(actions, self.meta.aim_heads, self.meta.aim_users)
        log_prob = heads.joint_log_prob(log_p, actions, used)
        entropy = heads.entropy(log_p, used)
        kl = torch.zeros_like(log_prob)
        if batch.reference.shape[1]:
            # Already log-probabilities under the same mask.
            pi_sup = torch.from_numpy(batch.reference[minibatch]).split(list(sizes), -1)
            kl = heads.kl_divergence(log_p, pi_sup, used)
        if out.choice_logits is not None:
            assert out.choice_due is not None
            # A choice carried over from an earlier decision is no decision of this one.
            due = out.choice_due.float()
            choice = torch.log_softmax(out.choice_logits, -1)  # [T, n, K]
            log_prob = log_prob + choice_log_prob(out)
            entropy = entropy - due * (choice.exp() * choice).sum(-1)
            if batch.reference.shape[1] and batch.reference_choices is not None:
                pi_sup_choice = torch.from_numpy(batch.reference_choices[minibatch])
                kl = kl + due * (choice.exp() * (choice - pi_sup_choice)).sum(-1)
        return Terms(log_prob, entropy, kl)


def _clipped(advantage: Tensor, log_ratios: Tensor, clip: float) -> Tensor:
    """1 where PPO's ratio has left 1 +- clip in the direction the advantage pushes, else 0."""
    above = (advantage > 0) & (log_ratios > np.log1p(clip))
    below = (advantage < 0) & (log_ratios < np.log1p(-clip))
    return (above | below).float()
