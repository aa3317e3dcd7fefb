"""Attacks: a policy whose senses or first moves somebody spoils. Wrappers of any Policy. No torch.

    attacked = Attacked(policy, "late", 3)     # sees what was there three decisions ago

    noise     strength = standard deviation added to every number it sees (most views are within ±1)
    dropped   strength = chance that a look is lost: it sees its last one again
    late      strength = decisions that a look is old
    opening   strength = share of the longest match that begins with bad moves in its name: it walks
              to the objective and shoots the other way
    saboteur  strength = what is added to or taken from every number it sees, always the same way; a
              pattern of signs that was found by trying which hurts this player most (`saboteur.py`)

Only the views it names are spoiled: what is allowed (`mask`), whether it lives and whose turn it is
are the world's. Chance is a hash of the row's key, so that an attacked match can be played again.
"""

from __future__ import annotations

import hashlib
from typing import Any

import numpy as np
from numpy.typing import NDArray

from levelcap.kit.errors import BadValue, check_known, refuse
from levelcap.kit.seeds import splitmix64_array
from levelcap.world.match import ArenaWorld
from levelcap.world.protocols import Decision, Policy, PolicyState, Views, World, ticks_of
from levelcap.world.rules.columns import CTX, HEAD
from levelcap.world.spec import HEADS, MOVE_BINS

# Each costs a three-minute duellist 15 points and more, with its whole interval and on other seeds
# than it was chosen on. In siege noise and openings do; dropped and late looks do not
# (benchmarks/log/2026-11-18-trials.txt); the saboteur was not measured there (-league-more.txt).
STRENGTHS = {"noise": 0.3, "dropped": 0.5, "late": 2.0, "opening": 0.05, "saboteur": 0.15}
MOST = {"noise": 10.0, "dropped": 1.0, "late": 30.0, "opening": 1.0, "saboteur": 10.0}
_INNER = "inner "  # prefix of the policy's own state


class Attacked(Policy):
    """The same player under one attack."""

    def __init__(
        self, policy: Policy, attack: str, strength: float | None = None, pattern: int = 0
    ) -> None:
        """strength None: the usual one; pattern: the saboteur's, by its number."""
        check_known("attack", attack, STRENGTHS)
        strength = STRENGTHS[attack] if strength is None else strength
        if not 0 <= strength <= MOST[attack] or (attack == "late" and strength != int(strength)):
            remedy = f"Give a number from 0 to {MOST[attack]:g}, whole for late"
            raise BadValue(refuse(f"strength of the attack {attack}", strength, remedy))
        self.inner, self.attack, self.strength, self.pattern = policy, attack, strength, pattern
        self.name = f"{policy.name} ({attack} {strength:g})"
        self.decision_ticks, self.tick_hz = policy.decision_ticks, policy.tick_hz
        # Bad moves need to know where the objective is, whatever the player looks at.
        seen = (*policy.views, *(("context",) if attack == "opening" else ()))
        self.views = tuple(dict.fromkeys(seen))
        self._shapes: dict[str, tuple[int, ...]] = {}
        self._astray = 0  # decisions at the start

    @property
    def content_hash(self) -> str:
        """Of the player and the attack."""
        said = f"{self.attack} {self.strength} {self.pattern} {self.inner.content_hash}"
        return hashlib.sha256(said.encode()).hexdigest()

    def bind(self, world: World) -> None:
        """Learn what a look is made of and how long a match lasts."""
        self.inner.bind(world)
        self._shapes = {name: world.spec.views[name].shape for name in self.views}
        if self.attack == "opening":
            assert isinstance(world, ArenaWorld), "other games have no longest match"
            limit = world.rules.time_limit / ticks_of(self, world.spec.tick_hz)
            self._astray = round(self.strength * limit)

    def sit(self, matches: NDArray[Any], seats: NDArray[Any]) -> None:
        """As the player."""
        self.inner.sit(matches, seats)

    def initial_state(self, num_rows: int) -> dict[str, NDArray[Any]]:
        """Decisions made, the last looks, and what the player remembers."""
        looks = looks_kept(self.attack, self.strength)
        own: dict[str, NDArray[Any]] = {
            f"look {name}": np.zeros((num_rows, looks, *shape), np.float32)
            for name, shape in self._shapes.items()
        }
        own["at"] = np.zeros(num_rows, np.int64)
        return own | _named(self.inner.initial_state(num_rows))

    def act(self, views: Views, state: PolicyState) -> Decision:
        """What the player does with what it is shown."""
        assert isinstance(state, dict)
        own = {name: rows for name, rows in state.items() if not name.startswith(_INNER)}
        own["at"] = np.where(views["reset"], 0, own["at"])
        strength, fresh = np.full(len(own["at"]), self.strength), own["at"] == 0
        shown = dict(views)
        for name in self.views:
            kept = own[f"look {name}"] = own[f"look {name}"].copy()
            if self.attack == "saboteur":
                shown[name] = _shifted(views[name], name, self.strength, self.pattern)
                continue
            shown[name] = spoil(self.attack, strength, name, views[name], views["key"], fresh, kept)
        decided = self.inner.act(shown, _unnamed(state))
        actions = np.array(decided.actions)
        astray = own["at"] < self._astray
        if astray.any():
            actions[astray] = _bad_moves(views["context"][astray])
        own["at"] = own["at"] + 1
        return Decision(actions, own | _named(decided.state), intents=decided.intents)


