"""Intents: spells are found, each outcome counts what its sentence says, and bots do them."""

import numpy as np

from levelcap.play.roster import find
from levelcap.trials.intents import SHORT, _gains, _spells, measure_intents
from levelcap.world.spec import INTENTS


def test_a_spell_begins_where_the_intent_becomes_another():
    intent = np.array([-1, 0, 0, 2, 2, -1, 2, 0])[:, None, None]
    assert _spells(intent).tolist() == [[1, 0, 0, 0], [3, 0, 0, 2], [6, 0, 0, 2], [7, 0, 0, 0]]


def test_gains_are_hp_or_ammunition_but_no_reload():
    steps = 2 * SHORT

    def log(name, t, value):
        rows = {n: np.full((steps, 1, 1), 30.0) for n in ("hp", "ammo")}
        rows[name][t:] += value
        return rows

    assert _gains(log("hp", 10, 25), 5, 0, 0, True)
    assert _gains(log("ammo", 10, 15), 5, 0, 0, False)
    assert not _gains(log("ammo", 10, 15), 5, 0, 0, True)
    assert not _gains(log("hp", 5 + SHORT, 25), 5, 0, 0, True)  # too late
    assert not _gains(log("hp", 10, -25), 5, 0, 0, True)


def test_a_master_is_measured_in_all_five_and_others_in_none():
    found = measure_intents(find("master"), "duel", games=12)
    assert list(found) == list(INTENTS)
    assert abs(sum(row["time"] for row in found.values()) - 1) < 1e-3
    for row in found.values():
        assert 0 <= row["low"] <= row["share"] <= row["high"] <= 1
    assert found["FIGHT"]["count"] > 10 and found["FIGHT"]["share"] > 0.45
    assert measure_intents(find("uniform"), "duel", games=2) == {}
