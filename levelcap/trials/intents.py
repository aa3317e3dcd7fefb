"""How well a player does what it is about: each of the five intents, measured in matches; no torch.

    figures = measure_intents(policy, "duel")
    figures["FLEE"]      # {"time": .08, "share": .71, "low": .62, "high": .79, "count": 96}

Shapes: T decisions, M matches, P seats. A *spell* begins where a living player's stated intent
becomes another one. What counts as done well, always a share between 0 and 1:

    FIGHT     hp that enemies within 15 units lost, of these and the hp it lost itself (its interval
              takes every spell for one independent trial)
    FLEE      spells after which it lives for 10 s (or until the match ends)
    LOOT      spells after which it has more hp or ammunition within 5 s, reloading not counted
    EXPLORE   spells after which an enemy is in sight within 10 s
    CAUTIOUS  spells in whose next 5 s it loses less than 20 hp
"""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import numpy as np
from numpy.typing import NDArray

from levelcap.kit.stats import wilson
from levelcap.play.matchup import seats_of_game
from levelcap.play.roster import find
from levelcap.play.seats import Seats, views_of
from levelcap.world.match import ArenaWorld
from levelcap.world.protocols import Policy
from levelcap.world.rules.rulebook import MILLI
from levelcap.world.spec import DECISIONS_HZ, INTENTS, arena_spec

OPPONENT = "veteran"
GAMES = {2: 100, 10: 10}  # by players of a match: some seconds of one core
NEAR = 15.0  # units: how far shots fly
LONG, SHORT = 10 * DECISIONS_HZ, 5 * DECISIONS_HZ
LITTLE_HP, GAIN_HP = 20.0, 5.0
FIGHT, LOOT, FLEE, EXPLORE, CAUTIOUS = range(len(INTENTS))
Log = dict[str, NDArray[Any]]


def measure_intents(
    policy: Policy, world: str, *, games: int | None = None, seed: int = 0
) -> dict[str, dict[str, Any]]:
    """Figures by intent; of a player that states none, nothing."""
    log = _play(policy, world, games or GAMES[arena_spec(world).num_players], seed)
    stated = log["intent"] >= 0
    if not stated.any():
        return {}
    spells = _spells(log["intent"])
    reloads = arena_spec(world).ruleset in ("siege", "crown")
    outcome: dict[int, Callable[[int, int, int], Any]] = {
        FLEE: lambda t, m, p: log["alive"][t : t + LONG, m, p].all(),
        LOOT: lambda t, m, p: _gains(log, t, m, p, reloads),
        EXPLORE: lambda t, m, p: log["seen"][t : t + LONG, m, p].any(),
        CAUTIOUS: lambda t, m, p: log["lost"][t : t + SHORT, m, p].sum() < LITTLE_HP,
    }
    found = {}
    for intent, name in enumerate(INTENTS):
        if intent == FIGHT:
            fights = log["intent"] == FIGHT
            dealt, taken = float(log["dealt"][fights].sum()), float(log["lost"][fights].sum())
            share, count = dealt / max(dealt + taken, 1e-9), int(sum(spells[:, 3] == FIGHT))
        else:
            mine = spells[spells[:, 3] == intent]
            done = [outcome[intent](t, m, p) for t, m, p, _ in mine.tolist()]
            share, count = float(np.mean(done)) if done else 0.0, len(done)
        low, high = wilson(share, count) if count else (0.0, 1.0)
        time = float((log["intent"][stated] == intent).mean())
        figures = {"time": time, "share": share, "low": low, "high": high}
        found[name] = {k: round(v, 4) for k, v in figures.items()} | {"count": count}
    return found


def _play(policy: Policy, name: str, games: int, seed: int) -> Log:
    """What happened to the policy's players in matches against a bot, [T, M, P] by name."""
    other = find(OPPONENT)
    layout = np.stack([seats_of_game(name, game, seed) for game in range(games)])
    world = ArenaWorld(name, games, views=views_of([policy, other]), seed=seed, auto_reset=False)
    table, views, due = Seats(world, [policy, other], layout), world.reset(), None
    rows: list[dict[str, NDArray[Any]]] = []
    before = _facts(world)
    while not world.state["over"].all():
        mine = (layout == 0) & before["alive"] & (world.state["over"] == 0)[:, None]
        views, *_, info = world.step(table.act(views, due))
        due, after = info["due"].copy(), _facts(world)
        lost = np.maximum(0, before["hp"] - after["hp"])
        rows.append(
            {
                "intent": np.where(mine, table.intents, -1),
                "lost": lost,
                "dealt": (lost[:, None] * before["foes"]).sum(2),
                "alive": after["alive"] | ~mine,
                **{name: after[name] for name in ("hp", "ammo", "seen")},
            }
        )
        before = after
    world.close()
    return {name: np.stack([row[name] for row in rows]) for name in rows[0]}


def _facts(world: ArenaWorld) -> dict[str, NDArray[Any]]:
    """[M, P], and foes [M, P, P]: who is an enemy of whom, and near."""
    g, players = world.state, world.rules.num_players
    team = np.arange(players) // world.rules.team_size
    x, y = g["x"][:, :players], g["y"][:, :players]
    near = np.hypot(x[:, :, None] - x[:, None], y[:, :, None] - y[:, None]) <= NEAR
    foe = team[:, None] != team
    seen = g["seen_now"][:, team][:, :, :players] > 0  # [M, P, P]: does p's side see q?
    alive = g["alive"][:, :players] > 0
    return {
        "hp": g["hp"][:, :players] / MILLI,
        "ammo": g["ammo"][:, :players].copy(),
        "alive": alive,
        "foes": near & foe,
        "seen": (seen & foe & alive[:, None]).any(2),
    }


def _spells(intent: NDArray[Any]) -> NDArray[np.int64]:
    """(t, match, seat, intent) of every moment at which an intent begins."""
    before = np.concatenate((np.full_like(intent[:1], -1), intent[:-1]))
    t, m, p = np.nonzero((intent >= 0) & (intent != before))
    return np.stack((t, m, p, intent[t, m, p]), 1)


def _gains(log: Log, t: int, m: int, p: int, reloads: bool) -> bool:
    hp, ammo = (log[name][t : t + SHORT, m, p].astype(float) for name in ("hp", "ammo"))
    filled = not reloads and bool((np.diff(ammo) > 0).any())
    return filled or bool((np.diff(hp) > GAIN_HP).any())
