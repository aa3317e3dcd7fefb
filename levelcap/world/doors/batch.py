"""A batch of matches of an outside game behind the interface of our own worlds.

The batch knows no framework: it is given games (one environment each, with numbered seats) and the
codecs of their seats, and does what is the same for all of them: checking actions, restarting
matches, seeds and keys, padding, last views. `outside.py` builds the games.
"""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from typing import Any, Protocol

import numpy as np
from numpy.typing import ArrayLike

from levelcap.kit.errors import BadValue
from levelcap.kit.seeds import match_seed, splitmix64_array
from levelcap.world.doors.spaces import SeatCodec
from levelcap.world.protocols import Info, Step, Views
from levelcap.world.spec import WorldSpec

# What one player got out of a decision: seat, observation, reward, terminated, truncated, info.
Outcome = tuple[int, Any, float, bool, bool, dict[str, Any]]


class Game(Protocol):
    """One environment with numbered seats. `over` says whether its match has ended."""

    over: bool

    def start(self, seed: int) -> Iterable[tuple[int, Any, dict[str, Any]]]:
        """Begin a match; seat, observation and info of everyone who takes part."""

    def play(self, row: Sequence[Sequence[int]], codecs: Sequence[SeatCodec]) -> list[Outcome]:
        """One decision, given the head indices of every seat."""

    def close(self) -> None:
        """Free what the environment holds."""


