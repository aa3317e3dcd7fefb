"""Reinforcement learning as a task of the one loop: actor, learner, opponents, their state."""

from __future__ import annotations

import time
from concurrent.futures import Executor
from dataclasses import replace

import numpy as np
import torch
from torch import Tensor, nn

from levelcap.learn.engine.state import State
from levelcap.learn.rl.actor import Actor, Batch, Room
from levelcap.learn.rl.config import RlConfig
from levelcap.learn.rl.opponents import Opponent, Pool
from levelcap.learn.rl.scale import RewardScale
from levelcap.learn.rl.update import Learner
from levelcap.nets.checkpoint import weights_of
from levelcap.nets.flat import FlatNet
from levelcap.nets.meta import Meta
from levelcap.play.load import NetPolicy
from levelcap.world.moments import RunningMoments

PAST = "past-"
BATCH_FIELDS = ("inputs", "mask", "actions", "log_probs", "rewards", "terminated", "truncated",
                "alive", "active")  # fmt: skip


class RlTask:
    """See `levelcap.learn.engine.task.Task`."""

    helper: Executor | None = None  # the second core plays

    def __init__(
        self,
        net: FlatNet,
        meta: Meta,
        config: RlConfig,
        rooms: list[Room],
        pool: Pool,
        reference: nn.Module | None,
    ) -> None:
        self.net, self.config, self.rooms, self.pool = net, config, rooms, pool
        self.parts = config.parts * config.epochs  # updates a batch
        self._meta = meta
        self._acting = FlatNet(meta)
        self._acting.load_state_dict(net.state_dict())
        self._acting.eval()
        wanted = reference if config.kl_coef > 0 else None
        self.actor = Actor(
            self._acting, meta, rooms, length=config.unroll, parts=config.parts, reference=wanted
        )
        self.learner = Learner(net, meta, config)
        self.moments = RunningMoments(meta.input_size) if config.standardise else None
        lanes = self.actor.lanes // config.parts
        self.scale = RewardScale(config.parts, lanes, config.gamma) if config.standardise else None
        self._past_weights: dict[str, dict[str, Tensor]] = {}
        self._next_past = config.past_every_steps
        self._num_bots = len(pool.members)
        self._pseudo = config.pseudo_reward
        self._referred_by_actor, self._gather_s, self._learn_s = config.parts, 0.0, 0.0
        for room in rooms:
            room.start()

    def gather(self, version: int) -> Batch:
        """Play one batch with the acting weights (another thread may be learning)."""
        began = time.monotonic()
        batch = self.actor.gather(version)
        parts = self.config.parts
        for part in range(parts - self._referred_by_actor, parts):
            self.actor.refer(batch, part)
        if self.moments is not None:
            self.moments.update(batch.inputs[:, :-1][batch.active])
        if self.scale is not None:
            self.scale.apply(batch)
        self._gather_s = time.monotonic() - began
        return batch

    def backward(self, batch: Batch, part: int, update: int) -> dict[str, float]:
        """Gradients of one part; while the value warms up nothing but its head gets any."""
        began = time.monotonic()
        warming = update < self.config.value_warmup
        if part == 0:
            self.learner.begin(batch)
        part %= self.config.parts  # of an epoch
        self.actor.refer(batch, part)
        metrics = self.learner.backward(batch, part, value_only=warming)
        if warming:
            for parameter in self.net.torso.parameters():
                parameter.grad = None
        self._learn_s += time.monotonic() - began
        return {**metrics, "lag": float(update - batch.version)}

    def meet(self, steps: int, done: float) -> None:
        """New weights for the actor, a past self when one is due, less pseudo-reward."""
        self._balance()
        if self.config.pseudo_reward > 0:
            self._set_pseudo(self.config.pseudo_reward * max(0.0, 1.0 - 2.0 * done))
        fallen = (1.0 - self.config.entropy_final) * min(1.0, done)
        self.learner.entropy_coef = self.config.entropy_coef * (1.0 - fallen)
        if self.moments is not None:
            self.net.set_moments(self.moments.mean, self.moments.var)
        self._acting.load_state_dict(self.net.state_dict())
        if self.pool.members and steps >= self._next_past:
            self._next_past += self.config.past_every_steps
            self.admit(f"{PAST}{steps}", weights_of(self.net))

    def _balance(self) -> None:
        """Let the half that waits do more of the reference's work; the bits stay the same."""
        change = -1 if self._gather_s > self._learn_s else 1
        most = self.config.parts
        self._referred_by_actor = min(most, max(0, self._referred_by_actor + change))
        self._learn_s = 0.0

    def _set_pseudo(self, scale: float) -> None:
        self._pseudo = scale
        for room in self.rooms:
            room.world.set_pseudo_reward_scale(scale)

    def admit(self, name: str, weights: dict[str, Tensor]) -> None:
        """Let a past self in; when there are enough, it takes the place of one of them."""
        net = FlatNet(self._meta)
        net.load_state_dict(weights)
        net.eval()
        policy = NetPolicy(net, self._meta, name)
        leaves = superfluous(list(self._past_weights), self.config)
        if leaves is not None:
            del self._past_weights[leaves]
            index = [member.name for member in self.pool.members].index(leaves)
            self.pool.members[index] = Opponent(name, policy)
        else:
            self.pool.add(name, policy)
        self._past_weights[name] = weights
        for room in self.rooms:
            if room.pool is not None:
                policy.bind(room.world)
                if leaves is None:
                    room.welcome(len(self.pool.members) - 1)
                    room.sort_seats()

    def steps(self, batch: Batch) -> int:
        """Decisions of learned seats that took part."""
        return batch.steps

    def warm(self, update: int) -> bool:
        """Past the value's warm-up."""
        return update > self.config.value_warmup

    def meta(self, steps: int, metrics: dict[str, float]) -> Meta:
        """The net's description with what it has seen."""
        return replace(self._meta, steps=self._meta.steps + steps, metrics=metrics)

    def summary(self) -> dict[str, float]:
        """Running scores against the bots, and the chance to meet a past self."""
        shown = {f"score_{m.name}": m.rate for m in self.pool.members if "~" not in m.name
                 and not m.name.startswith(PAST)}  # fmt: skip
        shown["past_selves"] = float(len(self._past_weights))
        shown["reuse"] = float(self.config.epochs)  # times each step is learned from
        return shown

    def state(self, batch: Batch) -> State:
        """Worlds, opponents, their minds, and the batch that waits to be learned from."""
        state = State()
        state.put("batch", _batch_state(batch))
        for index, room in enumerate(self.rooms):
            state.put(f"room{index}", room.state())
        for name, weights in self._past_weights.items():
            state.put(name, State({n: t.numpy() for n, t in weights.items()}))
        state.put("acting", State({n: t.numpy() for n, t in self._acting.state_dict().items()}))
        state.values["past"] = list(self._past_weights)  # oldest first
        state.values["members"] = [member.name for member in self.pool.members]
        state.values["next_past"] = self._next_past
        state.values["pseudo"] = self._pseudo
        state.values["entropy"] = self.learner.entropy_coef
        state.values["results"] = self.pool.results()
        if self.moments is not None:
            state.values["moments"] = self.moments.to_dict()
        if self.scale is not None:
            state.arrays["returns"] = self.scale.returns
            state.values["scale"] = self.scale.moments.to_dict()
        return state

    def restore(self, state: State) -> Batch:
        """Take all of it back; returns the batch that waits."""
        del self.pool.members[self._num_bots :]
        self._past_weights.clear()
        for room in self.rooms:
            del room.minds[self._num_bots if room.pool is not None else 0 :]
        for name in state.values["members"][self._num_bots :]:
            weights = state.get(name).arrays
            self.admit(name, {n: torch.from_numpy(np.array(a)) for n, a in weights.items()})
        self._past_weights = {n: self._past_weights[n] for n in state.values["past"]}
        self.pool.restore(state.values["results"])
        self._next_past = state.values["next_past"]
        if self.config.pseudo_reward > 0:
            self._set_pseudo(state.values["pseudo"])
        self.learner.entropy_coef = state.values["entropy"]
        if self.moments is not None:
            self.moments = RunningMoments.from_dict(state.values["moments"])
        if self.scale is not None:
            self.scale.returns = np.array(state.arrays["returns"])
            self.scale.moments = RunningMoments.from_dict(state.values["scale"])
        acting = state.get("acting").arrays
        self._acting.load_state_dict({n: torch.from_numpy(np.array(a)) for n, a in acting.items()})
        for index, room in enumerate(self.rooms):
            room.restore(state.get(f"room{index}"))
        batch = _restore_batch(self.actor.spare(), state.get("batch"))
        # The reference is computed again, with the same bits.
        batch.referred = [self.actor.reference is None] * self.config.parts
        return batch


