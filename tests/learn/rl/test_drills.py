"""Drills in a lesson: who is told what, for how long, and what is learned of it."""

from dataclasses import replace

import numpy as np
import pytest

from levelcap.kit.errors import BadValue
from levelcap.learn.rl.batch import INTENT, MODE, TARGET, TOLD
from levelcap.learn.rl.config import for_world, taught_by
from levelcap.learn.rl.drills import drill_modes
from levelcap.learn.rl.run import Request, build
from levelcap.world import make

SMALL = {"lanes": 40, "unroll": 30, "minibatches": 2, "cousins": 0, "opponents": ("rookie",)}


def lesson(drill, goal="on"):
    config = replace(taught_by("master", "duel", "hierarchy"), **SMALL, drill=drill)
    options = ("strategist=lstm", f"goal={goal}")
    return build(Request("duel", None, size="dummy", family="hierarchy", options=options), config)


def third_batch(task):
    """By then they have met."""
    return [task.gather(0) for _ in range(3)][-1]


def test_orders_last_two_looks_and_are_drawn_anew_for_every_seat():
    world = make("siege", 40, seed=5)
    lanes = np.arange(400)
    world.reset()
    drawn = []
    for _ in range(8):
        drawn.append(drill_modes(world, lanes, 0.25))
        for _ in range(10):
            world.step(np.full((40, 10, 7), 5, np.uint8) * [1, 1, 1, 1, 0, 0, 0])
    drawn = np.stack(drawn)
    np.testing.assert_array_equal(drawn[0::2], drawn[1::2])  # two seconds each
    assert (drawn >= 0).mean() == pytest.approx(0.25, abs=0.03)
    counts = np.bincount(drawn[drawn >= 0])
    assert len(counts) == 5 and counts.min() > 0.6 * counts.mean()
    assert (drawn[0] != drawn[2]).any() and len(np.unique(drawn[0][:10])) > 1


def test_a_drill_changes_what_is_told_and_nothing_of_what_is_played():
    plain, ordered = (third_batch(lesson(share)) for share in (0.0, 0.5))
    np.testing.assert_array_equal(plain.actions, ordered.actions)
    np.testing.assert_array_equal(plain.taught[..., INTENT], ordered.taught[..., INTENT])
    np.testing.assert_array_equal(plain.taught[..., MODE], plain.taught[..., INTENT])
    assert (plain.taught[..., TARGET] == -1).all()
    told = ordered.taught[..., MODE] != plain.taught[..., MODE]
    other = (ordered.taught[..., :-TOLD] != plain.taught[..., :-TOLD]).any(-1)
    assert 0.2 < told.mean() < 0.5 and other.any() and not other[~told].any()
    assert (ordered.taught[..., TARGET] >= 0).mean() > 0.1


def test_the_goal_must_be_read_to_do_as_told():
    """One update of a lesson with drills moves the mode's part of the goal; without a goal none."""
    task = lesson(0.5)
    batch = task.gather(0)
    assert task.learner.backward(batch, 0)["taught_target"] >= 0
    assert float(task.net.mode_goal.weight.grad.abs().sum()) > 0
    deaf = lesson(0.5, "off").gather(0)
    np.testing.assert_array_equal(deaf.taught[..., MODE], deaf.taught[..., INTENT])


def test_a_lesson_saved_before_drills_goes_on():
    task = lesson(0.5)
    batch = task.gather(0)
    state, told = batch.state(), batch.taught.copy()
    state.arrays["taught"] = np.concatenate((told[..., :-TOLD], told[..., INTENT:]), -1)
    batch.restore(state)
    np.testing.assert_array_equal(batch.taught[..., :-TOLD], told[..., :-TOLD])
    for column in (MODE, INTENT):
        np.testing.assert_array_equal(batch.taught[..., column], told[..., INTENT])
    assert (batch.taught[..., TARGET] == -1).all()


def test_a_drill_without_a_teacher_is_refused():
    config = replace(for_world("siege", "hierarchy"), **SMALL, drill=0.2)
    request = Request("siege", None, size="dummy", family="hierarchy")
    with pytest.raises(BadValue, match="Name a teacher"):
        build(request, config)
