"""`ArenaWorld`: many matches of one of our rulesets, stepped together.

    world = levelcap.world.make("duel", num_matches=256, seed=0)
    views = world.reset()
    views, rewards, terminated, truncated, info = world.step(actions)   # int [M, P, 7]

The returned arrays are the world's own and are overwritten by the next call: copy what you keep.
A finished match restarts at once: `views` are already the new match's first, `reset` marks them.
"""

from __future__ import annotations

from concurrent.futures import ThreadPoolExecutor
from typing import Any

import numpy as np
from numpy.typing import ArrayLike, NDArray

from levelcap.kit.config import load_settings
from levelcap.kit.errors import BadValue, refuse, unknown_name
from levelcap.kit.seeds import splitmix64, splitmix64_array
from levelcap.world.protocols import Info, Step, Views
from levelcap.world.rules import advance
from levelcap.world.rules.advance import Buffers, Setup
from levelcap.world.rules.composite import Composites, compose_matches
from levelcap.world.rules.patches import champion_names, load_patch, patch_hash
from levelcap.world.rules.rulebook import build_rules, record
from levelcap.world.rules.state import State, allocate, match_hash
from levelcap.world.spec import (
    ARENA_VIEWS,
    DECISIONS_HZ,
    HEADS,
    MASK_SIZE,
    RULESETS,
    TICK_RATES,
    WORLDS,
    WorldSpec,
    arena_spec,
    split_world,
    world_name,
)

_POOLS: dict[int, ThreadPoolExecutor] = {}
MIN_CHUNK = 16  # fewer matches than this a thread are not worth a hand-over


def _pool(threads: int) -> ThreadPoolExecutor:
    if threads not in _POOLS:
        _POOLS[threads] = ThreadPoolExecutor(threads, thread_name_prefix="world")
    return _POOLS[threads]


