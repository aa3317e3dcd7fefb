"""Stories in which scheduled work failed without end: told with the real store, effects and net."""

import pytest

from levelcap.campaign.kinds import arena
from levelcap.campaign.story import campaigns, quests
from levelcap.campaign.story.played import recipes, shard_name
from levelcap.campaign.story.runs import shard_folder
from levelcap.campaign.wheel import breaker, flywheel
from levelcap.campaign.wheel.control import control, status
from levelcap.campaign.work.desk import campaign_for, enter
from levelcap.campaign.work.recipes import read_recipe
from levelcap.kit.db import reading, transaction
from levelcap.kit.paths import folder
from levelcap.play.record.games import record
from levelcap.services.arena.daemon import worker

HERO = """
id: kestrel
name: Kestrel
kind: arena
size: dummy
demo_games: 20
imitation_minutes: 0.02
round_minutes: 0.02
late_round_minutes: 0.02
"""


@pytest.fixture
def tiny(realm):
    own = folder("config") / "heroes"
    own.mkdir()
    (own / "kestrel.yaml").write_text(HERO)
    flywheel.begin(realm.store)
    return realm


def all_quests(realm):
    with reading(realm.engine) as connection:
        return quests.list_quests(connection)[::-1]


def turn(realm, times):
    """Turns of the wheel, each with whatever the Arena makes of it (evaluations left out)."""
    crew = worker(realm, without=("eval_worker",))
    for _ in range(times):
        if flywheel.turn(realm.store):
            crew.run(max_jobs=1)


def ask(realm, recipe):
    """A person's quest, carried out."""
    campaign = campaign_for(realm.store, "arena")
    quest = enter(realm.store, campaign, read_recipe(recipe), source="person")
    worker(realm, without=("eval_worker",)).run(max_jobs=1)
    return quest


def a_persons_match(realm):
    """A match somebody played and allowed us to keep; returns the recipe of the arena's button."""
    place = shard_folder(shard_name("person-ann", "duel", "live-1"))
    place.parent.mkdir(parents=True, exist_ok=True)
    record(
        ["rookie", "idle"], "duel", 2, 0, place, names=["person-ann", "idle"], keep=["person-ann"]
    )
    return recipes("person-ann", "duel", "live-1")[0] | {"size": "dummy", "minutes": 0.02}


def test_a_persons_clone_is_a_branch_and_the_wheel_goes_on_from_its_own_base(tiny):
    turn(tiny, 3)  # record, imitate, a first round
    own = all_quests(tiny)
    clone = ask(tiny, a_persons_match(tiny))
    turn(tiny, 3)
    found = all_quests(tiny)
    later = [quest for quest in found if quest.seq > clone.seq]
    assert [(q.kind, q.status) for q in later] == [("reinforce", "done")] * 3
    assert {(q.run, q.recipe["from"]) for q in later} == {(own[2].run, own[2].recipe["from"])}
    assert len({q.recipe["minutes"] for q in later}) == 3  # each asks for one round more


def test_a_clone_becomes_the_base_when_somebody_says_so(tiny):
    turn(tiny, 3)
    own = all_quests(tiny)[2]
    clone = ask(tiny, a_persons_match(tiny) | {"base": True})
    turn(tiny, 2)
    first, second = [quest for quest in all_quests(tiny) if quest.seq > clone.seq]
    assert (first.status, second.status) == ("done", "done")
    assert first.run == second.run != own.run
    assert first.recipe["from"] == second.recipe["from"] != own.recipe["from"]


def test_a_recording_of_somebody_else_is_not_what_the_hero_imitates(tiny):
    ask(tiny, {"quest": "record", "teacher": "rookie", "partner": "master", "games": 4})
    turn(tiny, 3)
    found = all_quests(tiny)[1:]
    assert [(q.kind, q.status) for q in found] == [
        ("record", "done"),
        ("imitate", "done"),
        ("reinforce", "done"),
    ]
    assert found[1].recipe["shards"] == [found[0].result["shard"]]


def test_changed_knobs_begin_a_run_of_their_own_where_the_last_one_ended(tiny):
    turn(tiny, 3)
    before = all_quests(tiny)[-1]
    with transaction(tiny.engine) as connection:
        campaigns.set_overrides(connection, before.campaign, {"knobs": {"kl_coef": 0.03}}, [])
    turn(tiny, 2)
    first, second = all_quests(tiny)[3:]
    assert (first.status, second.status) == ("done", "done")
    assert first.run == second.run != before.run
    assert first.recipe["minutes"] == 0.02


def fails(realm, times, *words):
    """The wheel turns and whatever it asks for fails with these words, one after another."""
    store = realm.store
    store.register("w", "local_gpu_1", ["trainer"])
    for number in range(times):
        flywheel.turn(store)
        job = store.claim("w", types=["record", "imitate", "reinforce", "study"])
        if job is not None:
            said = words[number % len(words)]
            store.fail(job.id, "w", job.fence, "execution_error", f"{said}\nline {number}")


def test_the_same_failure_three_times_stops_that_work_until_somebody_tries_again(tiny):
    fails(tiny, 10, "KeyError: row 17 of run-a1", "KeyError: row 4 of run-b2")
    assert [q.status for q in all_quests(tiny)] == ["failed"] * 3
    with reading(tiny.engine) as connection:
        halt = status(connection)["halt"]
    assert "record" in halt["reason"] and "KeyError" in halt["reason"]
    assert "levelcap training retry" in halt["remedy"]
    control(tiny.store, "retry")
    with reading(tiny.engine) as connection:
        assert status(connection)["halt"] is None
    fails(tiny, 10, "KeyError: row 17")
    assert len(all_quests(tiny)) == 6


def test_a_success_lets_the_count_begin_anew(tiny):
    fails(tiny, 2, "KeyError: x")
    turn(tiny, 1)
    assert [q.status for q in all_quests(tiny)] == ["failed", "failed", "done"]
    fails(tiny, 10, "KeyError: x")
    assert [q.kind for q in all_quests(tiny)[3:]] == ["imitate"] * 3


def test_six_failures_of_any_kind_in_ten_minutes_are_the_most(tiny):
    fails(tiny, 20, *(f"Error{letter}: no" for letter in "abcdefghijklmnopqrst"))
    assert len(all_quests(tiny)) == 6
    with reading(tiny.engine) as connection:
        assert "6 scheduled quests failed" in status(connection)["halt"]["reason"]


def test_without_the_breaker_it_would_go_on(tiny, monkeypatch):
    monkeypatch.setattr(breaker, "look", lambda connection, campaign, at=None: None)
    fails(tiny, 20, "KeyError: x")
    assert len(all_quests(tiny)) == 20


def test_work_that_is_refused_when_it_is_entered_stops_the_wheel_too(tiny, monkeypatch):
    monkeypatch.setattr(arena, "next_recipe", lambda *given: {"quest": "record", "games": 1})
    for _ in range(5):
        assert flywheel.turn(tiny.store) == []
    with reading(tiny.engine) as connection:
        assert "games" in status(connection)["halt"]["reason"]
    monkeypatch.undo()
    assert flywheel.turn(tiny.store) == []
    control(tiny.store, "retry")
    assert len(flywheel.turn(tiny.store)) == 1
