"""The trait wary: 40 hp lost within 5 s, then 20 s of flight whatever is seen."""

from __future__ import annotations

import numpy as np

from levelcap.play.matchup import play_games
from levelcap.world.match import ArenaWorld
from levelcap.world.players.brain import FLEE
from levelcap.world.players.scripted import scripted
from levelcap.world.rules.columns import HEAD, OBJ, OWN


def _decisions(hp, enemy_at=None):
    """Intents and actions of one master-wary whose hp at each decision are these."""
    world = ArenaWorld("duel", 1, seed=3, views=("player", "objects", "context"))
    bot = scripted("master-wary")
    bot.bind(world)
    state = bot.initial_state(1)
    first = {
        name: rows.reshape(-1, *rows.shape[2:])[:1].copy() for name, rows in world.reset().items()
    }
    intents, moves = [], []
    for index, share in enumerate(hp):
        views = {name: rows.copy() for name, rows in first.items()}
        views["reset"][:] = index == 0
        views["player"][:, OWN.hp] = share
        views["objects"][:] = 0.0
        if enemy_at is not None and index < 30:
            views["objects"][:, 0, [OBJ.dx, OBJ.dy]] = enemy_at
            views["objects"][:, 0, OBJ.is_enemy] = 1.0
        decision = bot.act(views, state)
        state = decision.state
        intents.append(int(decision.intents[0]))
        moves.append(decision.actions[0].copy())
    return np.array(intents), np.array(moves)


def test_a_wound_of_forty_is_fled_from_for_twenty_seconds_even_when_healed():
    hp = [1.0] * 10 + [0.8] * 10 + [0.6] * 5 + [1.0] * 300
    intents, moves = _decisions(hp)
    fled = np.flatnonzero(intents == FLEE)
    assert (fled[0], fled[-1], len(fled)) == (20, 219, 200)
    assert (moves[fled][:, [HEAD.fire, HEAD.ability]] == 0).all()


def test_the_same_loss_spread_over_more_than_five_seconds_is_borne():
    intents, _ = _decisions([1.0] * 10 + [0.8] * 55 + [0.6] * 100)
    assert (intents != FLEE).all()


def test_it_runs_from_where_the_enemy_was_last_known():
    hp = [1.0] * 10 + [0.5] * 60
    _, moves = _decisions(hp, enemy_at=(0.5, 0.0))
    # Also after decision 30, when nobody is in sight any more.
    assert (moves[11:60, HEAD.move_x] < 5).all()


def test_the_rated_bots_do_not_have_it_and_the_trait_costs_games():
    played = play_games(scripted("master-wary"), scripted("master"), "duel", 40, seed=1)
    assert played.win_rate < 0.5
    assert scripted("master").content_hash != scripted("master-wary").content_hash
