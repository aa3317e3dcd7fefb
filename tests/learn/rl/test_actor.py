"""The actor: lanes, sides, what is written into a batch, and that it is what was played."""

from dataclasses import replace

import numpy as np
import torch

from levelcap.learn.maths.heads import joint_log_prob, split_log_softmax, used_heads
from levelcap.learn.rl.config import for_world
from levelcap.learn.rl.groups import learned_seats, seats_of_learner
from levelcap.learn.rl.run import Request, build
from levelcap.world.spec import arena_spec

SMALL = {"lanes": 16, "unroll": 8, "minibatches": 2, "cousins": 0, "value_warmup": 2}


def small_task(world="duel", **overrides):
    config = replace(for_world(world), **{**SMALL, **overrides})
    return build(Request(world, None, size="dummy"), config)


def test_a_batch_holds_what_was_played():
    task = small_task()
    batch = task.gather(7)
    assert batch.version == 7 and batch.inputs.shape[:3] == (2, 9, 9)
    assert batch.steps == 2 * 8 * 9  # 4 matches against itself, 10 against others
    meta = task._meta
    rows = torch.tensor(batch.inputs[:, :-1].reshape(-1, meta.input_size))
    with torch.no_grad():
        logits = task.net(rows)[0]
    mask = torch.tensor(batch.mask.reshape(len(rows), -1))
    actions = torch.tensor(batch.actions.reshape(len(rows), -1))
    used = used_heads(actions, meta.aim_heads, meta.aim_users)
    parts = split_log_softmax(logits, mask, meta.head_sizes)
    expected = joint_log_prob(parts, actions, used).numpy()
    np.testing.assert_allclose(batch.log_probs.reshape(-1), expected, atol=1e-4)


def test_the_next_batch_goes_on_where_the_last_one_ended():
    task = small_task()
    first = task.gather(0)
    last = first.inputs[:, -1].copy()
    second = task.gather(0)
    np.testing.assert_array_equal(second.inputs[:, 0], last)
    assert second is not first  # one is learned from while the other is filled


def test_self_play_is_zero_sum_and_every_match_pays_at_its_end():
    task = small_task(self_play=1.0, opponents=(), unroll=64, lanes=32)
    ended = 0
    for _ in range(12):
        batch = task.gather(0)
        # Lanes 2m and 2m + 1 are one match; lane i sits in minibatch i % K.
        both = batch.rewards.transpose(1, 2, 0)  # [T, n, K]: neighbours are one match
        np.testing.assert_array_equal(both.sum(-1), 0)
        paid = np.abs(both[..., 0]) == 1
        done = batch.terminated.transpose(1, 2, 0)[..., 0]
        assert (paid <= done).all()
        ended += int(done.sum())
    assert ended > 0


def test_learned_sides_alternate_and_teams_stay_together():
    siege = learned_seats(arena_spec("siege"), 4, 5, 0)
    assert siege.sum(1).tolist() == [5] * 4 and siege[0, :5].all() and siege[1, 5:].all()
    lms = learned_seats(arena_spec("lms"), 6, 3, 0)
    assert lms.sum(1).tolist() == [3] * 6
    assert seats_of_learner(arena_spec("duel"), for_world("duel")) == 1


def test_opponents_are_drawn_anew_and_results_counted():
    task = small_task(self_play=0.0, opponents=("idle", "rookie"), unroll=200, lanes=32)
    for _ in range(4):
        task.gather(0)
    assert sum(member.played for member in task.pool.members) > 0
    assert {int(foe) for foe in task.groups[0].foe} <= {0, 1}


def test_players_who_are_out_do_not_count():
    task = small_task("lms", lanes=40, unroll=300, self_play=0.5)
    batch = task.gather(0)
    assert 0 < batch.steps < batch.active.size
    gone = ~batch.active
    assert not batch.alive[gone].any() and (batch.rewards[gone] == 0).all()
    # Out for good means terminated once, just before.
    assert batch.terminated.any()


def test_truncated_outside_matches_keep_their_last_inputs():
    task = small_task("gym:CartPole-v1", lanes=4, unroll=60, minibatches=2, opponents=())
    for group in task.groups:
        group.world._max_decisions = 20
    batch = task.gather(0)
    cut = {(one.minibatch, one.t, one.lane) for one in batch.truncations}
    assert cut == {tuple(int(i) for i in where) for where in np.argwhere(batch.truncated)}
    for one in batch.truncations:
        following = batch.inputs[one.minibatch, one.t + 1, one.lane]
        assert not np.array_equal(one.inputs, following)  # that is a new match
