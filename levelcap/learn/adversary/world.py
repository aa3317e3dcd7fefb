"""A world that attacks the learner: what its seats see is spoiled, harder when it has coped.

Every match draws one of `TRAINED` or none by its seed. An attack starts at half its strength; when
the learner scores as well under it as in clean matches, but for `COPES`, it gets stronger. Hostile
openings are left out: their moves are not the learner's, so nothing can be learned from them, and
they are the attack it never trained on.

Shapes: M matches, P seats, n lanes (flat seats match * P + player of the learner).
"""

from __future__ import annotations

from typing import Any

import numpy as np
from numpy.typing import ArrayLike, NDArray

from levelcap.kit.seeds import splitmix64_array
from levelcap.learn.adversary.attacks import MOST, STRENGTHS, looks_kept, spoil
from levelcap.learn.rl.match_group import CLEAR
from levelcap.world.protocols import Step, Views, World

TRAINED = ("noise", "dropped", "late")
CLEAN = len(TRAINED)  # the number of no attack
CLEAN_SHARE = 2  # of CLEAN + 2 parts of all matches
START, STEP, TOP = 0.5, 0.25, 1.5  # levels: an attack's strength over its usual one
ENOUGH, COPES = 100, 0.10  # matches at a level, and what they may score below the clean ones


