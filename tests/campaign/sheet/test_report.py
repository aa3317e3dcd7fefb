"""The weekly report: a small story of runs, promotions and failures, its figures by hand."""

from datetime import UTC, datetime, timedelta

import pytest

from levelcap.campaign.sheet.report import make_report, trend_of
from levelcap.campaign.story import runs
from levelcap.campaign.story.events import say
from levelcap.campaign.story.runs import Gain, NewRun
from levelcap.campaign.wheel import breaker, flywheel
from levelcap.kit.config import save_settings
from levelcap.kit.db import transaction
from levelcap.trials.verdict import TRIAL_VERSION, Verdict
from levelcap.vault.champion import promote
from levelcap.vault.ledger import rate
from tests.cli.calling import levelcap
from tests.vault.made import entered

SAVING = {"is_saving": True, "time_ratio": [0.5, 0.45, 0.55], "bytes": [400, 1000]}
PARTS = {
    "strength": {"passed": True, "why": "equal", "saving": SAVING},
    "safety": {"passed": True, "why": "kept"},
    "robust": {"attacks": {"noise": {}}},
}
# Days ago, core-seconds, gain with its interval.
STORY = [
    (1, 600.0, (60.0, 40.0, 80.0)),
    (2, 300.0, (20.0, 0.0, 40.0)),
    (3, 100.0, (0.0, 0.0, 0.0)),
    (9, 500.0, (5.0, -5.0, 15.0)),
]


@pytest.fixture
def week(realm):
    with transaction(realm.engine) as connection:
        for number, (ago, spent, gain) in enumerate(STORY):
            run, began = f"run-{number}", datetime.now(UTC) - timedelta(days=ago)
            runs.begin(connection, NewRun(run, "reinforce", 0, "levelcap reinforce"), None, 0)
            took = {"seconds": spent / 2, "core_seconds": spent, "steps": 1, "updates": 1}
            runs.finish(connection, run, took)
            cost = spent / gain[0] if gain[1] > 0 else None
            runs.note_gain(connection, run, Gain(*gain, cost, "as told", 1))
            at = {"t": began.isoformat(), "i": run}
            connection.execute("UPDATE runs SET started = :t WHERE id = :i", at)
        for kind in ("job.failed", "job.dead", "service.down", "training.diverged", "alarm.disk"):
            say(connection, kind, "so it was", severity="error")
        say(connection, "job.retried", "no incident")
    return realm


def test_gain_cost_and_incidents_of_a_week_beside_the_week_before(week):
    found = make_report(week.engine)
    # 80 Elo; the half widths 20 and 20 add up as squares.
    assert found.now.gain == pytest.approx((80, 80 - 800**0.5, 80 + 800**0.5))
    assert found.now.core_seconds == 1000 and found.now.runs == found.runs == 3
    assert found.now.elo_per_day[0] == pytest.approx(80 / (500 / 86_400))
    assert found.now.cost_per_elo[0] == pytest.approx(12.5)
    assert found.now.cost_per_elo[1] < 12.5 < found.now.cost_per_elo[2]
    assert found.before.gain[0] == 5 and found.before.cost_per_elo is None
    told = {"failures": 2, "breaker": 0, "divergences": 1, "dead processes": 1, "other": 1}
    assert found.families == told and found.now.incidents == 5 and found.before.incidents == 0
    assert found.now.joules == 10_000 and found.now.price is None and "unknown" in found.block()
    assert "core-seconds per Elo: 12.5" in found.block() and "(before: ∞)" in found.block()
    assert make_report(week.engine, "campaign").now.runs == 4


def test_runs_without_any_gain_have_no_price_per_elo(realm):
    with transaction(realm.engine) as connection:
        runs.begin(connection, NewRun("run-0", "imitate", 0, "levelcap imitate"), None, 0)
        runs.note_gain(connection, "run-0", Gain(0.0, 0.0, 0.0, None, "first of its kind", 1))
    found = make_report(realm.engine)
    assert found.now.gain == (0, 0, 0) and found.now.cost_per_elo is None
    assert "core-seconds per Elo: ∞" in found.block()


def test_prices_of_the_settings_make_a_price(week):
    save_settings({"price_core_hour": 0.36, "price_kwh": 0.72})
    found = make_report(week.engine)
    assert found.now.price == pytest.approx(0.1 + 0.002)
    assert found.price_source == "0.36 a core-hour + 0.72 a kWh"


def test_a_saving_that_was_crowned_is_in_it(week):
    entry = entered(week, 5)
    verdict = Verdict(entry.id, None, "trial", True, "equal", {}, TRIAL_VERSION, PARTS)
    promote(week.engine, entry.id, verdict)
    [row] = make_report(week.engine).crowned
    assert (row.checkpoint, row.saving) == (entry.id, "time × 0.50, bytes 1,000 -> 400")


def test_the_trend_is_a_factor_from_run_to_run():
    assert trend_of([8.0, 4.0]) is None
    middle, low, high = trend_of([8.0, 4.0, 2.0, 1.0])
    assert middle == pytest.approx(0.5) and low == pytest.approx(high)
    middle, low, high = trend_of([4.0, 1.0, 5.0, 2.0, 3.0])
    assert low < 1 < high


def test_the_breaker_says_once_that_work_stands_still(realm):
    flywheel.begin(realm.store)
    with transaction(realm.engine) as connection:
        campaign = connection.execute("SELECT id FROM campaigns").scalar()
        breaker.note_refusal(connection, campaign, "no such shard")
    for _ in range(3):
        flywheel.turn(realm.store)
    found = make_report(realm.engine)
    assert found.families["breaker"] == 1 and found.incidents == {"training.halted": 1}


def test_the_command_prints_draws_and_refuses_an_empty_picture(capsys, week, tmp_path):
    code, out, _ = levelcap(capsys, "report", "--week")
    assert code == 0 and "12.5" in out and "2 failures" in out
    picture = tmp_path / "week.png"
    code, _, error = levelcap(capsys, "report", "--picture", str(picture))
    assert code == 2 and "judged" in error
    judged = entered(week, 7).id
    with transaction(week.engine) as connection:
        rate(connection, judged, (1200.0, 1150.0, 1250.0), "")
    assert levelcap(capsys, "report", "--picture", str(picture))[0] == 0
    assert picture.read_bytes()[1:4] == b"PNG"
