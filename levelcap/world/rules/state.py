"""The whole game state of many matches: one structured array, one record a match.

Everything a match's future depends on is in its record: copying the array is a snapshot, and
hashing one record says whether two replays agree. A kernel works on one record `g` at a time, all
of it close together in memory; Python reads a column of all matches as `state["x"]` [M, P].

Sizes: P players, T teams, S shot slots, I item slots, C creep slots (first half side 0), 6
structures (outer tower, inner tower, core of side 0, then of side 1). hp, shield and damage are
integers in thousandths.
"""

from __future__ import annotations

import hashlib
from typing import Any

import numpy as np
from numpy.typing import NDArray

from levelcap.world.rules.rulebook import Rules

# name: (size letters, type); no letters = one number a match. Wide types first: no gaps.
FIELDS: dict[str, tuple[str, str]] = {
    "seed": ("", "u8"),
    "restart": ("", "i8"),
    "zone": ("3", "f8"),  # x, y, radius
    "x": ("P", "f8"),
    "y": ("P", "f8"),
    "vx": ("P", "f8"),  # per tick
    "vy": ("P", "f8"),
    "dir_x": ("P", "f8"),
    "dir_y": ("P", "f8"),
    "move_x": ("P", "f8"),  # inputs of this decision, world frame
    "move_y": ("P", "f8"),
    "aim_x": ("P", "f8"),
    "aim_y": ("P", "f8"),
    "dash_x": ("P", "f8"),
    "dash_y": ("P", "f8"),
    "ward_x": ("P", "f8"),
    "ward_y": ("P", "f8"),
    "shot_x": ("S", "f8"),
    "shot_y": ("S", "f8"),
    "shot_vx": ("S", "f8"),
    "shot_vy": ("S", "f8"),
    "item_x": ("I", "f8"),
    "item_y": ("I", "f8"),
    "creep_x": ("C", "f8"),
    "creep_y": ("C", "f8"),
    "creep_vx": ("C", "f8"),
    "creep_vy": ("C", "f8"),
    "seen_x": ("TP", "f8"),  # what each team knows of each player
    "seen_y": ("TP", "f8"),
    "seen_vx": ("TP", "f8"),
    "seen_vy": ("TP", "f8"),
    "tick": ("", "i4"),
    "decision": ("", "i4"),
    "num_shots": ("", "i4"),
    "stand": ("", "i4"),  # objective balance of side 0, thousandths
    "num_deaths": ("", "i4"),
    "early_deaths": ("", "i4"),  # within 3 s of a respawn
    "lead_changes": ("", "i4"),
    "score": ("2", "i4"),  # crown points, thousandths
    "hp": ("P", "i4"),
    "shield": ("P", "i4"),
    "ammo": ("P", "i4"),
    "champion": ("P", "i4"),
    "fire_wait": ("P", "i4"),
    "reload": ("P", "i4"),
    "dash": ("P", "i4"),
    "snare": ("P", "i4"),
    "invulnerable": ("P", "i4"),
    "respawn": ("P", "i4"),
    "ward": ("P", "i4"),
    "live_shots": ("P", "i4"),
    "since_spawn": ("P", "i4"),
    "wait": ("P3", "i4"),  # ability cooldowns
    "hurt": ("P", "i4"),  # sums of one tick, zero between ticks
    "heal": ("P", "i4"),
    "hit_by": ("P", "i4"),  # bit mask of seats
    "dealt": ("P", "i4"),  # sums of one decision, zero between decisions
    "taken": ("P", "i4"),
    "kills": ("P", "i4"),
    "picked": ("P", "i4"),
    "shot_life": ("S", "i4"),
    "shot_owner": ("S", "i4"),
    "shot_damage": ("S", "i4"),
    "item_kind": ("I", "i4"),
    "creep_hp": ("C", "i4"),
    "creep_target": ("C", "i4"),
    "creep_hurt": ("C", "i4"),
    "tower_hp": ("6", "i4"),
    "tower_target": ("6", "i4"),
    "tower_time": ("6", "i4"),
    "tower_hurt": ("6", "i4"),
    "seen_tick": ("TP", "i4"),
    "seen_hp": ("TP", "i4"),
    "over": ("", "i1"),
    "winner": ("", "i1"),  # team, or -1 for a draw or none yet
    "leader": ("", "i1"),
    "alive": ("P", "i1"),
    "out": ("P", "i1"),  # terminated for good
    "fire": ("P", "i1"),
    "ability": ("P", "i1"),
    "interact": ("P", "i1"),
    "seen_now": ("TP", "i1"),
    "held": ("P7", "u1"),  # last action carried out, viewer's frame
}

State = NDArray[Any]


def state_dtype(rules: Rules) -> np.dtype[Any]:
    """The record of one match under these rules."""
    # duel has a small record of its own; the ten-player rulesets share one, and compiled code.
    small = rules.num_players == 2
    sizes = {
        "P": 2 if small else 10,
        "T": 2 if small else 10,
        "S": (2 if small else 10) * rules.max_live,
        "I": rules.item_most,
        "C": 2 if small else 2 * rules.creep_most,
    }

    def shape(letters: str) -> tuple[int, ...]:
        return tuple(sizes[c] if c in sizes else int(c) for c in letters)

    return np.dtype([(n, t, shape(letters)) for n, (letters, t) in FIELDS.items()], align=True)


def allocate(num_matches: int, rules: Rules) -> State:
    """Zeroed state of `num_matches` matches; every match still has to be started."""
    return np.zeros(num_matches, state_dtype(rules))


def match_hash(state: State, match: int) -> str:
    """Hash of one match's record (16 hex digits); the batch around it does not enter."""
    digest = hashlib.sha256()
    live = int(state["num_shots"][match])
    for name in FIELDS:
        if name == "restart":
            continue
        row = np.ascontiguousarray(state[name][match])
        if name.startswith("shot_"):  # slots beyond the live ones hold leftovers
            row = row[:live]
        digest.update(row.tobytes())
    return digest.hexdigest()[:16]
