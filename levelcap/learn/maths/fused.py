"""The same maths in one pass over memory, for the inner loop of the learner.

`heads.py`, `losses.py` and `returns.py` say what is computed; these kernels compute it without
the dozens of intermediate arrays that autograd would keep, and give the gradient of the loss with
respect to logits and values directly. The tests hold them against the plain functions.

Rows are [n] = T * B steps, time first; logits of all heads lie side by side as the mask does.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from levelcap.kit.compiled import entry, kernel
from levelcap.play.sample import log_softmax_row

Floats = NDArray[np.float32]
F32 = np.float32
_ONE, _ZERO = F32(1.0), F32(0.0)


@kernel
def _in_use(action, users):
    for h in range(users.shape[0]):
        if users[h] != 0 and action[h] != 0:
            return True
    return False


@entry
def log_softmax_rows(logits, mask, sizes, p, log_p):
    """Probabilities p and log-probabilities log_p [n, bins] of all rows; 0 and low if masked."""
    for i in range(logits.shape[0]):
        log_softmax_row(logits[i], mask[i], sizes, log_p[i], p[i])


@entry
def row_statistics(p, log_p, reference, actions, sizes, aim, users, log_prob, entropy, kl):
    """Fill log_prob, entropy and kl [n]: log pi(a), entropy, KL(pi || reference) over used heads.

    reference: log-probabilities [n, bins], or [0, bins] for none.
    """
    has_reference = reference.shape[0] > 0
    for i in range(p.shape[0]):
        # Aim counts only where something is fired or cast.
        in_use = _in_use(actions[i], users)
        total, spread, distance, first = _ZERO, _ZERO, _ZERO, 0
        for h in range(sizes.shape[0]):
            last = first + sizes[h]
            if aim[h] == 0 or in_use:
                # log pi(a), entropy and KL of factorised heads are sums over heads.
                total += log_p[i, first + actions[i, h]]
                for j in range(first, last):
                    spread -= p[i, j] * log_p[i, j]
                if has_reference:
                    for j in range(first, last):
                        distance += p[i, j] * (log_p[i, j] - reference[i, j])
            first = last
        log_prob[i], entropy[i], kl[i] = total, spread, distance


@entry
def logit_gradients(
    p,
    log_p,
    reference,
    actions,
    sizes,
    aim,
    users,
    advantage_weight,
    entropy_coef,
    kl_coef,
    weights,
    out,
):
    """out [n, bins] = d/dlogits of sum_i a_i * -log pi(a_i) + w_i (kl_coef KL_i - ent_coef H_i).

    advantage_weight [n] = a: the advantage times the row's weight; weights [n] = w: the row's
    share in the means.
    """
    has_reference = reference.shape[0] > 0
    for i in range(p.shape[0]):
        in_use = _in_use(actions[i], users)
        push, for_entropy, for_kl = (
            advantage_weight[i],
            weights[i] * entropy_coef,
            weights[i] * kl_coef,
        )
        first = 0
        for h in range(sizes.shape[0]):
            last = first + sizes[h]
            if aim[h] == 0 or in_use:
                # Both gradients are p times (something minus its mean under p).
                mean = _ZERO
                for j in range(first, last):
                    out[i, j] = (for_entropy + for_kl) * log_p[i, j]
                    if has_reference:
                        out[i, j] -= for_kl * reference[i, j]
                    mean += p[i, j] * out[i, j]
                for j in range(first, last):
                    out[i, j] = p[i, j] * (push + out[i, j] - mean)
                # The gradient of -log pi(a) is p - onehot(a).
                out[i, first + actions[i, h]] -= push
            else:
                for j in range(first, last):
                    out[i, j] = _ZERO
            first = last


@entry
def clip_advantages(advantages, log_ratios, clip):
    """PPO's clip: set advantages [n] to 0 where the probability ratio has left 1 +- clip already.

    Returns how many there are. The gradient of min(r A, clip(r, 1 - clip, 1 + clip) A) is that of
    r A, or 0 where A > 0 and r > 1 + clip, or A < 0 and r < 1 - clip (Schulman et al. 2017).
    log_ratios [n]: log r.
    """
    high, low = np.log(_ONE + clip), np.log(_ONE - clip)
    held = 0
    for i in range(advantages.shape[0]):
        above, below = advantages[i] > _ZERO, advantages[i] < _ZERO
        if (above and log_ratios[i] > high) or (below and log_ratios[i] < low):
            advantages[i] = _ZERO
            held += 1
    return held


@entry
def traces(
    log_rhos,
    rewards,
    values,
    next_values,
    terminated,
    truncated,
    gamma,
    lambda_,
    rho_bar,
    c_bar,
    targets,
    advantages,
    upgo,
):
    """V-trace advantages, TD(lambda) targets and UPGO advantages of [T, B] steps in one sweep.

    The same sums as `returns.vtrace`, `returns.td_lambda_targets`, `returns.upgo_returns`.
    """
    for b in range(rewards.shape[1]):
        error, follow, climb, good_ahead = _ZERO, _ZERO, _ZERO, False
        corrected = _ZERO
        for t in range(rewards.shape[0] - 1, -1, -1):
            # A match that ended or was cut off passes nothing back to the steps before it.
            goes_on = not (terminated[t, b] or truncated[t, b])
            last = t == rewards.shape[0] - 1
            # Terminated: nothing follows. Truncated: the value of its last moment does
            # (next_values).
            discount = _ZERO if terminated[t, b] else gamma
            ahead = next_values[t, b]
            ratio = np.exp(log_rhos[t, b])
            # V-trace's two clips: rho weighs the error, c how far it is carried back.
            rho = min(ratio, rho_bar)
            delta = rewards[t, b] + discount * ahead - values[t, b]
            # V-trace: the advantage looks at the corrected value of the next step.
            beyond = corrected if goes_on and not last else ahead
            advantages[t, b] = rho * (rewards[t, b] + discount * beyond - values[t, b])
            carry = error if goes_on and not last else _ZERO
            error = rho * delta + discount * lambda_ * min(ratio, c_bar) * carry
            corrected = values[t, b] + error
            # TD(lambda): a mixture of the bootstrap and the target of the next step.
            mixed = ahead
            if goes_on and not last:
                mixed = (_ONE - lambda_) * ahead + lambda_ * follow
            follow = rewards[t, b] + discount * mixed
            targets[t, b] = follow
            # UPGO: follow the trajectory while it beats the value.
            up = climb if goes_on and not last and good_ahead else ahead
            climb = rewards[t, b] + discount * up
            good_ahead = delta >= _ZERO
            upgo[t, b] = climb - values[t, b]


@dataclass(frozen=True)
class HeadLayout:
    """Sizes of the action heads and which of them count when, as the kernels want them."""

    sizes: NDArray[np.int64]
    aim: NDArray[np.uint8]
    users: NDArray[np.uint8]

    @classmethod
    def of(
        cls, sizes: Sequence[int], aim_heads: Sequence[int], aim_users: Sequence[int]
    ) -> HeadLayout:
        """aim_heads count only where one of aim_users is not 0."""
        index = np.arange(len(sizes))
        return cls(
            np.array(sizes, np.int64),
            np.isin(index, aim_heads).astype(np.uint8),
            np.isin(index, aim_users).astype(np.uint8),
        )

    @property
    def arrays(self) -> tuple[NDArray[np.int64], NDArray[np.uint8], NDArray[np.uint8]]:
        """Sizes, aim and users, in the order the kernels take them."""
        return self.sizes, self.aim, self.users

    @property
    def bins(self) -> int:
        """Bins of all heads together."""
        return int(self.sizes.sum())
