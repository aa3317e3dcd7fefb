"""Reinforcement learning as a task of the one loop: actor, learner, opponents, their state."""

from __future__ import annotations

import time
from concurrent.futures import Executor
from dataclasses import replace

import numpy as np
import torch
from torch import Tensor

from levelcap.kit.errors import BadValue, refuse
from levelcap.learn.engine.state import State
from levelcap.learn.rl.actor import Actor
from levelcap.learn.rl.batch import Batch
from levelcap.learn.rl.config import RlConfig
from levelcap.learn.rl.learner import make_learner
from levelcap.learn.rl.match_group import MatchGroup
from levelcap.learn.rl.opponents import Opponent, Pool
from levelcap.learn.rl.replay import Drawn, Replay
from levelcap.learn.rl.scale import RewardScale
from levelcap.nets.checkpoint import weights_of
from levelcap.nets.family import build, copy_net, world_net
from levelcap.nets.meta import Meta
from levelcap.nets.net import Net
from levelcap.play.load import NetPolicy
from levelcap.world.doors.moments import RunningMoments

PAST = "past-"


class RlTask:
    """See `levelcap.learn.engine.task.Task`."""

    helper: Executor | None = None  # the second core plays

    def __init__(
        self,
        net: Net,
        meta: Meta,
        config: RlConfig,
        groups: list[MatchGroup],
        pool: Pool,
        reference: Net | None,
        seed: int = 0,
    ) -> None:
        """seed: of what the replay draws."""
        if config.replay and net.recurrent and config.burn_in >= config.unroll:
            remedy = f"Give less than the {config.unroll} decisions of an unroll"
            raise BadValue(refuse("burn_in leaves nothing to learn", config.burn_in, remedy))
        self.net, self.config, self.groups, self.pool = net, config, groups, pool
        self._own = config.minibatches * config.epochs  # updates from the newest batch
        self.replay = Replay(config.replay, seed)
        self._set_updates()
        self._meta = meta
        # The actor's own copy: the learner changes `net` while the actor plays.
        self._acting = copy_net(net, meta)
        self.actor = Actor(
            self._acting,
            meta,
            groups,
            length=config.unroll,
            minibatches=config.minibatches,
            reference=reference if config.kl_coef > 0 else None,
            keep=config.replay,
        )
        self.learner = make_learner(net, meta, self.actor.layout, config)
        self.moments = RunningMoments(meta.input_size) if config.standardise else None
        lanes = self.actor.lanes // config.minibatches
        scaled = config.standardise
        self.scale = RewardScale(config.minibatches, lanes, config.gamma) if scaled else None
        # Kept as weights: a checkpoint must be able to build the same opponents again.
        self._past_weights: dict[str, dict[str, Tensor]] = {}
        self._next_past = config.past_every_steps
        self._num_bots = len(pool.members)
        self._pseudo = config.pseudo_reward
        # How many minibatches get their reference from the acting half; see `_balance`.
        self._referenced_by_actor = config.minibatches
        self._gather_s, self._learn_s = 0.0, 0.0
        self._fresh = 0  # steps of the batch learned from
        for group in groups:
            group.start()

    def gather(self, version: int) -> Batch:
        """Play one batch with the acting weights (another thread may be learning)."""
        began = time.monotonic()
        batch = self.actor.gather(version)
        count = self.config.minibatches
        for minibatch in range(count - self._referenced_by_actor, count):
            self.actor.add_reference(batch, minibatch)
        # Moments of what was seen by players who took part.
        if self.moments is not None:
            self.moments.update(batch.inputs[:, :-1][batch.active])
        if self.scale is not None:
            self.scale.apply(batch)
        self._gather_s = time.monotonic() - began
        return batch

    def backward(self, batch: Batch, minibatch: int, update: int) -> dict[str, float]:
        """Gradients of one minibatch; while the value warms up nothing but its head gets any."""
        began = time.monotonic()
        warming = update < self.config.value_warmup
        # The first update of a batch: what the policy says now is what `clip` refers to.
        if minibatch == 0:
            self.learner.begin(batch)
            self.replay.drawn.clear()
            self._fresh = batch.steps
        source, part = batch, minibatch % self.config.minibatches  # of an epoch
        replayed = minibatch >= self._own
        if replayed:
            source, part = self.replay.draw(update)
        age = update - source.version
        self.actor.add_reference(source, part)
        if replayed:
            source, part = self.learner.burn_in(source, part)
        metrics = self.learner.backward(source, part, value_only=warming)
        if replayed:
            steps = int(source.active[part].sum())
            self.replay.drawn.append(Drawn(age, steps, metrics["rho"]))
        # Done with: the actor fills another one, until this one has left the replay.
        if minibatch == self.minibatches - 1:
            self.replay.keep(batch)
            self._set_updates()
        if warming:
            for parameter in self.net.shared_parameters():
                parameter.grad = None
        self._learn_s += time.monotonic() - began
        return {**metrics, "lag": float(age)}

    def _set_updates(self) -> None:
        """Updates a batch: the first one has nothing behind it to replay."""
        self.minibatches = self._own + (self.config.replay_updates if self.replay.batches else 0)

    def sync(self, steps: int, done: float) -> None:
        """New weights for the actor, a past self when one is due, less pseudo-reward."""
        self._balance()
        # Gone at half of the run, if all of it goes: the rest learns to win and nothing else.
        if self.config.pseudo_reward > 0:
            left = max(self.config.pseudo_final, 1.0 - 2.0 * done)
            self._set_pseudo(self.config.pseudo_reward * left)
        fallen = (1.0 - self.config.entropy_final) * min(1.0, done)
        self.learner.entropy_coef = self.config.entropy_coef * (1.0 - fallen)
        if self.moments is not None:
            self.net.set_moments(self.moments.mean, self.moments.var)
        # Raw weights, not the slow copy: the lag stays one batch.
        self._acting.load_state_dict(self.net.state_dict())
        if self.pool.members and steps >= self._next_past:
            self._next_past += self.config.past_every_steps
            self.admit(f"{PAST}{steps}", weights_of(self.net))

    def _balance(self) -> None:
        """Let the half that waits do more of the reference's work; the bits stay the same."""
        change = -1 if self._gather_s > self._learn_s else 1
        most = self.config.minibatches
        moved = min(most, max(0, self._referenced_by_actor + change))
        # A reference with a memory must see the batches in order: the acting half does them all.
        self._referenced_by_actor = most if self.net.recurrent else moved
        self._learn_s = 0.0

    def _set_pseudo(self, scale: float) -> None:
        self._pseudo = scale
        for group in self.groups:
            group.world.set_pseudo_reward_scale(scale)

    def admit(self, name: str, weights: dict[str, Tensor]) -> None:
        """Let a past self in; when there are enough, it takes the place of one of them."""
        net = world_net(build(self._meta), self._meta)
        net.load_state_dict(weights)
        net.eval()
        policy = NetPolicy(net, self._meta, name)
        leaves = superfluous(list(self._past_weights), self.config)
        if leaves is not None:
            del self._past_weights[leaves]
            index = [member.name for member in self.pool.members].index(leaves)
            self.pool.members[index] = Opponent(name, policy)
        else:
            index = len(self.pool.members)
            self.pool.add(name, policy)
        self._past_weights[name] = weights
        for group in self.groups:
            if group.pool is not None:
                group.welcome(index, policy)

    def steps(self, batch: Batch) -> int:
        """Decisions of learned seats that took part."""
        return batch.steps

    def is_warm(self, update: int) -> bool:
        """Past the value's warm-up."""
        return update > self.config.value_warmup

    def meta(self, steps: int, metrics: dict[str, float]) -> Meta:
        """The net's description with what it has seen."""
        return replace(self._meta, steps=self._meta.steps + steps, metrics=metrics)

    def published(self, weights: dict[str, Tensor]) -> dict[str, Tensor]:
        """With a steady aim, where that is asked for."""
        return self.net.steadied(weights, self.config.steady_aim)

    def summary(self) -> dict[str, float]:
        """Running scores against the bots, and the chance to meet a past self."""
        shown = {
            f"score_{m.name}": m.rate
            for m in self.pool.members
            if "~" not in m.name and not m.name.startswith(PAST)
        }
        shown["past_selves"] = float(len(self._past_weights))
        again = self.replay.report(self._fresh)
        # Times each step is learned from.
        shown["reuse"] = self.config.epochs + again.pop("replay_reuse", 0.0)
        return shown | again

    def state(self, batch: Batch) -> State:
        """Worlds, opponents, their minds, and the batch that waits to be learned from."""
        state = State()
        state.put("batch", batch.state())
        for index, old in enumerate(self.replay.batches):
            state.put(f"replay{index}", old.state())
        state.put("actor", self.actor.state())
        for index, group in enumerate(self.groups):
            state.put(f"room{index}", group.state())
        for name, weights in self._past_weights.items():
            state.put(name, State({n: t.numpy() for n, t in weights.items()}))
        state.put("acting", State({n: t.numpy() for n, t in self._acting.state_dict().items()}))
        # Oldest first: `superfluous` decides by age.
        state.values["past"] = list(self._past_weights)  # oldest first
        state.values["members"] = [member.name for member in self.pool.members]
        state.values["next_past"] = self._next_past
        state.values["pseudo"] = self._pseudo
        state.values["replay"] = len(self.replay.batches)
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
        for group in self.groups:
            group.opponents.keep_first(self._num_bots if group.pool is not None else 0)
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
        for index, group in enumerate(self.groups):
            group.restore(state.get(f"room{index}"))
        self.actor.restore(state.get("actor"))
        self.replay.batches.clear()
        # Oldest first: where a memory of pi_sup ends is where the newest batch does.
        for index in range(state.values.get("replay", 0)):
            self.replay.keep(self._take_back(state.get(f"replay{index}")))
        self._set_updates()
        return self._take_back(state.get("batch"))

    def _take_back(self, saved: State) -> Batch:
        batch = self.actor.spare()
        batch.restore(saved)
        # The reference is computed again, with the same bits.
        batch.referenced = [self.actor.reference is None] * self.config.minibatches
        for minibatch in range(self.config.minibatches if self.net.recurrent else 0):
            self.actor.add_reference(batch, minibatch)
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
