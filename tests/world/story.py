"""A match as text a person can follow: who is where, who falls, what is taken, how it ends.

    text = describe(load(path).play())

The story is read off the state between decisions, so two matches with the same text went the same
way to the printed decimal. Golden tests keep one story per ruleset; a rule change shows as a diff.

Names: A and B in duel, A1-A5 and B1-B5 in siege and crown, P0-P9 in lms. Places are (x, y) in
world coordinates, hp in points.
"""

from __future__ import annotations

from collections.abc import Iterable
from typing import TYPE_CHECKING, Any

import numpy as np

from levelcap.world.rules.patch_checks import EFFECTS, ITEM_KINDS
from levelcap.world.rules.patches import champion_names
from levelcap.world.spec import TICK_HZ, WORLD_VERSION

if TYPE_CHECKING:
    from levelcap.world.match import ArenaWorld

STRUCTURES = ("outer tower", "inner tower", "core")
SCORE_STEP = 10  # crown points between two lines
# Seconds between two lines of everybody's place: ten players need more room than two.
PERIOD_S = {"duel": 1, "lms": 5, "siege": 5, "crown": 5}


def describe(moments: Iterable[ArenaWorld]) -> str:
    """The story of the first match of a world, given at its start and after every decision.

    moments: what `Replay.play` yields; a world that does not restart its matches.
    """
    lines: list[str] = []
    story: Story | None = None
    for world in moments:
        if story is None:
            story = Story(world)
            lines += story.opening()
        else:
            lines += story.news()
    if story is not None:
        lines += story.ending()
    return "\n".join(lines) + "\n"


