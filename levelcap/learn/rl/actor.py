"""The acting half of reinforcement learning: many matches, played in batches of T decisions.

Lanes are the seats the learner plays; they stay the same for the whole run. Some matches are the
learner against itself, in the others every non-learned seat is played by an opponent that is drawn
anew for every match. One call of the net decides for all lanes.

A `Batch` is laid out [K, T, n, ...]: K parts of n lanes, each used for one update. Two batches
exist and are filled in turn, so one is learned from while the other is gathered.
"""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import Any

import numpy as np
import torch
from numpy.typing import NDArray
from torch import nn

from levelcap.learn.engine.state import State
from levelcap.learn.maths.fused import HeadLayout, log_softmax_rows
from levelcap.learn.rl.opponents import Pool
from levelcap.nets.meta import Meta
from levelcap.play.rollout import ALWAYS
from levelcap.play.sample import Sampler


@dataclass
class Batch:
    """T decisions of all lanes. `alive` counts for the policy, `active` for the value.

    inputs has one row more than the rest: the state after the last decision. cuts: places where
    a match was truncated, as (part, t, lane) and the last input there.
    """

    inputs: NDArray[np.float32]  # [K, T + 1, n, D]
    mask: NDArray[np.uint8]  # [K, T, n, bins]
    actions: NDArray[np.int16]  # [K, T, n, heads]
    log_probs: NDArray[np.float32]  # [K, T, n], of the policy that acted
    rewards: NDArray[np.float32]
    terminated: NDArray[np.bool_]
    truncated: NDArray[np.bool_]
    alive: NDArray[np.bool_]
    active: NDArray[np.bool_]
    reference: NDArray[np.float32]  # [K, T, n, bins] log-probabilities of pi_sup, or [K, 0, ...]
    referred: list[bool] = field(default_factory=list)  # which parts have their reference
    version: int = 0  # update count of the weights that acted
    cuts: list[tuple[int, int, int, NDArray[np.float32]]] = field(default_factory=list)

    @classmethod
    def empty(cls, parts: int, length: int, lanes: int, meta: Meta, reference: bool) -> Batch:
        """Room for one batch."""
        rows = (parts, length, lanes)
        bins = sum(meta.head_sizes)
        return cls(
            inputs=np.zeros((parts, length + 1, lanes, meta.input_size), np.float32),
            mask=np.zeros((*rows, bins), np.uint8),
            actions=np.zeros((*rows, len(meta.head_sizes)), np.int16),
            log_probs=np.zeros(rows, np.float32),
            rewards=np.zeros(rows, np.float32),
            terminated=np.zeros(rows, np.bool_),
            truncated=np.zeros(rows, np.bool_),
            alive=np.zeros(rows, np.bool_),
            active=np.zeros(rows, np.bool_),
            reference=np.zeros((parts, length if reference else 0, lanes, bins), np.float32),
        )

    @property
    def steps(self) -> int:
        """Decisions that count."""
        return int(self.active.sum())


