"""Population-based tuning: main and its siblings learn with settings of their own. No torch.

    explored({"lr": 1.0}, rng, 1.2, 4.0)      # {"lr": 1.2}, or 1 / 1.2

After some of its turns a member meets another, drawn by the season's seed, in games between fixed
weights. Who loses takes over the other's whole checkpoint and its settings (exploit) and changes
each of those by a factor (explore); Jaderberg et al. 2017. Settings are kept as factors of the
season's own, so one that is 0 there stays off.
"""

from __future__ import annotations

from dataclasses import asdict, dataclass, replace
from typing import Any

import numpy as np

from levelcap.learn.rl.config import RlConfig

TUNED = ("lr", "entropy_coef", "kl_coef", "pseudo_reward")
Factors = dict[str, float]


@dataclass(frozen=True)
class Tuning:
    """One comparison, and what came of it."""

    against: str
    sha256: str
    """content of the other at that moment"""
    seed: int
    games: int
    score: float
    """the member's, in a series of so many games with this seed"""
    before: Factors
    copied: Factors | None
    """the other's settings; None: it did as well, nothing was taken over"""
    after: Factors

    def as_json(self) -> dict[str, Any]:
        """Plain values."""
        return asdict(self)


def explored(factors: Factors, rng: np.random.Generator, factor: float, most: float) -> Factors:
    """Every setting a step up or down, never beyond `most` times the season's own nor below it."""
    ups = rng.random(len(TUNED)) < 0.5
    found = {}
    for name, up in zip(TUNED, ups.tolist(), strict=True):
        moved = factors.get(name, 1.0) * (factor if up else 1 / factor)
        found[name] = float(np.clip(moved, 1 / most, most))
    return found


def tuned(config: RlConfig, factors: Factors) -> RlConfig:
    """The season's settings times a member's factors."""
    rate = factors.get("lr", 1.0)
    # Both rates together: their ratio belongs to the optimizers, not to the player.
    old = config.engine
    engine = replace(old, lr=old.lr * rate, hidden_lr=old.hidden_lr * rate)
    changes: dict[str, Any] = {
        name: getattr(config, name) * factors.get(name, 1.0) for name in TUNED if name != "lr"
    }
    return replace(config, engine=engine, **changes)


def told(player: str, row: dict[str, Any]) -> str:
    """The reason of a comparison in one sentence."""
    score = f"scored {row['score']:.2f} of {row['games']} games against {row['against']}"
    if row["copied"] is None:
        return f"{player} {score}: it keeps its weights and settings ({listed(row['after'])})"
    return (
        f"{player} {score}: it took over those weights and settings ({listed(row['copied'])}), "
        f"then changed them to {listed(row['after'])}"
    )


def listed(factors: Factors) -> str:
    """Settings as factors of the season's own."""
    return ", ".join(f"{name} x{factors.get(name, 1.0):.2f}" for name in TUNED)
