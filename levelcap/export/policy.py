"""A bundle in a seat of our own worlds: batch and live, as any other policy."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import numpy as np
from numpy.typing import NDArray

from levelcap.export.bundle import Bundle
from levelcap.export.runtime import Hero, load
from levelcap.kit.errors import BadFile, refuse
from levelcap.play.orders import Ordered, aim_odds, passed, standing
from levelcap.world.protocols import Decision, PolicyState, Views, World
from levelcap.world.spec import TICK_HZ, WorldSpec


class BundlePolicy(Ordered):
    """Samples unless `greedy`."""

    def __init__(self, hero: Hero, greedy: bool = False) -> None:
        self.hero, self.greedy = hero, greedy
        self.views = tuple(hero.bundle.views)
        self.decision_ticks, self.tick_hz = hero.bundle.decision_ticks, hero.bundle.tick_hz

    @property
    def content_hash(self) -> str:
        """sha256 of the weights it was made of."""
        return self.hero.bundle.source

    def bind(self, world: World) -> None:
        """Refuse a world it was not made for."""
        check_fits(self.hero.bundle, world.spec)

    def initial_state(self, num_rows: int) -> PolicyState:
        """What it carries from decision to decision; None: nothing."""
        return (self.hero.initial_state(num_rows) | self.order_state(num_rows)) or None

    def act(self, views: Views, state: PolicyState) -> Decision:
        """Bins and values of n rows."""
        assert state is None or isinstance(state, dict)
        trained_s = self.hero.bundle.decision_ticks / TICK_HZ
        out = self.hero.act(
            views,
            state,
            mask=views["mask"],
            reset=views["reset"],
            key=None if self.greedy else views["key"],
            pace=max(1, round(trained_s * self.tick_hz / self.decision_ticks)),
            order=standing(state),
        )
        mind: dict[str, NDArray[Any]] = {}
        if self.shows_mind:
            bundle = self.hero.bundle
            heads = (tuple(bundle.heads.values()), bundle.aim_heads)
            odds = aim_odds(out.logits, views["mask"], out.actions, heads)
            mind = (out.mind or {}) | ({"aim_odds": odds} if bundle.aim_heads else {})
        modes = out.modes
        return Decision(
            out.actions,
            (out.state | passed(state)) or None,
            choices=modes,
            values=out.values,
            intents=None if modes is None else modes.astype(np.int8),
            mind=mind,
        )


def check_fits(bundle: Bundle, spec: WorldSpec) -> None:
    """Refuse a world whose views or heads are not the ones the bundle was made for.

    Raises:
        BadFile: naming what differs.
    """
    wanted = {
        "world version": (bundle.world_version, spec.version),
        "tick rate": (bundle.tick_hz, spec.tick_hz),
        "heads": (bundle.heads, {head.name: head.size for head in spec.heads}),
        "views": (
            bundle.views,
            {name: spec.views[name].shape for name in bundle.views if name in spec.views},
        ),
    }
    for name, (have, need) in wanted.items():
        if have != need:
            remedy = f"This bundle plays {bundle.world}"
            raise BadFile(refuse(f"{name} of {spec.name}: {need}", have, remedy))


def load_bundle(folder: Path, greedy: bool = False) -> BundlePolicy:
    """The policy of a bundle's folder."""
    return BundlePolicy(load(folder), greedy)