class Room:
    """One world and who plays in it: the learner's seats, and opponents in the others."""

    def __init__(self, world: Any, learned: NDArray[np.bool_], pool: Pool | None) -> None:
        """learned [M, P]: the learner's seats. pool: opponents for the others (None: no others)."""
        self.world, self.pool = world, pool
        self.learned = learned
        self.seats = np.flatnonzero(learned)  # flat index match * P + player of each lane
        players = learned.shape[1]
        self.team_of_seat = np.arange(players) * world.spec.num_teams // players
        self.lane_teams = [set(self.team_of_seat[row].tolist()) for row in learned]
        self.foe = np.full(len(learned), -1, np.int64)
        self.minds: list[Any] = []
        self.views: dict[str, NDArray[Any]] = {}
        self.active = np.ones(learned.shape, np.bool_)
        self._rows: list[NDArray[np.int64]] = []

    def start(self) -> None:
        """Reset the world and draw the first opponents."""
        self.views = self.world.reset()
        self.active[:] = True
        if self.pool is not None:
            for index in range(len(self.pool.members)):
                self.welcome(index)
            self.redraw(np.arange(len(self.foe)))

    def welcome(self, index: int) -> None:
        """Give a new member of the pool its memory for every seat."""
        assert self.pool is not None and index == len(self.minds)
        policy = self.pool.members[index].policy
        if hasattr(policy, "bind"):
            policy.bind(self.world)
        self.minds.append(policy.initial_state(self.learned.size))

    def redraw(self, matches: NDArray[np.int64]) -> None:
        """Draw opponents for matches that have just begun."""
        assert self.pool is not None
        self.foe[matches] = self.pool.draw(self.world.state["seed"][matches])
        self.sort_seats()

    def sort_seats(self) -> None:
        """Which seats each opponent plays now."""
        assert self.pool is not None
        owner = np.where(self.learned, -1, self.foe[:, None]).reshape(-1)
        self._rows = [np.flatnonzero(owner == k) for k in range(len(self.pool.members))]

    def play_opponents(self, actions: NDArray[np.int16]) -> None:
        """Fill the opponents' rows of actions [M * P, heads]."""
        if self.pool is None:
            return
        for index, rows in enumerate(self._rows):
            if len(rows) == 0:
                continue
            policy = self.pool.members[index].policy
            mine = {
                name: self.views[name].reshape(-1, *self.views[name].shape[2:]).take(rows, 0)
                for name in (*policy.views, *ALWAYS)
            }
            mind = self.minds[index]
            taken, new = policy.act(mine, None if mind is None else mind[rows])
            if mind is not None:
                mind[rows] = new
            actions[rows] = taken

    def step(self, actions: NDArray[np.int16]) -> tuple[Any, Any, Any, Any]:
        """One decision of everybody; returns rewards, terminated, truncated, info."""
        shape = (*self.learned.shape, actions.shape[-1])
        self.views, rewards, terminated, truncated, info = self.world.step(actions.reshape(shape))
        self.active[:] = info["active"]
        if self.pool is not None and info["ended"].any():
            ended = np.flatnonzero(info["ended"])
            for match in ended.tolist():
                self._count(match, int(info["winner"][match]))
            self.redraw(ended)
        return rewards, terminated, truncated, info

    def state(self) -> State:
        """The matches as they stand, who plays them, and what the opponents remember."""
        state = State({"foe": self.foe, "active": self.active})
        if hasattr(self.world, "snapshot"):  # outside games cannot be saved: they start over
            state.arrays["world"] = self.world.snapshot()
        for index, mind in enumerate(self.minds):
            if mind is not None:
                state.arrays[f"mind{index}"] = mind
        return state

    def restore(self, state: State) -> None:
        """Take the matches back; every opponent must have been welcomed."""
        self.foe[:] = state.arrays["foe"]
        self.active[:] = state.arrays["active"]
        if "world" in state.arrays:
            kind = self.world.state
            self.views = self.world.restore(
                state.arrays["world"].view(kind.dtype).reshape(kind.shape)
            )
        else:
            self.views = self.world.reset()
            self.active[:] = True
        for index, mind in enumerate(self.minds):
            if mind is not None:
                mind[:] = state.arrays[f"mind{index}"].view(mind.dtype).reshape(mind.shape)
        if self.pool is not None:
            self.sort_seats()

    def _count(self, match: int, winner: int) -> None:
        assert self.pool is not None
        score = 0.5 if winner < 0 else float(winner in self.lane_teams[match])
        self.pool.record(int(self.foe[match]), score)