class OutsideWorld:
    """Many matches of one outside game; satisfies `levelcap.world.protocols.World`.

    Arrays returned by `reset` and `step` are reused: the next call overwrites them. When a match
    ends, the views returned are already the first of the next one. A player both terminated and
    truncated counts as terminated. `info["active"]` says who takes part in the decision now shown;
    the others are out until the match ends: no reward, action ignored, empty view, only bin 0 in
    the mask. `info` also holds `due` [M, P] (always True), `ended`, `winner` (in a game of two
    the player with more reward in all, else -1: outside games name none) and `length` [M] of
    matches that ended in this step, `actions` as given, `final` with the last views of the rows
    that were truncated and `final_rows`, their (match, player) pairs [n, 2]; the last two are None
    when no row was truncated.
    """

    views: tuple[str, ...] = ("features",)
    decision_ticks = 1  # a decision is what the game calls a step, and everybody is due
    patch: dict[str, Any] | None = None  # the numbers of others' games are not ours to read

    def __init__(
        self,
        spec: WorldSpec,
        codecs: Sequence[SeatCodec],
        games: Sequence[Game],
        num_matches: int,
        seed: int,
        max_decisions: int | None,
    ) -> None:
        self.spec, self.num_matches = spec, num_matches
        self._codecs, self._games = codecs, games
        self._seed, self._max_decisions = seed, max_decisions
        self._ready = False
        rows = (num_matches, spec.num_players)
        self._features = np.zeros((*rows, *spec.views["features"].shape), np.float32)
        self._mask = np.zeros((*rows, spec.mask_size), np.uint8)
        self._reset, self._alive = np.zeros(rows, np.bool_), np.zeros(rows, np.bool_)
        self._key = np.zeros(rows, np.uint64)
        self._rewards = np.zeros(rows, np.float32)
        self._terminated, self._truncated = np.zeros(rows, np.bool_), np.zeros(rows, np.bool_)
        self._active, self._due = np.zeros(rows, np.bool_), np.ones(rows, np.bool_)
        self._winner = np.full(num_matches, -1, np.int8)
        self._returns = np.zeros(rows)  # rewards of the match so far
        self._match_seeds = np.zeros(num_matches, np.uint64)
        self._restarts = np.zeros(num_matches, np.int64)
        self._decisions = np.zeros(num_matches, np.uint64)
        self._limits = _seat_limits(spec, codecs)
        self._seat_mask = _masks(spec, self._limits)
        self._idle_mask = _masks(spec, np.ones((1, len(spec.heads)), np.int64))[0]

    @property
    def match_seeds(self) -> np.ndarray:
        """Seed [M] of the match that each place plays now."""
        return self._match_seeds

    def snapshot(self) -> None:
        """Outside games cannot be saved: a run that goes on starts its matches over."""

    def restore(self, state: np.ndarray | None) -> Views:
        """Start over; there is nothing to go back to."""
        assert state is None, "an outside game has no snapshots"
        return self.reset()

    def set_pseudo_reward_scale(self, scale: float) -> None:
        """Outside games have no pseudo-rewards: anything but 0 is refused."""
        if scale != 0:
            raise BadValue(f"{self.spec.name} has no pseudo-rewards to scale by {scale}; give 0.")

    def reset(self) -> Views:
        """Start every match from its first seed and return the first views."""
        self._ready = True
        self._restarts[:] = 0
        self._restart(range(self.num_matches))
        return self._shown()

    def step(self, actions: ArrayLike) -> Step:
        """One decision of every player; `actions` are head indices [matches, players, heads]."""
        checked = self._checked(actions)
        for array in (self._rewards, self._terminated, self._truncated, self._reset):
            array[:] = 0
        self._mask[:] = self._seat_mask
        over = self._advance(checked)
        self._decisions += np.uint64(1)
        if self._max_decisions is not None:
            late = self._decisions >= self._max_decisions
            self._truncated |= late[:, None] & self._alive
            over |= late
        self._returns += self._rewards
        self._winner[:] = self._winners(over)
        final, final_rows = self._last_views()
        self._alive &= ~self._truncated
        length = self._decisions.astype(np.int32)
        self._restart(np.flatnonzero(over).tolist())
        self._active[:] = self._alive
        info: Info = {
            "active": self._active,
            "due": self._due,
            "ended": over,
            "winner": self._winner,
            "length": length,
            "actions": checked,
            "final": final,
            "final_rows": final_rows,
        }
        return self._shown(), self._rewards, self._terminated, self._truncated, info

    def close(self) -> None:
        """Close the environments; afterwards the world can only be thrown away."""
        self._ready = False
        for game in self._games:
            game.close()

    def _advance(self, actions: np.ndarray) -> np.ndarray:
        """Play one decision in every match and return which matches [M] are over."""
        over = np.zeros(self.num_matches, np.bool_)
        for match, (game, row) in enumerate(zip(self._games, actions.tolist(), strict=True)):
            for outcome in game.play(row, self._codecs):
                seat, observation, reward, terminated, truncated, info = outcome
                self._rewards[match, seat] = reward
                self._terminated[match, seat] = terminated
                self._truncated[match, seat] = truncated and not terminated
                self._alive[match, seat] = not terminated
                self._show(match, seat, observation, info)
            over[match] = game.over
        return over

    def _winners(self, over: np.ndarray) -> np.ndarray:
        """Who won the matches that are over [M], -1: nobody, or nobody can tell."""
        if self.spec.num_players != 2:
            return np.full(len(over), -1)
        gap = self._returns[:, 1] - self._returns[:, 0]
        return np.where(over & (gap != 0), gap > 0, -1)

    def _begin(self, match: int, seed: int) -> None:
        """Start one match in its environment and write everybody's first row."""
        for seat, observation, info in self._games[match].start(seed):
            self._alive[match, seat] = True
            self._show(match, seat, observation, info)

    def _restart(self, matches: Iterable[int]) -> None:
        for match in matches:
            seed = match_seed(self._seed, match, int(self._restarts[match]))
            self._match_seeds[match] = seed
            self._restarts[match] += 1
            self._decisions[match] = 0
            self._returns[match] = 0
            self._reset[match] = True
            self._alive[match] = False
            self._mask[match] = self._seat_mask
            self._begin(match, seed % 2**31)

    def _show(self, match: int, seat: int, observation: Any, info: dict[str, Any]) -> None:
        """Write one player's features and, where the game gives one, the mask."""
        if observation is None:  # some games send nothing to a player who has just left
            return
        codec = self._codecs[seat]
        allowed = info.get("action_mask")
        if codec.masked_view:
            allowed = observation["action_mask"]
            observation = observation["observation"]
        codec.encode(observation, self._features[match, seat, : codec.num_features])
        if allowed is not None and codec.takes_mask:
            choices = np.asarray(allowed).reshape(-1) != 0
            # A mask that forbids everything leaves nothing to draw from, so it is not used.
            self._mask[match, seat, : len(choices)] = choices if choices.any() else 1

    def _last_views(self) -> tuple[dict[str, np.ndarray] | None, np.ndarray | None]:
        """Copies of the views of truncated rows, before the next match overwrites them."""
        if not self._truncated.any():
            return None, None
        matches, seats = np.nonzero(self._truncated)
        final = {name: view[matches, seats] for name, view in self._shown().items()}
        return final, np.stack([matches, seats], axis=1)

    def _shown(self) -> dict[str, np.ndarray]:
        """The views as they stand: keys of this decision, empty rows for players who are out."""
        gone = ~self._alive
        if gone.any():
            self._features[gone] = 0.0
            self._mask[gone] = self._idle_mask
        self._check_finite("observation", self._features)
        self._check_finite("reward", self._rewards[:, :, None])
        self._key[:] = _row_keys(self._match_seeds, self._decisions, self.spec.num_players)
        return {
            "features": self._features,
            "mask": self._mask,
            "reset": self._reset,
            "key": self._key,
            "alive": self._alive,
        }

    def _check_finite(self, what: str, rows: np.ndarray) -> None:
        finite = np.isfinite(rows)
        if not finite.all():
            match, seat, column = np.argwhere(~finite)[0]
            raise BadValue(
                f"{self.spec.name} gave player {seat} of match {match} the {what} "
                f"{rows[match, seat, column]}, which is not a finite number; correct the "
                "environment or wrap it."
            )

    def _checked(self, given: ArrayLike) -> np.ndarray:
        """The actions as an array, or an error that names the head before anything changed."""
        if not self._ready:
            raise BadValue(f"{self.spec.name} was stepped before reset(); call reset() first.")
        actions = np.asarray(given)
        wanted = (self.num_matches, self.spec.num_players, len(self.spec.heads))
        names = ", ".join(head.name for head in self.spec.heads)
        if actions.dtype.kind not in "iu":
            shown = actions.reshape(-1)[:1].tolist()
            raise BadValue(
                f"Actions for the heads {names} came as {actions.dtype} (first value {shown}); "
                f"pass whole numbers, an integer array of shape {wanted}."
            )
        if actions.shape != wanted:
            raise BadValue(
                f"Actions for the heads {names} came with shape {actions.shape}; pass "
                f"[matches, players, heads] = {wanted}."
            )
        # Players who are out are not asked, so whatever stands in their rows is ignored.
        bad = ((actions < 0) | (actions >= self._limits)) & self._alive[:, :, None]
        if bad.any():
            match, seat, head = (int(index) for index in np.argwhere(bad)[0])
            raise BadValue(
                f"Head '{self.spec.heads[head].name}' of player {seat} in match {match} got "
                f"{actions[match, seat, head]}; pass a number from 0 to "
                f"{self._limits[seat, head] - 1}."
            )
        return actions


def _seat_limits(spec: WorldSpec, codecs: Sequence[SeatCodec]) -> np.ndarray:
    """Number of bins [P, H] every seat has of its own; heads it lacks keep the single bin 0."""
    limits = np.ones((len(codecs), len(spec.heads)), np.int64)
    for seat, codec in enumerate(codecs):
        limits[seat, : len(codec.heads)] = [head.size for head in codec.heads]
    return limits


def _masks(spec: WorldSpec, limits: np.ndarray) -> np.ndarray:
    """Mask rows [P, mask_size] that allow the first `limits` bins of every head."""
    parts = [
        np.arange(head.size)[None, :] < limits[:, index : index + 1]
        for index, head in enumerate(spec.heads)
    ]
    return np.concatenate(parts, axis=1).astype(np.uint8)


def _row_keys(seeds: np.ndarray, decisions: np.ndarray, num_players: int) -> np.ndarray:
    """Keys [M, P] of this decision: the same mixing as `chance.row_key` in our own worlds."""
    seats = np.arange(1, num_players + 1, dtype=np.uint64)
    mixed = splitmix64_array(splitmix64_array(seeds)[:, None] ^ seats)
    return splitmix64_array(mixed ^ decisions[:, None])
