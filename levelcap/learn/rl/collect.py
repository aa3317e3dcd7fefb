"""The stage of rollouts: T decisions of 1,024 lanes, from where the last unit of them ended.

    found = backend.run(collect, [Rollout(snapshot, config, number) for number in range(units)])
    found = backend.run(collect, [after.unit for after in found])      # goes on

A unit holds all it needs (matches, opponents, memories), so that one whose process was killed is
played again elsewhere, to the same bits. The learner of a run has its actor in a thread of its own
instead: the weights change every batch, and no batch has to be copied.
"""

from __future__ import annotations

from dataclasses import dataclass, field, replace
from functools import lru_cache
from pathlib import Path

from levelcap.kit.seeds import chain
from levelcap.learn.engine.state import State
from levelcap.learn.engine.worlds import spec_of_world
from levelcap.learn.rl.actor import Actor
from levelcap.learn.rl.batch import Batch
from levelcap.learn.rl.config import RlConfig
from levelcap.learn.rl.groups import build_groups
from levelcap.learn.rl.opponents import bot_pool, training_names
from levelcap.nets.checkpoint import load_world_net
from levelcap.nets.meta import Meta
from levelcap.nets.net import Net

LANES = 1024  # of a unit


@dataclass(frozen=True)
class Rollout:
    """One unit of lanes: whose, how, and where they stand."""

    snapshot: Path
    config: RlConfig
    """opponents, self_play and unroll are read; lanes are a unit's"""
    number: int = 0
    """of the unit: its matches are its own"""
    seed: int = 0
    state: State | None = field(default=None, repr=False)
    """None: matches begin"""


@dataclass(frozen=True)
class Collected:
    """What was played, and the unit that goes on from there."""

    batch: Batch
    unit: Rollout


def open_actor(net: Net, meta: Meta, config: RlConfig, names: list[str], seed: int) -> Actor:
    """An actor alone, without a learner, its matches begun; names: of scripted opponents."""
    spec = spec_of_world(meta.world, meta.patch)
    pool = bot_pool(names, config.scheme, config.floor)
    views = (*meta.views, *net.critic_views)
    groups = build_groups(spec, views, config, pool, seed)
    for group in groups:
        group.start()
    minibatches = config.minibatches
    return Actor(net, meta, groups, length=config.unroll, minibatches=minibatches, reference=None)


def collect(unit: Rollout) -> Collected:
    """Play the next `unroll` decisions of a unit."""
    net, meta = _net(unit.snapshot)
    config = replace(unit.config, lanes=min(LANES, unit.config.lanes), teacher="")
    names = training_names(config.opponents, config.cousins, unit.seed)
    actor = open_actor(net, meta, config, names, chain(unit.seed, unit.number))
    # One pool for all groups of an actor; without opponents there is none.
    pool = next((group.pool for group in actor.groups if group.pool is not None), None)
    if unit.state is not None:
        if pool is not None:
            pool.restore(unit.state.values["results"])
        for index, group in enumerate(actor.groups):
            group.restore(unit.state.get(f"room{index}"))
        actor.restore(unit.state.get("actor"))
    batch = actor.gather(0)
    state = State(values={"results": [] if pool is None else pool.results()})
    state.put("actor", actor.state())
    for index, group in enumerate(actor.groups):
        state.put(f"room{index}", group.state())
    return Collected(batch, replace(unit, state=state))


@lru_cache(maxsize=4)
def _net(snapshot: Path) -> tuple[Net, Meta]:
    """Kept: the next unit is of the same net."""
    net, meta, _ = load_world_net(snapshot)
    net.eval()
    return net, meta