class Story:
    """Watches one match of a world and puts into words what changed since it last looked."""

    def __init__(self, world: ArenaWorld, match: int = 0) -> None:
        self.world, self.match = world, match
        self.before = world.state[match].copy()
        self.champions = champion_names(world.patch)
        self.placed = -1  # tick of the last line of places

    def name(self, seat: int) -> str:
        """What the story calls a seat."""
        rules = self.world.rules
        if rules.num_teams > 2:
            return f"P{seat}"
        team = "AB"[seat // rules.team_size]
        return team if rules.team_size == 1 else f"{team}{seat % rules.team_size + 1}"

    def opening(self) -> list[str]:
        """Title, line-up and everybody's place."""
        world, now = self.world, self.world.state[self.match]
        title = (
            f"{world.ruleset}, patch {world.patch['name']}, world version {WORLD_VERSION}, "
            f"seed {int(now['seed'])}, a decision every {world.decision_ticks} ticks"
        )
        if world.spec.tick_hz != TICK_HZ:
            title += f", {world.spec.tick_hz} ticks a second"
        lineup = [
            f"{self.name(p)} {self.champions[now['champion'][p]]}"
            for p in range(world.rules.num_players)
        ]
        return [title, ", ".join(lineup), "", *self._places(now)]

    def news(self) -> list[str]:
        """Lines about everything since the last call; call it after every decision."""
        now, then = self.world.state[self.match].copy(), self.before
        self.before = now
        when = f"{self._seconds(now):6.1f} s  "
        events = [
            *self._abilities(then, now),
            *self._pickups(then, now),
            *self._lives(then, now),
            *self._objectives(then, now),
        ]
        lines = [when + event for event in events]
        period = PERIOD_S[self.world.ruleset] * self.world.spec.tick_hz
        if now["tick"] // period > then["tick"] // period:
            lines += self._places(now)
        return lines

    def ending(self) -> list[str]:
        """How the match ended, and why."""
        now, rules = self.world.state[self.match], self.world.rules
        lines = [""] if self.placed == now["tick"] else ["", *self._places(now)]
        when = f"{self._seconds(now):6.1f} s  "
        if not now["over"]:
            return [*lines, f"{when}the story breaks off"]
        late = int(now["tick"]) >= rules.time_limit
        if rules.has_lane:
            reason = "time is up" if (now["tower_hp"][[2, 5]] > 0).all() else "a core has fallen"
        elif rules.has_crown:
            reason = (
                "the goal is reached" if max(now["score"]) >= rules.crown_goal else "time is up"
            )
        else:
            reason = "time is up" if late and now["alive"].sum() > 1 else "nobody else is alive"
        winner = int(now["winner"])
        if winner < 0:
            return [*lines, f"{when}draw: {reason}"]
        side = self.name(winner) if rules.team_size == 1 else f"team {'AB'[winner]}"
        return [*lines, f"{when}{side} wins: {reason}"]

    def _places(self, now: Any) -> list[str]:
        rules = self.world.rules
        self.placed = int(now["tick"])
        head = f"{self._seconds(now):6.1f} s  "
        parts = []
        if rules.has_zone:
            parts.append(f"zone {now['zone'][2]:.1f}")
        if rules.has_crown:
            parts.append("score {:.1f} : {:.1f}".format(*(now["score"] / 1000)))
        if rules.has_lane:
            half = rules.creep_most
            creeps = now["creep_hp"] > 0
            parts.append(f"creeps {creeps[:half].sum()} : {creeps[half:].sum()}")
            hp = [f"{value / 1000:.0f}" for value in now["tower_hp"]]
            parts.append(f"structures {' '.join(hp[:3])} : {' '.join(hp[3:])}")
        parts.append(f"items {int((now['item_kind'] > 0).sum())}")
        parts.append(f"shots {int(now['num_shots'])}")
        lines = [head + ", ".join(parts)]
        seats = [self._body(now, p) for p in range(rules.num_players)]
        row = 2 if rules.num_players == 2 else 5
        for first in range(0, len(seats), row):
            lines.append(" " * len(head) + "  ".join(seats[first : first + row]).rstrip())
        return lines

    def _seconds(self, now: Any) -> float:
        return int(now["tick"]) / self.world.spec.tick_hz

    def _body(self, now: Any, p: int) -> str:
        if not now["alive"][p]:
            wait = f"back in {now['respawn'][p] / self.world.spec.tick_hz:.1f} s"
            return f"{self.name(p):<2} {'out' if now['out'][p] else wait:<31}"
        place = f"({_number(now['x'][p]):>6}, {_number(now['y'][p]):>6})"
        hp = f"{now['hp'][p] / 1000:.1f}"
        shield = f"+{now['shield'][p] / 1000:.0f}" if now["shield"][p] else ""
        return f"{self.name(p):<2} {place} {hp + shield:>8} ammo {now['ammo'][p]:>2}"

    def _abilities(self, then: Any, now: Any) -> list[str]:
        kinds = self.world.rules.ability_kind
        uses = []
        for p, slot in np.argwhere(now["wait"] > then["wait"]).tolist():
            effect = EFFECTS[kinds[now["champion"][p], slot]]
            uses.append(f"{self.name(p)} uses {effect}")
        return [", ".join(uses)] if uses else []

    def _pickups(self, then: Any, now: Any) -> list[str]:
        lines = []
        for i in np.flatnonzero(then["item_kind"] > 0):
            kept = now["item_kind"][i] == then["item_kind"][i]
            if kept and now["item_x"][i] == then["item_x"][i]:
                continue
            # The taker is not recorded in the state: of those who reached out, the nearest.
            distance = np.hypot(now["x"] - then["item_x"][i], now["y"] - then["item_y"][i])
            distance[(now["held"][:, 6] == 0) | (then["alive"] == 0)] = np.inf
            taker = self.name(int(distance.argmin()))
            lines.append(f"{taker} takes {ITEM_KINDS[then['item_kind'][i]]}")
        return lines

    def _lives(self, then: Any, now: Any) -> list[str]:
        lines = []
        for p in range(self.world.rules.num_players):
            if then["alive"][p] and not now["alive"][p]:
                place = f"({_number(now['x'][p])}, {_number(now['y'][p])})"
                lines.append(f"{self.name(p)} falls at {place}")
            if now["alive"][p] and not then["alive"][p]:
                lines.append(f"{self.name(p)} returns")
        return lines

    def _objectives(self, then: Any, now: Any) -> list[str]:
        lines = []
        for t in np.flatnonzero((then["tower_hp"] > 0) & (now["tower_hp"] <= 0)):
            lines.append(f"the {STRUCTURES[t % 3]} of {'AB'[t // 3]} falls")
        step = SCORE_STEP * 1000
        if (now["score"] // step > then["score"] // step).any():
            points = now["score"] // 1000
            lines.append(f"score {points[0]} : {points[1]}")
        if now["lead_changes"] > then["lead_changes"]:
            lines.append("the lead changes")
        return lines


def _number(value: float) -> str:
    return f"{round(float(value), 1) + 0.0:.1f}"  # adding 0 turns -0.0 into 0.0
