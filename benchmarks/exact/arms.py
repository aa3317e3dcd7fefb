"""Ways to choose whom the next best response is made against, on `benchmarks.exact.games`.

Each arm is a generator: it yields its population and its mixture of it after every best-response
call, beginning with none. "A turn of learning" is one exact best response, in both seats, to the
plan's mixture of opponents, and every turn freezes.
"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import replace
from itertools import islice
from pathlib import Path

import numpy as np

from benchmarks.exact.games import Floats, Game, Player, mixed
from levelcap.learn.league.config import LEARNERS, MAIN, LeagueConfig
from levelcap.learn.league.pairing import Pairing, narrowed, plan
from levelcap.learn.league.payoff import Payoff
from levelcap.learn.league.players import Player as Member
from levelcap.learn.league.rules import next_learner, starts_anew
from levelcap.learn.league.state import League
from levelcap.trials.nash import nash

GAMES = 1e6  # of a pair that met: as good as exact
PFSP = ("the past, hard", "everyone, hard")  # rules that `by_nash` weighs otherwise
Population = tuple[list[Player], Floats]


class Table:
    """A population and who wins how much of whom."""

    def __init__(self, game: Game, first: Player) -> None:
        self.game, self.players = game, [first]
        self.rates = np.full((1, 1), 0.5)

    def add(self, player: Player) -> None:
        """One more, with its chances against all others."""
        won = self.game.chances(player, self.players)
        self.rates = np.block([[self.rates, 1 - won[:, None]], [won[None], np.array([[0.5]])]])
        self.players.append(player)

    def nash(self) -> Population:
        """All of them, and their Nash mass."""
        return self.players, nash(self.rates)


def self_play(game: Game, rng: np.random.Generator) -> Iterator[Population]:
    """Against the present self, which is all that is kept."""
    now = game.anybody(rng)
    while True:
        yield [now], np.ones(1)
        now = game.best_response(now, rng)


def snapshots(game: Game, rng: np.random.Generator) -> Iterator[Population]:
    """Against the present self, and the Nash mass of all its snapshots."""
    table = Table(game, game.anybody(rng))
    while True:
        yield table.nash()
        table.add(game.best_response(table.players[-1], rng))


def psro(game: Game, rng: np.random.Generator) -> Iterator[Population]:
    """Policy-space response oracles (Lanctot et al. 2017) with the Nash meta-solver."""
    table = Table(game, game.anybody(rng))
    while True:
        players, shares = table.nash()
        yield players, shares
        table.add(game.best_response(mixed(players, shares), rng))


def league(
    game: Game, rng: np.random.Generator, config: LeagueConfig, *, by_nash: bool = False
) -> Iterator[Population]:
    """The league's own rules: whose turn, whom it meets, who starts anew; the Nash mass of all.

    by_nash: the shares that PFSP gives are given by the Nash mass of the frozen instead.
    """
    config = replace(config, bots=())
    here = League(Path(), game.name, config, payoff=Payoff(config.half_life))
    table = Table(game, game.anybody(rng))
    place = {f"{MAIN}-0": 0}  # of each member in the table
    here.put(Member(f"{MAIN}-0", MAIN, None, ""))
    for kind in LEARNERS:
        if config.weight(kind):
            here.put(Member(kind, kind, None, "", trainable=True))
            place[kind] = 0
    while True:
        players, shares = table.nash()
        yield players, shares
        player = next_learner(here)
        met = plan(player, here.frozen(), here.players[MAIN], here.payoff, config)
        if by_nash:
            met = _by_nash(met, place, shares, config.floor)
        met = narrowed(met, config.opponents, rng)
        opponents = [players[place[pairing.opponent]] for pairing in met]
        against = mixed(opponents, np.array([pairing.share for pairing in met]))
        table.add(game.best_response(against, rng))
        here.turn += 1
        kind = player.player_id
        number = sum(member.agent_type == kind for member in here.players.values())
        frozen = here.put(Member(f"{kind}-{number}", kind, None, "", born=here.turn))
        here.put(player.with_(turns=player.turns + 1))
        place[kind] = place[frozen.player_id] = len(table.players) - 1
        here.payoff.forget(kind)
        _rate(here, table, place, frozen.player_id)
        # Who starts anew is unknown to everybody; who goes on is as its snapshot.
        if not starts_anew(here, player, over=False, seed=0):
            _rate(here, table, place, kind)


def nash_convs(
    arm: Iterator[Population], game: Game, calls: int, *, by_seat: bool = False
) -> list[float]:
    """NashConv of an arm's mixture after 0, 1 … `calls` best-response calls.

    by_seat: each seat has a mixture of its own, the Nash one of the players there, as PSRO has in
    OpenSpiel; without, a player takes both of its seats with it.
    """
    return [
        game.nash_conv(_by_seat(game, players) if by_seat else mixed(players, shares))
        for players, shares in islice(arm, calls + 1)
    ]


def _by_seat(game: Game, players: list[Player]) -> Player:
    xs, ys = (np.stack(side) for side in zip(*players, strict=True))
    won = xs @ (game.payoff @ ys.T) / game.most
    n = len(players)
    # A game of two seats as a symmetric one, for `nash`: weights of the players in seat 0, of those
    # in seat 1, and one that balances the two (Gale, Kuhn and Tucker 1950). The shift makes the
    # value positive, so that neither seat's weights are all 0.
    shifted = won + 2
    zero, one = np.zeros((n, n)), np.ones((n, 1))
    gains = np.block(
        [[zero, shifted, -one], [-shifted.T, zero, one], [one.T, -one.T, np.zeros((1, 1))]]
    )
    shares = nash(0.5 + gains / 8)
    x, y = shares[:n], shares[n : 2 * n]
    return xs.T @ (x / x.sum()), ys.T @ (y / y.sum())


def _rate(here: League, table: Table, place: dict[str, int], name: str) -> None:
    """Exact results of one member against all frozen ones and the learning main."""
    for other in (*(member.player_id for member in here.frozen()), MAIN):
        if other != name:
            won = GAMES * float(table.rates[place[name], place[other]])
            here.payoff.add(name, other, (won, 0.0, GAMES - won), fading=False)


def _by_nash(
    met: list[Pairing], place: dict[str, int], shares: Floats, floor: float
) -> list[Pairing]:
    """The same shares by rule, PFSP's spread by Nash mass; `floor` of it evenly."""
    kept = {p.opponent: sum(w.share for w in p.why if w.rule not in PFSP) for p in met}
    named = [p.opponent for p in met if any(w.rule in PFSP for w in p.why)]
    rest = 1 - sum(kept.values())
    mass = np.array([shares[place[name]] for name in named])
    # The present main stands beside its own snapshot: no mass twice, and none lost.
    mass = mass / mass.sum() if mass.sum() > 0 else np.ones(len(named)) / max(1, len(named))
    for name, share in zip(named, mass, strict=True):
        kept[name] += rest * ((1 - floor) * share + floor / len(named))
    return [replace(p, share=float(kept[p.opponent])) for p in met]
