"""What a recording will be, settled before the first tick: who sits where, seeds, the header."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from itertools import combinations
from pathlib import Path
from typing import Any

import numpy as np
from numpy.typing import NDArray

import levelcap
from levelcap.kit.errors import BadValue, check_known, refuse, unknown_name
from levelcap.kit.ids import shard_name
from levelcap.kit.paths import folder
from levelcap.kit.seeds import chain, check_seed, match_seed
from levelcap.lake.header import LAZY, STORED, Header, header_of
from levelcap.play.matchup import seats_of_game
from levelcap.play.roster import find
from levelcap.play.seats import views_of
from levelcap.world import make
from levelcap.world.protocols import Policy, World, ticks_of
from levelcap.world.replay import describe_patch
from levelcap.world.spec import WORLDS

BATCH = 2048  # matches at once, fewer where matches are long and rows wide
BATCH_BYTES = 128 << 20  # of collected rows; one more batch is being written meanwhile
OUTSIDE_BATCH = 64  # an environment each
OUTSIDE_DECISIONS = 1_000  # outside games do not say how long they last


@dataclass(frozen=True)
class Layout:
    """Who sits where in every game: seats [G, P] (policy numbers), match seeds [G], pairs [G]."""

    seats: NDArray[np.int64]
    seeds: NDArray[np.uint64]
    pairs: NDArray[np.int64]


def lay_out(ruleset: str, num_policies: int, games: int, seed: int) -> Layout:
    """The games of one of our rulesets, before the first tick."""
    pairs = list(combinations(range(num_policies), 2)) or [(0, 0)]
    alone = num_policies == 1
    number = np.arange(games) // (1 if alone else 2)
    seats = [seats_of_game(ruleset, g, seed) for g in range(games)]
    players = np.array(pairs)[number % len(pairs)]
    seeds = np.array([chain(seed, int(n)) for n in number], np.uint64)
    chosen = np.take_along_axis(players, np.stack(seats), axis=1)
    return Layout(chosen, seeds, number % len(pairs))


@dataclass(frozen=True)
class Plan:
    """Everything about a recording that is settled before it starts."""

    policies: list[Policy]
    world: str
    games: int
    seed: int
    patch: str | dict[str, Any]
    champions: Any
    header: Header
    keep: NDArray[np.bool_]  # by policy
    layout: Layout | None  # outside games: one policy in every seat
    batch: int  # games of the first batch: they fit even if all last their full time

    def next_batch(self, games: int, rows: int) -> int:
        """How many games to play next, when the last `games` left so many rows."""
        if self.layout is None:  # seeds of outside games follow from the batch
            return self.batch
        room = BATCH_BYTES * games // max(1, rows * row_width(self.header))
        return max(2, min(BATCH, room // 2 * 2))

    def open(self, first: int, last: int) -> World:
        """A world with the games first..last-1 in it."""
        if self.layout is None:
            return make(self.world, last - first, seed=chain(self.seed, first))
        header = self.header
        shown = dict.fromkeys((*views_of(self.policies), *header.view_names))
        return make(
            self.world,
            last - first,
            views=views_of(self.policies) if header.lazy else tuple(shown),
            match_seeds=self.layout.seeds[first:last],
            auto_reset=False,
            patch=self.patch,
            champions=self.champions,
            decision_ticks=header.decision_ticks,
        )

    def seats(self, first: int, last: int) -> NDArray[np.int64]:
        """Policy numbers [M, P] of these games."""
        if self.layout is None:
            return np.zeros((last - first, self.header.num_players), np.int64)
        return self.layout.seats[first:last]

    def seeds(self, first: int, last: int) -> NDArray[np.uint64]:
        """Match seeds [M] of these games."""
        if self.layout is None:
            base = chain(self.seed, first)
            return np.array([match_seed(base, m, 0) for m in range(last - first)], np.uint64)
        return self.layout.seeds[first:last]


def default_folder(header: Header) -> Path:
    """Where a shard goes that was given no place; what it holds follows from its config."""
    return folder("lake") / "trajectories" / shard_name(header.config_sha256)


def make_plan(
    policies: Sequence[Policy | str],
    world: str,
    games: int,
    seed: int,
    *,
    names: Sequence[str] | None,
    keep: Sequence[str] | None,
    views: Sequence[str] | None,
    patch: str | dict[str, Any],
    champions: Any,
    lazy: bool,
) -> Plan:
    """Check what is asked for and lay the games out."""
    outside = ":" in world
    if not outside and world not in WORLDS:
        raise unknown_name("world", world, (*WORLDS, "gym:<id>", "zoo:<module>"))
    check_seed(seed)
    _check_request(world, policies, games, outside, lazy)
    loaded = [find(policy) if isinstance(policy, str) else policy for policy in policies]
    called = list(names) if names is not None else [_name(policy) for policy in policies]
    for name in keep or ():
        check_known("policy to keep", name, called)
    options = {} if outside else {"patch": patch, "champions": champions}
    probe = make(world, 1, **options, views=tuple(views) if views else ("features",))
    try:
        described = [
            {"name": name, "hash": policy.content_hash, "log_probs": policy.knows_log_probs}
            for name, policy in zip(called, loaded, strict=True)
        ]
        grid = 1 if outside else _grid(loaded, probe.spec.tick_hz)
        stored = tuple(views) if views else probe.spec.flat_views
        config = {
            "policies": described,
            "world": world,
            "world_version": probe.spec.version,
            "games": games,
            "seed": seed,
            "keep": sorted(keep or called),
            "views": list(stored),
            "patch": _patch(probe)["sha256"],
            "champions": champions,
            "lazy": lazy,
        }
        header = header_of(
            probe.spec,
            stored,
            patch=_patch(probe),
            views=LAZY if lazy else STORED,
            decision_ticks=grid,
            champions=champions,
            policies=described,
            made_by=f"levelcap {levelcap.__version__} record",
            source="self-play" if any(p["log_probs"] for p in described) else "scripted",
            config=config,
            parents=[f"policy {p['name']} {p['hash']}" for p in described],
        )
        limit = OUTSIDE_DECISIONS if outside else probe.rules.time_limit // grid
    finally:
        probe.close()
    wanted = np.array([keep is None or name in keep for name in called])
    layout = None if outside else lay_out(world, len(loaded), games, seed)
    room = BATCH_BYTES // (limit * header.num_players * row_width(header))
    return Plan(
        loaded,
        world,
        games,
        seed,
        patch,
        champions,
        header,
        wanted,
        layout,
        batch=int(max(2, min(OUTSIDE_BATCH if outside else BATCH, room // 2 * 2))),
    )


def _check_request(
    world: str, policies: Sequence[Policy | str], games: int, outside: bool, lazy: bool
) -> None:
    if games < 1:
        raise BadValue(refuse("games must be at least 1", games, "Give --games 2 or more"))
    if not policies:
        raise BadValue(refuse("nobody to record", [], "Name a policy, e.g. master"))
    if outside and len(policies) > 1:
        raise BadValue(refuse("an outside game takes one policy", len(policies), "Name one"))
    if outside and lazy:
        remedy = f"Store the views of {world}"
        raise BadValue(refuse("outside games cannot be replayed", "lazy", remedy))


def _grid(policies: Sequence[Policy], tick_hz: int) -> int:
    """Ticks of a decision: a shard's rows are decisions, so everybody decides equally often."""
    ticks = {ticks_of(policy, tick_hz) for policy in policies}
    if len(ticks) > 1:
        remedy = "Record policies of one rate together"
        raise BadValue(refuse("these policies decide at different rates", sorted(ticks), remedy))
    return ticks.pop()


def _name(policy: Policy | str) -> str:
    if isinstance(policy, str):
        return policy
    return policy.name or f"{type(policy).__name__.lower()}-{policy.content_hash[:12]}"


def row_width(header: Header) -> int:
    """Bytes of a collected row."""
    names = () if header.lazy else header.view_names
    return header.row_bytes(names) + (0 if header.lazy else header.mask_size)


def _patch(world: World) -> dict[str, Any]:
    """Of an edited patch also the content; outside games have none."""
    if world.patch is None:
        return {"name": "", "sha256": "", "content": None}
    return describe_patch(world.patch)
