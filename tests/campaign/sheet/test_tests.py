"""Sequential tests of a realm: asked for, played by a worker, kept, listed."""

import pytest

from levelcap.campaign.realm import open_realm
from levelcap.campaign.sheet import tests as sheet
from levelcap.campaign.story.events import list_events
from levelcap.campaign.wheel import flywheel
from levelcap.campaign.work.desk import campaign_for, enter
from levelcap.campaign.work.recipes import read_recipe
from levelcap.kit.db import reading
from levelcap.kit.errors import BadValue, UnknownName
from levelcap.services.arena.daemon import worker
from levelcap.trials.sprt import SequentialTest, preset_of
from tests.vault.made import entered


def ask(realm, **recipe):
    flywheel.begin(realm.store)
    read = read_recipe({"quest": "test", **recipe})
    return enter(realm.store, campaign_for(realm.store, "arena"), read, source="person")


def rows(realm):
    with reading(realm.engine) as connection:
        return sheet.list_tests(connection)


def test_a_test_waits_runs_and_ends_with_a_verdict_and_a_notice(realm):
    quest = ask(realm, a="master", b="rookie")
    [row] = rows(realm)
    assert (row.state, row.games, row.verdict, row.quest) == ("queued", 0, None, quest.id)
    assert worker(realm).run(max_jobs=1) == 1
    [row] = rows(realm)
    assert (row.state, row.verdict, row.a, row.b) == ("done", "passed", "master", "rookie")
    assert row.id == quest.id.replace("quest", "test") and row.llr >= row.bounds[1]
    assert row.games == row.won + row.drawn + row.lost == 2 * sum(row.pairs)
    assert row.won > row.lost and row.games_to_go == 0 and row.elo[1] > 0
    with reading(realm.engine) as connection:
        [event] = list_events(connection, kind="eval.test_ended")
    assert event.severity == "success" and row.block in event.message


def test_a_running_test_is_as_its_worker_last_told(realm):
    quest = ask(realm, a="veteran", b="rookie", minutes=5)
    told = SequentialTest(preset_of("gain", "duel"))
    told.add([1.0, 0.0] * 40 + [1.0, 0.5] * 20)
    store = realm.store
    store.register("w", "local_gpu_1", ["eval_worker"])
    job = store.claim("w", types=["test"])
    store.progress(job.id, "w", job.fence, 0.25, told.line())
    [row] = rows(realm)
    assert (row.state, row.pairs, row.llr) == ("running", [0, 0, 40, 20, 0], round(told.llr, 4))
    assert (row.won, row.drawn, row.lost) == (60, 20, 40)
    assert row.games_to_go == told.games_to_go > 0 and 0 <= row.seconds_to_go <= 300
    assert 0.5 < row.share < 1 and row.verdict is None
    store.fail(job.id, "w", job.fence, "validation_error", "a file was lost")
    [row] = rows(realm)
    assert (row.state, row.block, row.quest) == ("failed", "a file was lost", quest.id)


def test_what_cannot_be_tested_is_refused_when_it_is_asked_for(realm):
    with pytest.raises(BadValue, match="two players"):
        ask(realm, a="master", b="master")
    with pytest.raises(UnknownName):
        ask(realm, a="nobody", b="master")
    siege = entered(realm, 4, world="siege").id
    with pytest.raises(BadValue, match="one world"):
        ask(realm, a=siege, b="master", world="duel")
    with pytest.raises(BadValue, match="preset"):
        ask(realm, a="master", b="rookie", preset="gian")
    ask(realm, a=siege, b="master")
    assert rows(realm)[0].world == "siege"


def test_a_realm_of_the_version_before_gets_its_table(realm):
    with reading(realm.engine) as connection:
        assert connection.execute("SELECT count(*) FROM tests").scalar() == 0
    realm.close()
    again = open_realm()
    assert rows(again) == []
    again.close()
