"""Sizes and names of everything that goes in and out of a world.

The one table of views, columns and action heads: nets, lake and adapters read sizes from a
`WorldSpec` and never carry constants of their own. Nothing here imports numba, so reading a spec
costs nothing.

The arena views (floats are float32, everything in the viewer's frame: team 1 of a two-team
ruleset sees the world rotated by 180 degrees):

    features  [19]      the flat baseline
    player    [16]      the player's own body and champion
    objects   [16, 20]  slots by class, nearest first in each class; unused slots are zero
    context   [16]      counts, walls, objective, clock
    summary   [192]     player, context and the 8 nearest objects without shots: one moment to keep
    body      [64]      player, context, nearest enemy, last action, velocity
    team      [128]     true state of the own team and the structures, for a critic only
    frame     [64, 64, 3] uint8
    mask      [52]      which bins of which head are allowed now

A dead player's views are zero; `team` alone goes on, because a critic values dead steps too.
"""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import Literal, get_args

WORLD_VERSION = 1
RULESETS = ("duel", "lms", "siege", "crown")
TICK_HZ = 30  # ticks a second, unless asked otherwise
TICK_RATES = (TICK_HZ, 60)
DECISIONS_HZ = 10  # how often a player decides, whatever the tick rate
# A ruleset at another tick rate is another world and has another name: nothing that is kept by the
# name of its world (shards, checkpoints, ratings, champions) ever mixes the two.
WorldName = Literal[
    "duel", "lms", "siege", "crown", "duel-60hz", "lms-60hz", "siege-60hz", "crown-60hz"
]
WORLDS: tuple[str, ...] = get_args(WorldName)
INTENTS = ("FIGHT", "LOOT", "FLEE", "EXPLORE", "CAUTIOUS")


@dataclass(frozen=True)
class Head:
    """One categorical action head. `uses` says when the head counts (see `WorldSpec.aim_heads`)."""

    name: str
    size: int


MOVE_BINS = 11
HEADS = (
    Head("move_x", MOVE_BINS),
    Head("move_y", MOVE_BINS),
    Head("aim_x", MOVE_BINS),
    Head("aim_y", MOVE_BINS),
    Head("fire", 2),
    Head("ability", 4),
    Head("interact", 2),
)
HEAD_OFFSETS = (0, 11, 22, 33, 44, 46, 50)
MASK_SIZE = 52

FEATURES = (
    "px", "py", "vx", "vy", "hp", "ammo", "zone_x", "zone_y", "zone_radius", "is_safe",
    "enemy_x", "enemy_y", "enemy_hp", "item_x", "item_y", "n_entities", "n_items",
    "enemy_dist", "item_dist",
)  # fmt: skip
# Roster entries 0-7 are one-hot over the eight champion columns; entry 8 and later (champions
# that patches add) are two-hot, pairs in lexicographic order; the base champion is all zero.
PLAYER = (
    "hp", "shield", "ammo", "fire_cooldown", "cooldown_q", "cooldown_e", "cooldown_r", "status",
    "champion_0", "champion_1", "champion_2", "champion_3", "champion_4", "champion_5",
    "champion_6", "champion_7",
)  # fmt: skip
OBJECT_SLOTS = 16
OBJECT = (
    "dx", "dy", "distance", "dir_x", "dir_y", "vx", "vy", "hp", "shield", "is_enemy", "is_loot",
    "is_ally", "is_other", "age", "visible", "is_player", "is_structure", "is_creep", "is_shot",
    "detail",
)  # fmt: skip
CONTEXT = (
    "px", "py", "num_enemies", "num_allies", "num_items", "enemy_dist", "threat", "loot_value",
    "wall_right", "wall_up", "wall_left", "wall_down", "goal_x", "goal_y", "goal_state", "clock",
)  # fmt: skip
FRAME_SIZE = 64

