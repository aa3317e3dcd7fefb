"""Seers: anchors above `master` in `duel`. They cheat, and every table says so.

`seer-k` looks at the true state and tries k random futures of 2 s in the true simulator: in them
its own moves are random per decision (it shoots ahead of where the enemy really
is), everyone else stands idle, and shots already in flight fly on. It plays the first move of
the best future.
"""

from __future__ import annotations

import hashlib
from concurrent.futures import ThreadPoolExecutor
from math import sqrt
from typing import Any

import numpy as np
from numpy.typing import NDArray

from levelcap.kit.compiled import entry, kernel
from levelcap.kit.errors import UserError, refuse
from levelcap.world.match import ArenaWorld
from levelcap.world.players.brain import aim_bins
from levelcap.world.protocols import Decision, Policy, PolicyState, Views, World
from levelcap.world.rules.chance import draw
from levelcap.world.rules.observe import may_fire
from levelcap.world.rules.terrain import frame_sign
from levelcap.world.rules.tick import tick

FUTURE_DECISIONS = 20
REACH = 14.0  # a shot's way before it ends
_POOL = ThreadPoolExecutor(2, thread_name_prefix="seers")


@kernel
def _random_move(g, r, p, bits, fresh, out):
    """A random step, most often the last one again, and a shot ahead of the enemy; own frame."""
    sign = frame_sign(r, p)
    if fresh or bits % np.uint64(4) == np.uint64(0):
        out[0] = 5 * ((bits >> np.uint64(4)) % np.uint64(3))
        out[1] = 5 * ((bits >> np.uint64(8)) % np.uint64(3))
    q = 1 - p
    dx, dy = g.x[q] - g.x[p], g.y[q] - g.y[p]
    d = sqrt(dx * dx + dy * dy)
    ahead = d / r.shot_speed  # ticks a shot needs
    out[2], out[3] = aim_bins(sign * (dx + g.vx[q] * ahead), sign * (dy + g.vy[q] * ahead))
    out[4] = 1 if d < REACH else 0
    out[5] = 0
    out[6] = 1


@kernel
def _give_inputs(g, r, p, move):
    sign = frame_sign(r, p)
    mx, my = (move[0] - 5) / 5.0, (move[1] - 5) / 5.0
    if mx != 0.0 and my != 0.0:
        mx, my = mx * 0.7071, my * 0.7071
    g.move_x[p], g.move_y[p] = sign * mx, sign * my
    g.aim_x[p], g.aim_y[p] = sign * 2.0 * (move[2] - 5), sign * 2.0 * (move[3] - 5)
    g.fire[p] = 1 if move[4] == 1 and may_fire(g, r, p) else 0
    g.ability[p] = 0
    g.interact[p] = 1


@kernel
def _worth(g, p):
    """How good a future ended for p: the hp difference, and a great deal for deciding it."""
    value = g.hp[p] - g.hp[1 - p] + 20 * g.ammo[p]
    if g.over == 1:
        value += 1000000 if g.winner == p else -1000000
    return value


@kernel
def _foresee(g, scratch, r, p, futures, key, move, best):
    """Try the futures of player p from record g; the best first move goes into `best`."""
    top = -2000000000
    for k in range(futures):
        scratch[0] = g
        f = scratch[0]
        q = 1 - p
        f.move_x[q] = f.move_y[q] = 0.0  # idle: it stands and holds its fire
        f.fire[q] = f.ability[q] = f.interact[q] = 0
        for d in range(FUTURE_DECISIONS):
            _random_move(f, r, p, draw(key, k, d, 11), d == 0, move)
            _give_inputs(f, r, p, move)
            if d == 0:
                for h in range(7):
                    best[8 + h] = move[h]
            for _ in range(r.think_ticks):  # a decision
                tick(f, r)
                if f.over == 1:
                    break
            if f.over == 1:
                break
        value = _worth(f, p)
        if value > top:
            top = value
            for h in range(7):
                best[h] = best[8 + h]


@entry
def foresee_rows(state, rules, matches, seats, keys, futures, scratch, first, last, out):
    """Decide rows first..last-1; out int64 [n, 7]; scratch: one record."""
    r = rules[0]
    move, best = np.zeros(7, np.int64), np.zeros(15, np.int64)
    for i in range(first, last):
        g = state[matches[i]]
        if g.over == 1 or g.alive[seats[i]] == 0:
            continue
        _foresee(g, scratch, r, seats[i], futures, keys[i], move, best)
        for h in range(7):
            out[i, h] = best[h]


class Seer(Policy):
    """A planner over the true simulator; duel only. Needs `bind(world)` and reads its state."""

    def __init__(self, futures: int) -> None:
        self.name, self.futures = f"seer-{futures}", futures
        self._world: ArenaWorld | None = None
        self._seats: tuple[NDArray[Any], NDArray[Any]] | None = None

    @property
    def content_hash(self) -> str:
        """Of the number of its futures; the class is named as in the first shards."""
        text = f"levelcap.world.seers.Seer {self.futures}"
        return hashlib.sha256(text.encode()).hexdigest()

    def bind(self, world: World) -> None:
        """Take the simulator whose matches it plays in."""
        if world.spec.ruleset != "duel":
            raise UserError(refuse("seers play duel only", world.spec.name, "Use --world duel"))
        assert isinstance(world, ArenaWorld)
        self._world = world

    def sit(self, matches: NDArray[Any], seats: NDArray[Any]) -> None:
        """Learn which match and seat each row is: both games of a pair have the same keys."""
        self._seats = (matches, seats)

    def act(self, views: Views, state: PolicyState) -> Decision:
        """The first move of the best of k futures, for every row."""
        world, keys = self._world, np.ascontiguousarray(views["key"])
        assert world is not None and self._seats is not None, "sit(matches, seats) comes before act"
        matches, seats = self._seats
        assert len(matches) == len(keys), f"{len(keys)} rows for {len(matches)} seats"
        out = np.tile(np.array([5, 5, 5, 5, 0, 0, 0], np.int64), (len(keys), 1))
        cuts = (0, len(keys) // 2, len(keys))
        given = (world.state, world._rules, matches, seats, keys, self.futures)
        record = world.state.dtype

        def decide(first: int, last: int) -> None:
            foresee_rows(*given, np.zeros(1, record), first, last, out)

        list(_POOL.map(decide, cuts, cuts[1:]))
        return Decision(out, state)
