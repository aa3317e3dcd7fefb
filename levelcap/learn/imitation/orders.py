"""Orders as goals: for each order a vector that is added to what a hero wants.

    vectors = learn_orders(load_checkpoint(folder), Shard(shard))
    save_orders(folder, vectors)         # `play/orders.py`: beside what was published

Shapes: N decisions, G numbers of a goal, A bins of all heads, K = 121 ways to move.

The first guess is the mean goal of moments that match an order less the mean goal of the others.
Then the vector alone is learned, the net stands still: it shall raise the probability of moves that
pass the order's test, computed exactly over all 121 moves with and without fire, at moments of the
shard where the order applies. The goal is the only door: nothing else of the hero is touched.
"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass
from typing import Any

import numpy as np
import torch
from numpy.typing import NDArray
from torch import Tensor

from levelcap.coach.orders import ORDERS, Order, Scene, read_deed, read_scene
from levelcap.kit.errors import BadValue, refuse
from levelcap.lake.shard import Shard
from levelcap.nets.net import Inputs, Net, State, ViewLayout
from levelcap.play.load import NetPolicy
from levelcap.world.actions import CENTRE
from levelcap.world.rules.columns import HEAD
from levelcap.world.spec import HEAD_OFFSETS, HEADS, MOVE_BINS, arena_spec

STRETCH, LANES = 20, 64  # decisions of one piece, and pieces side by side
PIECES = 12  # batches of pieces that are looked at
LEAST = 200  # decisions in which an order applies; with fewer nothing is learned of it
STEPS, RATE = 100, 0.3
LENGTH_COST = 2e-4  # of the vector's square: a goal too long is none that the net has met


@dataclass(frozen=True)
class Piece:
    """Decisions [STRETCH x LANES] of a shard, and what is needed to go through them again."""

    views: Inputs
    state: State
    reset: Tensor
    scene: Scene
    actions: NDArray[Any]
    alive: NDArray[np.bool_]


def learn_orders(policy: NetPolicy, shard: Shard, steps: int = STEPS) -> dict[str, Any]:
    """Vector [G] of every order that the shard's moments tell something about.

    steps: of the gradient; 0: the mean goals alone.

    Raises:
        BadValue: the net has no goal, or the shard keeps other views than it reads.
    """
    net = policy.net
    if not net.goal_size:
        remedy = "Give a hero of the family hierarchy"
        raise BadValue(refuse("this hero has no goal", policy.meta.architecture, remedy))
    pieces = list(_pieces(policy, shard))
    goals = []
    with torch.inference_mode():
        for piece in pieces:
            out = net.unroll(piece.views, piece.state, piece.reset)
            goals.append(out.mind["goal"].flatten(0, 1).numpy())
    whole = np.concatenate(goals)
    found = {}
    for name, order in ORDERS.items():
        match = [_matches(order, piece) for piece in pieces]
        applies = np.concatenate([a for a, _ in match])
        holds = np.concatenate([h for _, h in match])
        here, there = applies & holds, applies & ~holds
        if applies.sum() < LEAST or not here.any() or not there.any():
            continue
        first = torch.from_numpy(whole[here].mean(0) - whole[there].mean(0))
        found[name] = _tune(net, pieces, order, first, steps).numpy()
    return found


def _pieces(policy: NetPolicy, shard: Shard) -> Iterator[Piece]:
    """Stretches from the middle of episodes: each lane begins with a match of its own."""
    views = policy.meta.views
    missing = set(views) - set(shard.header.view_names)
    if missing or not {"objects", "body"} <= set(views):
        remedy = f"Record with {' '.join(f'--views {name}' for name in views)}"
        raise BadValue(refuse("the shard lacks views of this hero", sorted(missing), remedy))
    layout = ViewLayout.of(arena_spec(policy.meta.world), views)
    lanes: list[dict[str, NDArray[Any]]] = []
    made = 0
    for group in range(shard.num_groups):
        first, last = shard.span(group)
        columns = shard.decode(group, views)
        for episode in range(first, last):
            at = int(shard.first_row[episode] - shard.first_row[first])
            length = int(shard.length[episode])
            for begin in range(at, at + length - STRETCH + 1, 4 * STRETCH):
                here = slice(begin, begin + STRETCH)
                lanes.append({n: columns[n][here] for n in (*views, "actions", "alive")})
            if len(lanes) >= LANES:
                yield _piece(policy.net, layout, lanes[:LANES])
                lanes, made = [], made + 1
                if made == PIECES:
                    return
    if lanes:
        yield _piece(policy.net, layout, lanes)


def _piece(net: Net, layout: ViewLayout, lanes: list[dict[str, NDArray[Any]]]) -> Piece:
    def flat(name: str) -> NDArray[Any]:
        """[STRETCH x lanes, ...], time first."""
        rows = np.stack([lane[name] for lane in lanes], 1)
        return rows.reshape(-1, *rows.shape[2:])

    packed = torch.from_numpy(layout.pack({name: flat(name) for name in layout.names}))
    reset = torch.zeros(STRETCH, len(lanes), dtype=torch.bool)
    reset[0] = True
    return Piece(
        Inputs(packed.view(STRETCH, len(lanes), -1), layout),
        net.initial_state(len(lanes)),
        reset,
        read_scene(flat("objects"), flat("body")),
        flat("actions"),
        flat("alive").astype(bool),
    )


def _matches(order: Order, piece: Piece) -> tuple[NDArray[np.bool_], NDArray[np.bool_]]:
    """Where an order applies [N], and where the recorded deed carries it out."""
    return order.applies(piece.scene) & piece.alive, order.holds(
        piece.scene, *read_deed(piece.actions)
    )


def _tune(net: Net, pieces: list[Piece], order: Order, first: Tensor, steps: int) -> Tensor:
    """The vector after some steps of Adam on the probability of obeying."""
    vector = first.clone().requires_grad_()
    optimizer = torch.optim.Adam([vector], lr=RATE)
    allowed = [_allowed(order, piece) for piece in pieces]
    for step in range(steps):
        piece, (passes, counts) = pieces[step % len(pieces)], allowed[step % len(pieces)]
        obeyed = _obeying(net, piece, passes, vector)[counts]
        if not len(obeyed):
            continue
        loss = -(obeyed + 1e-3).log().mean() + LENGTH_COST * vector.square().sum()
        vector.grad = torch.autograd.grad(loss, vector)[0]  # of the vector alone
        optimizer.step()
    return vector.detach()


def _obeying(net: Net, piece: Piece, passes: Tensor, vector: Tensor) -> Tensor:
    """Probability [N] of a deed that passes the test, with the vector added to the goal."""
    order = vector.expand(piece.reset.shape[1], -1)
    views = Inputs(piece.views.packed, piece.views.layout, order=order)
    logits = net.unroll(views, piece.state, piece.reset).logits.flatten(0, 1)
    move_x = _head(logits, HEAD.move_x).softmax(-1)
    move_y = _head(logits, HEAD.move_y).softmax(-1)
    fire = _head(logits, HEAD.fire).softmax(-1)
    moves = (move_x[:, :, None] * move_y[:, None]).flatten(1)  # [N, K]
    return ((moves[..., None] * fire[:, None]) * passes).sum((1, 2))


def _allowed(order: Order, piece: Piece) -> tuple[Tensor, Tensor]:
    """Which moves [N, K], without and with fire [2], pass the test; decisions [N] that count."""
    axis = (np.arange(MOVE_BINS, dtype=np.float32) - CENTRE) / CENTRE
    moves = np.stack(np.meshgrid(axis, axis, indexing="ij"), -1).reshape(1, -1, 2)
    moves = np.broadcast_to(moves, (len(piece.alive), moves.shape[1], 2))
    fires = (np.full(moves.shape[:2], fire) for fire in (False, True))
    passes = np.stack([order.holds(piece.scene, moves, fire) for fire in fires], -1)
    counts = order.applies(piece.scene) & piece.alive & passes.any((1, 2))
    return torch.from_numpy(np.ascontiguousarray(passes)).float(), torch.from_numpy(counts)


def _head(logits: Tensor, head: int) -> Tensor:
    return logits[:, HEAD_OFFSETS[head] : HEAD_OFFSETS[head] + HEADS[head].size]
