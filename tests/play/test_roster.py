"""From a name to a policy: what each door lets in."""

import pytest

from levelcap.kit.errors import BadValue, UnknownName, UserError
from levelcap.play.roster import Door, find
from levelcap.world.players.bot_names import SEALED_FROM
from levelcap.world.players.bots import Bot
from levelcap.world.players.scripted import Uniform

SEALED = (f"veteran~{SEALED_FROM}", "seer-16")
CODE = "levelcap.world.players.scripted:Uniform"


@pytest.mark.parametrize("door", list(Door))
def test_bots_and_training_cousins_come_in_everywhere(door):
    assert isinstance(find("master", door), Bot)
    assert find(f"veteran~{SEALED_FROM - 1}", door).name == f"veteran~{SEALED_FROM - 1}"


@pytest.mark.parametrize("name", SEALED)
def test_the_sealed_panel_judges_and_never_trains(name):
    with pytest.raises(BadValue, match="sealed"):
        find(name, Door.TRAINING)
    assert find(name, Door.REMOTE).name == find(name, Door.LOCAL).name == name


def test_code_comes_in_at_the_keyboard_only():
    for door in (Door.TRAINING, Door.REMOTE):
        with pytest.raises(BadValue, match="refused here"):
            find(CODE, door)
    found = find(CODE, Door.LOCAL)
    assert isinstance(found, Uniform)
    with pytest.raises(UnknownName, match=r"package\.module:attribute"):
        find("levelcap.world.players.scripted:Nobody", Door.LOCAL)
    with pytest.raises(UserError, match="not a policy"):
        find("levelcap.world.players.scripted:check_bot", Door.LOCAL)


def test_nets_are_asked_first_and_may_not_know_the_name():
    mine = Uniform()
    assert find("anything", nets=lambda name: mine) is mine
    assert isinstance(find("rookie", nets=lambda name: None), Bot)
    with pytest.raises(UnknownName, match="rookie"):
        find("rooki", nets=lambda name: None)
