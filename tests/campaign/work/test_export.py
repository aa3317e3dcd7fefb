"""An export is a quest: entered, worked off, told of, and not done twice."""

from levelcap.campaign.story import campaigns, quests
from levelcap.campaign.story.events import list_events
from levelcap.campaign.wheel import flywheel
from levelcap.campaign.work.desk import enter
from levelcap.campaign.work.recipes import read_recipe
from levelcap.export.runtime import load
from levelcap.kit.db import reading, transaction
from levelcap.kit.paths import folder
from levelcap.services.arena.daemon import worker
from tests.campaign.nets import net


def test_a_checkpoint_is_exported_by_a_worker_and_a_second_quest_finds_it_there(realm):
    flywheel.begin(realm.store)
    checkpoint = net(realm, 1)
    with transaction(realm.engine) as connection:
        campaign = campaigns.active(connection, "kestrel")
        connection.execute("DELETE FROM jobs")  # what the wheel has asked for meanwhile
    asked = {"quest": "export", "checkpoint": checkpoint}
    made = []
    for _ in range(2):
        quest = enter(realm.store, campaign.id, read_recipe(asked), source="person")
        worker(realm).run(max_jobs=1)
        with reading(realm.engine) as connection:
            found = quests.get(connection, quest.id)
        assert found.status == "done" and found.result["parity"]["action_agreement"] >= 0.999
        place = folder("exports") / found.result["bundle"]
        made.append((place / "manifest.json").stat().st_mtime_ns)
    assert made[0] == made[1]
    assert load(place).bundle.kind == "flat"
    with reading(realm.engine) as connection:
        told = [
            event.message for event in list_events(connection) if event.kind == "vault.exported"
        ]
    assert len(told) == 2 and checkpoint in told[0]
