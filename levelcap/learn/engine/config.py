"""Knobs of the one training loop. A trainer's own configuration holds one of these."""

from __future__ import annotations

from dataclasses import dataclass
from math import isfinite

from levelcap.kit.errors import BadValue, refuse, unknown_name

# Here and not beside their code: a recipe is checked where there is no torch.
OPTIMIZERS = ("adamw", "muon")
SCHEDULES = ("cosine", "constant")


@dataclass(frozen=True)
class EngineConfig:
    """How weights change and what is kept; one line of help under each field."""

    optimizer: str = "adamw"
    """adamw, or muon for the matrices inside the net"""
    lr: float = 1e-3
    """peak learning rate of AdamW"""
    hidden_lr: float = 0.02
    """peak learning rate of Muon"""
    beta1: float = 0.9
    """decay of AdamW's mean"""
    beta2: float = 0.99
    """decay of AdamW's square"""
    eps: float = 1e-6
    """added to AdamW's spread"""
    weight_decay: float = 0.0
    """share of a weight that is lost per step, times the learning rate"""
    schedule: str = "cosine"
    """cosine or constant"""
    warmup_updates: int = 20
    """updates until the rate is at its peak"""
    final_lr_share: float = 0.01
    """share of the peak rate at the end"""
    clip_norm: float = 1.0
    """longest gradient"""
    ema: float = 0.99
    """decay of the slow copy that is judged and kept; 0 = off; never over a twentieth of the run"""
    checkpoint_s: float = 60.0
    """seconds between checkpoints"""
    snapshot_s: float = 60.0
    """training seconds between snapshots"""
    keep_checkpoints: int = 2
    """newest checkpoints that stay"""
    bad_updates: int = 5
    """non-finite updates in a row after which the last good checkpoint is taken back"""

    def __post_init__(self) -> None:
        if self.optimizer not in OPTIMIZERS:
            raise unknown_name("optimizer", self.optimizer, OPTIMIZERS)
        if self.schedule not in SCHEDULES:
            raise unknown_name("schedule", self.schedule, SCHEDULES)
        for name in ("lr", "hidden_lr", "eps", "clip_norm", "checkpoint_s", "snapshot_s"):
            check_number(name, getattr(self, name), low=0.0, open_low=True)
        for name in ("beta1", "beta2", "ema"):
            check_number(name, getattr(self, name), low=0.0, high=1.0)
        for name in ("weight_decay", "final_lr_share", "warmup_updates"):
            check_number(name, getattr(self, name), low=0.0)
        for name in ("keep_checkpoints", "bad_updates"):
            check_number(name, getattr(self, name), low=1.0)


def check_number(
    name: str, value: float, *, low: float, high: float | None = None, open_low: bool = False
) -> None:
    """Refuse a setting outside its range, naming the range."""
    wrong = not isfinite(value) or value < low or (open_low and value == low)
    if wrong or (high is not None and value > high):
        least = f"above {low:g}" if open_low else f"from {low:g}"
        most = "" if high is None else f" up to {high:g}"
        raise BadValue(refuse(f"{name} is out of range", value, f"Give a number {least}{most}"))
