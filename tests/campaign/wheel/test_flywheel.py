"""The wheel with real matches and a tiny net: record, imitate, reinforce, judge, crown."""

from dataclasses import replace

import pytest

from levelcap.campaign.kinds.arena import Arena, line_of, next_recipe
from levelcap.campaign.kinds.heroes import find_hero
from levelcap.campaign.story import campaigns, quests, runs
from levelcap.campaign.story.events import list_events
from levelcap.campaign.story.strength import difference
from levelcap.campaign.wheel import flywheel
from levelcap.campaign.wheel.control import control
from levelcap.campaign.work.bench import handlers_of
from levelcap.campaign.work.desk import enter
from levelcap.campaign.work.recipes import read_recipe
from levelcap.campaign.work.snapshots import adopt
from levelcap.campaign.work.table import JOB_TYPES, effects_of
from levelcap.jobs.job import Status
from levelcap.kit.db import reading, transaction
from levelcap.kit.errors import BadFile, UnknownName
from levelcap.kit.paths import folder
from levelcap.services.arena.daemon import worker
from levelcap.trials.gate import judge_elo
from levelcap.trials.ratings import from_digits, to_digits
from levelcap.vault.ledger import get_ledger
from tests.vault.made import entered

HERO = """
id: kestrel
name: Kestrel
kind: arena
size: dummy
demo_games: 20
imitation_minutes: 0.02
round_minutes: 0.03
late_round_minutes: 0.03
"""


@pytest.fixture
def tiny(realm):
    own = folder("config") / "heroes"
    own.mkdir()
    (own / "kestrel.yaml").write_text(HERO)
    flywheel.begin(realm.store)
    return realm


def turn_until(realm, what, most=12):
    crew = worker(realm)
    for _ in range(most):
        flywheel.turn(realm.store)
        if what():
            return
        crew.run(max_jobs=1)
    raise AssertionError("the wheel did not get there")


def test_every_job_type_has_a_handler_and_an_effect(realm):
    handlers = handlers_of(lambda checkpoint: folder("runs"))
    assert set(handlers) == set(JOB_TYPES) == set(effects_of(realm.store))


def test_the_wheel_turns_from_nothing_to_a_champion(tiny):
    def judged():
        rows = get_ledger(tiny.engine).list()
        return sum(row.elo is not None for row in rows) >= 3

    turn_until(tiny, judged)
    rows = get_ledger(tiny.engine).list()[::-1]
    with reading(tiny.engine) as connection:
        found = quests.list_quests(connection)[::-1]
        kinds = {event.kind for event in list_events(connection, limit=1000)}
        champion = connection.execute("SELECT checkpoint FROM champions").scalars()
        gain = difference(connection, rows[1].id, rows[0].id)
        run = runs.get(connection, rows[1].run)
    assert [q.kind for q in found[:3]] == ["record", "imitate", "reinforce"]
    assert found[3].run == found[2].run  # rounds continue one run
    assert rows[0].val_loss > 0 and rows[0].train_loss > 0
    assert [row.step for row in rows] == sorted({row.step for row in rows})
    assert rows[1].parents and all(row.cost_core_seconds > 0 for row in rows)
    assert rows[0].id in champion
    assert gain[1] <= gain[0] <= gain[2]
    assert run.worth is not None and run.command.startswith("levelcap reinforce --world duel")
    assert {
        "data.recorded",
        "vault.checkpoint_saved",
        "eval.completed",
        "training.completed",
        "vault.champion_promoted",
    } <= kinds
    assert (run_place := runs.run_folder(rows[1].run)).is_dir()
    assert (run_place / "snapshots").is_dir()


def test_a_taught_hero_plays_under_its_teachers_eyes_before_its_first_battle(tiny):
    (folder("config") / "heroes" / "kestrel.yaml").write_text(HERO + "taught_minutes: 0.02\n")

    def fought():
        with reading(tiny.engine) as connection:
            return sum(quest.status == "done" for quest in quests.list_quests(connection)) >= 5

    turn_until(tiny, fought)
    with reading(tiny.engine) as connection:
        found = quests.list_quests(connection)[::-1]
        lesson, battle, next_battle = found[2:5]
        taught = runs.get(connection, lesson.run)
    assert [q.kind for q in found[:3]] == ["record", "imitate", "reinforce"]
    assert lesson.recipe["teacher"] == "master" and "eyes of master" in lesson.title
    assert "--teacher master" in taught.command
    # The battle begins where the lesson ended, in a run of its own that goes on.
    assert battle.recipe["teacher"] is None and battle.run != lesson.run
    [last] = [row for row in get_ledger(tiny.engine).list() if row.id == battle.recipe["from"]]
    assert last.run == lesson.run and next_battle.run == battle.run


