"""Naming a world and its tick rate on the command line."""

import pytest

from levelcap.cli.worlds import at_rate
from levelcap.kit.errors import BadValue
from tests.cli.calling import levelcap
from tests.vault.made import entered


def test_a_rate_names_a_world():
    assert at_rate("duel", None) == at_rate("duel", 30) == "duel"
    assert at_rate("siege", 60) == at_rate("siege-60hz", 60) == at_rate("siege-60hz", None)


@pytest.mark.parametrize("world, hz", [("duel", 45), ("gym:CartPole-v1", 60), ("duel-60hz", 30)])
def test_a_rate_a_world_does_not_have_is_refused(world, hz):
    with pytest.raises(BadValue, match=f"{hz}.*--tick-hz 30 or 60"):
        at_rate(world, hz)


def test_checkpoints_of_different_rates_are_not_compared(realm, capsys):
    slow, fast = entered(realm, 1, world="duel"), entered(realm, 2, world="duel-60hz")
    code, _, said = levelcap(capsys, "vault", "compare", slow.id, fast.id)
    assert code != 0 and "never compared" in said and "duel-60hz" in said
