"""The human cap: within the constitution whatever the player does, and weaker for it."""

import numpy as np
import pytest

from benchmarks import red_team
from levelcap.cli.policies import load_policy
from levelcap.play.matchup import play_games
from levelcap.play.roster import find
from levelcap.services.oracle.lineup import entrant
from levelcap.trials.capped import SUFFIX, Capped
from levelcap.trials.safety import examine
from tests.cli.calling import levelcap


@pytest.mark.parametrize("breaker", [red_team.Spinner, red_team.Aimer])
def test_even_breakers_keep_pace_and_reaction_under_the_cap(breaker):
    rules = examine(Capped(breaker()), "duel", matches=8, seed=3).rules
    free = examine(breaker(), "duel", matches=8, seed=3).rules
    broken = "actions_per_minute" if breaker is red_team.Spinner else "reaction_ms"
    assert free[broken]["share"][0] > 0.9
    assert rules["actions_per_minute"]["share"][0] == rules["reaction_ms"]["share"][0] == 0


def test_the_cap_costs_strength_and_a_match_can_be_played_again():
    free = play_games(find("master"), find("veteran"), "duel", 40, 5)
    slow = play_games(Capped(find("master")), find("veteran"), "duel", 40, 5)
    again = play_games(Capped(find("master")), find("veteran"), "duel", 40, 5)
    assert slow.win_rate < free.win_rate and np.array_equal(slow.scores, again.scores)


def test_a_name_says_so(capsys):
    assert isinstance(load_policy(f"master{SUFFIX}"), Capped)
    sat = entrant(f"master{SUFFIX}", None, "")
    assert isinstance(sat.policy, Capped) and (sat.name, sat.kind) == ("master+human", "bot")
    code, out, _ = levelcap(capsys, "play", f"master{SUFFIX}", "rookie", "--games", "2")
    assert code == 0 and "master+human against rookie" in out
    assert levelcap(capsys, "play", f"nobody{SUFFIX}", "rookie", "--games", "2")[0] == 2