def test_a_skipped_round_counts_and_the_next_begins(tiny):
    def reinforcing():
        with reading(tiny.engine) as connection:
            return any(q.kind == "reinforce" for q in quests.list_quests(connection))

    turn_until(tiny, reinforcing)
    with reading(tiny.engine) as connection:
        quest = quests.list_quests(connection)[0]
    store = tiny.store
    # Evaluations are claimed first; they are not what is tested here.
    with transaction(tiny.engine) as connection:
        connection.execute("DELETE FROM jobs WHERE type = 'eval'")
        connection.execute("UPDATE quests SET status = 'running' WHERE id = :i", {"i": quest.id})
    control(store, "skip")
    with transaction(tiny.engine) as connection:
        connection.execute("UPDATE quests SET status = 'queued' WHERE id = :i", {"i": quest.id})
    worker(tiny).run(max_jobs=1)
    with reading(tiny.engine) as connection:
        assert quests.get(connection, quest.id).status == "skipped"
    assert store.get(quest.job).status is Status.DONE
    assert flywheel.turn(store) != []


def test_a_failing_knob_fails_the_quest_with_its_reason(tiny):
    recipe = read_recipe(
        {"quest": "reinforce", "minutes": 0.02, "size": "dummy", "set": {"kl_koef": 1}}
    )
    with reading(tiny.engine) as connection:
        campaign = connection.execute("SELECT id FROM campaigns").scalar_one()
    with pytest.raises(UnknownName, match="kl_coef"):
        enter(tiny.store, campaign, recipe, source="person")
    quest = enter(tiny.store, campaign, recipe, source="scheduler")
    worker(tiny).run(max_jobs=1)
    with reading(tiny.engine) as connection:
        found = quests.get(connection, quest.id)
    assert found.status == "failed" and "kl_coef" in found.result["error"]


def test_snapshots_without_a_row_are_adopted(tiny):
    turn_until(tiny, lambda: get_ledger(tiny.engine).count() >= 1)
    with transaction(tiny.engine) as connection:
        for table in ("champions", "evals", "ledger", "locations", "assets"):
            connection.execute(f"DELETE FROM {table}")
    adopted = adopt(tiny.store)
    rows = get_ledger(tiny.engine).list()
    assert [row.id for row in rows] == adopted and rows[0].campaign is not None
    assert adopt(tiny.store) == []


def test_a_promotion_that_is_refused_is_said_once(tiny, monkeypatch):
    entry = entered(tiny, 1)
    verdict = judge_elo(entry.id, (1200.0, 1100.0, 1300.0))
    monkeypatch.setattr(Arena, "judge_best", lambda self, connection, hero: verdict)

    def refuse(*given):
        raise BadFile("this net does not work")

    monkeypatch.setattr(flywheel, "promote", refuse)
    for _ in range(5):
        flywheel.turn(tiny.store)
    with reading(tiny.engine) as connection:
        assert len(list_events(connection, kind="vault.promotion_refused")) == 1


def test_scores_travel_as_digits():
    digits = "2102"
    assert to_digits(from_digits(digits)) == digits
    assert from_digits(digits).tolist() == [1.0, 0.5, 0.0, 1.0]


SEASON = {"turn_s": "1", "turn_updates": "2", "rated_games": "2", "bots": "rookie", "cousins": "0"}
SMALL = {"lanes": "16", "unroll": "24", "minibatches": "2", "value_warmup": "0"}


def test_a_season_and_a_hunt_are_quests_and_rounds_go_on_from_the_season(tiny):
    def cloned():
        return len(get_ledger(tiny.engine).list()) >= 1

    turn_until(tiny, cloned)
    [clone] = get_ledger(tiny.engine).list()
    with transaction(tiny.engine) as connection:  # what the wheel has asked for meanwhile
        connection.execute("DELETE FROM jobs WHERE status = 'queued' OR type = 'eval'")
        connection.execute("DELETE FROM quests WHERE status = 'queued'")
        campaign = campaigns.active(connection, "kestrel")
    asked = {"world": "duel", "from": clone.id, "minutes": 0.1, "set": SEASON, "learning": SMALL}
    enter(
        tiny.store,
        campaign.id,
        read_recipe({"quest": "league", **asked}),
        source="scheduler",
    )
    worker(tiny).run(max_jobs=1)
    with reading(tiny.engine) as connection:
        season = quests.newest(connection, campaign.id, "league", quests.FINISHED, "scheduler")
        line = line_of(connection, find_hero("kestrel"), campaign)
        run = runs.get(connection, season.run)
    assert season.status == "done" and season.result["players"] > 4
    assert run.command.startswith("levelcap league start --world duel")
    [main] = [r for r in get_ledger(tiny.engine).list() if r.id == line.base]
    assert main.run == season.run and line.last is None and not line.own_clone
    assert line.fresh_rounds == 0
    # The next round begins there, in a run of its own.
    following = next_recipe(find_hero("kestrel"), campaign, replace(line, open_quests=0))
    assert (following["quest"], following["from"], following["run"]) == ("reinforce", main.id, None)
    hunt = {"quest": "hunt", "checkpoint": main.id, "core_minutes": 0.02, "set": SMALL}
    quest = enter(tiny.store, campaign.id, read_recipe(hunt), source="person")
    with transaction(tiny.engine) as connection:
        connection.execute("DELETE FROM jobs WHERE type = 'eval'")
    worker(tiny).run(max_jobs=1)
    with reading(tiny.engine) as connection:
        found = quests.get(connection, quest.id)
    assert found.status == "done" and 0 <= found.result["bound"] <= 1
    assert "core-hours" in found.result["words"]
    # An exploiter is no checkpoint of the hero.
    assert all(row.run != found.result["run"] for row in get_ledger(tiny.engine).list())
