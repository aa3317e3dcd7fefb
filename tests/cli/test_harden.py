"""`levelcap harden`: a run under attack, and its report of before and after."""

import json

from levelcap.nets.checkpoint import save_snapshot, weights_of
from levelcap.nets.family import describe, new_net
from levelcap.world.spec import arena_spec
from tests.cli.calling import levelcap


def test_a_hero_is_hardened_and_the_report_says_what_it_cost(capsys, tmp_path):
    meta = describe("flat", arena_spec("duel"), "dummy")
    save_snapshot(tmp_path / "hero", weights_of(new_net(meta, 1)), meta, "test")
    call = ("harden", str(tmp_path / "hero"), "--minutes", "0.02", "--games", "2", "--json")
    knobs = ("--set", "lanes=24", "--set", "unroll=8", "--set", "minibatches=4")
    code, said, error = levelcap(capsys, *call, *knobs, "--out", str(tmp_path / "run"))
    assert code == 0, error
    assert "never" in said and "levels reached: noise" in said
    found = json.loads(said.splitlines()[-1])
    assert set(found["before"]["attacks"]) == set(found["recovered"])
    assert found["before"]["clean"] and found["snapshot"].startswith(str(tmp_path / "run"))
