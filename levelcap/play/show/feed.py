"""Who fell, and by whom as far as an onlooker can tell.

The rules forget who struck whom as soon as it is counted, so this looks at two moments of a match:
a shot that ends at the fallen player, a blast around them, a tower's beam, creeps, the zone. What
it says is shown beside a match and never counted for anything.
"""

from __future__ import annotations

import math
from typing import Any

from levelcap.world.rules.combat import AREA, BLAST

NOBODY = -1
CREEP_REACH = 1.5  # more than the creeps' own reach: they move within a moment


def fallen(rules: Any, before: Any, after: Any) -> list[dict[str, Any]]:
    """Everybody who died between two moments: victim, killer (a seat, or -1) and cause."""
    died = (before["alive"] == 1) & (after["alive"] == 0)
    found = []
    for victim in range(rules.num_players):
        if died[victim]:
            killer, cause = _cause(rules, before, after, victim)
            fall = {"victim": victim, "killer": killer, "cause": cause}
            found.append({"type": "fallen", "tick": int(after["tick"]), **fall})
    return found


def _cause(rules: Any, before: Any, after: Any, victim: int) -> tuple[int, str]:
    for look in (_by_shot, _by_blast, _by_structure, _by_creep):
        if (found := look(rules, before, after, victim)) is not None:
            return found
    outside = math.hypot(
        after["x"][victim] - after["zone"][0], after["y"][victim] - after["zone"][1]
    )
    zone = bool(rules.has_zone) and outside > after["zone"][2]
    return NOBODY, "zone" if zone else "unknown"


def _by_shot(rules: Any, before: Any, after: Any, victim: int) -> tuple[int, str] | None:
    """The enemy shot whose way passes nearest."""
    ticks = max(1, int(after["tick"]) - int(before["tick"]))
    x, y = float(after["x"][victim]), float(after["y"][victim])
    best, nearest = None, rules.hit_radius + 0.5
    for k in range(int(before["num_shots"])):
        owner = int(before["shot_owner"][k])
        if owner // rules.team_size == victim // rules.team_size:
            continue
        sx, sy = float(before["shot_x"][k]), float(before["shot_y"][k])
        vx, vy = float(before["shot_vx"][k]) * ticks, float(before["shot_vy"][k]) * ticks
        share = ((x - sx) * vx + (y - sy) * vy) / max(1e-9, vx * vx + vy * vy)
        share = min(1.0, max(0.0, share))
        away = math.hypot(sx + share * vx - x, sy + share * vy - y)
        if away < nearest:
            best, nearest = (owner, "shot"), away
    return best


def _by_blast(rules: Any, before: Any, after: Any, victim: int) -> tuple[int, str] | None:
    for p in range(rules.num_players):
        slot = int(after["ability"][p]) - 1
        if slot < 0 or p // rules.team_size == victim // rules.team_size:
            continue
        c = int(after["champion"][p])
        begun = int(after["wait"][p, slot]) > int(before["wait"][p, slot])
        if not begun or int(rules.ability_kind[c, slot]) != BLAST:
            continue
        ax, ay = float(after["aim_x"][p]), float(after["aim_y"][p])
        share = min(1.0, float(rules.ability_range[c, slot]) / max(1e-9, math.hypot(ax, ay)))
        x, y = float(before["x"][p]) + ax * share, float(before["y"][p]) + ay * share
        if math.hypot(after["x"][victim] - x, after["y"][victim] - y) <= AREA + 1.0:
            return p, "blast"
    return None


def _by_structure(rules: Any, before: Any, after: Any, victim: int) -> tuple[int, str] | None:
    if rules.has_lane and (before["tower_target"] == victim).any():
        return NOBODY, "tower"
    return None


def _by_creep(rules: Any, before: Any, after: Any, victim: int) -> tuple[int, str] | None:
    if not rules.has_lane:
        return None
    side = 1 - victim // rules.team_size
    for c in range(rules.creep_most * side, rules.creep_most * (side + 1)):
        away = math.hypot(
            before["creep_x"][c] - after["x"][victim], before["creep_y"][c] - after["y"][victim]
        )
        if before["creep_hp"][c] > 0 and away <= rules.creep_reach + CREEP_REACH:
            return NOBODY, "creep"
    return None
