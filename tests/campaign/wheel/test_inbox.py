"""Quests: recipes in, jobs out; the inbox takes what is good and puts the rest aside."""

import json
import os

import pytest

from levelcap.campaign.story import campaigns, quests
from levelcap.campaign.wheel import flywheel, inbox
from levelcap.campaign.work.recipes import parse_recipe, read_recipe
from levelcap.jobs.job import Status
from levelcap.kit.db import reading, transaction
from levelcap.kit.errors import BadFile, BadValue, Conflict, LevelcapError, UnknownName
from levelcap.kit.paths import folder
from tests.vault.made import entered

GOOD = "quest: record\nworld: duel\ngames: 10\n"
BAD = {
    "empty": "",
    "a list": "- a\n",
    "text": "hello",
    "not yaml": "quest: [unclosed",
    "unknown quest": "quest: cheat\n",
    "unknown key": "quest: record\ngamess: 3\n",
    "wrong type": "quest: record\ngames: many\n",
    "out of range": "quest: record\ngames: 1\n",
    "a path as a name": "quest: imitate\nshards: [../../etc]\n",
    "absent shard": "quest: imitate\nshards: [nowhere]\n",
    "absent checkpoint": "quest: reinforce\nfrom: checkpoint-000\n",
    "absent run": "quest: reinforce\nrun: reinforce-000\n",
    "nan minutes": "quest: reinforce\nminutes: .nan\n",
    "python object": "quest: !!python/object/apply:os.system [true]\n",
    "alias bomb": "a: &a [1,2]\nb: &b [*a,*a]\nquest: record\n",
    "two documents": "quest: record\n---\nquest: record\n",
    "control characters": "quest: rec\x00ord\n",
    "deep": "quest: " + "[" * 2000,
}


@pytest.fixture
def active(realm):
    with transaction(realm.engine) as connection:
        return campaigns.create(connection, "kestrel", "test").id


@pytest.mark.parametrize("name", BAD)
def test_a_bad_recipe_is_refused_and_nothing_is_written(name, realm, active):
    with pytest.raises(LevelcapError):
        inbox.enter_text(realm.store, BAD[name].encode(), "x.yaml")
    with reading(realm.engine) as connection:
        assert quests.count(connection) == {}
    assert realm.store.stats()["open"] == 0


def test_a_message_names_field_value_and_remedy():
    with pytest.raises(BadValue, match=r"games.*greater than or equal to 2; got 1. Correct"):
        read_recipe({"quest": "record", "games": 1})


def test_a_recipe_becomes_a_quest_with_a_job(realm, active):
    quest = inbox.enter_text(realm.store, GOOD.encode(), "x.yaml", "high")
    assert (quest.kind, quest.status, quest.priority) == ("record", "queued", "high")
    job = realm.store.get(quest.job)
    assert (job.type, job.payload["games"], job.status) == ("record", 10, Status.QUEUED)
    assert inbox.enter_text(realm.store, GOOD.encode(), "again.yaml").id == quest.id


def test_knobs_travel_as_text():
    recipe = parse_recipe("quest: reinforce\nset: {kl_coef: 0.02, centre_advantage: true}\n", "x")
    assert recipe.knobs == {"kl_coef": "0.02", "centre_advantage": "true"}


def test_names_of_checkpoints_are_resolved_when_the_quest_is_entered(realm, active):
    entry = entered(realm, 5)
    quest = inbox.enter_text(realm.store, b"quest: reinforce\nfrom: latest\n", "x.yaml")
    assert realm.store.get(quest.job).payload["start"] == entry.id


def test_the_inbox_is_emptied_into_quests_and_quarantine(realm, active):
    place = folder("inbox")
    (place / "low").mkdir()
    (place / "good.yaml").write_text(GOOD)
    (place / "low" / "slow.yaml").write_text(GOOD.replace("10", "12"))
    (place / "bad.yaml").write_text("quest: cheat\n")
    (place / "virus.exe").write_bytes(b"MZ")
    (place / "folder.yaml").mkdir()
    (place / "huge.yaml").write_text("# " + "x" * 70_000)
    os.symlink("/etc/passwd", place / "link.yaml")
    assert inbox.scan(realm.store, now=0.0) == []  # too young: may still be written
    made = inbox.scan(realm.store, now=4e9)
    assert sorted(q.priority for q in made) == ["low", "normal"]
    left = sorted(p.name for p in place.iterdir())
    assert left == ["done", "low", "quarantine"]
    reasons = [json.loads(p.read_text()) for p in (place / "quarantine").glob("*.reason.json")]
    assert {r["file"] for r in reasons} == {
        *("bad.yaml", "virus.exe", "folder.yaml", "huge.yaml", "link.yaml")
    }
    assert all(r["reason"] for r in reasons)
    assert inbox.scan(realm.store, now=4e9) == []


