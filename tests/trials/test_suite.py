"""A trial: screened first, each part with a number and a why; refusals name rule and number."""

import json
from dataclasses import replace

import numpy as np
import pytest

from benchmarks import red_team
from levelcap.kit.errors import BadFile, BadValue, Conflict, UnknownName
from levelcap.play.roster import find
from levelcap.trials import speed
from levelcap.trials.cost import MODEL_WATTS, Meter, cost_of
from levelcap.trials.gate import check_decision, judge_elo, judge_trial
from levelcap.trials.sprt import SequentialTest, elo_figure, preset_of, run
from levelcap.trials.suite import Entrant, Plan, run_trial
from levelcap.trials.verdict import Verdict, verdict_from_json
from levelcap.world.protocols import Decision, Policy
from levelcap.world.replay import load

QUICK = Plan(minutes=0.2, matches=4, games=4)
SHORT = Plan(minutes=0.001, matches=2, games=2)  # one unit of games


@pytest.fixture
def brief_screen(monkeypatch):
    """The other parts are looked at here."""
    monkeypatch.setattr("levelcap.trials.suite.SCREEN_GAMES", 12)


def entrant(name, **more):
    return Entrant(name, find(name), **more)


def test_the_first_hero_is_provisional_by_the_panel_alone():
    verdict = run_trial(entrant("rookie"), None, "duel", seed=5)
    assert verdict.passed and verdict.provisional and set(verdict.parts) == {"screen"}
    assert "provisional" in verdict.reason and "96 sealed games" in verdict.reason
    check_decision(verdict, "rookie", None)
    with pytest.raises(Conflict, match="Judge it again"):
        check_decision(verdict, "rookie", "somebody")


def test_below_the_screen_nothing_else_runs():
    verdict = run_trial(entrant("idle"), entrant("master"), "duel", seed=5)
    assert not verdict.passed and set(verdict.parts) == {"screen"}
    assert "screen: 0." in verdict.reason and "clearly weaker" in verdict.reason
    gap = verdict.parts["screen"]["difference"]
    assert gap[0] < gap[2] < 0


def test_a_stronger_one_passes_with_every_part(brief_screen):
    told = []
    candidate = entrant("master", core_seconds=3600.0)
    verdict = run_trial(candidate, entrant("rookie"), "duel", plan=QUICK, seed=5, tell=told.append)
    assert verdict.passed and verdict.version == 2 and not verdict.provisional
    assert set(verdict.parts) == {"screen", "strength", "safety", "robust", "speed", "cost"}
    assert all(part["why"] and part["passed"] in (True, False) for part in verdict.parts.values())
    assert "gain passed: LLR" in verdict.reason and any(", LLR +" in line for line in told)
    assert told[0] == "screen: 0 of 12 sealed games" and "8 of 12 sealed games, score" in told[2]
    cost = verdict.parts["cost"]
    assert cost["joules"] == 3600 * cost["watts_per_core"] and cost["price"] is None
    gain = verdict.figures["difference"]
    middle, cheap, dear = cost["per_elo"]["core_seconds"]
    assert (middle, cheap, dear) == pytest.approx([3600 / g for g in (gain[0], gain[2], gain[1])])
    check_decision(verdict, "master", "rookie")
    # It survives a file, and its line in the ledger is plain JSON.
    said = json.loads(json.dumps(verdict.as_json(), allow_nan=False))
    again = verdict_from_json(said)
    assert again.as_json() == said and again.figures["difference"] == pytest.approx(gain)


def test_a_strong_cheat_is_refused_by_rule_number_and_moment(brief_screen, tmp_path):
    class Fidget(red_team.Spinner):
        """Wins by what the world gives it: the champion here does nothing."""

        name = "fidget"

    candidate = Entrant("fidget", Fidget())
    plan = replace(SHORT, replays=tmp_path)
    verdict = run_trial(candidate, entrant("idle"), "duel", plan=plan, seed=5)
    assert not verdict.passed and not verdict.parts["safety"]["passed"]
    assert (
        "actions_per_minute flags 1.00 of matches, 0.05 allowed (2100, most 800;" in verdict.reason
    )
    worst = verdict.parts["safety"]["rules"]["actions_per_minute"]["examples"][0]
    replay = load(tmp_path / f"{worst['replay']}.lcr")
    assert worst["decision"] < replay.header["decisions"]
    assert replay.header["match_seed"] == worst["seed"] and replay.check() * 3 > worst["tick"]
    assert replay.header["policies"][replay.header["seats"][worst["seat"]]]["name"] == "fidget"


def test_equal_strength_is_no_gain_and_costs_infinitely_much(brief_screen):
    verdict = run_trial(entrant("rookie"), entrant("rookie"), "duel", plan=SHORT, seed=5)
    assert not verdict.passed and "strength: gain undecided" in verdict.reason
    assert verdict.parts["cost"]["per_elo"] is None and "∞" in verdict.parts["cost"]["why"]


@pytest.mark.parametrize(("bytes_", "preset"), [(79, "no-regression"), (81, "gain"), (0, "gain")])
def test_a_saving_is_tested_for_no_regression(brief_screen, bytes_, preset):
    small, large = (entrant("rookie", size_bytes=size) for size in (bytes_, 100))
    strength = run_trial(small, large, "duel", plan=SHORT, seed=5).parts["strength"]
    assert strength["preset"] == preset and strength["saving"]["bytes"] == [bytes_, 100]


