"""The two contracts of the house as types: a `World` of many matches, a `Policy` that plays in it.

Shapes: M matches, P players a match, n rows (players a policy decides for now), H action heads.

Bots, nets, people and outside code are all a `Policy`; our rulesets and the games of others are all
a `World`. Nothing here imports numba or torch.
"""

from __future__ import annotations

import hashlib
from abc import ABC, abstractmethod
from dataclasses import dataclass, field
from typing import Any, Protocol, TypedDict

import numpy as np
from numpy.typing import ArrayLike, NDArray

from levelcap.world.spec import TICK_HZ, WorldSpec

Views = dict[str, NDArray[Any]]
# What a policy remembers of its rows: one structured array, or several arrays by name; the first
# axis is the row, so that whoever seats players can pick and put back rows without knowing more.
PolicyState = NDArray[Any] | dict[str, NDArray[Any]] | None

ALWAYS = ("mask", "reset", "key", "alive")  # views that every policy gets besides those it names


class Info(TypedDict):
    """What a step tells besides views, rewards and ends."""

    active: NDArray[np.bool_]  # [M, P] takes part in the decision now shown
    due: NDArray[np.bool_]  # [M, P] is asked now; the others' actions are held
    ended: NDArray[np.bool_]  # [M] ended in this step
    winner: NDArray[Any]  # [M] winning team of a match that ended, -1 = draw or none named
    length: NDArray[Any]  # [M] decisions (outside games) or ticks (ours) of it
    actions: NDArray[Any]  # [M, P, H] as carried out
    final: Views | None  # last views of truncated rows
    final_rows: NDArray[Any] | None  # [n, 2] their (match, player)


Step = tuple[Views, NDArray[Any], NDArray[Any], NDArray[Any], Info]


class World(Protocol):
    """Many matches of one game, stepped together; arrays returned are reused by the next call."""

    spec: WorldSpec
    num_matches: int
    views: tuple[str, ...]

    @property
    def decision_ticks(self) -> int:
        """Ticks a decision lasts; policies with a slower rate of their own are not always due."""
        ...

    @property
    def match_seeds(self) -> NDArray[np.uint64]:
        """Seed [M] of the match that each place plays now."""
        ...

    @property
    def patch(self) -> dict[str, Any] | None:
        """Numbers of the game as loaded; None for games that are not ours."""
        ...

    def reset(self) -> Views:
        """Start every match from its first seed."""
        ...

    def step(self, actions: ArrayLike) -> Step:
        """One decision of everybody: views, rewards, terminated, truncated [M, P], info."""
        ...

    def snapshot(self) -> NDArray[Any] | None:
        """A copy of the whole state; None: this game cannot be saved and starts over instead."""
        ...

    def restore(self, state: NDArray[Any] | None) -> Views:
        """Go back to a snapshot; None starts over."""
        ...

    def set_pseudo_reward_scale(self, scale: float) -> None:
        """Scale pseudo-rewards from now on; a game that has none takes 0 only."""
        ...

    def close(self) -> None:
        """Free what it holds; afterwards it can only be thrown away."""
        ...


@dataclass(frozen=True, slots=True)
class Decision:
    """What a policy decides for n rows, and what it lets be known of why."""

    actions: NDArray[Any]
    """bins [n, H]"""
    state: PolicyState = None
    """what it remembers now"""
    choices: NDArray[Any] | None = None
    """sampled latents [n, C], e.g. a mode; part of the log-probability"""
    log_probs: NDArray[np.float32] | None = None
    """log-probability [n] of actions (used heads) and choices"""
    values: NDArray[np.float32] | None = None
    """expected outcome [n]"""
    intents: NDArray[np.int8] | None = None
    """what each row is up to [n], indices of `spec.INTENTS`"""
    mind: dict[str, NDArray[Any]] = field(default_factory=dict)
    """anything else worth drawing, [n, …] by name"""


class Policy(ABC):
    """Decides for batches of players. Subclass it; `act` is all that must be written.

    `views` names what it reads, `decision_ticks` is its own rate. Chance comes from `views["key"]`
    alone, so that a match can be played again; `views["reset"]` marks rows whose match begins:
    their state is to be forgotten.
    """

    name: str = ""
    views: tuple[str, ...] = ()
    decision_ticks: int = 3
    tick_hz: int = TICK_HZ
    """the tick rate `decision_ticks` count in; at another rate as many seconds pass"""
    knows_log_probs: bool = False
    """are its `log_probs` those of a sample? The likeliest action taken always is none"""
    shows_mind: bool = False
    """fill `Decision.mind`: asked for where somebody looks, because it takes time"""
    orders: tuple[str, ...] = ()
    """what it can be told in a live match; see `order`"""

    def bind(self, world: World) -> None:
        """Called once before the first `act`: refuse a world it cannot play, learn its sizes."""

    def sit(self, matches: NDArray[Any], seats: NDArray[Any]) -> None:
        """Told the match and seat of each of its rows, again whenever they change."""

    def initial_state(self, num_rows: int) -> PolicyState:
        """State of `num_rows` players at the start of their matches."""
        return None

    def order(self, state: PolicyState, row: int, name: str | None, seconds: float) -> None:
        """Carry out an order for some seconds, written into the state of a row; None: none."""

    @abstractmethod
    def act(self, views: Views, state: PolicyState) -> Decision:
        """Decide for n rows: the views it names, and always those of `ALWAYS`."""

    @property
    def content_hash(self) -> str:
        """sha256 that changes when its behaviour may."""
        kind = type(self)
        return hashlib.sha256(f"{kind.__module__}.{kind.__qualname__} ".encode()).hexdigest()

    def close(self) -> None:
        """Free what it holds."""


def ticks_of(policy: Policy, tick_hz: int) -> int:
    """How often a policy is asked in a world of this tick rate, in that world's ticks."""
    return max(1, policy.decision_ticks * tick_hz // policy.tick_hz)


def take_rows(state: PolicyState, rows: NDArray[Any]) -> PolicyState:
    """The state of some rows, copied."""
    if state is None:
        return None
    if isinstance(state, dict):
        return {name: array[rows] for name, array in state.items()}
    return state[rows]


def put_rows(state: PolicyState, rows: NDArray[Any], new: PolicyState) -> None:
    """Write the state of some rows into a larger one, in place."""
    if state is None or new is None:
        return
    if isinstance(state, dict):
        assert isinstance(new, dict)
        for name, array in state.items():
            array[rows] = new[name]
    else:
        assert not isinstance(new, dict)
        state[rows] = new
