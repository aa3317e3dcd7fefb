"""`reinforce`: from pi_sup (or from nothing) to pi_rl, in a run folder that can be continued."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import asdict, dataclass, replace
from pathlib import Path
from typing import Any

import torch

from levelcap.kit.errors import BadValue, refuse
from levelcap.kit.seeds import chain, check_seed
from levelcap.learn.engine.folder import RunFolder
from levelcap.learn.engine.loop import Outcome, train
from levelcap.learn.engine.stops import Stops
from levelcap.learn.engine.task import Hooks
from levelcap.learn.engine.worlds import spec_of_world
from levelcap.learn.rl.config import RlConfig
from levelcap.learn.rl.groups import build_groups
from levelcap.learn.rl.match_group import MatchGroup
from levelcap.learn.rl.opponents import bot_pool, training_names
from levelcap.learn.rl.task import RlTask
from levelcap.nets.checkpoint import load_world_net
from levelcap.nets.family import DEFAULT, copy_net, describe, new_net
from levelcap.nets.meta import Meta, check_fits
from levelcap.nets.net import Net
from levelcap.nets.options import check_options, read_options
from levelcap.world.spec import WorldSpec

Prepare = Callable[[list[MatchGroup], Meta], None]
CRITIC = "critic"  # the option, and the module it chooses


@dataclass(frozen=True)
class Request:
    """What a run of reinforcement learning was asked for; saved as its config.json."""

    world: str
    out: Path
    start: Path | None = None
    size: str = "slim"
    seed: int = 0
    patch: str = "1.0"
    views: tuple[str, ...] = ()
    family: str = DEFAULT
    options: tuple[str, ...] = ()


def reinforce(
    request: Request, config: RlConfig, stops: Stops, hooks: Hooks | None = None
) -> Outcome:
    """Train until one of `stops`; the same request again continues where the last one ended."""
    check_seed(request.seed)
    torch.set_num_threads(1)  # where torch was loaded before us; see levelcap/__init__.py
    with RunFolder(request.out) as folder:
        wanted: dict[str, Any] = asdict(request) | {"out": None, "kind": "reinforce"}
        wanted["start"] = None if request.start is None else str(request.start)
        # Built first: what is refused here must not become the run's configuration.
        task = build(request, config)
        folder.claim({**wanted, "config": asdict(config)})
        return train(task, config.engine, stops, folder, hooks)


def build(request: Request, config: RlConfig, prepare: Prepare | None = None) -> RlTask:
    """Net, worlds and opponents of a run; prepare: may change the groups before they begin."""
    spec = spec_of_world(request.world, request.patch)
    net, meta = _start(request, config, spec)
    # Without dropout: what is learned from must be what acted.
    net.eval()
    reference = None
    # pi_sup stays as it was; the learner moves away from this copy.
    if request.start is not None:
        reference = copy_net(net, meta)
    # Never anybody of the sealed panel: `bot_pool` refuses those names.
    names = training_names(config.opponents, config.cousins, request.seed)
    pool = bot_pool(names, config.scheme, config.floor)
    views = (*meta.views, *net.critic_views)
    if config.drill and not config.teacher:
        remedy = "Name a teacher, or leave drill out"
        raise BadValue(refuse("a drill is what a teacher shows", config.drill, remedy))
    if not net.goal_size:
        config = replace(config, drill=0.0)  # nobody there to tell
    groups = build_groups(spec, views, config, pool, chain(request.seed, 3))
    if prepare is not None:
        prepare(groups, meta)
    config = replace(config, gamma=config.gamma or spec.gamma)
    return RlTask(net, meta, config, groups, pool, reference, chain(request.seed, 4))


def _start(request: Request, config: RlConfig, spec: WorldSpec) -> tuple[Net, Meta]:
    if request.start is None:
        options = read_options(request.options)
        standardise = config.standardise
        meta = describe(request.family, spec, request.size, standardise, request.views, options)
        return new_net(meta, request.seed), meta
    net, meta, digest = load_world_net(request.start)
    check_fits(meta, spec)
    if request.options:
        net, meta = _with_other_critic(net, meta, request)
    return net, replace(meta, parents=(digest,), metrics={})


def _with_other_critic(net: Net, meta: Meta, request: Request) -> tuple[Net, Meta]:
    """The same policy with another value, which begins anew: `value_warmup` is there for it."""
    options = read_options(request.options)
    check_options(meta.architecture, options)
    if set(options) != {CRITIC}:
        remedy = f"Of a trained net only {CRITIC} can be chosen; leave --from out for the rest"
        raise BadValue(refuse("a trained net keeps its parts", request.options, remedy))
    meta = replace(meta, shape=meta.shape | options)
    fresh = new_net(meta, request.seed)
    trained = {n: t for n, t in net.state_dict().items() if not n.startswith(f"{CRITIC}.")}
    fresh.load_state_dict(fresh.state_dict() | trained)
    return fresh, meta