@pytest.mark.parametrize(
    ("parts", "words"),
    [
        ({}, "constitution is not kept.*not examined"),
        ({"safety": {"passed": False, "why": "idle_s 9"}}, "constitution is not kept.*idle_s 9"),
        ({"safety": {"passed": True, "why": ""}}, "no robustness report"),
        ({"safety": {"passed": True, "why": ""}, "robust": {"attacks": {}}}, "no robustness"),
    ],
)
def test_the_gate_does_not_take_a_trials_word_for_it(parts, words):
    verdict = Verdict("a", "b", "trial", True, "said so", version=2, parts=parts)
    with pytest.raises(Conflict, match=words):
        check_decision(verdict, "a", "b")
    claims = Verdict("a", "b", "trial", True, "", version=2, parts=parts, provisional=True)
    with pytest.raises(Conflict):
        check_decision(claims, "a", "b")  # provisional is for empty thrones


def test_what_refuses_is_the_reason_and_what_is_told_is_not():
    fine, bad = {"passed": True, "why": "fine"}, {"passed": False, "why": "p99 99 ms"}
    parts = {"screen": fine, "strength": fine, "safety": fine, "robust": fine, "speed": bad}
    assert judge_trial("a", "b", parts, {}).passed
    verdict = judge_trial("a", "b", parts | {"strength": bad, "safety": bad}, {})
    assert verdict.reason == "strength: p99 99 ms; safety: p99 99 ms"


def test_verdicts_of_version_1_are_read_and_others_refused():
    old = judge_elo("a", (1500.0, 1450.0, 1550.0), "b", (40.0, 5.0, 75.0))
    assert "parts" not in old.as_json() and verdict_from_json(old.as_json()) == old
    for wrong in (
        None,
        {},
        old.as_json() | {"version": 3},
        old.as_json() | {"kind": "duel"},
        old.as_json() | {"extra": 1},
        {"version": 2},
    ):
        with pytest.raises(BadFile, match="verdict"):
            verdict_from_json(wrong)


def test_a_test_ends_with_its_time():
    test = SequentialTest(preset_of("gain", "duel"))
    run(test, lambda unit: [1.0, 0.0], minutes=1e-9)
    assert test.verdict == "undecided" and test.counts.sum() == 1
    for minutes in (0, -1, float("nan"), float("inf")):
        with pytest.raises(BadValue, match="minutes"):
            run(test, lambda unit: [1.0, 0.0], minutes=minutes)


def test_an_elo_difference_has_a_finite_interval():
    middle, low, high = elo_figure((165, 620, 987, 659, 206))
    assert middle == pytest.approx(7.97, abs=0.05) and low < middle < high
    assert high - middle == pytest.approx(middle - low, rel=0.02)
    assert np.isfinite(elo_figure((0, 0, 0, 0, 3))).all() and elo_figure((0, 0, 0, 0, 3))[1] < 600


class Sleeper(Policy):
    """Takes its time over nothing."""

    views = ("features",)

    def __init__(self, milliseconds):
        self.work = milliseconds

    def act(self, views, state):
        ends = speed.time.perf_counter() + self.work / 1e3
        while speed.time.perf_counter() < ends:
            pass
        return Decision(np.zeros((len(views["key"]), 7), np.int8))


def test_speed_is_that_of_one_decision(tmp_path):
    found = speed.measure(Sleeper(0.3), "duel", 200)
    (p50, low, high), (p99, *_) = found["p50_ms"], found["p99_ms"]
    assert 0.3 <= low <= p50 <= high < 1 and p99 >= p50 and found["rss_mb"] > 10
    ratio, _, above = speed.compare(Sleeper(0.1), Sleeper(0.3), "duel")
    assert 0.25 < ratio < 0.6 and above < 0.8
    (tmp_path / "deep").mkdir()
    (tmp_path / "deep" / "x").write_bytes(b"12345")
    assert speed.size_of(tmp_path) == 5


def test_energy_is_measured_where_it_can_be_and_modelled_elsewhere(tmp_path, monkeypatch):
    assert Meter(tmp_path / "none").watts_per_core() == (MODEL_WATTS, "model: 10 W a core")
    counter = tmp_path / "intel-rapl:0" / "energy_uj"
    counter.parent.mkdir()
    counter.write_text("5000000\n")
    busy = iter((100.0, 110.0, 120.0))
    monkeypatch.setattr("levelcap.trials.cost._busy_s", lambda: next(busy))
    meter = Meter(tmp_path)
    counter.write_text("305000000\n")
    watts, source = meter.watts_per_core()
    assert watts == 30.0 and source.startswith("RAPL")
    counter.write_text("1\n")  # ran over
    assert meter.watts_per_core()[1].startswith("model")


def test_no_gain_has_no_price_per_elo():
    assert cost_of(100, (30.0, -1.0, 61.0))["per_elo"] is None
    assert cost_of(100, None)["text"] == "no champion to gain upon"
    assert cost_of(100, (20.0, 10.0, 40.0))["per_elo"]["joules"] == [50.0, 25.0, 100.0]


def test_worlds_and_seeds_are_checked():
    with pytest.raises(UnknownName, match="world of a trial"):
        run_trial(entrant("rookie"), None, "duell")
    with pytest.raises(BadValue, match="seed"):
        run_trial(entrant("rookie"), None, "duel", seed=-1)
