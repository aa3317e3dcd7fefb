"""`levelcap nets`: the list of nets and the card of a checkpoint."""

import json

from levelcap.nets.checkpoint import save_snapshot, weights_of
from levelcap.nets.family import describe, new_net
from levelcap.nets.net import count_parameters
from levelcap.world.spec import arena_spec
from tests.cli.calling import levelcap


def test_every_net_is_listed_with_its_true_count(capsys):
    code, out, error = levelcap(capsys, "nets", "ls", "--world", "duel", "--json")
    assert code == 0, error
    rows = json.loads(out.splitlines()[-1])["nets"]
    assert {(r["family"], r["size"]) for r in rows} >= {("flat", "slim"), ("hierarchy", "full")}
    for row in rows:
        meta = describe(row["family"], arena_spec("duel"), row["size"])
        assert row["parameters"] == count_parameters(new_net(meta))
        assert 0 < row["step_ms_p50"] <= row["step_ms_p99"]
    assert "strategist=ssd|lstm" in out.replace("\n", "")


def test_a_card_names_the_three_layers(tmp_path, capsys):
    meta = describe("hierarchy", arena_spec("siege"), "dummy")
    save_snapshot(tmp_path / "s", weights_of(new_net(meta)), meta, "test")
    code, out, error = levelcap(capsys, "nets", "card", str(tmp_path / "s"), "--json")
    assert code == 0, error
    document = json.loads(out.splitlines()[-1])
    assert {"strategist", "tactician", "executor"} <= set(document["parts"])
    assert document["parameters"] == sum(document["parts"].values())
    assert "GPT-2" in out


def test_a_wrong_world_or_folder_is_refused(tmp_path, capsys):
    code, out, error = levelcap(capsys, "nets", "ls", "--world", "sige")
    assert code == 2 and "siege" in error
    code, out, error = levelcap(capsys, "nets", "card", str(tmp_path / "nothing"))
    assert code == 2 and "no such checkpoint folder" in error
