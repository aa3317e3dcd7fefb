"""The wheel and the gate: who is stronger on the panel stands a whole trial before the crown."""

import pytest

from levelcap.campaign.kinds import arena
from levelcap.campaign.sheet.report import make_report
from levelcap.campaign.story.events import list_events
from levelcap.campaign.story.strength import difference
from levelcap.campaign.wheel import flywheel
from levelcap.campaign.work.bench import perform_here
from levelcap.campaign.work.desk import enter
from levelcap.campaign.work.evaluate import Evaluate
from levelcap.campaign.work.lessons import locate
from levelcap.campaign.work.recipes import read_recipe
from levelcap.jobs.job import Status
from levelcap.kit.db import reading, transaction
from levelcap.services.arena.daemon import worker
from levelcap.trials import robust, suite
from levelcap.trials.verdict import TRIAL_VERSION, Override, Verdict
from levelcap.vault.champion import champion_of, promote
from levelcap.vault.evals import HUNT, TRIAL, evaluations, marks, store_eval
from levelcap.vault.ledger import rate, row_of
from tests.campaign.nets import net
from tests.vault.made import entered

PARTS = {
    "screen": {"passed": True, "why": "stronger"},
    "strength": {"passed": True, "why": "gain passed"},
    "safety": {"passed": True, "why": "every rule is kept"},
    "robust": {"passed": True, "why": "measured", "attacks": {"noise": {}}},
}


@pytest.fixture
def rivals(realm, monkeypatch):
    """A champion and two checkpoints that are certainly stronger on the panel."""
    flywheel.begin(realm.store)
    champion, better, best = (entered(realm, number) for number in (1, 2, 3))
    with transaction(realm.engine) as connection:
        for entry, elo in ((champion, 1200.0), (better, 1300.0), (best, 1400.0)):
            rate(connection, entry.id, (elo, elo - 30, elo + 30), "")
    promote(realm.engine, champion.id, Override("to begin with", "a test"))
    monkeypatch.setattr(arena, "difference", lambda connection, a, b: (100.0, 60.0, 140.0))
    return champion.id, better.id, best.id


def reigning(realm):
    with reading(realm.engine) as connection:
        return champion_of(connection, "kestrel")


def judge(realm, candidate, champion, passed):
    verdict = Verdict(
        candidate, champion, "trial", passed, "as tried", {}, TRIAL_VERSION, dict(PARTS)
    )
    with transaction(realm.engine) as connection:
        store_eval(connection, candidate, TRIAL, f"job of {candidate}", 0, verdict.as_json())


def test_a_stronger_one_is_tried_once_and_not_crowned_before(realm, rivals):
    champion, _, best = rivals
    for _ in range(3):
        flywheel.turn(realm.store)
    [job] = realm.store.list("queued", "trial")
    assert (job.payload["checkpoint"], job.payload["champion"]) == (best, champion)
    assert reigning(realm).checkpoint == champion


def test_who_has_passed_is_crowned_by_that_verdict(realm, rivals):
    champion, _, best = rivals
    judge(realm, best, champion, True)
    flywheel.turn(realm.store)
    line = reigning(realm)
    assert (line.checkpoint, line.previous) == (best, champion)
    assert line.verdict["version"] == TRIAL_VERSION and "safety" in line.verdict["parts"]


def test_who_was_refused_makes_way_for_the_next(realm, rivals):
    champion, better, best = rivals
    judge(realm, best, champion, False)
    flywheel.turn(realm.store)
    [job] = realm.store.list("queued", "trial")
    assert job.payload["checkpoint"] == better and reigning(realm).checkpoint == champion


def test_a_verdict_against_a_former_champion_does_not_count(realm, rivals):
    champion, better, best = rivals
    judge(realm, best, champion, True)
    promote(realm.engine, better, Override("by hand", "a test"))
    flywheel.turn(realm.store)
    assert reigning(realm).checkpoint == better
    [job] = realm.store.list("queued", "trial")
    assert job.payload["champion"] == better


