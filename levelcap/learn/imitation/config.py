"""Configuration of imitation."""

from __future__ import annotations

from dataclasses import dataclass, field

from levelcap.learn.engine.config import EngineConfig, check_number


@dataclass(frozen=True)
class ImitationConfig:
    """One line of help under each field."""

    batch_size: int = 2048
    """rows an update"""
    minibatches: int = 8
    """updates between two looks at the clock and the stop file"""
    segment: int = 32
    """nets with a memory: decisions learned in one stretch"""
    burn_in: int = 16
    """nets with a memory: decisions before a stretch that only warm the memory up"""
    history: int = 60
    """nets with layers: seconds before a stretch that the Strategist hears of"""
    mode_coef: float = 0.5
    """nets with layers: weight of the teacher's intent"""
    mode_smoothing: float = 0.1
    """nets with layers: label smoothing of the intent"""
    mode_evenness: float = 0.0
    """nets with layers: an intent counts by its frequency to minus this; 1 = all of them alike"""
    target_coef: float = 0.3
    """nets with layers: weight of the object aimed at"""
    confidence_coef: float = 0.1
    """nets with layers: weight of knowing whether the mode is right"""
    approach_coef: float = 0.1
    """nets with layers: weight of foretelling the next second's movement and fire"""
    consistency_coef: float = 0.01
    """nets with layers: charge for a goal that changes while the mode stays"""
    mouse_coef: float = 0.3
    """nets with a mouse: weight of its cursor, click and hotkey"""
    steady_aim: float = 1.0
    """snapshots aim this many times as narrowly as the teacher, whose error is no skill"""
    smoothing: float = 0.0
    """label smoothing over the allowed bins"""
    value_coef: float = 0.5
    """weight of the value's loss: the discounted outcome is learned beside the actions"""
    gamma: float = 0.0
    """discount of the outcome; 0 = the world's own"""
    validation: float = 0.05
    """share of the matches kept for validation"""
    window_mb: float = 128.0
    """memory for shuffling"""
    engine: EngineConfig = field(
        default_factory=lambda: EngineConfig(lr=2e-3, ema=0.99, snapshot_s=3600.0)
    )
    """the loop's own settings"""

    def __post_init__(self) -> None:
        for name in ("batch_size", "minibatches", "segment"):
            check_number(name, getattr(self, name), low=1.0)
        for name in ("smoothing", "mode_smoothing", "mode_evenness", "gamma"):
            check_number(name, getattr(self, name), low=0.0, high=1.0)
        check_number("steady_aim", self.steady_aim, low=1.0, high=1000.0)
        check_number("validation", self.validation, low=0.0, high=0.5)
        for name in ("burn_in", "history", "mode_coef", "target_coef", "confidence_coef"):
            check_number(name, getattr(self, name), low=0.0)
        for name in ("approach_coef", "consistency_coef", "mouse_coef"):
            check_number(name, getattr(self, name), low=0.0)
        check_number("value_coef", self.value_coef, low=0.0)
        check_number("window_mb", self.window_mb, low=1.0)


def for_family(family: str) -> ImitationConfig:
    """The defaults of nets of this family."""
    if family != "hierarchy":
        return ImitationConfig()
    # A layer that goes step by step costs as much for 50 rows as for 70: with long stretches of
    # many rows (and fewer minutes to recall) it learns 22,000 decisions a second, not 11,000.
    return ImitationConfig(batch_size=8192, segment=120, minibatches=2)
