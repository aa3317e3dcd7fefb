"""An attack spoils what a player sees or begins with, by its strength, the same way every time."""

import numpy as np
import pytest

from levelcap.kit.errors import BadValue, UnknownName
from levelcap.learn.adversary.attacks import STRENGTHS, Attacked
from levelcap.learn.adversary.saboteur import train_saboteur
from levelcap.play.matchup import play_games
from levelcap.play.roster import find
from levelcap.trials.robust import measure
from levelcap.world import make
from levelcap.world.protocols import Decision, Policy


class Witness(Policy):
    """Stands and remembers every look it was given."""

    name, views = "witness", ("features",)

    def __init__(self):
        self.looks = []

    def act(self, views, state):
        self.looks.append(views["features"].copy())
        return Decision(np.full((len(views["key"]), 7), [5, 5, 5, 5, 0, 0, 0]))


def shown(attack, strength, decisions=30):
    """What is there and what a player under this attack sees of it, [T, n, 19] each."""
    world, witness = make("duel", 8, seed=1, views=("features", "context")), Witness()
    attacked = Attacked(witness, attack, strength)
    attacked.bind(world)
    views, state, there, moves = world.reset(), attacked.initial_state(16), [], []
    for _ in range(decisions):
        rows = {n: v.reshape(16, *v.shape[2:]) for n, v in views.items()}
        there.append(rows["features"].copy())
        decided = attacked.act(rows, state)
        state = decided.state
        moves.append(decided.actions)
        walk = np.random.default_rng(len(there)).integers(0, 11, (8, 2, 7)) % [
            11,
            11,
            11,
            11,
            1,
            1,
            1,
        ]
        views = world.step(walk)[0]
    return np.array(there), np.array(witness.looks), np.array(moves)


@pytest.mark.parametrize("attack", STRENGTHS)
def test_no_strength_is_no_attack(attack):
    there, seen, moves = shown(attack, 0)
    assert (there == seen).all() and (moves[..., 4] == 0).all()
    clean = play_games(find("veteran"), find("rookie"), "duel", 8, 1)
    same = play_games(Attacked(find("veteran"), attack, 0), find("rookie"), "duel", 8, 1)
    assert (clean.lengths == same.lengths).all() and (clean.scores == same.scores).all()


def test_late_looks_are_so_many_decisions_old():
    there, seen, _ = shown("late", 3)
    assert (seen[3:] == there[:-3]).all() and (seen[:3] == there[0]).all()


def test_dropped_looks_are_the_last_one_again():
    there, seen, _ = shown("dropped", 1.0)
    assert (seen == there[0]).all()
    there, seen, _ = shown("dropped", 0.5, 200)
    lost = (seen != there).any(-1)
    assert 0.4 < lost[1:].mean() < 0.55  # a lost look that was the same cannot be told
    assert (seen[1:][lost[1:]] == seen[:-1][lost[1:]]).all()


def test_noise_has_its_strength_and_leaves_nothing_alone_but_what_is_not_there():
    there, seen, _ = shown("noise", 0.3)
    errors = (seen - there)[there != 0]
    assert abs(errors.std() - 0.3) < 0.01 and abs(errors.mean()) < 0.01
    assert (seen[there == 0] == 0).all() and (shown("noise", 0.3)[1] == seen).all()


def test_a_saboteur_moves_every_number_by_its_strength_the_same_way_in_every_look():
    there, seen, _ = shown("saboteur", 0.1)
    moved = (seen - there).round(6)
    assert np.allclose(np.abs(moved[there != 0]), 0.1) and (seen[there == 0] == 0).all()
    most, least = moved.max((0, 1)), moved.min((0, 1))
    assert (most * least >= 0).all()  # a number goes up in every look or down in every look
    assert (most > 0).any() and (least < 0).any()


def test_the_pattern_that_is_chosen_is_the_one_that_hurts(monkeypatch):
    """Only pattern 5 does anything here: found by results alone."""
    real = Attacked.act

    def act(self, views, state):
        decided = real(self, views, state)
        if self.pattern == 5:
            stood = np.full_like(decided.actions, 5) % [11, 11, 11, 11, 1, 1, 1]
            return Decision(stood, decided.state)
        return decided

    monkeypatch.setattr(Attacked, "act", act)
    found = train_saboteur(find("veteran"), find("rookie"), "duel", strength=0.0, games=8, seed=1)
    assert found == 5


def test_a_hostile_opening_ends():
    *_, moves = shown("opening", 0.02, 30)  # of 60 s: 12 decisions
    assert (moves[:12, :, 4] == 1).all() and (moves[12:, :, 4] == 0).all()
    assert (moves[:12, :, :2] + moves[:12, :, 2:4] == 10).all()  # aims away from where it walks


@pytest.mark.parametrize(
    ("attack", "strength"), [("noise", -1), ("late", 1.5), ("dropped", 1.1), ("late", float("nan"))]
)
def test_a_strength_that_means_nothing_is_refused(attack, strength):
    with pytest.raises(BadValue, match=f"strength of the attack {attack}"):
        Attacked(find("rookie"), attack, strength)
    with pytest.raises(UnknownName, match="attack"):
        Attacked(find("rookie"), "spite")


def test_attacked_matches_do_not_depend_on_the_batch_and_states_of_all_kinds_are_kept():
    for name, attack in (("veteran", "late"), ("veteran-wary", "dropped"), ("uniform", "noise")):
        four, two = (
            play_games(Attacked(find(name), attack), find("rookie"), "duel", n, 3) for n in (4, 2)
        )
        assert (four.lengths[:2] == two.lengths).all()


def test_the_report_says_what_every_attack_costs():
    report = measure(find("master"), "duel", games=64, seed=2)
    assert set(report["attacks"]) == set(STRENGTHS) and report["opponent"] == "master"
    rate, low, high = report["clean"]
    assert low < rate < high
    for row in report["attacks"].values():
        points, below, above = row["loss"]
        assert below < points < above and points == pytest.approx(rate - row["win_rate"][0])
        assert row["counts"] == (points >= 0.15)
    assert report["attacks"]["late"]["counts"]