class Actor:
    """Plays all rooms with one net and fills batches."""

    def __init__(
        self,
        net: nn.Module,
        meta: Meta,
        rooms: list[Room],
        *,
        length: int,
        parts: int,
        reference: nn.Module | None,
    ) -> None:
        """length: decisions a batch; parts: updates a batch; reference: pi_sup for the KL."""
        self.net, self.meta, self.rooms, self.reference = net, meta, rooms, reference
        self.length, self.parts = length, parts
        sizes = [len(room.seats) for room in rooms]
        self.lanes = sum(sizes)
        assert self.lanes % parts == 0, f"{self.lanes} lanes in {parts} parts"
        # Lane i sits in part i % parts, so that every part meets every kind of match.
        order = np.arange(self.lanes).reshape(-1, parts).T.reshape(-1)
        place = np.empty(self.lanes, np.int64)
        place[order] = np.arange(self.lanes)
        cuts = np.cumsum([0, *sizes])
        self._places = [place[a:b] for a, b in zip(cuts[:-1], cuts[1:], strict=True)]
        self._layout = HeadLayout.of(meta.head_sizes, meta.aim_heads, meta.aim_users)
        self._sampler = Sampler(rooms[0].world.spec)
        self._batches = [
            Batch.empty(parts, length, self.lanes // parts, meta, reference is not None)
            for _ in range(2)
        ]
        self._turn = 0
        heads = len(meta.head_sizes)
        self._actions = [np.zeros((room.learned.size, heads), np.int16) for room in rooms]
        self._inputs = np.zeros((self.lanes, meta.input_size), np.float32)
        self._mask = np.zeros((self.lanes, self._layout.bins), np.uint8)
        self._keys = np.zeros(self.lanes, np.uint64)
        self._flags = np.zeros((2, self.lanes), np.bool_)

    def gather(self, version: int) -> Batch:
        """Play `length` decisions with the net as it is."""
        batch = self.spare()
        batch.cuts.clear()
        batch.referred = [self.reference is None] * self.parts
        batch.version = version
        for t in range(self.length):
            self._decide(batch, t)
            for index, room in enumerate(self.rooms):
                room.play_opponents(self._actions[index])
                self._advance(batch, t, index)
        self._look(batch.inputs, self.length)
        return batch

    def spare(self) -> Batch:
        """The batch that is filled next, to put a saved one in."""
        batch = self._batches[self._turn]
        self._turn = 1 - self._turn
        return batch

    def _split(self, rows: NDArray[Any]) -> NDArray[Any]:
        return rows.reshape(self.parts, -1, *rows.shape[1:])

    def _look(self, inputs: NDArray[np.float32], t: int) -> None:
        """The inputs of all lanes, into row t."""
        for room, places in zip(self.rooms, self._places, strict=True):
            column = 0
            for name in self.meta.views:
                view = room.views[name]
                flat = view.reshape(room.learned.size, -1)
                width = flat.shape[1]
                self._inputs[places, column : column + width] = flat[room.seats]
                column += width
        inputs[:, t] = self._split(self._inputs)

    def _decide(self, batch: Batch, t: int) -> None:
        self._look(batch.inputs, t)
        for room, places in zip(self.rooms, self._places, strict=True):
            size = room.learned.size
            self._mask[places] = room.views["mask"].reshape(size, -1)[room.seats]
            self._keys[places] = room.views["key"].reshape(-1)[room.seats]
            self._flags[0, places] = room.views["alive"].reshape(-1)[room.seats]
            self._flags[1, places] = room.active.reshape(-1)[room.seats]
        with torch.inference_mode():
            logits, _ = self.net(torch.from_numpy(self._inputs))
        actions, log_probs = self._sampler(logits.numpy(), self._mask, self._keys)
        batch.mask[:, t] = self._split(self._mask)
        batch.actions[:, t] = self._split(actions)
        batch.log_probs[:, t] = self._split(log_probs)
        batch.alive[:, t] = self._split(self._flags[0] & self._flags[1])
        batch.active[:, t] = self._split(self._flags[1])
        for index, (room, places) in enumerate(zip(self.rooms, self._places, strict=True)):
            self._actions[index][room.seats] = actions[places]

    def _advance(self, batch: Batch, t: int, index: int) -> None:
        room, places = self.rooms[index], self._places[index]
        lanes = self.lanes // self.parts
        rewards, terminated, truncated, info = room.step(self._actions[index])
        part, lane = places // lanes, places % lanes
        for target, source in (
            (batch.rewards, rewards),
            (batch.terminated, terminated),
            (batch.truncated, truncated),
        ):
            target[part, t, lane] = source.reshape(-1)[room.seats]
        if info["final_rows"] is not None:
            self._keep_last(batch, t, index, info)

    def _keep_last(self, batch: Batch, t: int, index: int, info: dict[str, Any]) -> None:
        """Inputs of matches that were cut off here: their values go on."""
        room, lanes = self.rooms[index], self.lanes // self.parts
        players = room.learned.shape[1]
        lane_of = dict(zip(room.seats.tolist(), self._places[index].tolist(), strict=True))
        rows = len(info["final_rows"])
        last = [info["final"][name].reshape(rows, -1) for name in self.meta.views]
        inputs = np.concatenate(last, axis=1, dtype=np.float32)
        for row, (match, player) in enumerate(info["final_rows"].tolist()):
            place = lane_of.get(match * players + player)
            if place is not None:
                batch.cuts.append((place // lanes, t, place % lanes, inputs[row].copy()))

    def refer(self, batch: Batch, part: int) -> None:
        """What pi_sup would have done, for the KL: the same bits in whichever thread it is."""
        if batch.referred[part]:
            return
        assert self.reference is not None
        inputs = batch.inputs[part, :-1].reshape(-1, self.meta.input_size)
        with torch.inference_mode():
            logits, _ = self.reference(torch.from_numpy(inputs))
        out = batch.reference[part].reshape(-1, self._layout.bins)
        mask = batch.mask[part].reshape(-1, self._layout.bins)
        log_softmax_rows(logits.numpy(), mask, self._layout.sizes, np.empty_like(out), out)
        batch.referred[part] = True
