"""Cloning of a hierarchy: each layer learns its own part of what the teacher did.

Shapes: T decisions, B segments, S object slots, K modes.

    Strategist  the teacher's intent at every look, label-smoothed, from the minute before it
    Tactician   the object the teacher aimed at, and how it moved and fired in the next second
    Executor    the actions, given the teacher's own intent as the mode (teacher forcing), and
                what a mouse can say of them, if it has one

The Executor's loss also reaches the other two, through the goal and the target information: that is
what makes those channels mean something. A goal that changes from one look to the next although the
mode did not is charged for it (temporal consistency).
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass, replace
from typing import Any

import numpy as np
import torch
from torch import Tensor
from torch.nn import functional

from levelcap.coach.rules import aimed_at
from levelcap.lake.read import Shards
from levelcap.lake.segments import SegmentBatch
from levelcap.learn.imitation.mouse import MouseReport, half_turns, mouse_loss
from levelcap.learn.imitation.segments import SegmentCloner, Stretch
from levelcap.learn.maths import losses
from levelcap.nets.net import Inputs, Unrolled
from levelcap.world.actions import CENTRE
from levelcap.world.rules.columns import HEAD
from levelcap.world.spec import INTENTS

AHEAD = 10  # decisions of a second: the approach foretells the next one


@dataclass(frozen=True)
class LayeredStretch(Stretch):
    """A stretch with what the teacher wanted."""

    intents: Tensor  # int64 [T, B], -1 unknown
    targets_at: Tensor  # int64 [T, B] slot aimed at, -1 none or unknown
    approach: Tensor  # [T, B, 4] of the next second
    history: Tensor  # [S, B, ...] summaries, one a second, oldest first
    history_valid: Tensor  # bool [S, B]


class LayeredCloner(SegmentCloner):
    """See `Cloner`."""

    def stream(self, shards: Shards, seed: int, first: int) -> Iterator[SegmentBatch]:
        """Stretches with the minute before them."""
        config = self.config
        # Whole seconds: a stretch begins where the Strategist looks, and so does its history.
        length, burn_in = (-(-n // AHEAD) * AHEAD for n in (config.segment, config.burn_in))
        return shards.segments(
            max(1, config.batch_size // length),
            seed,
            first,
            length=length,
            burn_in=burn_in,
            history=config.history,
            history_views=("summary",),
            views=self.meta.views,
            labels=self.labels,
            window_mb=config.window_mb,
        )

    def prepare(self, batch: SegmentBatch) -> LayeredStretch:
        """Tensors of a batch of the lake, and the labels that follow from it."""
        plain = super().prepare(batch)
        actions = batch.actions.astype(np.int64)
        offsets = (actions - CENTRE) / CENTRE
        used = (batch.actions[..., list(self.meta.aim_users)] != 0).any(-1)
        aimed = aimed_at(batch.views["objects"], offsets[..., [HEAD.aim_x, HEAD.aim_y]], used)
        # What the teacher did with stick and trigger.
        moves = offsets[..., [HEAD.move_x, HEAD.move_y]]
        rows = np.concatenate(
            (moves, np.abs(moves).max(-1, keepdims=True), actions[..., [HEAD.fire]]), -1
        )
        assert batch.history_valid is not None
        return LayeredStretch(
            **{name: getattr(plain, name) for name in Stretch.__dataclass_fields__},
            # What a coach said, where one spoke; else what the teacher stated itself.
            intents=torch.from_numpy(batch.labels.get("intent", batch.intents).astype(np.int64)),
            targets_at=torch.from_numpy(aimed),
            approach=torch.from_numpy(_ahead(rows.astype(np.float32))),
            history=torch.from_numpy(np.ascontiguousarray(batch.history["summary"])),
            history_valid=torch.from_numpy(batch.history_valid.copy()),
        )

    def extra_loss(self, stretch: Stretch, out: Unrolled) -> tuple[Tensor, dict[str, float]]:
        """What the upper layers learn besides the actions."""
        assert isinstance(stretch, LayeredStretch)
        assert out.choice_logits is not None and out.choice_due is not None
        after = slice(stretch.burn_in, None)
        learned, alive = stretch.learned[after], stretch.alive[after]
        intents, aimed = stretch.intents[after], stretch.targets_at[after]
        config = self.config
        looked = out.choice_due & (intents >= 0) & (alive > 0)
        right = (out.choice_logits.argmax(-1) == intents).float()
        here = (aimed >= 0) & (alive > 0)
        approach = (out.mind["approach"] - stretch.approach[after]).square().mean(-1)
        parts = {
            "approach": (config.approach_coef, losses.masked_mean(approach, learned)),
            "steady": (config.consistency_coef, self._consistency(out)),
        }
        # A batch may hold no look or no shot, and the mean of nothing is no number.
        if bool(looked.any()):
            mode = functional.cross_entropy(
                out.choice_logits[looked],
                intents[looked],
                weight=evened(intents[looked], config.mode_evenness),
                label_smoothing=config.mode_smoothing,
            )
            sure = functional.binary_cross_entropy(out.mind["confidence"][looked], right[looked])
            parts |= {"mode": (config.mode_coef, mode), "sure": (config.confidence_coef, sure)}
        if bool(here.any()):
            target = functional.cross_entropy(out.mind["target_scores"][here], aimed[here])
            parts["target"] = (config.target_coef, target)
        if out.mouse is not None:
            mouse = mouse_loss(out.mouse, stretch.actions[after], stretch.mask[after], alive)
            parts["mouse"] = (config.mouse_coef, mouse)
        loss = torch.stack([weight * one for weight, one in parts.values()]).sum()
        logged = {f"{name}_loss": float(one.detach()) for name, (_, one) in parts.items()}
        logged["mode_accuracy"] = float(losses.masked_mean(right, looked.float()))
        return loss, logged

    def layers(self, batches: Sequence[Any]) -> dict[str, float]:
        """Accuracy of modes, targets, aim and mouse, and how sure the Strategist is."""
        modes = np.zeros((len(INTENTS), len(INTENTS)))
        looks: list[tuple[np.ndarray, np.ndarray]] = []
        hits = shots = error = sure = 0.0
        mouse = MouseReport()
        for stretch in batches:
            with torch.no_grad():
                out = self._unroll(stretch)
            assert out.choice_logits is not None and out.choice_due is not None
            after = slice(stretch.burn_in, None)
            alive = stretch.alive[after] > 0
            intents, aimed = stretch.intents[after], stretch.targets_at[after]
            looked = out.choice_due & (intents >= 0) & alive
            mode = out.choice_logits.argmax(-1)
            np.add.at(modes, (intents[looked].numpy(), mode[looked].numpy()), 1)
            looks.append((intents[looked].numpy(), out.choice_logits[looked].numpy()))
            here = (aimed >= 0) & alive
            hits += float((out.mind["target"][here] == aimed[here]).sum())
            shots += float(here.sum())
            error += self._aim_error(stretch, out, here)
            sure += float(out.mind["confidence"][looked].sum())
            if out.mouse is not None:
                mouse.add(out.mouse, stretch.actions[after], stretch.mask[after], alive)
        found = _mode_report(modes)
        intents, logits = (np.concatenate(rows) for rows in zip(*looks, strict=True))
        found["mode_even"] = balanced(
            intents, logits, self.config.mode_smoothing, self.config.mode_evenness
        )
        found["target_accuracy"] = hits / max(shots, 1)
        found["aim_error"] = error / max(shots, 1)
        found["confidence"] = sure / max(modes.sum(), 1)
        return found | (mouse.shares() if self.net.has_mouse else {})

    def _aim_error(self, stretch: LayeredStretch, out: Unrolled, here: Tensor) -> float:
        """Sum over shots of the angle between the likeliest aim and the teacher's, in half turns.

        Directions, not cursors: a shot flies on behind the cursor, and the scripted teachers put
        theirs at whatever distance has a bin in the right direction.
        """
        first = sum(self.meta.head_sizes[: self.meta.aim_heads[0]])
        size = self.meta.head_sizes[self.meta.aim_heads[0]]
        mine = torch.stack(
            [out.logits[..., first + i * size :][..., :size].argmax(-1) for i in (0, 1)], -1
        )
        actions = stretch.actions[stretch.burn_in :].long()
        taught = actions[..., [HEAD.aim_x, HEAD.aim_y]]
        return float(half_turns(mine[here], taught[here]).sum())

    def _consistency(self, out: Unrolled) -> Tensor:
        """Squared change of the goal where the mode stayed, a look to the next."""
        assert out.choices is not None and out.choice_due is not None
        goal = out.mind["goal"]
        same = out.choice_due[1:] & (out.choices[1:] == out.choices[:-1])
        change = (goal[1:] - goal[:-1]).square().mean(-1)
        return losses.masked_mean(change, same.float())

    def _unroll(self, stretch: Stretch) -> Unrolled:
        """The minute before, burn-in, and the decisions to learn from, of which it gives these."""
        assert isinstance(stretch, LayeredStretch)
        state = self.net.recall(
            self.net.initial_state(stretch.inputs.shape[1]), stretch.history, stretch.history_valid
        )
        # Where the teacher's intent is not known the first mode stands in; it is seldom.
        forced = stretch.intents.clamp(min=0)
        # One pass: the gradient must reach the minute before, through the burn-in.
        out = self.net.unroll(Inputs(stretch.inputs, self.layout), state, stretch.reset, forced)
        return _late(out, stretch.burn_in)


def evened(intents: Tensor, evenness: float) -> Tensor:
    """What a look counts, by its intent [K]: the intent's frequency here to minus `evenness`."""
    count = torch.bincount(intents, minlength=len(INTENTS)).clamp(min=1)
    return (len(intents) / count) ** evenness


