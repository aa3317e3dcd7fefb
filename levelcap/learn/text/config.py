"""Knobs of text training."""

from __future__ import annotations

from dataclasses import dataclass, field

from levelcap.guild.progress import UPDATES_APART
from levelcap.learn.engine.config import EngineConfig, check_number


@dataclass(frozen=True)
class TextConfig:
    """One line of help under each field."""

    batch: int = 32
    """problems an update"""
    review: float = 0.25
    """share of the problems that come from the levels before"""
    review_levels: int = 4
    """how many levels back"""
    as_examined: bool = True
    """forms in the proportions of an exam (each at least 8 of 96), not of the level's mix"""
    school: float = 0.1
    """share of school problems (primitives and passives)"""
    file_share: float = 0.5
    """share of the problems that come from lesson files, when some were given"""
    exam_every: int = 25
    """fewest updates between two exams"""
    exam_rarely: int = 200
    """updates between exams while the lessons themselves go badly"""
    exam_hope: float = 0.7
    """running share of lessons answered exactly from which exams come often"""
    longest: int = 1024
    """tokens of prompt and answer; longer lessons are left out and counted"""
    engine: EngineConfig = field(
        default_factory=lambda: EngineConfig(
            optimizer="muon",
            lr=1.5e-3,
            hidden_lr=0.01,
            ema=0.95,
            schedule="constant",
            warmup_updates=20,
            snapshot_s=60.0,
            beta2=0.95,
            eps=1e-8,
        )
    )
    """knobs of the loop"""

    def __post_init__(self) -> None:
        for name in ("batch", "review_levels"):
            check_number(name, getattr(self, name), low=1.0)
        for name in ("exam_every", "exam_rarely"):
            check_number(name, getattr(self, name), low=UPDATES_APART)
        for name in ("review", "school", "file_share", "exam_hope"):
            check_number(name, getattr(self, name), low=0.0, high=1.0)
        check_number("longest", self.longest, low=8.0)