def test_a_trial_that_ends_without_a_verdict_does_not_block_the_throne(realm, rivals):
    champion, better, best = rivals
    flywheel.turn(realm.store)
    [job] = realm.store.list("queued", "trial")
    realm.store.cancel(job.id)
    for _ in range(3):
        flywheel.turn(realm.store)
    [following] = realm.store.list("queued", "trial")
    assert following.payload["checkpoint"] == better
    with reading(realm.engine) as connection:
        [event] = list_events(connection, kind="vault.promotion_refused")
    assert best in event.message and job.id in event.message


def test_a_trial_is_a_quest_too(realm, monkeypatch):
    flywheel.begin(realm.store)
    champion, best = net(realm, 1), net(realm, 2)
    monkeypatch.setattr(suite, "SCREEN_GAMES", 12)
    monkeypatch.setattr(suite, "UNIT", 2)
    monkeypatch.setattr(robust, "GAMES", dict.fromkeys(robust.GAMES, 4))
    with reading(realm.engine) as connection:
        campaign = connection.execute("SELECT id FROM campaigns").scalar()
    recipe = {"quest": "trial", "checkpoint": best, "against": champion, "minutes": 0.001}
    quest = enter(realm.store, campaign, read_recipe(recipe), source="person")
    worker(realm).run(max_jobs=1)
    assert realm.store.get(quest.job).status is Status.DONE
    with reading(realm.engine) as connection:
        [found] = evaluations(connection, best, ["trial"])
        # A verdict is no measure of strength: whoever compares two checkpoints must not read it.
        assert (
            evaluations(connection, best) == [] and difference(connection, best, champion) is None
        )
        told = [event.message for event in list_events(connection, kind="eval.completed")]
    assert found["candidate"] == best and found["champion"] == champion
    assert not found["passed"] and any("refused" in text for text in told)


def test_the_vault_says_how_trials_and_hunts_went(realm, rivals):
    champion, better, best = rivals
    judge(realm, best, champion, False)
    found = {"bound": 0.625, "words": "best found with 0.33 core-hours: 0.62"}
    with transaction(realm.engine) as connection:
        store_eval(connection, best, HUNT, "job of a hunt", 0, found)
        said = marks(connection, [best, better])
    assert list(said) == [best]
    trial, hunt = said[best]
    assert (trial.word, trial.sentence) == ("refused", f"against {champion}: as tried")
    assert (hunt.word, hunt.sentence) == ("hunted: 0.62", found["words"])


def test_a_new_champion_plays_fresh_games_and_is_rated_by_them(realm, monkeypatch):
    panel = {"elo": [1500.0, 1450.0, 1550.0], "text": "1500 (1450 to 1550)", "world": "duel"}
    panel |= {"accuracy": 0.5, "value_loss": 1.0}
    monkeypatch.setattr(arena.Arena, "judge", lambda *asked: dict(panel))
    flywheel.begin(realm.store)
    first, second = net(realm, 1), net(realm, 2)
    promote(realm.engine, first, Override("to begin with", "a test"))
    flywheel.turn(realm.store)
    assert realm.store.list("queued", "eval") == []  # nobody reigned before the first
    with transaction(realm.engine) as connection:
        rate(connection, second, (1900.0, 1850.0, 1950.0), "")
    promote(realm.engine, second, Override("by hand", "a test"))
    for _ in range(3):
        flywheel.turn(realm.store)
    [job] = realm.store.list("queued", "eval")
    assert (job.payload["checkpoint"], job.payload["against"]) == (second, first)
    asked = Evaluate.of(job).model_copy(update={"games": 40})
    found = perform_here(asked, lambda name: locate(realm.engine, name), lambda said: None)
    assert found["gain"][1] <= found["gain"][0] <= found["gain"][2]
    with transaction(realm.engine) as connection:
        asked.effect(connection, realm.store, job, found)
        assert row_of(connection, second).elo == found["elo"][0] < 1850
        assert evaluations(connection, second) == []  # it is no evaluation that others share
        [mark] = marks(connection, [second])[second]
        [event] = list_events(connection, kind="eval.confirmed")
    assert mark.word == "confirmed" and found["text"] in mark.sentence
    assert "was 1900 (1850 to 1950)" in event.message and f"over {first}" in event.message
    assert make_report(realm.engine).crowned[0].confirmed == found["text"]
