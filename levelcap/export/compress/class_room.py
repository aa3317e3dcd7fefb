"""Matches in which a teacher says, for every seat, what it would have done there (DAgger).

Shapes: N rows of a lesson (T decisions of all seats), D input numbers, A bins of all heads.

Half of the seats are the pupil's, so that it is corrected where its own play leads (Ross et al.
2011); the rest are the teacher's and bots', so that it has met everybody it will be judged by.
"""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
import torch
from torch import Tensor

from levelcap.kit.seeds import chain, stream
from levelcap.learn.engine.worlds import spec_of_world
from levelcap.nets.net import ViewLayout
from levelcap.play.load import NetPolicy
from levelcap.play.roster import find
from levelcap.play.seats import Seats, views_of
from levelcap.world import make
from levelcap.world.protocols import ALWAYS, Policy

BOTS = ("rookie", "veteran", "master")
SHARES = (0.5, 0.2, 0.1, 0.1, 0.1)  # of the seats: pupil, teacher, each bot
SEATS = 512  # rows a decision: enough that a product of matrices is worth its call


@dataclass(frozen=True)
class Lesson:
    """N rows, and what the teacher made of them."""

    inputs: Tensor  # [N, D]
    mask: Tensor  # bool [N, A]
    alive: Tensor  # [N] 1 or 0: what the dead would do teaches nothing
    logits: Tensor  # [N, A]
    values: Tensor  # [N]


class ClassRoom:
    """Matches that go on from lesson to lesson."""

    def __init__(self, teacher: NetPolicy, pupil: Policy, seed: int, seats: int = SEATS) -> None:
        """pupil: acts with whatever weights it holds at the moment."""
        self._teacher, meta = teacher, teacher.meta
        spec = spec_of_world(meta.world, meta.patch)
        players: list[Policy] = [pupil, teacher, *map(find, BOTS)]
        matches = max(1, seats // spec.num_players)
        views = views_of(players)
        self._world = make(
            meta.world, matches, seed=chain(seed, 1), views=views, patch=meta.patch, threads=1
        )
        shape = (matches, spec.num_players)
        owner = stream(seed, "class room").choice(len(players), shape, p=SHARES)
        self._seats = Seats(self._world, players, owner, threads=False)
        self._layout = ViewLayout.of(spec, meta.views)
        self._views = self._world.reset()

    def lesson(self, decisions: int) -> Lesson:
        """The next decisions of all seats."""
        parts: list[tuple[Tensor, ...]] = []
        for _ in range(decisions):
            rows = {
                name: self._views[name].reshape(-1, *self._views[name].shape[2:])
                for name in (*self._teacher.views, *ALWAYS)
            }
            out = self._teacher.think(rows, None)
            told = (out.logits[0].numpy(), out.values[0].numpy())  # leaves inference mode
            packed = torch.from_numpy(self._layout.pack(rows))
            mask, alive = torch.from_numpy(rows["mask"] != 0), torch.tensor(rows["alive"] != 0)
            parts.append((packed, mask, alive.float(), *map(torch.from_numpy, told)))
            self._views = self._world.step(self._seats.act(self._views))[0]
        return Lesson(*(torch.cat(part) for part in zip(*parts, strict=True)))


def observations(teacher: NetPolicy, rows: int, seed: int) -> np.ndarray:
    """Rows [n, D] of the teacher's own matches: what importance and ranges are measured on."""
    room = ClassRoom(teacher, teacher, chain(seed, 2), seats=64)
    lesson = room.lesson(max(1, 8 * rows // 64))
    # Decisions that follow each other look alike: every eighth row of eight times as many.
    return lesson.inputs[::8].numpy()
