"""How much memory training a text net takes, before it is tried. No torch here.

weights P b, gradients P b, optimizer 8 P, activations batch * length * hidden * b * 34, divided by
the square root of the number of layers with activation checkpointing; P parameters of b bytes.
"""

from __future__ import annotations

from dataclasses import dataclass
from math import sqrt

from levelcap.kit.errors import BadValue, refuse
from levelcap.nets.text_shape import TextShape

GREEN, AMBER = 0.70, 0.90
GIB = 2**30


@dataclass(frozen=True)
class Memory:
    """Bytes of one training process, without what the interpreter itself takes."""

    batch: int
    weights: float
    gradients: float
    optimizer: float
    activations: float

    @property
    def total(self) -> float:
        """All of it."""
        return self.weights + self.gradients + self.optimizer + self.activations

    def colour(self, device_bytes: float) -> str:
        """green up to 70 % of the device, amber up to 90 %, red above."""
        share = self.total / device_bytes
        return "green" if share <= GREEN else "amber" if share <= AMBER else "red"

    def sentence(self) -> str:
        """For a person who chooses a batch size."""
        return f"batch_size={self.batch} uses about {self.total / GIB:.2g} GB"


def training_memory(
    shape: TextShape, batch: int, length: int, *, bytes_each: int = 4, checkpointing: bool = False
) -> Memory:
    """What `batch` texts of `length` tokens take.

    Raises:
        BadValue: a size below 1.
    """
    for name, value in (("batch", batch), ("length", length), ("bytes_each", bytes_each)):
        if value < 1:
            raise BadValue(refuse(f"{name} is at least 1", value, "Give a larger one"))
    held = batch * length * shape.hidden * bytes_each * 34.0
    if checkpointing:
        held /= sqrt(shape.layers)
    size = float(shape.parameters)
    return Memory(batch, size * bytes_each, size * bytes_each, 8 * size, held)
