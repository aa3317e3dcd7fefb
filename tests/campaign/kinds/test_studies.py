"""The text hero in the realm: school, rounds of study, exams, sparring, passives, a champion."""

import json
import os
import signal
import subprocess
import sys
from dataclasses import replace

import numpy as np
import pytest

from levelcap.campaign.kinds import studies
from levelcap.campaign.kinds.heroes import find_hero, get_text_hero
from levelcap.campaign.sheet.drift import passives
from levelcap.campaign.sheet.guild import guild_sheet
from levelcap.campaign.sheet.hero import sheet
from levelcap.campaign.story import campaigns, quests, runs, skills
from levelcap.campaign.story.events import list_events
from levelcap.campaign.wheel import breaker, flywheel
from levelcap.campaign.wheel.control import switch
from levelcap.campaign.work.desk import enter
from levelcap.campaign.work.recipes import read_recipe
from levelcap.campaign.work.study import Study
from levelcap.jobs.job import Status
from levelcap.kit.db import reading, transaction
from levelcap.kit.errors import BadValue, Conflict, UnknownName
from levelcap.kit.files import append_jsonl
from levelcap.kit.paths import folder
from levelcap.learn.engine.state import load_newest
from levelcap.services.arena.daemon import worker
from levelcap.vault.champion import champion_of
from levelcap.vault.ledger import get_ledger
from tests.services.realms import ROOT, until

HERO = """
id: dio-tiny
name: DIO
kind: text
size: dummy
batch: 4
affinity: {bin: 1.0, sy: 0.5}
school_minutes: 0.02
round_minutes: 0.03
"""


@pytest.fixture
def tiny(realm):
    own = folder("config") / "heroes"
    own.mkdir()
    (own / "dio.yaml").write_text(HERO)
    switch(realm.store, "dio-tiny")
    return realm


def current(realm):
    with reading(realm.engine) as connection:
        return campaigns.current(connection, "dio-tiny")


def turn_until(realm, what, most=14):
    crew = worker(realm)
    for _ in range(most):
        flywheel.turn(realm.store)
        if what():
            return
        crew.run(max_jobs=1)
    raise AssertionError("the wheel did not get there")


def kinds(realm):
    with reading(realm.engine) as connection:
        return [quest.kind for quest in quests.list_quests(connection)[::-1]]


def test_the_wheel_goes_from_school_to_study_and_judges_every_checkpoint(tiny):
    def judged():
        rows = get_ledger(tiny.engine).list(hero="dio-tiny")
        return sum(row.val_loss is not None for row in rows) >= 2

    turn_until(tiny, judged)
    rows = get_ledger(tiny.engine).list(hero="dio-tiny")[::-1]
    with reading(tiny.engine) as connection:
        found = quests.list_quests(connection)[::-1]
        table = passives(connection, rows[-1])
        base = passives(connection, rows[0])
        drawn = sheet(connection, find_hero("dio-tiny"))
        page = guild_sheet(connection, "dio-tiny")
        champion = champion_of(connection, "dio-tiny")
        run = runs.get(connection, rows[-1].run)
    assert [q.kind for q in found[:3]] == ["school", "study", "study"]
    assert found[1].run == found[2].run != found[0].run  # rounds continue one run
    assert all(row.role == "text" and row.train_loss > 0 for row in rows)
    assert (rows[0].skill_name, rows[0].skill_level, rows[0].base) == ("school", 0, True)
    assert (rows[-1].skill_name, rows[-1].skill_level) == ("bin", 1)
    assert rows[-1].parents and 0 <= rows[-1].accuracy <= 1
    assert {row.count for row in base.passives} == {30}  # FULL for the base
    assert {row.count for row in table.passives} == {5} and table.base == rows[0].id
    assert table.gained + table.held + table.lost == 11
    assert drawn.chosen and drawn.world == "text" and drawn.stats["level"].value == 1
    assert {row.standing.skill for row in page.skills} == {"bin", "sy"}
    assert len(page.primitives) == 39 and page.passives.checkpoint == rows[-1].id
    assert champion.checkpoint in {row.id for row in rows}
    assert run.command.startswith("levelcap text train --skill bin --level 1")


def exam_row(update, kind="evaluation", level=1, outcome="evaluated", accuracy=0.9, **more):
    counts = {
        "by_form": {"easy": [9, 10]},
        "by_operation": {"add": [9, 10]},
        "by_primitive": {"add_no_carry": [4, 10], "add_with_carry": [9, 10]},
    }
    return {
        "event": kind,
        "level": level,
        "outcome": outcome,
        "accuracy": accuracy,
        "count": 96,
        "update": update,
        "core_seconds": update / 10,
        "seconds": 1.0,
        **counts,
        **more,
    }


def begun(realm, skill="bin"):
    campaign = current(realm)
    recipe = read_recipe({"quest": "study", "skill": skill, "minutes": 1})
    quest = enter(realm.store, campaign.id, recipe, source="scheduler")
    with reading(realm.engine) as connection:
        return runs.get(connection, quest.run)