def test_a_kill_between_entering_and_moving_makes_no_second_quest(realm, active):
    (folder("inbox") / "a.yaml").write_text(GOOD)
    first = inbox.enter_text(realm.store, GOOD.encode(), "a.yaml")  # then killed
    assert [q.id for q in inbox.scan(realm.store, now=4e9)] == [first.id]
    with reading(realm.engine) as connection:
        assert quests.count(connection) == {"queued": 1}


def test_uploads_have_plain_names_and_bad_ones_are_kept_aside(realm, active):
    for name in ("../x.yaml", "/etc/x.yaml", "a/b.yaml", "", ".hidden.yaml", "x.exe"):
        with pytest.raises(BadValue):
            inbox.upload(realm.store, name, GOOD.encode())
    with pytest.raises((BadFile, BadValue)):
        inbox.upload(realm.store, "bad.yaml", b"\xff\xfe")
    assert len(list((folder("inbox") / "quarantine").glob("*.reason.json"))) == 1
    assert inbox.upload(realm.store, "good.yaml", GOOD.encode()).status == "queued"


def test_a_quest_follows_its_job(realm, active):
    store = realm.store
    quest = inbox.enter_text(store, GOOD.encode(), "x.yaml")
    store.register("w", "local_gpu_1", ["trainer"])

    def status():
        with reading(realm.engine) as connection:
            return quests.get(connection, quest.id).status

    job = store.claim("w")
    assert status() == "running"
    store.release(job.id, "w", job.fence)
    assert status() == "queued"
    job = store.claim("w")
    store.fail(job.id, "w", job.fence, "validation_error", "no")
    assert status() == "failed"
    assert quests.retry(store, quest.id).status == "queued"
    assert quests.cancel(store, quest.id).status == "cancelled"
    with pytest.raises(Conflict):
        quests.cancel(store, quest.id)


def test_without_a_campaign_there_is_nowhere_to_go(realm):
    with pytest.raises(Conflict, match="no campaign is active"):
        inbox.enter_text(realm.store, GOOD.encode(), "x.yaml")


def test_the_wheel_adds_one_quest_at_a_time(realm):
    flywheel.begin(realm.store)
    flywheel.begin(realm.store)
    with reading(realm.engine) as connection:
        assert len(campaigns.list_all(connection)) == 1
    assert len(flywheel.turn(realm.store)) == 1
    assert flywheel.turn(realm.store) == []


def test_an_evaluation_of_nothing_is_refused(realm, active):
    with pytest.raises(UnknownName):
        inbox.enter_text(realm.store, b"quest: evaluate\n", "x.yaml")
    with reading(realm.engine) as connection:
        assert connection.execute("SELECT count(*) FROM jobs").scalar_one() == 0


@pytest.mark.parametrize(
    "recipe, reason",
    [
        ("quest: record\nteacher: nobody", "unknown policy"),
        ("quest: record\npartner: veteran~2000000", "sealed"),
        ("quest: reinforce\nset: {kl_coeff: 1}", "Did you mean 'kl_coef'"),
        ("quest: reinforce\nset: {kl_coef: lots}", "kl_coef is a float"),
        ("quest: imitate\nshards: [a]\nset: {smoothing: 7}", "smoothing"),
        ("quest: study\nset: {engine.optimizer: adagrad}", "optimizer"),
        ('quest: record\ntitle: "a\\eb"', "control characters"),
        ("quest: record\nquest: imitate", "occurs twice"),
    ],
)
def test_what_the_trainer_would_refuse_is_refused_when_entered(recipe, reason, realm, active):
    with pytest.raises(LevelcapError, match=reason):
        inbox.enter_text(realm.store, recipe.encode(), "x.yaml")
    assert realm.store.stats()["open"] == 0