class AttackedWorld:
    """See `levelcap.world.protocols.World`; whatever is not here is the inner world's."""

    def __init__(self, world: World, learned: NDArray[np.bool_], views: tuple[str, ...]) -> None:
        """learned [M, P]: whose views are spoiled; views: which of them."""
        self._inner, self._learned, self._spoiled = world, learned, views
        self.views = (*world.views, *(CLEAR + name for name in views))
        self._lanes = np.flatnonzero(learned)
        self._match_of = self._lanes // learned.shape[1]
        self._team = np.arange(learned.shape[1]) * world.spec.num_teams // learned.shape[1]
        matches, lanes = len(learned), len(self._lanes)
        # All of it is part of a snapshot: a resumed run goes on bit by bit.
        self.own: dict[str, NDArray[Any]] = {
            "attack": np.full(matches, CLEAN, np.int64),
            "strength": np.zeros(matches),
            "fresh": np.ones(matches, np.bool_),
            "levels": np.full(CLEAN, START),
            "played": np.zeros(CLEAN + 1),  # matches since the level rose
            "won": np.zeros(CLEAN + 1),
        }
        for number, attack in enumerate(TRAINED):
            looks = looks_kept(attack, np.ceil(TOP * STRENGTHS[attack]))
            for name in views:
                shape = world.spec.views[name].shape
                self.own[f"{number} {name}"] = np.zeros((lanes, looks, *shape), np.float32)
        for name in views:
            shape = world.spec.views[name].shape
            self.own[f"shown {name}"] = np.zeros((lanes, *shape), np.float32)

    def __getattr__(self, name: str) -> Any:
        return getattr(self._inner, name)

    @property
    def levels(self) -> dict[str, float]:
        """Strength of each attack now, over its usual one."""
        return dict(zip(TRAINED, self.own["levels"].tolist(), strict=True))

    def reset(self) -> Views:
        """Start every match, each with its attack."""
        views = self._inner.reset()
        self._draw(np.arange(len(self._learned)))
        return self._show(views)

    def step(self, actions: ArrayLike) -> Step:
        """As the inner world, with spoiled views."""
        views, rewards, terminated, truncated, info = self._inner.step(actions)
        self.own["fresh"][:] = False
        ended = np.flatnonzero(info["ended"])
        for match in ended.tolist():
            self._count(match, int(info["winner"][match]))
        if len(ended):
            self._draw(ended)
        return self._show(views), rewards, terminated, truncated, info

    def snapshot(self) -> NDArray[np.uint8]:
        """The inner world's bytes, then ours."""
        inner = self._inner.snapshot()
        assert inner is not None, "only our own rulesets are attacked"
        # Field by field: the gaps of a record hold leftovers, which would tell equal states apart.
        packed = np.zeros(inner.shape, inner.dtype)
        for name in inner.dtype.names or ():
            packed[name] = inner[name]
        parts = [packed, *self.own.values()]
        return np.concatenate([np.ascontiguousarray(part).view(np.uint8).ravel() for part in parts])

    def restore(self, state: NDArray[Any] | None) -> Views:
        """Take both back; what was shown at that moment is shown again."""
        if state is None:
            return self.reset()
        inner = self._inner.snapshot()  # for its type and shape
        assert inner is not None
        raw, at = np.ascontiguousarray(state).view(np.uint8).ravel(), inner.nbytes
        for name, array in self.own.items():
            part = raw[at : at + array.nbytes]
            self.own[name] = np.frombuffer(part.tobytes(), array.dtype).reshape(array.shape).copy()
            at += array.nbytes
        views = self._inner.restore(raw[: inner.nbytes].view(inner.dtype).reshape(inner.shape))
        shown = {name: views[name].copy() for name in self._spoiled}
        for name, whole in shown.items():
            whole.reshape(-1, *whole.shape[2:])[self._lanes] = self.own[f"shown {name}"]
        clear = {CLEAR + name: views[name] for name in self._spoiled}
        return {**views, **shown, **clear}

    def _draw(self, matches: NDArray[np.int64]) -> None:
        """An attack for matches that begin, by their seeds."""
        bits = splitmix64_array(self._inner.match_seeds[matches] ^ np.uint64(0xA77AC4))
        drawn = np.minimum((bits % np.uint64(CLEAN + CLEAN_SHARE)).astype(np.int64), CLEAN)
        usual = np.array([STRENGTHS[name] for name in TRAINED] + [0.0])
        level = np.append(self.own["levels"], 0.0)[drawn]
        most = np.array([MOST[name] for name in TRAINED] + [0.0])
        strength = np.minimum(usual[drawn] * level, most[drawn])
        late = drawn == TRAINED.index("late")
        self.own["attack"][matches] = drawn
        self.own["strength"][matches] = np.where(late, np.ceil(strength), strength)
        self.own["fresh"][matches] = True

    def _count(self, match: int, winner: int) -> None:
        """One result; a level that is coped with rises."""
        teams = set(self._team[self._learned[match]].tolist())
        number, own = int(self.own["attack"][match]), self.own
        own["played"][number] += 1
        own["won"][number] += 0.5 if winner < 0 else float(winner in teams)
        clean = own["won"][CLEAN] / max(1.0, own["played"][CLEAN])
        rate = own["won"][number] / own["played"][number]
        enough = own["played"][number] >= ENOUGH and own["played"][CLEAN] >= ENOUGH
        if number == CLEAN or not enough:
            return
        if rate >= clean - COPES:
            own["levels"][number] = min(TOP, own["levels"][number] + STEP)
        own["played"][number] = own["won"][number] = 0.0

    def _show(self, views: Views) -> Views:
        """Views in which the learner's rows of attacked matches are spoiled."""
        shown = dict(views) | {CLEAR + name: views[name] for name in self._spoiled}
        attack = self.own["attack"][self._match_of]  # [n]
        for name in self._spoiled:
            shown[name] = views[name].copy()
            rows = shown[name].reshape(-1, *views[name].shape[2:])  # [M * P, ...], same memory
            for number, kind in enumerate(TRAINED):
                mine = np.flatnonzero(attack == number)
                lanes, matches = self._lanes[mine], self._match_of[mine]
                kept = self.own[f"{number} {name}"][mine]
                rows[lanes] = spoil(
                    kind,
                    self.own["strength"][matches],
                    name,
                    rows[lanes],
                    views["key"].reshape(-1)[lanes],
                    self.own["fresh"][matches],
                    kept,
                )
                self.own[f"{number} {name}"][mine] = kept
            self.own[f"shown {name}"][:] = rows[self._lanes]
        return shown
