"""How much memory training a text net takes, before it is tried. No torch here.

weights P b, gradients P b, optimizer 8 P, activations batch * length * b * A, divided by the square
root of the number of layers with activation checkpointing; P parameters of b bytes. A is what
autograd keeps of one token, counted from the net's operations:

    A = layers * (6 hidden + 4 heads * dim + 4 kv_heads * dim + 4 ffn) + 3 hidden + vocab

The usual rule of thumb, 34 hidden, was made for other nets and has no factor for layers: for the
tiny hero it gives less than half of what is measured. The tests hold this one within 15 % of peaks.
"""

from __future__ import annotations

from dataclasses import dataclass
from math import sqrt

from levelcap.kit.errors import BadValue, refuse
from levelcap.nets.text.shape import TextShape

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


def kept_of_a_token(shape: TextShape) -> int:
    """Numbers that autograd keeps of a token whose answer is learned."""
    heads = 4 * shape.head_dim * (shape.heads + shape.kv_heads)
    layer = 6 * shape.hidden + heads + 4 * shape.ffn
    return shape.layers * layer + 3 * shape.hidden + shape.vocab


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
    held = float(batch * length * bytes_each * kept_of_a_token(shape))
    if checkpointing:
        held /= sqrt(shape.layers)
    size = float(shape.parameters)
    return Memory(batch, size * bytes_each, size * bytes_each, 8 * size, held)