def take(realm, run, rows):
    append_jsonl(runs.run_folder(run.id) / "events.jsonl", rows)
    with transaction(realm.engine) as connection:
        return skills.take_exams(connection, run, get_text_hero("dio-tiny"))


def heard(realm, kind):
    with reading(realm.engine) as connection:
        return [event for event in list_events(connection, kind=kind, limit=100)]


def test_exams_are_counted_once_and_levels_rise_with_an_event(tiny):
    run = begun(tiny)
    runs.run_folder(run.id).mkdir()
    first = [
        exam_row(25),
        exam_row(50),
        exam_row(75, outcome="ready"),
        exam_row(75, "confirmation", outcome="level_up"),
        {"event": "level_up", "update": 75, "level": 2, "mastered": True},
    ]
    assert take(tiny, run, first) == 4
    assert take(tiny, run, first) == 0  # a run that was killed says it again
    assert take(tiny, run, [exam_row(100, level=2, accuracy=0.5)]) == 1
    with reading(tiny.engine) as connection:
        found = skills.standing(connection, current(tiny), "bin")
        assert skills.level_of(connection, current(tiny), "bin_add") == 1
    assert (found.level, found.mastered, found.exams) == (2, [1], 5)
    assert found.window == [0.5] and found.mean is None
    assert found.level_ups == [(2, 7.5)] and found.forms == {"easy": [45, 50]}
    assert found.xp == 4 * 9 + int(10 * 1.25 * 0.5)
    assert skills.weak(found.primitives) == ["add_no_carry"]
    assert [e.data["level"] for e in heard(tiny, "hero.level_up")] == [2]
    assert [e.data["level"] for e in heard(tiny, "hero.skill_up")] == [1]
    assert current(tiny).peak_skill_levels == {"bin": 2}


def test_a_faster_campaign_sets_a_personal_best(tiny):
    passed = [exam_row(75, "confirmation", outcome="level_up")]
    run = begun(tiny)
    runs.run_folder(run.id).mkdir()
    take(tiny, run, passed)
    with transaction(tiny.engine) as connection:
        campaigns.create(connection, "dio-tiny", "again")
    run = begun(tiny)
    runs.run_folder(run.id).mkdir()
    take(tiny, run, [exam_row(50, "confirmation", outcome="level_up")])
    assert [e.data.get("personal_best") for e in heard(tiny, "hero.stat_change")][0] == 5.0
    with reading(tiny.engine) as connection:
        [best] = skills.bests(connection, "dio-tiny")
    assert (best.skill, best.level, best.core_seconds) == ("bin", 2, 5.0)


def test_one_hero_trains_and_the_other_waits(realm):
    flywheel.begin(realm.store)
    flywheel.turn(realm.store)
    realm.store.register("w", "local_gpu_1", ["trainer", "data_forge"])
    assert switch(realm.store, "dio-tiny").status == "active"
    with reading(realm.engine) as connection:
        assert campaigns.current(connection, "kestrel").status == "paused"
        assert [h for h in ("kestrel", "dio-tiny") if sheet(connection, find_hero(h)).chosen] == [
            "dio-tiny"
        ]
    assert realm.store.claim("w") is None  # kestrel's recording waits
    flywheel.turn(realm.store)
    job = realm.store.claim("w")
    assert (job.type, job.payload["skill"]) == ("study", "school")
    switch(realm.store, "kestrel")
    assert (runs.run_folder(job.payload["run"]) / "stop").exists()  # its run ends and waits
    assert realm.store.claim("w").type == "record"
    for hero, error in (("flo", Conflict), ("nobody", UnknownName)):
        with pytest.raises(error):
            switch(realm.store, hero)


def test_text_quests_go_to_the_text_hero_and_arena_quests_to_the_other(tiny):
    with transaction(tiny.engine) as connection:
        arena = campaigns.create(connection, "kestrel", "arena")
    recipe = read_recipe({"quest": "study"})
    with pytest.raises(BadValue, match="for text heroes, this campaign is not"):
        enter(tiny.store, arena.id, recipe, source="person")
    for bad in (
        {"skill": "dance"},
        {"level": 99},
        {"run": "study-x"},
        {"lessons": ["dataset-x"]},
        {"from": "checkpoint-x"},
    ):
        with pytest.raises((UnknownName, BadValue)):
            enter(
                tiny.store,
                current(tiny).id,
                read_recipe({"quest": "study", **bad}),
                source="person",
            )
    with pytest.raises(BadValue, match="less than or equal to 10"):
        read_recipe({"quest": "school", "minutes": 11})


