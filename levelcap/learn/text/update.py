"""One update of text training: cross-entropy of the answers' tokens, end marks included.

loss = - mean over all answer tokens of log p(token | prompt, answer so far)
"""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
import torch
from numpy.typing import NDArray
from torch import Tensor
from torch.nn import functional

from levelcap.learn.text.lessons import CURRENT, Lesson
from levelcap.nets.qwen3 import Qwen3Net
from levelcap.nets.text_rows import TextRows, lay_out


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


def backward(net: Qwen3Net, batch: Batch) -> dict[str, float]:
    """Add the gradients of a batch; returns what to log.

    `exact` is the share of current-level lessons answered exactly, before learning from them: it
    costs nothing here and says when an exam is worth its time.
    """
    logits = net(batch.rows, batch.at)
    loss = functional.cross_entropy(logits, batch.wanted)
    loss.backward()
    hits = (logits.detach().argmax(-1) == batch.wanted).numpy()
    right = np.logical_and.reduceat(hits, batch.begins)
    current = right[batch.current] if batch.current.any() else right
    return {
        "loss": float(loss.detach()),
        "token_accuracy": float(hits.mean()),
        "exact": float(current.mean()),
    }