class ArenaWorld:
    """Matches of one ruleset; see the module's docstring and `levelcap.world.make`.

    Satisfies `levelcap.world.protocols.World`.
    """

    def __init__(
        self,
        ruleset: str,
        num_matches: int = 1,
        *,
        patch: str | dict[str, Any] = "1.0",
        seed: int = 0,
        views: tuple[str, ...] = ("features",),
        decision_ticks: int | None = None,
        seat_ticks: ArrayLike | None = None,
        champions: str | tuple[str, ...] | None = None,
        pseudo_reward_scale: float = 0.0,
        draw_reward: float = 0.0,
        max_decisions: int | None = None,
        auto_reset: bool = True,
        match_seeds: ArrayLike | None = None,
        threads: int | None = None,
        tick_hz: int | None = None,
    ) -> None:
        """ruleset: its name, also with a tick rate (`duel-60hz` = `duel` with tick_hz 60)."""
        ruleset, tick_hz = _ruleset_and_rate(ruleset, tick_hz)
        decision_ticks = tick_hz // DECISIONS_HZ if decision_ticks is None else decision_ticks
        for name in views:
            if name not in ARENA_VIEWS:
                raise unknown_name("view", name, tuple(ARENA_VIEWS))
        _whole("num_matches", num_matches, 1, 1_000_000)
        _whole("decision_ticks", decision_ticks, 1, tick_hz)
        _whole("seed", seed, 0, 2**64 - 1)
        _whole("max_decisions", 1 if max_decisions is None else max_decisions, 1, 2**31 - 1)
        _whole("threads", 1 if threads is None else threads, 1, 1024)
        for name, value in (
            ("pseudo_reward_scale", pseudo_reward_scale),
            ("draw_reward", draw_reward),
        ):
            if not np.isfinite(value):
                raise BadValue(refuse(f"{name} must be finite", value, "Give a number, e.g. 0"))
        self.patch = load_patch(patch)
        self.rules = build_rules(self.patch, ruleset, tick_hz)
        self.spec: WorldSpec = arena_spec(world_name(ruleset, tick_hz), self.patch["name"])
        self.ruleset, self.num_matches, self.views = ruleset, num_matches, tuple(views)
        self.seed, self.threads = seed, threads or load_settings().cores
        self.state: State = allocate(num_matches, self.rules)
        self.buffers = self._allocate_buffers()
        self.composites = Composites(*(self._rows_of(name) for name in Composites._fields))
        self._composes = any(name in self.views for name in Composites._fields)
        written = {**self.buffers._asdict(), **self.composites._asdict()}
        self._shown = {name: written[name] for name in self.views if name != "frame"}
        mode, lineup = self._lineup(champions)
        self.champions = champions or ("random" if self.rules.respawns else "base")
        self._rules = record(self.rules)
        self._setup = Setup(
            seed=np.uint64(seed),
            decision_ticks=decision_ticks,
            seat_ticks=self._rates(seat_ticks, decision_ticks),
            champions=mode,
            lineup=lineup,
            auto_reset=int(auto_reset),
            max_decisions=max_decisions or 0,
            scale=float(pseudo_reward_scale),
            draw_reward=float(draw_reward),
        )
        self._setups = record(self._setup)
        self._sizes = np.array([head.size for head in HEADS])
        self._first_seeds = self._seeds(match_seeds)
        self._started = False

    @property
    def match_seeds(self) -> NDArray[np.uint64]:
        """Seed [M] of the match that each place plays now."""
        return self.state["seed"]

    @property
    def seat_ticks(self) -> NDArray[np.int64]:
        """Each seat's own rate in ticks [P]."""
        return self._setup.seat_ticks

    @property
    def decision_ticks(self) -> int:
        """Ticks simulated per decision."""
        return self._setup.decision_ticks

    def set_pseudo_reward_scale(self, scale: float) -> None:
        """Scale pseudo-rewards by this from now on; 0 = none."""
        if not np.isfinite(scale):
            raise BadValue(refuse("pseudo_reward_scale must be finite", scale, "Give e.g. 0"))
        self._setups["scale"] = scale

    def reset(self, match_seeds: ArrayLike | None = None) -> Views:
        """Start every match from its first seed, or from new ones [M]; returns the views."""
        if match_seeds is not None:
            self._first_seeds = self._seeds(match_seeds)
        self.state["restart"] = 0
        self._spread(
            advance.start_matches,
            self.state,
            self._rules,
            self.buffers,
            self._setups,
            self._first_seeds,
        )
        self._started = True
        return self._views()

    def step(self, actions: ArrayLike) -> Step:
        """Carry out one decision of every player.

        actions: integers [matches, players, 7], one bin per head (see `spec.HEADS`).
        Returns views, rewards [M, P], terminated [M, P], truncated [M, P], info. info holds
        `active`, `due` [M, P]; `ended`, `winner`, `length` [M] of matches that ended in this
        step; `actions` as carried out; `final` and `final_rows`: last views of truncated rows.
        """
        checked = self.check_actions(actions)
        if not self._started:
            raise BadValue(refuse("step before reset", "a new world", "Call reset() first"))
        arguments = (self.state, self._rules, self.buffers, self._setups, checked)
        final, rows = None, None
        if self._setup.max_decisions:
            self._spread(advance.step_matches, *arguments, after=(advance.PLAY,))
            final, rows = self._final_views()
            self._spread(advance.step_matches, *arguments, after=(advance.FINISH,))
        else:
            self._spread(advance.step_matches, *arguments, after=(advance.ALL,))
        b = self.buffers
        info: Info = {
            "active": b.active,
            "due": b.due,
            "ended": b.ended,
            "winner": b.winner,
            "length": b.length,
            "actions": b.actions,
            "final": final,
            "final_rows": rows,
        }
        return self._views(), b.rewards, b.terminated, b.truncated, info

    def check_actions(self, actions: ArrayLike) -> NDArray[np.uint8]:
        """Actions as uint8 [M, P, 7], or an error that names the head, the value and the place."""
        array = np.asarray(actions)
        shape = (self.num_matches, self.spec.num_players, len(HEADS))
        if array.shape != shape:
            raise BadValue(
                refuse("actions have the wrong shape", array.shape, f"Give integers {shape}")
            )
        if array.dtype.kind not in "iu":
            if array.dtype.kind == "f" and not np.isfinite(array).all():
                m, p, h = (int(i) for i in np.argwhere(~np.isfinite(array))[0])
                what = f"action {HEADS[h].name} of match {m}, player {p} is not a number"
                raise BadValue(refuse(what, float(array[m, p, h]), "Give integer bins"))
            raise BadValue(
                refuse("actions have the wrong dtype", str(array.dtype), "Give integer bins")
            )
        bad = int(advance.first_bad_action(array, self._sizes))
        if bad >= 0:
            m, p, h = (int(i) for i in np.unravel_index(bad, shape))
            what = f"action {HEADS[h].name} of match {m}, player {p} is out of range"
            top = HEADS[h].size - 1
            raise BadValue(refuse(what, int(array[m, p, h]), f"Give a bin from 0 to {top}"))
        return np.ascontiguousarray(array, dtype=np.uint8)

    def observe(self) -> Views:
        """The views of the current state, written anew (after `restore`)."""
        self._spread(advance.observe_matches, self.state, self._rules, self.buffers, self._setups)
        return self._views()

    def snapshot(self) -> State:
        """A copy of the whole state, for `restore`."""
        return self.state.copy()

    def restore(self, state: State | None) -> Views:
        """Go back to a snapshot of this world or its like; returns the views of that moment."""
        if state is None:
            return self.reset()
        if state.shape != self.state.shape or state.dtype != self.state.dtype:
            remedy = "Give a snapshot of a world with the same ruleset and number of matches"
            raise BadValue(refuse("a snapshot of another world", state.shape, remedy))
        self.state[...] = state
        self._started = True
        return self.observe()

    def close(self) -> None:
        """Nothing to free: its arrays go with it."""

    def match_hash(self, match: int) -> str:
        """16 hex digits that say whether two replays of a match agree so far."""
        return match_hash(self.state, match)

    def patch_sha256(self) -> str:
        """Hash of the patch's content."""
        return patch_hash(self.patch)

    def _views(self) -> Views:
        b = self.buffers
        if self._composes:
            self._spread(compose_matches, self.state, self._rules, b, self.composites)
        views: Views = dict(self._shown)
        if "frame" in self.views:
            from levelcap.world.draw.render import write_frames

            views["frame"] = write_frames(self)
        views.update(mask=b.mask, key=b.key, reset=b.reset, alive=b.alive)
        return views

    def _final_views(self) -> tuple[Views | None, NDArray[Any] | None]:
        rows = np.argwhere(self.buffers.truncated)
        if len(rows) == 0:
            return None, None
        ended = np.unique(rows[:, 0])
        # Only the matches that stop here are observed before they restart.
        for m in ended:
            advance.observe_matches(
                self.state, self._rules, self.buffers, self._setups, int(m), int(m) + 1
            )
        views = {n: a[rows[:, 0], rows[:, 1]] for n, a in self._views().items()}
        return views, rows

    def _spread(self, function: Any, *arguments: Any, after: tuple[int, ...] = ()) -> None:
        """Call a kernel on contiguous chunks of matches, one a thread."""
        parts = min(self.threads, max(1, self.num_matches // MIN_CHUNK))
        if parts == 1:
            function(*arguments, 0, self.num_matches, *after)
            return
        cuts = [self.num_matches * i // parts for i in range(parts + 1)]
        pool = _pool(self.threads)
        waiting = [
            pool.submit(function, *arguments, a, b, *after)
            for a, b in zip(cuts[1:-1], cuts[2:], strict=True)
        ]
        function(*arguments, cuts[0], cuts[1], *after)
        for task in waiting:
            task.result()

    def _rows_of(self, view: str) -> NDArray[np.float32]:
        """An array for a view of all players; without rows when nobody asked for it."""
        rows = self.num_matches if view in self.views else 0
        shape = (rows, self.spec.num_players, *ARENA_VIEWS[view].shape)
        return np.zeros(shape, np.float32)

    def _allocate_buffers(self) -> Buffers:
        m, p = self.num_matches, self.spec.num_players

        def flags(*shape: int) -> NDArray[np.bool_]:
            return np.zeros(shape, np.bool_)

        return Buffers(
            features=self._rows_of("features"),
            player=self._rows_of("player"),
            objects=self._rows_of("objects"),
            context=self._rows_of("context"),
            mask=np.zeros((m, p, MASK_SIZE), np.uint8),
            key=np.zeros((m, p), np.uint64),
            reset=flags(m, p),
            alive=flags(m, p),
            active=flags(m, p),
            due=flags(m, p),
            rewards=np.zeros((m, p), np.float32),
            terminated=flags(m, p),
            truncated=flags(m, p),
            ended=flags(m),
            winner=np.zeros(m, np.int8),
            length=np.zeros(m, np.int32),
            actions=np.zeros((m, p, len(HEADS)), np.uint8),
        )

    def _rates(self, seat_ticks: ArrayLike | None, grid: int) -> NDArray[np.int64]:
        players = self.spec.num_players
        if seat_ticks is None:
            return np.full(players, grid, np.int64)
        given = np.asarray(seat_ticks)
        rates = given.astype(np.int64) if given.dtype.kind in "iu" else np.zeros(0, np.int64)
        if rates.shape != (players,) or (rates < grid).any() or (rates % grid).any():
            remedy = f"Give {players} multiples of decision_ticks {grid}"
            raise BadValue(refuse("seat_ticks do not fit the grid", seat_ticks, remedy))
        return rates

    def _lineup(self, champions: str | tuple[str, ...] | None) -> tuple[int, NDArray[np.int64]]:
        players = self.spec.num_players
        nobody = np.zeros(players, np.int64)
        if champions is None:
            return (1 if self.rules.respawns else 0), nobody
        if champions == "base":
            return 0, nobody
        if champions == "random":
            return 1, nobody
        names = champion_names(self.patch)
        given = (champions,) * players if isinstance(champions, str) else tuple(champions)
        if len(given) != players:
            remedy = f"Give 'base', 'random', one champion, or {players} of them"
            raise BadValue(refuse("line-up of the wrong length", len(given), remedy))
        for name in given:
            if name not in names:
                raise unknown_name("champion", name, ("random", *names))
        return 2, np.array([names.index(name) for name in given], np.int64)

    def _seeds(self, match_seeds: ArrayLike | None) -> NDArray[np.uint64]:
        if match_seeds is None:
            index = np.arange(self.num_matches, dtype=np.uint64)
            return splitmix64_array(splitmix64_array(np.uint64(splitmix64(self.seed)) ^ index))
        array = np.asarray(match_seeds)
        whole = array.dtype.kind == "u" or (array.dtype.kind == "i" and (array >= 0).all())
        if not whole or array.shape != (self.num_matches,):
            remedy = f"Give {self.num_matches} whole numbers in [0, 2^64), one a match"
            raise BadValue(refuse("match_seeds do not fit", match_seeds, remedy))
        return array.astype(np.uint64)


def _ruleset_and_rate(name: str, tick_hz: int | None) -> tuple[str, int]:
    if name not in WORLDS:
        raise unknown_name("ruleset", name, WORLDS)
    ruleset, named = split_world(name)
    given = named if tick_hz is None else tick_hz
    if given not in TICK_RATES or (name not in RULESETS and given != named):
        remedy = f"Give one of {', '.join(map(str, TICK_RATES))}, the same as in the name"
        raise BadValue(refuse(f"{name} does not run at this tick_hz", given, remedy))
    return ruleset, given


def _whole(name: str, value: object, low: int, high: int) -> None:
    whole = isinstance(value, (int, np.integer)) and not isinstance(value, bool)
    if not whole or not low <= int(value) <= high:  # type: ignore[call-overload]
        raise BadValue(
            refuse(f"{name} must be a whole number", value, f"Give one from {low} to {high}")
        )
