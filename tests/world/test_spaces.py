"""Gymnasium spaces as feature rows and categorical heads."""

from __future__ import annotations

import numpy as np
from gymnasium import spaces

from levelcap.world.doors.spaces import common_heads, seat_codec

VECTOR = spaces.Box(-1, 1, (2,))


def test_nested_spaces_flatten_in_order() -> None:
    observed = spaces.Dict(
        a=spaces.Discrete(3, start=5),
        b=spaces.Tuple((spaces.Box(-1, 1, (2, 2)), spaces.MultiBinary(2))),
        c=spaces.MultiDiscrete([2, 3], start=[1, -1]),
    )
    codec = seat_codec(observed, spaces.Discrete(2), "toy")
    out = np.full(codec.num_features, 9.0, np.float32)
    value = {
        "a": np.int64(6),
        "b": (np.array([[0.5, -0.5], [0.25, 1.0]]), np.array([1, 0], np.int8)),
        "c": np.array([2, -1]),
    }
    codec.encode(value, out)
    assert out.tolist() == [0, 1, 0, 0.5, -0.5, 0.25, 1, 1, 0, 0, 1, 1, 0, 0]


def test_actions_reach_the_environment_in_its_own_form() -> None:
    acted = spaces.Dict(
        aim=spaces.Box(np.array([-2, 0], np.float32), np.array([2, 1], np.float32)),
        gear=spaces.Discrete(3, start=-1),
        keys=spaces.MultiBinary(2),
        more=spaces.Tuple((spaces.MultiDiscrete([3, 4], start=[2, 0]), spaces.Box(0, 3, (), int))),
    )
    codec = seat_codec(VECTOR, acted, "toy")
    assert [(head.name, head.size) for head in codec.heads] == [
        ("aim_0", 11),
        ("aim_1", 11),
        ("gear", 3),
        ("keys_0", 2),
        ("keys_1", 2),
        ("more_0_0", 3),
        ("more_0_1", 4),
        ("more_1", 4),
    ]
    action = codec.decode([0, 5, 0, 1, 0, 2, 3, 2])
    assert acted.contains(action)
    assert action["aim"].tolist() == [-2.0, 0.5]
    assert (action["gear"], action["keys"].tolist()) == (-1, [1, 0])
    assert (action["more"][0].tolist(), int(action["more"][1])) == ([4, 3], 2)
    assert codec.decode([10, 10, 0, 0, 0, 0, 0, 0])["aim"].tolist() == [2.0, 1.0]


def test_heads_keep_their_names_only_when_players_agree() -> None:
    same = [seat_codec(VECTOR, spaces.Discrete(size), "toy") for size in (3, 5)]
    assert [(head.name, head.size) for head in common_heads(same)] == [("action", 5)]
    clash = seat_codec(VECTOR, spaces.Dict(a=spaces.MultiBinary(2), a_0=spaces.Discrete(3)), "toy")
    assert [head.name for head in common_heads([clash])] == ["action_0", "action_1", "action_2"]
