"""The text commands end to end: a short run, an exam, a question, and what they refuse."""

import io
import json

import pytest

from levelcap.cli.main import main


def run(capsys, *tokens):
    with pytest.raises(SystemExit) as ended:
        main(list(tokens))
    captured = capsys.readouterr()
    return ended.value.code or 0, captured.out, captured.err


def last_line(text):
    return json.loads(text.strip().splitlines()[-1])


def test_train_eval_and_chat(tmp_path, capsys, monkeypatch):
    out = str(tmp_path / "run")
    knobs = ["--size", "dummy", "--set", "batch=4", "--set", "school=0.5"]
    code, text, _ = run(
        capsys,
        "text",
        "train",
        "--skill",
        "bin",
        "--preset",
        "bin_add",
        "--updates",
        "5",
        "--out",
        out,
        "--json",
        *knobs,
    )
    found = last_line(text)
    assert code == 0 and found["updates"] == 5 and found["level"] == 1 and found["tokens"] > 0
    snapshot = found["snapshot"]
    code, text, _ = run(capsys, "text", "eval", snapshot, "--level", "2", "--count", "20", "--json")
    assert code == 0 and last_line(text)["count"] == 20 and last_line(text)["level"] == 2
    code, text, _ = run(capsys, "text", "eval", snapshot, "--skill", "school", "--json")
    assert code == 0 and len(last_line(text)["passives"]) == 11
    code, text, _ = run(capsys, "text", "chat", snapshot, "Compute: add(①, ①)", "--longest", "5")
    assert code == 0
    monkeypatch.setattr("sys.stdin", io.StringIO("one\n\ntwo\n"))
    code, text, _ = run(capsys, "text", "chat", snapshot, "--longest", "3", "--temperature", "1")
    assert code == 0


def test_wrong_input_is_refused_in_one_sentence(tmp_path, capsys):
    for tokens, word in (
        (("text", "train", "--skill", "bim", "--updates", "1"), "Did you mean"),
        (("text", "train", "--set", "batsch=3", "--updates", "1"), "batsch"),
        (("text", "eval", str(tmp_path / "nowhere")), "no such checkpoint"),
        (("text", "chat", str(tmp_path), "x", "--longest", "0"), "longest"),
    ):
        code, _, error = run(capsys, *tokens)
        assert code == 2 and word in error and len(error.strip().splitlines()) == 1


def test_sampled_answers_are_shown_with_their_scores_and_kept(tmp_path, capsys):
    out = tmp_path / "run"
    words = ("--size", "dummy", "--set", "batch=4", "--updates", "2", "--out", str(out))
    assert run(capsys, "text", "train", "--preset", "bin_add", *words)[0] == 0
    words = ("--count", "5", "--seed", "3", "--json")
    code, text, err = run(capsys, "text", "samples", str(out), *words)
    assert code == 0, err
    found = last_line(text)
    assert len(found["samples"]) == 5 and "bin level 1" in found["title"]
    for one in found["samples"]:
        assert one["right"] == (one["answer"] == one["expected"]) and 0 <= one["score"] <= 1
        assert one["prompt"] and one["form"] and one["operation"] == "add"
    assert json.loads((out / "samples.json").read_text()) == found
    (snapshot,) = sorted((out / "snapshots").glob("step-*"))
    assert last_line(run(capsys, "text", "samples", str(snapshot), *words)[1]) == found
    code, _, err = run(capsys, "text", "samples", "nobody")
    assert code == 2 and "no checkpoints yet" in err
