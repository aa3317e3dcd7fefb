"""`imitate`: from shards of recorded play to pi_sup, in a run folder that can be continued."""

from __future__ import annotations

from dataclasses import asdict, dataclass, replace
from pathlib import Path

import torch

from levelcap.kit.errors import BadValue, refuse
from levelcap.kit.seeds import check_seed
from levelcap.lake.labels import Labels, open_labels
from levelcap.lake.read import Shards, open_shards
from levelcap.lake.shard import Shard
from levelcap.learn.engine.folder import RunFolder
from levelcap.learn.engine.loop import Outcome, train
from levelcap.learn.engine.stops import Stops
from levelcap.learn.engine.task import Hooks
from levelcap.learn.engine.worlds import spec_of_world
from levelcap.learn.imitation.config import ImitationConfig
from levelcap.learn.imitation.task import ImitationTask, accuracy
from levelcap.nets.checkpoint import load_world_net
from levelcap.nets.family import DEFAULT, describe, new_net
from levelcap.nets.net import Net
from levelcap.nets.options import read_options
from levelcap.world.players.bot_names import is_sealed


@dataclass(frozen=True)
class Request:
    """What a run of imitation was asked for; saved as its config.json."""

    world: str
    shards: tuple[Path, ...]
    out: Path
    policies: tuple[str, ...] = ()
    size: str = "slim"
    seed: int = 0
    views: tuple[str, ...] = ()
    family: str = DEFAULT
    options: tuple[str, ...] = ()
    labels: tuple[Path, ...] = ()


@dataclass(frozen=True)
class Imitated:
    """The run's outcome and how well the slow weights predict, seen and unseen matches."""

    outcome: Outcome
    training: dict[str, float]
    validation: dict[str, float]


def imitate(
    request: Request, config: ImitationConfig, stops: Stops, hooks: Hooks | None = None
) -> Imitated:
    """Train until one of `stops`; the same request again continues where the last one ended."""
    check_seed(request.seed)
    torch.set_num_threads(1)  # where torch was loaded before us; see levelcap/__init__.py
    shards = _open(request)
    spec = spec_of_world(request.world, shards.patch)
    meta = describe(
        request.family,
        spec,
        request.size,
        views=request.views,
        options=read_options(request.options),
    )
    # Before anything is written: a run that cannot be read from is no run.
    missing = [name for name in meta.views if name not in shards.views]
    if missing:
        remedy = f"Record again with the views {', '.join(meta.views)}"
        raise BadValue(refuse("these shards lack views the net reads", missing, remedy))
    net = new_net(meta, request.seed)
    labels = _labels(request, net)
    config = replace(config, gamma=config.gamma or spec.gamma)
    with RunFolder(request.out) as folder:
        wanted = {
            "kind": "imitate",
            "world": request.world,
            "size": request.size,
            "seed": request.seed,
            "family": request.family,
            "options": list(request.options),
            "policies": list(request.policies),
            "views": list(meta.views),
            "shards": shards.digests,
            **({"labels": [str(place) for place in request.labels]} if request.labels else {}),
            "config": asdict(config),
        }
        folder.claim(wanted)
        meta = replace(meta, parents=tuple(shards.digests))
        task = ImitationTask(net, meta, spec, config, shards, request.seed, labels)
        outcome = train(task, config.engine, stops, folder, hooks)
        # The snapshot as anybody else would load it.
        final, _, _ = load_world_net(outcome.snapshot)
        # Judged as the teacher aims: a steady aim is likelier to be right, and surer when wrong.
        final.load_state_dict(final.steadied(final.state_dict(), 1 / config.steady_aim))
        seen = accuracy(final, meta, spec, task.training, config, labels)
        unseen: dict[str, float] = {}
        if config.validation > 0:
            unseen = accuracy(final, meta, spec, task.validation, config, labels)
        folder.event("judged", training=seen, validation=unseen)
    return Imitated(outcome, seen, unseen)


def _labels(request: Request, net: Net) -> Labels | None:
    """What a coach said of the shards, if anything was asked for."""
    if not request.labels:
        return None
    if not net.num_choices:
        remedy = "Leave --labels out, or give --family hierarchy"
        raise BadValue(refuse("this net learns from no labels", request.family, remedy))
    return open_labels(request.labels, [Shard(place) for place in request.shards])


def _open(request: Request) -> Shards:
    shards = open_shards(request.shards, world=request.world)
    if request.policies:
        shards = shards.filtered(policies=request.policies)
    for name in shards.policies:
        if is_sealed(name):
            remedy = "Imitate other players of these shards with --policies"
            raise BadValue(refuse("a sealed opponent cannot be learned from", name, remedy))
    return shards
