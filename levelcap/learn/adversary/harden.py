"""`harden`: reinforcement learning under attack, of a hero that is strong when undisturbed.

The same loop, net and opponents as `learn.rl.run`; only the world differs. The hero as it began is
what the policy is held to (KL), and it sees what is there while the learner sees what it is shown:
what it did with a spoiled view is no measure. What stronger pulls (`kl_coef`) came to:
benchmarks/log/2026-11-18-league-more.txt.
"""

from __future__ import annotations

from dataclasses import asdict, replace
from typing import Any

import torch

from levelcap.kit.errors import BadValue, refuse
from levelcap.kit.seeds import check_seed
from levelcap.learn.adversary.world import AttackedWorld
from levelcap.learn.engine.folder import RunFolder
from levelcap.learn.engine.loop import Outcome, train
from levelcap.learn.engine.stops import Stops
from levelcap.learn.engine.task import Hooks
from levelcap.learn.rl.config import RlConfig
from levelcap.learn.rl.match_group import MatchGroup
from levelcap.learn.rl.run import Request, build
from levelcap.nets.meta import Meta
from levelcap.world.spec import WORLDS


def harden(
    request: Request, config: RlConfig, stops: Stops, hooks: Hooks | None = None
) -> tuple[Outcome, dict[str, float]]:
    """Train under attack until one of `stops`; also the levels that were reached.

    The same request again continues where the last one ended.
    """
    check_seed(request.seed)
    if request.start is None or request.world not in WORLDS:
        remedy = "Give a checkpoint of one of our rulesets"
        raise BadValue(refuse("only a hero can be hardened", request.world, remedy))
    torch.set_num_threads(1)
    # Without matches against itself: both sides attacked, nobody can tell who copes.
    config = replace(config, self_play=0.0)
    with RunFolder(request.out) as folder:
        wanted: dict[str, Any] = asdict(request) | {"out": None, "kind": "harden"}
        worlds: list[AttackedWorld] = []

        def prepare(groups: list[MatchGroup], meta: Meta) -> None:
            worlds.extend(attack(groups, meta.views))

        task = build(request, config, prepare)
        folder.claim({**wanted, "start": str(request.start), "config": asdict(config)})
        outcome = train(task, config.engine, stops, folder, hooks)
    return outcome, worlds[0].levels


def attack(groups: list[MatchGroup], views: tuple[str, ...]) -> list[AttackedWorld]:
    """Put worlds that attack in the place of a run's own, before its first decision."""
    worlds = []
    for group in groups:
        # The critic's own views stay clean: it judges what is, not what is shown.
        group.world = world = AttackedWorld(group.world, group.learned, views)
        worlds.append(world)
    return worlds
