"""One update of text training: cross-entropy of the answers' tokens, end marks included.

loss = - mean over all answer tokens of log p(token | prompt, answer so far)

A batch is learned from in two halves side by side, one core each: operations of a small net are too
short to be split over cores themselves. The halves and the order of their sum do not depend on how
many cores there are, so neither do the weights.
"""

from __future__ import annotations

from collections.abc import Sequence
from concurrent.futures import Executor
from dataclasses import dataclass
from typing import NamedTuple

import numpy as np
import torch
from numpy.typing import NDArray
from torch import Tensor
from torch.nn import functional

from levelcap.learn.text.lessons import CURRENT, Lesson
from levelcap.nets.text.qwen3 import Qwen3Net
from levelcap.nets.text.rows import TextRows, lay_out


@dataclass(frozen=True)
class Batch:
    """Lessons laid out for the net."""

    rows: TextRows
    at: Tensor  # int64 [m] places whose next token is learned
    wanted: Tensor  # int64 [m]
    begins: NDArray[np.int64]  # [lessons] first of each lesson's m
    current: NDArray[np.bool_]  # [lessons] is it of the current level?
    num_tokens: int  # read, without pads


def make_batch(lessons: list[Lesson], pad: int) -> Batch:
    """Lay lessons out side by side."""
    rows = lay_out([lesson.prompt + lesson.answer[:-1] for lesson in lessons], pad)
    counts = np.array([len(lesson.answer) for lesson in lessons])
    first = rows.starts + np.array([len(lesson.prompt) for lesson in lessons]) - 1
    at = np.concatenate([np.arange(f, f + c) for f, c in zip(first, counts, strict=True)])
    wanted = np.concatenate([np.asarray(lesson.answer, np.int64) for lesson in lessons])
    return Batch(
        rows=rows,
        at=torch.from_numpy(at),
        wanted=torch.from_numpy(wanted),
        begins=np.cumsum(counts) - counts,
        current=np.array([lesson.source == CURRENT for lesson in lessons]),
        num_tokens=int(rows.lengths.sum()),
    )


def halves(lessons: list[Lesson], pad: int) -> tuple[Batch, ...]:
    """The lessons as two batches of about as many tokens; as one if there is only one."""
    order = sorted(lessons, key=lambda lesson: lesson.length)
    return tuple(make_batch(part, pad) for part in (order[::2], order[1::2]) if part)


class Learned(NamedTuple):
    """What one half gave."""

    gradients: tuple[Tensor, ...]
    loss: float  # its share of the batch's mean
    hits: NDArray[np.bool_]  # [m] is the next token the wanted one?


def learn(net: Qwen3Net, part: Batch, count: int) -> Learned:
    """Gradients of one half of a batch with `count` answer tokens in all."""
    logits = net(part.rows, part.at)
    loss = functional.cross_entropy(logits, part.wanted, reduction="sum") / count
    gradients = torch.autograd.grad(loss, tuple(net.parameters()))
    hits = (logits.detach().argmax(-1) == part.wanted).numpy()
    return Learned(gradients, float(loss.detach()), hits)


def backward(
    net: Qwen3Net, parts: Sequence[Batch], helper: Executor | None = None
) -> dict[str, float]:
    """Add the gradients of a batch; returns what to log.

    `exact` is the share of current-level lessons answered exactly, before learning from them: it
    costs nothing here and says when an exam is worth its time.

    helper: takes all halves but the first; None: one after the other, with the same result.
    """
    count = sum(len(part.wanted) for part in parts)
    ahead = [helper.submit(learn, net, part, count) for part in parts[1:]] if helper else []
    found = [learn(net, part, count) for part in (parts[:1] if helper else parts)]
    found += [future.result() for future in ahead]
    for parameter, *gradients in zip(
        net.parameters(), *(one.gradients for one in found), strict=True
    ):
        for gradient in gradients:
            parameter.grad = gradient if parameter.grad is None else parameter.grad.add_(gradient)
    right = np.concatenate(
        [
            np.logical_and.reduceat(one.hits, part.begins)
            for one, part in zip(found, parts, strict=True)
        ]
    )
    current = np.concatenate([part.current for part in parts])
    hits = np.concatenate([one.hits for one in found])
    return {
        "loss": sum(one.loss for one in found),
        "token_accuracy": float(hits.mean()),
        "exact": float((right[current] if current.any() else right).mean()),
    }
