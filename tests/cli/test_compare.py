"""`levelcap test`: two players until it is clear."""

import json

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
