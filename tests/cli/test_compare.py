"""`levelcap test`: two players until it is clear."""

import json

from levelcap.campaign.wheel import flywheel
from tests.cli.calling import levelcap


def test_the_stronger_one_passes_and_the_weaker_one_fails(capsys):
    for pair, verdict in ((("master", "rookie"), "passed"), (("rookie", "master"), "failed")):
        code, out, error = levelcap(capsys, "test", *pair, "--preset", "gain", "--json")
        assert code == 0, error
        found = json.loads(out.splitlines()[-1])
        assert found["verdict"] == verdict and sum(found["pentanomial"]) * 2 == found["games"]
        low, high = found["bounds"]
        assert not low < found["llr"] < high and "LLR" in out


def test_what_cannot_be_tested_is_refused(capsys):
    code, _, error = levelcap(capsys, "test", "master", "rookie", "--preset", "gian")
    assert code == 2 and "Did you mean 'gain'" in error
    code, _, error = levelcap(capsys, "test", "a", "b", "--world", "gym:CartPole-v1")
    assert code == 2 and "needs two sides" in error


def test_a_test_ends_undecided_with_its_minutes(capsys):
    call = ("test", "rookie", "rookie", "--minutes", "0.0001", "--json")
    code, out, _ = levelcap(capsys, *call)
    found = json.loads(out.splitlines()[-1])
    assert code == 0 and (found["verdict"], found["games"]) == ("undecided", 64)
    code, _, error = levelcap(capsys, "test", "rookie", "rookie", "--minutes", "0")
    assert code == 2 and "minutes of a test" in error


def test_a_test_is_kept_where_there_is_a_realm(capsys, realm):
    call = ("test", "rookie", "rookie", "--minutes", "0.0001", "--preset", "simplify")
    assert levelcap(capsys, *call)[0] == 0
    code, out, _ = levelcap(capsys, "tests", "--json")
    [row] = json.loads(out.splitlines()[-1])["tests"]
    assert code == 0 and (row["verdict"], row["preset"]) == ("undecided", "simplify")
    assert row["games"] == 64 and row["id"] in out


def test_a_test_can_be_left_to_the_realm(capsys, realm):
    code, _, error = levelcap(capsys, "test", "master", "rookie", "--queue")
    assert code == 1 and "no campaign is active" in error
    flywheel.begin(realm.store)
    assert levelcap(capsys, "test", "master", "rookie", "--queue")[0] == 0
    [job] = realm.store.list("queued", "test")
    assert (job.payload["a"], job.payload["b"], job.payload["world"]) == (
        "master",
        "rookie",
        "duel",
    )


def test_two_recipes_are_compared_by_heroes_of_several_seeds(capsys, tmp_path):
    recipes = []
    for name, lr in (("a", "3e-3"), ("b", "1e-4")):
        path = tmp_path / f"{name}.yaml"
        knobs = f"{{lanes: 32, unroll: 8, minibatches: 1, engine.lr: {lr}}}"
        path.write_text(f"quest: reinforce\nsize: dummy\nminutes: 0.005\nset: {knobs}\n")
        recipes.append(str(path))
    call = ("test", "--recipe", *recipes, "--seeds", "2", "--games", "4", "--json")
    code, out, error = levelcap(capsys, *call)
    assert code == 0, error
    found = json.loads(out.splitlines()[-1])
    assert found["verdict"] in ("better", "worse", "undecided") and len(found["means"]) == 2
    assert found["score"][1] <= found["score"][0] <= found["score"][2]
    again = levelcap(capsys, *call)
    assert json.loads(again[1].splitlines()[-1])["means"] == found["means"]  # nothing is trained


def test_recipes_that_train_no_hero_are_refused(capsys, tmp_path):
    path = tmp_path / "a.yaml"
    path.write_text("quest: evaluate\n")
    code, _, error = levelcap(capsys, "test", "--recipe", str(path), str(path))
    assert code == 2 and "trains no arena hero" in error
    code, _, error = levelcap(capsys, "test", "--recipe", str(path))
    assert code == 2 and "two recipes" in error
    assert "two players" in levelcap(capsys, "test", "master")[2]
