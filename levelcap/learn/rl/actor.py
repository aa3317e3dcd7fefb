"""The acting half of reinforcement learning: many matches, played in batches of T decisions.

Lanes are the seats the learner plays; they stay the same for the whole run. Some matches are the
learner against itself, in the others every non-learned seat is played by an opponent that is drawn
anew for every match. One unroll of the net over one decision decides for all lanes.

A `Batch` is laid out [K, T, n, ...]: K minibatches of n lanes, each used for one update. Two
batches exist and are filled in turn, so one is learned from while the other is gathered; with a
replay there are as many more as it keeps.
"""

from __future__ import annotations

from typing import Any

import numpy as np
import torch
from numpy.typing import NDArray
from torch import Tensor

from levelcap.learn.engine.state import State
from levelcap.learn.maths.fused import HeadLayout, log_softmax_rows
from levelcap.learn.rl.batch import TOLD, Batch, Rows, Truncation
from levelcap.learn.rl.match_group import CLEAR, MatchGroup
from levelcap.nets.meta import Meta
from levelcap.nets.net import Inputs, Net, ViewLayout, choice_log_prob
from levelcap.play.sample import Sampler
from levelcap.world.protocols import Info


class Actor:
    """Plays all groups of matches with one net and fills batches."""

    def __init__(
        self,
        net: Net,
        meta: Meta,
        groups: list[MatchGroup],
        *,
        length: int,
        minibatches: int,
        reference: Net | None,
        keep: int = 0,
    ) -> None:
        """length: decisions a batch; minibatches: updates a batch; reference: pi_sup (KL).

        keep: batches that must stay as they are after they were learned from.
        """
        self.net, self.meta, self.groups, self.reference = net, meta, groups, reference
        self.length, self.minibatches = length, minibatches
        sizes = [len(group.lanes) for group in groups]
        self.lanes = sum(sizes)
        assert self.lanes % minibatches == 0, f"{self.lanes} lanes in {minibatches} minibatches"
        # Lane i sits in minibatch i % K, so that every minibatch meets every kind of match.
        order = np.arange(self.lanes).reshape(-1, minibatches).T.reshape(-1)
        place = np.empty(self.lanes, np.int64)
        place[order] = np.arange(self.lanes)
        ends = np.cumsum([0, *sizes])
        self._places = [place[a:b] for a, b in zip(ends[:-1], ends[1:], strict=True)]
        spec = groups[0].world.spec
        # With what the critic may see: the net's value reads it, its policy does not.
        self.layout = ViewLayout.of(spec, (*meta.views, *net.critic_views))
        self._heads = HeadLayout.of(meta.head_sizes, meta.aim_heads, meta.aim_users)
        self._sampler = Sampler(spec)
        lanes = self.lanes // minibatches
        # A world that shows the learner something else shows pi_sup what is there.
        seen = set.intersection(*(set(group.world.views) for group in groups))
        self._clear = {CLEAR + name for name in meta.views} & seen if reference else set()
        # Two more than are kept: one is learned from while the other is filled.
        self._batches = [
            Batch.empty(
                minibatches,
                length,
                lanes,
                meta,
                self.layout.size,
                reference is not None,
                net.num_choices,
                groups[0].advice is not None,
                bool(self._clear),
            )
            for _ in range(2 + keep)
        ]
        self._turn = 0
        self._inputs = np.zeros((self.lanes, self.layout.size), np.float32)
        self._mask = np.zeros((self.lanes, self._heads.bins), np.uint8)
        self._keys = np.zeros(self.lanes, np.uint64)
        self._flags = np.zeros((3, self.lanes), np.bool_)  # alive, active, reset
        self._taught = np.zeros((self.lanes, len(self._heads.sizes) + TOLD), np.int16)
        # What the net remembers of every lane, and what pi_sup would; lanes in batch order.
        self._state = net.initial_state(self.lanes)
        self._reference_state = self._fresh_reference_state()

    def gather(self, version: int) -> Batch:
        """Play `length` decisions with the net as it is."""
        batch = self.spare()
        batch.truncations.clear()
        batch.results.clear()
        batch.anchors = None
        batch.referenced = [self.reference is None] * self.minibatches
        batch.version = version
        # What the learner unrolls from: the state at the first decision of this batch.
        batch.state0 = self._rows_of(self._state)
        batch.reference_state0 = self._rows_of(self._reference_state)
        for t in range(self.length):
            self._decide(batch, t)
            for index in range(len(self.groups)):
                self._advance(batch, t, index)
        # One more look: the value of where the batch ends.
        self._look(batch, self.length)
        for group in self.groups:
            batch.results += group.take_results()
        return batch

    def spare(self) -> Batch:
        """The batch that is filled next, to put a saved one in."""
        batch = self._batches[self._turn]
        self._turn = (self._turn + 1) % len(self._batches)
        return batch

    def add_reference(self, batch: Batch, minibatch: int) -> None:
        """What pi_sup would have done, for the KL: the same bits in whichever thread it is.

        A reference with a memory goes on where it was at the end of the last batch, so for one the
        batches must come here in order: `gather`'s thread does it, for all minibatches.
        """
        if batch.referenced[minibatch]:
            return
        assert self.reference is not None
        # [n, ...] each
        state0 = {n: torch.from_numpy(a[minibatch]) for n, a in batch.reference_state0.items()}
        looks = batch.inputs if batch.clear is None else batch.clear
        with torch.inference_mode():
            out = self.reference.unroll(
                Inputs(torch.from_numpy(looks[minibatch, :-1]), self.layout),
                state0,
                torch.from_numpy(batch.reset[minibatch, :-1]),
                # What was chosen, so that both say what they would do with the same choice.
                None if batch.choices is None else torch.from_numpy(batch.choices[minibatch]),
            )
        lanes = self.lanes // self.minibatches
        for name, rows in out.state.items():
            self._reference_state[name][minibatch * lanes : (minibatch + 1) * lanes] = rows
        logits = out.logits.reshape(-1, self._heads.bins).numpy()
        log_p = batch.reference[minibatch].reshape(-1, self._heads.bins)
        mask = batch.mask[minibatch].reshape(-1, self._heads.bins)
        log_softmax_rows(logits, mask, self._heads.sizes, np.empty_like(log_p), log_p)
        if batch.reference_choices is not None and out.choice_logits is not None:
            batch.reference_choices[minibatch] = torch.log_softmax(out.choice_logits, -1).numpy()
        batch.referenced[minibatch] = True

    def state(self) -> State:
        """What the net and pi_sup remember of every lane now, after the last batch."""
        state = State()
        state.put("state", State({n: t.numpy() for n, t in self._state.items()}))
        reference = {n: t.numpy() for n, t in self._reference_state.items()}
        state.put("reference", State(reference))
        return state

    def restore(self, state: State) -> None:
        """Take it back."""
        for mine, name in ((self._state, "state"), (self._reference_state, "reference")):
            saved = state.get(name).arrays
            for key in mine:
                mine[key] = torch.from_numpy(np.array(saved[key]))

    def _fresh_reference_state(self) -> dict[str, Tensor]:
        return {} if self.reference is None else self.reference.initial_state(self.lanes)

    def _rows_of(self, state: dict[str, Tensor]) -> Rows:
        """A copy of a state of all lanes, by minibatch [K, n, ...]."""
        return {name: self._split(rows.numpy()).copy() for name, rows in state.items()}

    def _split(self, rows: NDArray[Any]) -> NDArray[Any]:
        return rows.reshape(self.minibatches, -1, *rows.shape[1:])

    def _look(self, batch: Batch, t: int) -> None:
        """Inputs and beginnings of all lanes, into row t."""
        if batch.clear is not None:
            self._pack(self._clear)
            batch.clear[:, t] = self._split(self._inputs)
        self._pack(set())
        for group, places in zip(self.groups, self._places, strict=True):
            if self.net.recurrent:  # a net without a memory has nothing to forget
                self._flags[2, places] = group.views["reset"].reshape(-1)[group.lanes]
        batch.inputs[:, t] = self._split(self._inputs)
        if self.net.recurrent:
            batch.reset[:, t] = self._split(self._flags[2])

    def _pack(self, clear: set[str]) -> None:
        """All views of all lanes side by side; clear: those to be taken as they are."""
        offsets = self.layout.offsets
        for group, places in zip(self.groups, self._places, strict=True):
            for index, name in enumerate(self.layout.names):
                view = group.views[CLEAR + name if CLEAR + name in clear else name]
                flat = view.reshape(group.learned.size, -1)
                self._inputs[places, offsets[index] : offsets[index + 1]] = flat[group.lanes]

    def _decide(self, batch: Batch, t: int) -> None:
        self._look(batch, t)
        for group, places in zip(self.groups, self._places, strict=True):
            size = group.learned.size
            self._mask[places] = group.views["mask"].reshape(size, -1)[group.lanes]
            self._keys[places] = group.views["key"].reshape(-1)[group.lanes]
            self._flags[0, places] = group.views["alive"].reshape(-1)[group.lanes]
            self._flags[1, places] = group.active.reshape(-1)[group.lanes]
        with torch.inference_mode():
            # [1, lanes, D]: an unroll over one decision.
            packed = torch.from_numpy(self._inputs)[None]
            reset = torch.from_numpy(self._flags[2])[None]
            chance = None
            if self.net.num_choices:
                chance = torch.from_numpy(self._sampler.chance(self._keys))[None]
            out = self.net.unroll(Inputs(packed, self.layout, chance), self._state, reset)
        self._state = out.state
        actions, log_probs = self._sampler(out.logits[0].numpy(), self._mask, self._keys)
        if batch.choices is not None:
            assert out.choices is not None
            log_probs += choice_log_prob(out)[0].numpy()
            batch.choices[:, t] = self._split(out.choices[0].numpy())
        batch.mask[:, t] = self._split(self._mask)
        batch.actions[:, t] = self._split(actions)
        if batch.taught is not None:
            for group, places in zip(self.groups, self._places, strict=True):
                self._taught[places] = group.advise()
            batch.taught[:, t] = self._split(self._taught)
        batch.log_probs[:, t] = self._split(log_probs)
        # The dead neither decide nor learn to; who is out for good has no value either.
        batch.alive[:, t] = self._split(self._flags[0] & self._flags[1])
        batch.active[:, t] = self._split(self._flags[1])
        for group, places in zip(self.groups, self._places, strict=True):
            group.actions[group.lanes] = actions[places]

    def _advance(self, batch: Batch, t: int, index: int) -> None:
        group, places = self.groups[index], self._places[index]
        lanes = self.lanes // self.minibatches
        rewards, terminated, truncated, info = group.step()
        minibatch, lane = places // lanes, places % lanes
        for target, source in (
            (batch.rewards, rewards),
            (batch.terminated, terminated),
            (batch.truncated, truncated),
        ):
            target[minibatch, t, lane] = source.reshape(-1)[group.lanes]
        if info["final_rows"] is not None:
            self._keep_last(batch, t, index, info)

    def _keep_last(self, batch: Batch, t: int, index: int, info: Info) -> None:
        """Views and state of matches that were cut off here: their values go on."""
        assert info["final"] is not None and info["final_rows"] is not None
        group, lanes = self.groups[index], self.lanes // self.minibatches
        players = group.learned.shape[1]
        lane_of = dict(zip(group.lanes.tolist(), self._places[index].tolist(), strict=True))
        # [rows, D] of the moment before the restart.
        inputs = self.layout.pack(info["final"])
        for row, (match, player) in enumerate(info["final_rows"].tolist()):
            place = lane_of.get(match * players + player)
            if place is None:
                continue
            # The state after deciding: what the net would have gone on with.
            state = {name: rows[place].numpy().copy() for name, rows in self._state.items()}
            at = (place // lanes, t, place % lanes)
            batch.truncations.append(Truncation(*at, inputs[row].copy(), state))