def looks_kept(attack: str, strength: float) -> int:
    """How many old looks of a row an attack needs."""
    return {"dropped": 1, "late": int(strength)}.get(attack, 0)


def spoil(
    attack: str,
    strength: NDArray[np.float64],
    name: str,
    look: NDArray[np.float32],
    key: NDArray[np.uint64],
    fresh: NDArray[np.bool_],
    kept: NDArray[np.float32],
) -> NDArray[np.float32]:
    """One view of n rows as it is shown under an attack.

    strength [n]; look [n, ...]: what is there; fresh [n]: rows whose match begins; kept
    [n, K, ...]: old looks, newest last, changed in place (K of `looks_kept`).
    """
    if attack == "noise":
        # What is not there (an empty slot) has no noise either.
        error = _normal(name, key, look.shape) * _beside(strength, look)
        return np.where(look != 0, look + error, 0.0).astype(np.float32)
    if attack not in ("dropped", "late") or kept.shape[1] == 0:
        return look
    kept[fresh] = look[fresh][:, None]  # nothing older was ever seen
    if attack == "late":
        age = strength.astype(np.int64)
        shown = np.where(_beside(age, look) == 0, look, kept[np.arange(len(look)), -age])
        kept[:, :-1], kept[:, -1] = kept[:, 1:].copy(), look
        return shown
    lost = (_hash("dropped", key, 1)[:, 0] < strength) & ~fresh
    kept[~lost, 0] = look[~lost]
    return kept[:, 0].copy()


def _shifted(
    look: NDArray[np.float32], name: str, strength: float, pattern: int
) -> NDArray[np.float32]:
    """Every number of a view moved by `strength`, up or down as the pattern says."""
    drawn = _hash(f"saboteur {name}", np.array([pattern], np.uint64), int(np.prod(look.shape[1:])))
    signs = np.where(drawn < 0.5, -strength, strength).reshape(1, *look.shape[1:])
    return np.where(look != 0, look + signs, 0.0).astype(np.float32)


def _beside(rows: NDArray[Any], look: NDArray[Any]) -> NDArray[Any]:
    """[n] as [n, 1, ...], to stand beside a view."""
    return rows.reshape(-1, *(1,) * (look.ndim - 1))


def _bad_moves(context: NDArray[np.float32]) -> NDArray[np.int64]:
    """Bins [n, heads]: towards the objective, shooting away from it."""
    way = context[:, [CTX.goal_x, CTX.goal_y]]
    half = MOVE_BINS // 2
    steps = np.rint(half * way / np.maximum(np.abs(way).max(1, keepdims=True), 1e-6))
    bins = np.zeros((len(way), len(HEADS)), np.int64)
    bins[:, :2], bins[:, 2:4], bins[:, HEAD.fire] = half + steps, half - steps, 1
    return bins


def _hash(purpose: str, key: NDArray[np.uint64], columns: int) -> NDArray[np.float64]:
    """Uniform numbers [n, columns] in [0, 1)."""
    salt = np.uint64(int.from_bytes(hashlib.sha256(purpose.encode()).digest()[:8], "big"))
    counter = splitmix64_array(np.arange(columns, dtype=np.uint64) ^ salt)
    bits = splitmix64_array(splitmix64_array(key)[:, None] ^ counter)
    return (bits >> np.uint64(11)).astype(np.float64) / float(1 << 53)


def _normal(purpose: str, key: NDArray[np.uint64], shape: tuple[int, ...]) -> NDArray[np.float32]:
    """Standard normal numbers of this shape, rows first (Box and Muller 1958)."""
    size = int(np.prod(shape[1:]))
    first, second = np.split(_hash(purpose, key, 2 * size), 2, axis=1)
    drawn = np.sqrt(-2 * np.log1p(-first)) * np.cos(2 * np.pi * second)
    return drawn.reshape(shape).astype(np.float32)


def _named(state: PolicyState) -> dict[str, NDArray[Any]]:
    """The player's state under names that do not meet ours."""
    if state is None:
        return {}
    rows = state if isinstance(state, dict) else {"": state}
    return {_INNER + name: array for name, array in rows.items()}


def _unnamed(state: dict[str, NDArray[Any]]) -> PolicyState:
    found = {n.removeprefix(_INNER): rows for n, rows in state.items() if n.startswith(_INNER)}
    return found[""] if "" in found else found or None
