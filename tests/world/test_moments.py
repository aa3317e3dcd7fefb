"""Running moments agree with numpy and survive storing."""

from __future__ import annotations

import json

import numpy as np
import pytest

from levelcap.kit.errors import BadValue
from levelcap.world.doors.moments import RunningMoments


def test_moments_agree_with_numpy_however_the_rows_are_cut() -> None:
    rows = np.random.default_rng(0).normal([3.0, -100.0, 0.01], [2.0, 0.5, 1e-3], (1000, 3))
    whole, halves = RunningMoments(3), RunningMoments(3)
    for part in np.array_split(rows, [1, 10, 400]):
        whole.update(part)
    halves.update(rows[:300].reshape(3, 100, 3))
    halves.update(rows[300:])
    for moments in (whole, halves):
        assert moments.count == 1000
        np.testing.assert_allclose(moments.mean, rows.mean(axis=0), rtol=1e-12)
        np.testing.assert_allclose(moments.var, rows.var(axis=0), rtol=1e-9)
    stored = RunningMoments.from_dict(json.loads(json.dumps(whole.to_dict())))
    assert np.array_equal(stored.mean, whole.mean) and np.array_equal(stored.var, whole.var)
    scaled = stored.standardise(rows)
    assert scaled.dtype == np.float32
    np.testing.assert_allclose(scaled.mean(axis=0), 0.0, atol=1e-4)
    np.testing.assert_allclose(scaled.std(axis=0), 1.0, atol=1e-4)


def test_moments_leave_constant_columns_alone() -> None:
    moments = RunningMoments(2)
    assert moments.standardise(np.array([[5.0, -50.0]])).tolist() == [[5.0, -10.0]]
    moments.update(np.array([[1.0, 2.0], [1.0, 4.0]]))
    assert moments.standardise(np.array([[1.5, 3.0]])).tolist() == [[0.5, 0.0]]
    with pytest.raises(BadValue, match="last axis is 2 long"):
        moments.update(np.zeros((4, 3)))