def superfluous(names: list[str], config: RlConfig) -> str | None:
    """Of the past selves (oldest first), the one that leaves for a new one; None: there is room.

    The newest stay. Of the older ones goes the oldest whose number has the fewest factors of two,
    which leaves the rest about evenly spread over the run.
    """
    if len(names) < config.past_newest + config.past_spread:
        return None

    def worth(name: str) -> int:
        number = max(1, int(name.removeprefix(PAST)) // config.past_every_steps)
        return number & -number

    return min(names[: len(names) - config.past_newest + 1], key=worth)


def _batch_state(batch: Batch) -> State:
    state = State({name: getattr(batch, name) for name in BATCH_FIELDS})
    state.values["version"] = batch.version
    state.values["cuts"] = [list(cut[:3]) for cut in batch.cuts]
    if batch.cuts:
        state.arrays["cut_inputs"] = np.stack([cut[3] for cut in batch.cuts])
    return state


def _restore_batch(batch: Batch, state: State) -> Batch:
    for name in BATCH_FIELDS:
        getattr(batch, name)[...] = state.arrays[name]
    batch.version = state.values["version"]
    batch.cuts[:] = [
        (part, t, lane, state.arrays["cut_inputs"][index])
        for index, (part, t, lane) in enumerate(state.values["cuts"])
    ]
    return batch
