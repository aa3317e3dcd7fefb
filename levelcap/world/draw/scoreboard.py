"""What a spectator needs in words: objective, time left, how the sides stand, who won and why.

Read by the picture for people and by the terminal view, so that both tell the same story.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any

from levelcap.world.rules.patches import champion_names
from levelcap.world.rules.rulebook import MILLI

TITLES = {"duel": "DUEL", "lms": "LAST ONE STANDING", "siege": "SIEGE", "crown": "CROWN"}
TEAM_LABELS = ("BLUE", "RED")


@dataclass(frozen=True)
class Side:
    """One team, or one player where everybody plays alone."""

    label: str  # BLUE, RED; lms: PLAYER 0 to PLAYER 9
    policy: str  # "" when not given
    alive: int
    size: int
    parts: tuple[tuple[float, float], ...]  # (now, full) of what decides: hp, structures, points

    @property
    def amount(self) -> float:
        """What decides, summed."""
        return sum(now for now, _ in self.parts)

    @property
    def name(self) -> str:
        """Label and policy."""
        return f"{self.label} {self.policy}".strip()


@dataclass(frozen=True)
class Scoreboard:
    """How one match stands."""

    title: str
    objective: str
    clock: str  # mm:ss left
    seconds: float  # played
    seconds_left: float
    sides: tuple[Side, ...]
    unit: str  # of the amounts
    leader: int  # side that is ahead, -1 when level
    over: bool
    winner: int  # -1: draw, or not over
    reason: str  # why it ended, "" before

    @property
    def headline(self) -> str:
        """Who won in two words, e.g. BLUE WINS; DRAW; empty before the end."""
        if not self.over:
            return ""
        return f"{self.sides[self.winner].label} WINS" if self.winner >= 0 else "DRAW"

    @property
    def num_left(self) -> int:
        """Sides with somebody alive."""
        return sum(side.alive > 0 for side in self.sides)


def minutes(seconds: float) -> str:
    """mm:ss, whole seconds."""
    whole = max(0, int(seconds))
    return f"{whole // 60:02d}:{whole % 60:02d}"


def read_scoreboard(world: Any, match: int = 0, names: Sequence[str] = ()) -> Scoreboard:
    """The standing of one match.

    names: policies, one a side (two of the two teams, ten in lms); others are left out.
    """
    g, rules = world.state[match], world.rules
    sides = tuple(_side(world, g, team, names) for team in range(rules.num_teams))
    left = (rules.time_limit - int(g["tick"])) / rules.tick_hz
    over = bool(g["over"])
    goal = rules.crown_goal // MILLI
    objective = "LAST ONE ALIVE WINS"
    if rules.has_lane:
        objective = "DESTROY THE ENEMY CORE"
    elif rules.has_crown:
        objective = f"HOLD THE CENTRE: FIRST TO {goal}"
    elif rules.num_teams == 2:
        objective = "DEFEAT THE OPPONENT"
    return Scoreboard(
        title=TITLES[world.ruleset],
        objective=objective,
        clock=minutes(left + 0.999),  # the last second reads 00:01, the end 00:00
        seconds=int(g["tick"]) / rules.tick_hz,
        seconds_left=left,
        sides=sides,
        unit="POINTS" if rules.has_crown else "HP",
        leader=_leader(sides),
        over=over,
        winner=int(g["winner"]) if over else -1,
        reason=_reason(world, g, sides, goal) if over else "",
    )


def player_letter(world: Any, match: int, seat: int) -> str:
    """The champion's initial; without champions the side's; in lms the seat."""
    if world.rules.num_teams > 2:
        return f"{seat}"
    champion = int(world.state["champion"][match, seat])
    if champion:
        return champion_names(world.patch)[champion][0]
    return TEAM_LABELS[seat // world.rules.team_size][0]


def _side(world: Any, g: Any, team: int, names: Sequence[str]) -> Side:
    rules = world.rules
    seats = range(team * rules.team_size, (team + 1) * rules.team_size)
    if rules.has_lane:
        towers = range(3 * team, 3 * team + 3)
        parts = [(g["tower_hp"][t] / MILLI, rules.tower_hp[t] / MILLI) for t in towers]
    elif rules.has_crown:
        parts = [(g["score"][team] / MILLI, rules.crown_goal / MILLI)]
    else:
        parts = [(g["hp"][p] / MILLI, rules.champ_hp[g["champion"][p]] / MILLI) for p in seats]
    return Side(
        label=TEAM_LABELS[team] if rules.num_teams == 2 else f"PLAYER {team}",
        policy=names[team] if len(names) == rules.num_teams else "",
        alive=int(sum(g["alive"][p] for p in seats)),
        size=rules.team_size,
        parts=tuple((float(max(0, now)), float(full)) for now, full in parts),
    )


def _leader(sides: tuple[Side, ...]) -> int:
    amounts = [side.amount for side in sides]
    best = max(amounts)
    return amounts.index(best) if amounts.count(best) == 1 else -1


def _reason(world: Any, g: Any, sides: tuple[Side, ...], goal: int) -> str:
    """Why the match ended, as `contest.judge` decided it."""
    rules, drawn = world.rules, int(g["winner"]) < 0
    if rules.has_lane and min(g["tower_hp"][2], g["tower_hp"][5]) <= 0:
        return "BOTH CORES DESTROYED" if drawn else "CORE DESTROYED"
    if rules.has_crown and max(g["score"]) >= rules.crown_goal:
        return f"{goal} POINTS"
    if not rules.respawns and sum(side.alive for side in sides) <= 1:
        if drawn:
            return "NOBODY LEFT STANDING"
        return "OPPONENT DEFEATED" if rules.num_teams == 2 else "LAST ONE STANDING"
    what = "STRUCTURE HP" if rules.has_lane else ("POINTS" if rules.has_crown else "HP")
    return f"TIME: EQUAL {what}" if drawn else f"TIME: MORE {what}"
