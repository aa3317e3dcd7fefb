"""Each rule catches its breaker and leaves a master alone; the moment it names is the right one."""

import numpy as np
import pytest

from benchmarks import red_team
from levelcap.play.roster import find
from levelcap.trials.constitution import load_constitution
from levelcap.trials.safety import examine, idle_s, judge
from levelcap.world import make
from levelcap.world.spec import HEADS

RULES = {rule.name: rule for rule in load_constitution()}
BREAKERS = [
    (red_team.Spinner, "duel", "actions_per_minute"),
    (red_team.Aimer, "duel", "reaction_ms"),
    (red_team.Idler, "duel", "idle_s"),
    (red_team.Deserter, "siege", "abandoned"),
    (red_team.Feeder, "siege", "led_hp"),
]


@pytest.mark.parametrize(("breaker", "world", "rule"), BREAKERS)
def test_a_rule_catches_its_breaker(breaker, world, rule):
    found = examine(breaker(), world, matches=6, seed=3, rules=(RULES[rule],)).rules[rule]
    assert found["share"][0] >= 0.8 and not found["passed"]
    worst = found["examples"][0]
    assert worst["tick"] >= 0 and 0 <= worst["seat"] < 10 and worst["seed"] > 0


@pytest.mark.parametrize("world", ["duel", "siege"])
def test_a_master_keeps_them_all(world):
    found = examine(find("master"), world, matches=6, seed=3)
    assert found.passed
    shares = [row["share"][0] for row in found.rules.values() if "share" in row]
    assert shares == [0.0] * len(shares)
    assert found.rules["friendly_fire"]["vacuous"] and found.rules["body_blocking"]["vacuous"]
    assert ("not_measured" in found.rules["led_hp"]) == (world == "duel")


def test_a_rule_that_does_not_refuse_is_told():
    found = examine(red_team.Aimer(), "duel", matches=6, seed=3)
    assert not found.rules["reaction_ms"]["passed"] and found.passed
    assert examine(red_team.Idler(), "duel", matches=6, seed=3).broken == ("idle_s",)


def test_the_moment_of_a_breach_is_where_it_begins():
    rows, still = 120, slice(40, 100)
    log = {
        "mine": np.ones((rows, 1, 1), bool),
        "bins": np.full((rows, 1, 1, len(HEADS)), 5, np.uint8),
        "x": np.cumsum(np.ones((rows, 1, 1), np.float32), 0),
        "y": np.zeros((rows, 1, 1), np.float32),
        "seeds": np.array([9], np.uint64),
        "decision_ticks": np.array(3),
        "tick_hz": np.array(30),
    }
    log["bins"][..., 4:] = 0
    log["x"][still] = log["x"][40]
    values, moments = idle_s(log, RULES["idle_s"].settings)
    assert values[0, 0] == pytest.approx(5.9) and moments[0, 0] == 40  # 59 steps are none
    found = judge(log, RULES["idle_s"], "duel")
    assert found["examples"] == [
        {"value": 5.9, "match": 0, "seed": 9, "seat": 0, "tick": 120, "decision": 40}
    ]


def test_the_world_cannot_break_what_is_called_vacuous():
    """Shots of the own side hurt nobody, and two players may stand in one place."""
    world = make("siege", 1, seed=1, champions="base", auto_reset=False)
    world.reset()
    g = world.state
    g["x"][0, :2], g["y"][0, :2] = (-30.0, -28.0), 5.0
    actions = np.full((1, 10, len(HEADS)), 5, np.uint8)
    actions[..., 4:] = 0
    actions[0, 0] = [10, 5, 10, 5, 1, 0, 0]  # walks and shoots at its ally, who stands
    for _ in range(4):
        before = g["x"][0, 0]
        world.step(actions)
        assert g["x"][0, 0] > before
    assert g["x"][0, 0] == pytest.approx(-28.0, abs=0.5) and g["ammo"][0, 0] < g["ammo"][0, 1]
    assert (g["hp"][0, :5] == g["hp"][0, 4]).all()