# `summary`: the 8 nearest used slots of `objects` that are no shots, by distance, ties by slot;
# missing ones are zero.
SUMMARY_OBJECTS = 8
SUMMARY = (
    *PLAYER,
    *CONTEXT,
    *(f"object_{k}_{name}" for k in range(SUMMARY_OBJECTS) for name in OBJECT),
)
# `body`: the enemy is the first slot of `objects` (nearest, seen or remembered). The last action is
# the one held now: move and aim (bin - 5) / 5 in [-1, 1], fire and interact 0 or 1, ability
# bin / 3; all zero at a match's first decision. Velocity as in `features`. Three zeros make it 64.
BODY = (
    *PLAYER,
    *CONTEXT,
    *(f"enemy_{name}" for name in OBJECT),
    *(f"last_{head.name}" for head in HEADS),
    "vx",
    "vy",
    "zero_0",
    "zero_1",
    "zero_2",
)
# `team`: five rows of members (the viewer first, the others by seat; of a dead one only `respawn`,
# of a seat that the ruleset does not have nothing), then own and enemy structures, then the match.
# The same size in every ruleset, so that a critic can move from one to another.
TEAM_MEMBERS = 5
MEMBER = ("alive", "respawn", "px", "py", "vx", "vy", *PLAYER)
STRUCTURE = ("hp", "detail")  # share left; 0 invulnerable, 0.5 attackable alone, 1 escorted
STRUCTURES = tuple(
    f"{side}_{kind}" for side in ("own", "enemy") for kind in ("outer", "inner", "core")
)
STANDING = ("clock", "zone_radius", "balance", "own_score", "enemy_score", "own_creeps")
TEAM = (
    *(f"member_{k}_{name}" for k in range(TEAM_MEMBERS) for name in MEMBER),
    *(f"{structure}_{name}" for structure in STRUCTURES for name in STRUCTURE),
    *STANDING,
)

# Classes of object slots per ruleset: (class, first slot, slots), always 16 together.
OBJECT_CLASSES = {
    "duel": (("enemy", 0, 1), ("item", 1, 5), ("shot", 6, 10)),
    "lms": (("enemy", 0, 9), ("item", 9, 3), ("shot", 12, 4)),
    "siege": (("enemy", 0, 5), ("ally", 5, 4), ("structure", 9, 3), ("rest", 12, 4)),
    "crown": (("enemy", 0, 5), ("ally", 5, 4), ("structure", 9, 3), ("rest", 12, 4)),
}

# What a flat policy reads unless told otherwise, flattened in this order: 371 numbers. With
# `features` alone (no velocities, no shots) the duellist ends at half the strength against master
# (benchmarks/log).
FLAT_VIEWS = ("features", "player", "context", "objects")

# Recordings that are no ruleset of ours: their 19 numbers mean something else, so each kind is a
# world of its own, learned from and never played; nothing can take one for the other.
FEEDBACK = (
    "clock", "in_match", "lobby", "canvas_visible", "action_ok", "num_keys", "zero_0", "zero_1",
    "zero_2", "zero_3", "key_down", "pointer_move", "click_0", "cursor_moves", "cursor_visible",
    "focus_events", "blur_events", "play_visible", "character_visible",
)  # fmt: skip
WATCH = (
    "clock", "x", "y", "dx", "dy", "left", "right", "wheel", "num_keys", "key_w", "key_a", "key_s",
    "key_d", "key_q", "key_e", "key_r", "key_space", "key_ctrl", "idle",
)  # fmt: skip
RECORDED = {"feedback": FEEDBACK, "watch": WATCH}


@dataclass(frozen=True)
class ViewSpec:
    """Shape of one view for one player (without the match and player axes) and its dtype.

    `critic_only`: it holds what a player cannot know. A value may be learned from it; whoever acts
    may not read it, and it is in no exported graph.
    """

    shape: tuple[int, ...]
    dtype: str = "float32"
    columns: tuple[str, ...] = ()
    critic_only: bool = False

    @property
    def size(self) -> int:
        """Number of values of one player's view."""
        total = 1
        for extent in self.shape:
            total *= extent
        return total


