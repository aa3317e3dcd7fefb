"""Which runtime a checkpoint plays live matches with: torch, or its bundle where that is quicker.

A bundle is looked for under `exports/` by the checkpoint's id, verified as every bundle is,
and both are timed in turns on the same moments of a match. `/act` stays with torch, which knows the
log-probabilities that it answers with.
"""

from __future__ import annotations

from dataclasses import dataclass

from levelcap.export.bundle import bundle_name
from levelcap.export.policy import BundlePolicy
from levelcap.export.runtime import Hero, load
from levelcap.kit.errors import LevelcapError
from levelcap.kit.log import get_logger
from levelcap.kit.paths import folder
from levelcap.play.load import NetPolicy
from levelcap.trials.speed import compare
from levelcap.world.spec import WORLDS

DECISIONS = 200  # of each: some tens of milliseconds
log = get_logger("oracle")


@dataclass(frozen=True)
class Serving:
    """What plays, and why."""

    words: str
    hero: Hero | None = None
    """the bundle; None: torch"""

    def policy(self, greedy: bool = False) -> BundlePolicy | None:
        """A policy of its own; None: torch's is the one."""
        return None if self.hero is None else BundlePolicy(self.hero, greedy)


TORCH = Serving("torch: no bundle under exports/")


def choose(checkpoint: str, net: NetPolicy) -> Serving:
    """The quicker of net and bundle; a bundle that cannot be used is told in the log."""
    place = folder("exports") / bundle_name(checkpoint, "onnx")
    if not place.is_dir() or net.meta.world not in WORLDS:
        return TORCH
    try:
        hero = load(place)
        if hero.bundle.source != net.content_hash:
            return Serving("torch: the bundle is of other weights")
        ratio, low, high = compare(BundlePolicy(hero), net, net.meta.world, DECISIONS)
    except LevelcapError as error:
        log.warning("a bundle is not served", bundle=place.name, reason=str(error))
        return Serving("torch: the bundle was refused, see the log")
    told = f"{ratio:.2f} of torch's time ({low:.2f} to {high:.2f})"
    return (
        Serving(f"onnxruntime: {told}", hero) if high < 1 else Serving(f"torch: onnxruntime {told}")
    )
