"""Orders on disk: for each a vector that is added to a hero's goal, in the checkpoint's folder.

    save_orders(folder, learn_orders(policy, shard))   # writes `.orders.json`; `learn/imitation`
    load_checkpoint(folder).orders                     # the names it now understands

The file is attached after publishing, as the ledger's is: no part of the checkpoint's content.
"""

from __future__ import annotations

from collections.abc import Sequence
from pathlib import Path
from typing import Any

import numpy as np
from numpy.typing import NDArray

from levelcap.coach.orders import ORDERS
from levelcap.kit.errors import BadValue, refuse, unknown_name
from levelcap.kit.files import dump_json, parse_json
from levelcap.kit.publish import ORDERS_FILE, attach
from levelcap.world.protocols import Policy, PolicyState

ORDER, ORDER_LEFT = "order", "order_left"  # names in the state of a policy whose mind is shown
STANDS_S = 5.0  # an order counts for so long, and is given again while it stands


class Ordered(Policy):
    """A policy with a goal that orders are added to, carried in its state beside the rest."""

    vectors: dict[str, NDArray[np.float32]] = {}

    def take_vectors(self, vectors: dict[str, NDArray[np.float32]]) -> None:
        """What each order adds to the goal [G]."""
        self.vectors, self.orders = vectors, tuple(vectors)

    def order(self, state: PolicyState, row: int, name: str | None, seconds: float) -> None:
        """Add an order's vector to the goal of a row for some seconds; None: no longer.

        Raises:
            UnknownName: it has not learned this order.
        """
        if name is not None and name not in self.vectors:
            raise unknown_name("order", name, self.vectors)
        if isinstance(state, dict) and ORDER in state:
            state[ORDER][row] = 0.0 if name is None else self.vectors[name]
            decisions = round(seconds * self.tick_hz / self.decision_ticks)
            state[ORDER_LEFT][row] = 0 if name is None else decisions

    def order_state(self, rows: int) -> dict[str, NDArray[Any]]:
        """What the state of rows holds for orders; nothing where nobody can see or give one."""
        if not (self.shows_mind and self.vectors):
            return {}
        size = len(next(iter(self.vectors.values())))
        return {
            ORDER: np.zeros((rows, size), np.float32),
            ORDER_LEFT: np.zeros(rows, np.int64),  # decisions for which it still counts
        }


def standing(state: PolicyState) -> NDArray[np.float32] | None:
    """What orders add to the goals of the rows [n, G] now; None: this state knows no orders."""
    if not isinstance(state, dict) or ORDER not in state:
        return None
    added: NDArray[np.float32] = state[ORDER] * (state[ORDER_LEFT] > 0)[:, None]
    return added


def passed(state: PolicyState) -> dict[str, NDArray[Any]]:
    """The orders of a state one decision later."""
    if not isinstance(state, dict) or ORDER not in state:
        return {}
    return {ORDER: state[ORDER], ORDER_LEFT: np.maximum(state[ORDER_LEFT] - 1, 0)}


def aim_odds(
    logits: NDArray[Any],
    mask: NDArray[Any],
    actions: NDArray[Any],
    heads: tuple[Sequence[int], Sequence[int]],
) -> NDArray[np.float32]:
    """How likely the chosen aim was [n]; heads: bins of each, and which of them point."""
    odds = np.ones(len(actions), np.float32)
    first = np.cumsum([0, *heads[0]]).tolist()
    shown = np.where(mask != 0, logits, -np.inf)
    for head in heads[1]:
        part = shown[:, first[head] : first[head + 1]]
        p = np.exp(part - part.max(1, keepdims=True))
        odds *= p[np.arange(len(odds)), actions[:, head]] / p.sum(1)
    return odds


def save_orders(folder: Path, vectors: dict[str, NDArray[Any]]) -> None:
    """Put the vectors into a checkpoint's folder, beside what was published."""
    rounded = {name: [round(float(v), 4) for v in vector] for name, vector in vectors.items()}
    attach(folder, dump_json(rounded), ORDERS_FILE)


def load_orders(folder: Path, goal_size: int) -> dict[str, NDArray[np.float32]]:
    """The vectors of a checkpoint by the name of the order; none were learned: empty.

    Raises:
        BadValue: a file that was not written here.
    """
    path = folder / ORDERS_FILE
    if not goal_size or not path.is_file():
        return {}
    try:
        found = {n: np.array(v, np.float32) for n, v in parse_json(path.read_bytes()).items()}
    except (ValueError, TypeError, AttributeError) as error:
        raise BadValue(refuse("no vectors of orders", str(path), "Learn them again")) from error
    for name, vector in found.items():
        if name not in ORDERS or vector.shape != (goal_size,) or not np.isfinite(vector).all():
            raise BadValue(refuse(f"no vector of an order in {path}", name, "Learn them again"))
    return found
