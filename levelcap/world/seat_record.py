"""What one seat saw and did in a recorded match, as arrays: for whoever decides it again.

One line of JSON, then the arrays one after the other, little endian, T rows each: a row for every
decision in which the seat was asked. `views` float32; `mask` uint8 [A]; `key` uint64, what its
actions were drawn with; `alive` uint8; `actions` uint8 [H], as recorded; `at` int32, the number of
the decision.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import numpy as np
from numpy.typing import NDArray

from levelcap.kit.errors import BadValue, check_known, refuse
from levelcap.kit.files import dump_line
from levelcap.world.replay import Replay
from levelcap.world.spec import arena_spec, world_name

MOST_BYTES = 64 << 20  # of views; a siege of ten minutes has 15 MB
DTYPES = {"mask": "u1", "key": "<u8", "alive": "u1", "actions": "u1", "at": "<i4"}


def record_seat(replay: Replay, seat: int, views: Sequence[str]) -> bytes:
    """Play the match again and keep what the seat saw; a very long one ends early.

    Raises:
        BadValue: no such seat. UnknownName: no such view, or one that no player may see.
        Corrupt: the match comes out differently.
    """
    head = replay.header
    spec = arena_spec(world_name(head["ruleset"], head["tick_hz"]))
    if not 0 <= seat < spec.num_players:
        remedy = f"Name one of {spec.num_players} seats, from 0"
        raise BadValue(refuse("no such seat", seat, remedy))
    for name in views:
        check_known("view", name, spec.acting_views)
    row_bytes = 4 * sum(int(np.prod(spec.views[name].shape)) for name in views)
    most = MOST_BYTES // max(1, row_bytes)
    kept: dict[str, list[Any]] = {name: [] for name in (*views, *DTYPES)}
    for decision, world in enumerate(replay.play(tuple(views))):
        over = decision == len(replay.actions) or len(kept["at"]) == most
        if over or not world.buffers.due[0, seat]:
            continue
        shown = world.observe()
        for name in (*views, "mask", "key", "alive"):
            kept[name].append(shown[name][0, seat].copy())
        kept["actions"].append(replay.actions[decision, seat])
        kept["at"].append(decision)
    arrays = {n: np.array(rows, DTYPES.get(n, "<f4")) for n, rows in kept.items()}
    return dump_line(_told(head, seat, spec.name, arrays)) + b"".join(
        rows.tobytes() for rows in arrays.values()
    )


def _told(
    head: dict[str, Any], seat: int, world: str, arrays: dict[str, NDArray[Any]]
) -> dict[str, Any]:
    """The first line."""
    return {
        "world": world,
        "world_version": head["world_version"],
        "tick_hz": head["tick_hz"],
        "seat": seat,
        "seat_ticks": head["seat_ticks"][seat],
        "player": head["policies"][head["seats"][seat]] if head["seats"] else {},
        "decision_ticks": head["decision_ticks"],
        "arrays": [
            {"name": name, "dtype": rows.dtype.name, "shape": rows.shape}
            for name, rows in arrays.items()
        ],
    }
