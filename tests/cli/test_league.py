"""`levelcap league`: a season from the command line, its report, and bad input."""

from __future__ import annotations

import json
from pathlib import Path

import pytest

from levelcap.cli.main import main as run_main
from levelcap.trials.league_report import summarise
from tests.learn.league.test_season import hero


def main(words: list[str]) -> int:
    """The exit code."""
    with pytest.raises(SystemExit) as ended:
        run_main(words)
    return int(ended.value.code or 0)


@pytest.fixture(scope="module")
def season(tmp_path_factory: pytest.TempPathFactory) -> Path:
    place = tmp_path_factory.mktemp("league")
    start = hero(place / "start")
    small = [
        f"--rl={knob}" for knob in ("lanes=16", "unroll=24", "minibatches=2", "value_warmup=0")
    ]
    rules = [
        f"--set={rule}"
        for rule in (
            *("turn_updates=2", "bots=rookie,veteran", "cousins=0", "rated_games=2"),
            *("siblings=1", "tune_turns=1", "tune_games=2"),
        )
    ]
    command = ["league", "start", "--from", str(start), "--out", str(place / "season")]
    assert main([*command, "--turns", "4", *small, *rules]) == 0
    return place / "season"


def last_json(text: str) -> dict[str, object]:
    return dict(json.loads(text.strip().splitlines()[-1]))


def test_status_players_and_reasons(season: Path, capsys: pytest.CaptureFixture[str]) -> None:
    assert main(["league", "status", str(season), "--json"]) == 0
    shown = capsys.readouterr().out
    assert last_json(shown)["turns"] == 4 and "settings of sibling1: lr x" in shown
    assert main(["league", "players", str(season)]) == 0
    shown = capsys.readouterr().out
    assert "league_exploiter" in shown and "…" not in shown
    assert main(["league", "why", str(season), "0", "--json"]) == 0
    assert last_json(capsys.readouterr().out)["player"] == "main"
    # The sibling's turn says how it was compared with main, and what that changed.
    assert main(["league", "why", str(season), "3"]) == 0
    assert "sibling1 scored" in " ".join(capsys.readouterr().out.split())
    assert main(["league", "why", str(season), "m0"]) == 0
    assert "had just been frozen" in capsys.readouterr().out


def test_report(season: Path, tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    picture = tmp_path / "elo.png"
    command = [
        "league",
        "report",
        str(season),
        "--games",
        "40",
        "--picture",
        str(picture),
        "--json",
    ]
    assert main(command) == 0
    found = last_json(capsys.readouterr().out)
    assert picture.stat().st_size > 1000
    assert found == json.loads((season / "summary.json").read_text())
    assert found["num_matches"] == len((season / "matches.jsonl").read_text().splitlines())
    elos, mass = found["elo"], found["nash"]
    assert isinstance(elos, dict) and isinstance(mass, dict)
    assert elos["rookie"]["elo"] == 1000 and "main-1" in elos
    assert sum(mass.values()) == pytest.approx(1, abs=1e-4)
    assert summarise(season, ladder_games=0)["elo"] == {}


@pytest.mark.parametrize(
    ("words", "said"),
    [
        (["why", "{season}", "99"], "Give a turn, 0 to 3"),
        (["why", "{season}", "first"], "no such turn"),
        (["status", "nowhere"], "no season lies here"),
        (["report", "{season}", "--games", "7"], "in pairs"),
        (["start", "--from", "nowhere", "--turns", "2"], "no such checkpoint folder"),
    ],
)
def test_bad_input(
    season: Path, words: list[str], said: str, capsys: pytest.CaptureFixture[str]
) -> None:
    assert main(["league", *(word.format(season=season) for word in words)]) in (1, 2)
    assert said in " ".join(capsys.readouterr().err.split())