def balanced(
    intents: np.ndarray, logits: np.ndarray, smoothing: float, evenness: float = 0.0
) -> float:
    """Mean over the intents of the share recognised, if all were equally frequent.

    intents [n], logits [n, K]. A calibrated Strategist seldom says LOOT because it is seldom true:
    each probability is divided by the intent's frequency, so that the evidence alone speaks; of one
    that learned with evenness, by what is left of it. What label smoothing adds to every class is
    taken away first.
    """
    classes = logits.shape[1]
    p = np.exp(logits - logits.max(1, keepdims=True))
    p /= p.sum(1, keepdims=True)
    p = np.maximum((p - smoothing / classes) / (1 - smoothing), 1e-4)
    count = np.bincount(intents, minlength=classes)
    said = (
        np.where(count > 0, p, 0) * (len(intents) / np.maximum(count, 1)) ** (1 - evenness)
    ).argmax(1)
    right = np.bincount(intents, weights=said == intents, minlength=classes)
    return float((right / np.maximum(count, 1))[count > 0].mean())


def _mode_report(modes: np.ndarray) -> dict[str, float]:
    """Of a table [true, chosen]: accuracy per intent, balanced over those that occur, majority."""
    seen = modes.sum(1)
    each = modes.diagonal() / np.maximum(seen, 1)
    found = {f"mode_{name}": float(each[i]) for i, name in enumerate(INTENTS) if seen[i] > 0}
    found["mode_balanced"] = float(each[seen > 0].mean()) if (seen > 0).any() else 0.0
    found["mode_accuracy"] = float(modes.trace() / max(modes.sum(), 1))
    found["mode_majority"] = float(seen.max() / max(modes.sum(), 1))
    return found


def _late(out: Unrolled, first: int) -> Unrolled:
    """What a net made of all decisions but the first ones."""
    assert out.choices is not None and out.choice_logits is not None and out.choice_due is not None
    return replace(
        out,
        logits=out.logits[first:],
        values=out.values[first:],
        choices=out.choices[first:],
        choice_logits=out.choice_logits[first:],
        choice_due=out.choice_due[first:],
        mouse=None if out.mouse is None else out.mouse[first:],
        mind={name: rows[first:] for name, rows in out.mind.items()},
    )


def _ahead(rows: np.ndarray) -> np.ndarray:
    """Mean of rows [T, B, n] over the next second, this decision included."""
    total = np.cumsum(np.concatenate((np.zeros_like(rows[:1]), rows)), 0)
    last = np.minimum(np.arange(len(rows)) + AHEAD, len(rows))
    count = (last - np.arange(len(rows)))[:, None, None]
    return (total[last] - total[:-1]) / count