def test_sparring_makes_lessons_and_a_round_on_them_comes_first(tiny):
    turn_until(tiny, lambda: "study" in kinds(tiny) and get_ledger(tiny.engine).count() >= 1)
    campaign = current(tiny)
    with transaction(tiny.engine) as connection:
        connection.execute("DELETE FROM jobs WHERE type IN ('eval', 'study')")
        connection.execute(
            "UPDATE quests SET status = 'cancelled', job = NULL WHERE status = 'queued'"
        )
    recipe = read_recipe({"quest": "spar", "count": 8})
    assert recipe.priority == "high"
    spar = enter(tiny.store, campaign.id, recipe, source="person")
    worker(tiny).run(max_jobs=1)
    with reading(tiny.engine) as connection:
        done = quests.get(connection, spar.id)
    assert done.status == "done" and done.result["rows"] == 3 * done.result["wrong"] > 0
    flywheel.turn(tiny.store)
    with reading(tiny.engine) as connection:
        newest = quests.list_quests(connection)[0]
    assert (newest.kind, newest.priority) == ("study", "high")
    assert newest.recipe["lessons"] == [done.result["asset"]]
    worker(tiny).run(max_jobs=1)
    with reading(tiny.engine) as connection:
        assert quests.get(connection, newest.id).status == "done"
        after = studies.next_recipe(
            connection, get_text_hero("dio-tiny"), campaign, lambda quest: False
        )
    assert after["quest"] == "study" and "run" not in after  # a new run, from where that one ended
    assert after["from"] == get_ledger(tiny.engine).list(hero="dio-tiny")[0].id


def test_the_curriculum_shares_out_rounds(tiny):
    hero, campaign = get_text_hero("dio-tiny"), current(tiny)
    assert studies.curriculum_of(hero, campaign).skills == ("bin",)
    for settings, wanted in (
        ({"curriculum": "balanced"}, ("equal", ("bin", "sy"))),
        ({"curriculum": "balanced", "strategy": "focus"}, ("focus", ("bin", "sy"))),
        ({"curriculum": "nonsense"}, ("equal", ("bin",))),
    ):
        found = studies.curriculum_of(hero, replace(campaign, config_overrides=settings))
        assert (found.strategy, found.skills) == wanted
    balanced = studies.curriculum_of(
        hero, replace(campaign, config_overrides={"curriculum": "balanced"})
    )
    done: dict[str, int] = {}
    with reading(tiny.engine) as connection:
        for _ in range(6):
            name = studies._choose(connection, balanced, campaign, done)
            done[name] = done.get(name, 0) + 1
    assert done == {"bin": 3, "sy": 3}


def test_the_wheel_stops_trying_what_always_fails(tiny):
    with transaction(tiny.engine) as connection:
        campaigns.set_overrides(connection, current(tiny).id, {"knobs": {"batsch": 3}}, [])
    crew = worker(tiny)
    for _ in range(5):
        if flywheel.turn(tiny.store):
            crew.run(max_jobs=1)
    with reading(tiny.engine) as connection:
        found = quests.list_quests(connection)
    assert [q.status for q in found] == ["failed"] * breaker.SAME
    assert "batch" in found[0].result["error"]


def arrays(run):
    return load_newest(runs.run_folder(run) / "checkpoints")[0]


def study_job(realm, run, updates_a_checkpoint="0.05"):
    payload = {
        "run": run,
        "minutes": 0.07,
        "seed": 3,
        "knobs": {"engine.checkpoint_s": updates_a_checkpoint, "engine.snapshot_s": "600"},
    }
    with transaction(realm.engine) as connection:
        Study(**payload).begin(connection, current(realm).id, 0)
    return realm.store.submit("study", payload, campaign=current(realm).id).job_id


def test_a_killed_study_job_goes_on_where_it_was(tiny):
    job = study_job(tiny, "study-killed")
    code = (
        "from levelcap.campaign.realm import open_realm\n"
        "from levelcap.services.arena.daemon import worker\nworker(open_realm()).run(max_jobs=1)"
    )
    place = runs.run_folder("study-killed")
    process = subprocess.Popen([sys.executable, "-c", code], cwd=ROOT, env={**os.environ})
    until(lambda: len(list(place.glob("checkpoints/checkpoint-*"))) >= 2, 90, "two checkpoints")
    process.send_signal(signal.SIGKILL)
    process.wait()
    before = arrays("study-killed").values["progress"]["update"]
    tiny.store.release_worker("arena")
    worker(tiny).run(max_jobs=1)
    done = tiny.store.get(job)
    assert done.status is Status.DONE and done.result["updates"] > before > 0
    events = [json.loads(line) for line in (place / "events.jsonl").read_text().splitlines()]
    assert [e["event"] for e in events].count("resumed") == 1
    rows = [json.loads(line) for line in (place / "metrics.jsonl").read_text().splitlines()]
    losses = {}
    for row in rows:  # updates after the last checkpoint were done twice, with the same numbers
        assert losses.setdefault(row["step"], row["loss"]) == row["loss"]
    assert np.isfinite(list(losses.values())).all()


def test_old_exams_keep_their_outcome_and_lose_their_details(tiny):
    run = begun(tiny)
    runs.run_folder(run.id).mkdir()
    assert take(tiny, run, [exam_row(25 * n) for n in range(1, 81)]) == 80
    with reading(tiny.engine) as connection:
        rows = connection.execute("SELECT data, xp FROM exams ORDER BY seq").all()
        found = skills.standing(connection, current(tiny), "bin")
    assert [row.data == "{}" for row in rows] == [True] * 30 + [False] * 50
    assert found.xp == 80 * 9 and found.forms == {"easy": [90, 100]}
