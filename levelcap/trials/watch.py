"""Matches written down for judges of behaviour: who stood where, saw whom and did what. No torch.

    log = watch(policy, "siege", matches=96, seed=0)
    log["x"][t, m, p], log["bins"][t, m, p], log["mine"][t, m, p]

Shapes: T decisions of the grid, M matches, P seats. Row t of every array but `bins` is the moment
at which the decision in `bins[t]` is made: what was seen there is what it may answer. `mine` is
true where the watched policy plays, lives and the match goes on. In duel and lms it meets
`OPPONENT` as in a match-up; where there are allies it is one guest in a team of four of them:
how it treats others shows only among others.
"""

from __future__ import annotations

from pathlib import Path
from typing import Any

import numpy as np
from numpy.typing import NDArray

from levelcap.kit.seeds import chain
from levelcap.play.matchup import one_seat, seats_of_game
from levelcap.play.roster import find
from levelcap.play.seats import Seats, views_of
from levelcap.world import make
from levelcap.world.match import ArenaWorld
from levelcap.world.protocols import Policy, ticks_of
from levelcap.world.replay import Recorder
from levelcap.world.rules.columns import BIN
from levelcap.world.rules.rulebook import MILLI
from levelcap.world.spec import arena_spec

OPPONENT = "master"
Log = dict[str, NDArray[Any]]


def watch(policy: Policy, world: str, matches: int, seed: int) -> Log:
    """Play and keep [T, M, P] alive, mine, x, y, hp, bins [.., 7], seen [.., P]: p's side sees q.

    Also `ready` (may fire), and besides `seeds` [M], `sign` [P] (of the viewer's frame), `owner`
    [M, P] (0: the policy), `seat_ticks` [M, P], `decision_ticks` and `tick_hz`, one number each.
    """
    spec = arena_spec(world)
    policies = [policy, find(OPPONENT)]
    guest = spec.num_players > spec.num_teams > 1
    seats = one_seat if guest else seats_of_game
    layout = np.stack([seats(world, game, seed) for game in range(matches)])
    seeds = np.array([chain(seed, game if guest else game // 2) for game in range(matches)], "u8")
    ticks = np.array([ticks_of(who, spec.tick_hz) for who in policies])
    # Views and actions of the second of two sides are turned by half a circle.
    turned = (np.arange(spec.num_players) >= spec.num_players // 2) & (spec.num_teams == 2)
    sign = np.where(turned, -1, 1)
    found: Log = {"seeds": seeds, "sign": sign, "tick_hz": np.array(spec.tick_hz)}
    found |= {"owner": layout, "seat_ticks": ticks[layout]}
    # A seat has one rate in a world: matches whose seats have the same rates are played together.
    rates, which = np.unique(ticks[layout], axis=0, return_inverse=True)
    parts: list[tuple[NDArray[Any], Log]] = []
    for number, rate in enumerate(rates):
        rows = np.flatnonzero(which.reshape(-1) == number)
        grid = int(np.gcd.reduce(rate))
        options = {"decision_ticks": grid, "seat_ticks": rate, "auto_reset": False}
        made = make(world, len(rows), views=views_of(policies), match_seeds=seeds[rows], **options)
        parts.append((rows, _play(made, policies, layout[rows])))
        found["decision_ticks"] = np.array(grid)
    longest = max(len(part["x"]) for _, part in parts)
    for name in parts[0][1]:
        shape, kind = parts[0][1][name].shape, parts[0][1][name].dtype
        found[name] = np.zeros((longest, matches, *shape[2:]), kind)
        for rows, part in parts:
            found[name][: len(part[name]), rows] = part[name]
    return found


def save_replay(log: Log, world: str, match: int, policies: list[Policy], path: Path) -> Path:
    """Play one match of the log again from its actions, and write it as a replay file."""
    options = {"decision_ticks": int(log["decision_ticks"]), "seat_ticks": log["seat_ticks"][match]}
    made = make(world, 1, match_seeds=log["seeds"][[match]], auto_reset=False, threads=1, **options)
    made.reset()
    names = [(who.name or "candidate", who.content_hash) for who in policies]
    recorder = Recorder(made, policies=[names[owner] for owner in log["owner"][match]])
    for bins in log["bins"][:, match]:
        if not recorder.done:
            recorder.record(made.step(bins[None])[4])
    return recorder.save(path)


def _play(world: ArenaWorld, policies: list[Policy], layout: NDArray[Any]) -> Log:
    table, views, due = Seats(world, policies, layout), world.reset(), None
    g, players = world.state, world.rules.num_players
    team = np.arange(players) // world.rules.team_size
    rows: list[Log] = []
    while not g["over"].all():
        alive = (g["alive"][:, :players] > 0) & (g["over"] == 0)[:, None]
        row = {
            "alive": alive,
            "mine": alive & (layout == 0),
            "x": g["x"][:, :players].astype(np.float32),
            "y": g["y"][:, :players].astype(np.float32),
            "hp": (g["hp"][:, :players] / MILLI).astype(np.float32),
            "ready": views["mask"][:, :, BIN.fire + 1] > 0,
            "seen": g["seen_now"][:, team][:, :, :players] > 0,
        }
        views, *_, info = world.step(table.act(views, due))
        due = info["due"].copy()
        rows.append(row | {"bins": info["actions"].copy()})
    world.close()
    return {name: np.stack([row[name] for row in rows]) for name in rows[0]}