ARENA_VIEWS = {
    "features": ViewSpec((len(FEATURES),), columns=FEATURES),
    "player": ViewSpec((len(PLAYER),), columns=PLAYER),
    "objects": ViewSpec((OBJECT_SLOTS, len(OBJECT)), columns=OBJECT),
    "context": ViewSpec((len(CONTEXT),), columns=CONTEXT),
    "summary": ViewSpec((len(SUMMARY),), columns=SUMMARY),
    "body": ViewSpec((len(BODY),), columns=BODY),
    "team": ViewSpec((len(TEAM),), columns=TEAM, critic_only=True),
    "frame": ViewSpec((FRAME_SIZE, FRAME_SIZE, 3), "uint8"),
}


@dataclass(frozen=True)
class WorldSpec:
    """What a policy, a net or a recording must know of a world: sizes and names, no code.

    `aim_heads` are the heads that count only when one of `aim_users` is used (fire = 1 or
    ability other than none); log-probability, entropy, KL and imitation loss sum over used heads.
    An outside game has no such heads.
    """

    name: str
    num_players: int
    num_teams: int
    heads: tuple[Head, ...]
    views: dict[str, ViewSpec]
    flat_views: tuple[str, ...]
    gamma: float = 0.99
    aim_heads: tuple[int, ...] = ()
    aim_users: tuple[int, ...] = ()
    version: int = WORLD_VERSION
    patch: str = ""
    tick_hz: int = TICK_HZ
    single_agent: bool = False
    extras: dict[str, object] = field(default_factory=dict)

    @property
    def ruleset(self) -> str:
        """The rules without the tick rate; an outside game's own name."""
        return split_world(self.name)[0]

    @property
    def mask_size(self) -> int:
        """Length of the mask row: all bins of all heads, one after the other."""
        return sum(head.size for head in self.heads)

    @property
    def head_offsets(self) -> tuple[int, ...]:
        """Where each head's bins start in the mask row."""
        offsets, total = [], 0
        for head in self.heads:
            offsets.append(total)
            total += head.size
        return tuple(offsets)

    @property
    def acting_views(self) -> tuple[str, ...]:
        """Views that a policy may read: all but those for critics."""
        return tuple(name for name, view in self.views.items() if not view.critic_only)


_TEAMS = {"duel": (2, 2), "lms": (10, 10), "siege": (10, 2), "crown": (10, 2)}
_GAMMA = {"duel": 0.99, "lms": 0.995, "siege": 0.998, "crown": 0.998}


def world_name(ruleset: str, tick_hz: int = TICK_HZ) -> str:
    """The name of a ruleset at a tick rate: `duel`, `duel-60hz`."""
    return ruleset if tick_hz == TICK_HZ else f"{ruleset}-{tick_hz}hz"


def split_world(name: str) -> tuple[str, int]:
    """Ruleset and tick rate of one of `WORLDS`; any other name is given back, at `TICK_HZ`."""
    ruleset, _, rate = name.rpartition("-")
    if name in WORLDS and rate.endswith("hz"):
        return ruleset, int(rate.removesuffix("hz"))
    return name, TICK_HZ


def arena_spec(world: str, patch: str = "1.0") -> WorldSpec:
    """The spec of one of our own rulesets. The name must be one of `WORLDS`."""
    ruleset, tick_hz = split_world(world)
    num_players, num_teams = _TEAMS[ruleset]
    return WorldSpec(
        name=world,
        num_players=num_players,
        num_teams=num_teams,
        heads=HEADS,
        views=ARENA_VIEWS,
        flat_views=FLAT_VIEWS,
        gamma=_GAMMA[ruleset],
        aim_heads=(2, 3),
        aim_users=(4, 5),
        patch=patch,
        tick_hz=tick_hz,
    )


def recorded_spec(world: str) -> WorldSpec:
    """The spec of one of `RECORDED`: one player, the arena's heads, 19 numbers of its own."""
    columns = RECORDED[world]
    return WorldSpec(
        name=world,
        num_players=1,
        num_teams=1,
        heads=HEADS,
        views={world: ViewSpec((len(columns),), columns=columns)},
        flat_views=(world,),
        aim_heads=(2, 3),
        aim_users=(4, 5),
        single_agent=True,
    )
