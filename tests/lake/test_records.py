"""Trajectories: lengths are checked, slices cut everything alike."""

import numpy as np
import pytest

from levelcap.kit.errors import BadValue
from levelcap.lake.records import TrajectorySequence
from tests.lake import made


def sequence(length=5, **changes):
    fields = {
        "obs": np.arange(length * 19, dtype=np.float32).reshape(length, 19),
        "actions": {"move_x": np.arange(length), "fire": np.arange(length) % 2},
        "rewards": np.linspace(0, 1, length, dtype=np.float32),
        "dones": np.arange(length) == length - 1,
        "behavior_logp": -np.arange(length, dtype=np.float32),
        "extras": {"source": "bots", "terminal_outcome": 1, "alive": np.ones(length, bool)},
    }
    return TrajectorySequence(**(fields | changes))


def test_a_slice_cuts_every_array_and_keeps_the_words():
    part = sequence().slice(1, 4)
    assert len(part) == 3
    assert part.obs[:, 0].tolist() == [19.0, 38.0, 57.0]
    assert part.actions["move_x"].tolist() == [1, 2, 3]
    assert part.rewards.tolist() == [0.25, 0.5, 0.75]
    assert part.dones.tolist() == [False, False, False]
    assert part.behavior_logp.tolist() == [-1.0, -2.0, -3.0]
    assert part.extras["source"] == "bots" and part.extras["terminal_outcome"] == 1
    assert len(part.extras["alive"]) == 3
    assert part.slice(1, 2).actions["move_x"].tolist() == [2]
    assert len(part.slice(3, 3)) == 0


def test_a_missing_log_probability_stays_missing():
    assert sequence(behavior_logp=None).slice(0, 2).behavior_logp is None


@pytest.mark.parametrize(
    "changes",
    [
        {"rewards": np.zeros(4)},
        {"dones": np.zeros(6, bool)},
        {"actions": {"fire": np.zeros(3)}},
        {"behavior_logp": np.zeros(4)},
        {"extras": {"alive": np.zeros(2)}},
        {"obs": np.zeros(5)},
    ],
)
def test_lengths_that_differ_are_refused(changes):
    with pytest.raises(BadValue, match="length|shape"):
        sequence(**changes)


@pytest.mark.parametrize("bounds", [(-1, 2), (3, 2), (0, 6)])
def test_a_slice_stays_within_the_trajectory(bounds):
    with pytest.raises(BadValue, match="slice outside"):
        sequence().slice(*bounds)


def test_a_header_refuses_what_it_cannot_describe():
    with pytest.raises(BadValue, match="stored"):
        made.header(views="packed")
    twice = [{"name": "bot", "hash": "", "log_probs": False}] * 2
    with pytest.raises(BadValue, match="two policies of one name"):
        made.header(policies=twice)
    with pytest.raises(BadValue, match="policies are not described"):
        made.header(policies=[{"name": "bot"}])
