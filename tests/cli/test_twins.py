"""Commands that do what a button of the Tavern does, called as `levelcap` calls them."""

import json

from levelcap.campaign.story import campaigns, quests
from levelcap.campaign.wheel import breaker, flywheel
from levelcap.campaign.work.desk import enter
from levelcap.campaign.work.recipes import read_recipe
from levelcap.kit.db import reading, transaction
from levelcap.vault.ledger import get_ledger
from tests.cli.calling import levelcap
from tests.vault.made import entered


def test_a_checkpoint_is_pinned_removed_later_and_restored(realm, capsys):
    entry = entered(realm, 1)
    assert "is pinned" in levelcap(capsys, "vault", "pin", entry.id)[1]
    code, _, refused = levelcap(capsys, "vault", "rm", entry.id)
    assert code == 1 and "Unpin it first" in refused
    levelcap(capsys, "vault", "unpin", entry.id)
    assert "goes at" in levelcap(capsys, "vault", "rm", entry.id, "--delay-s", "30")[1]
    assert "stays" in levelcap(capsys, "vault", "restore", entry.id)[1]
    assert "is removed" in levelcap(capsys, "vault", "rm", entry.id)[1]
    assert get_ledger(realm.engine).get(entry.id).retired is not None


def test_notes_and_tags_are_written_beside_a_checkpoint_and_a_run(realm, capsys):
    entry = entered(realm, 1, run="reinforce-1")
    assert f"{entry.id}: aims well" in levelcap(capsys, "vault", "note", "latest", "aims well")[1]
    assert "keep, sharp" in levelcap(capsys, "vault", "tag", entry.id, "sharp", "keep")[1]
    assert (
        f"{entry.id}: keep\n" in levelcap(capsys, "vault", "tag", entry.id, "sharp", "--remove")[1]
    )
    assert "reinforce-1: warm" in levelcap(capsys, "vault", "tag", "reinforce-1", "warm")[1]
    assert "aims well" in levelcap(capsys, "vault", "note", entry.id)[1]
    assert "no note" in levelcap(capsys, "vault", "note", entry.id, "")[1]
    assert levelcap(capsys, "vault", "note", "nobody", "x")[0] == 2


def test_a_checkpoint_on_trial_is_told(realm, capsys):
    entry = entered(realm, 1)
    realm.store.register("judge", "local_gpu_1", ["eval_worker"])
    realm.store.submit("eval", {"checkpoint": entry.id})
    job = realm.store.claim("judge", types=["eval"])
    realm.store.progress(job.id, "judge", job.fence, 0.5, "48 of 96, cousins master")
    said = levelcap(capsys, "status")[1]
    assert f"on trial: {entry.id} against the sealed panel, 48 of 96, cousins master" in said


def test_quests_and_jobs_are_moved(realm, capsys):
    flywheel.begin(realm.store)
    with reading(realm.engine) as connection:
        campaign = campaigns.active(connection, "kestrel").id
    quest = enter(
        realm.store, campaign, read_recipe({"quest": "record", "games": 4}), source="person"
    )
    assert f"{quest.id}: high" in levelcap(capsys, "quest", "priority", quest.id, "high")[1]
    assert f"{quest.job}: low" in levelcap(capsys, "job", "priority", quest.job, "low")[1]
    with reading(realm.engine) as connection:
        assert quests.get(connection, quest.id).priority == "low"
    assert "cancelled" in levelcap(capsys, "job", "cancel", quest.job)[1]
    assert "queued" in levelcap(capsys, "job", "retry", quest.job)[1]
    assert '"prioritised"' in levelcap(capsys, "job", "show", quest.job)[1]
    assert quest.job[:8] in levelcap(capsys, "job", "ls", "--status", "queued")[1]


def test_a_stopped_wheel_is_told_and_tried_again(realm, capsys):
    flywheel.begin(realm.store)
    with transaction(realm.engine) as connection:
        campaign = campaigns.active(connection, "kestrel").id
        breaker.note_refusal(connection, campaign, "no such shard")
    assert "stopped: a scheduled quest was refused: no such shard" in levelcap(capsys, "status")[1]
    assert "training is running" in levelcap(capsys, "training", "retry")[1]
    assert "no such shard" not in levelcap(capsys, "status")[1]


def test_a_locked_setting_of_a_campaign_needs_approval(realm, capsys):
    flywheel.begin(realm.store)
    with reading(realm.engine) as connection:
        campaign = campaigns.active(connection, "kestrel").id
    say = ("campaign", "settings", campaign)
    assert "max_length: 128" in levelcap(capsys, *say, "max_length=128", "seed=3")[1]
    code, _, refused = levelcap(capsys, *say, "max_length=256")
    assert code == 1 and "--approve max_length" in refused
    approved = levelcap(capsys, *say, "max_length=256", "--approve", "max_length")
    assert "max_length: 256" in approved[1] and "seed: 3" in approved[1]


def test_settings_are_set_and_shown(home, capsys):
    assert " 7.5 " in levelcap(capsys, "settings", "set", "disk_cap_gb=7.5")[1]
    assert "disk_cap_gb" in levelcap(capsys, "settings", "show")[1]
    assert levelcap(capsys, "settings", "set", "disk_cap_gb")[0] == 2


def test_the_tavern_is_opened_only_while_it_runs(home, capsys):
    code, _, refused = levelcap(capsys, "open")
    assert code == 1 and "levelcap up" in refused


def test_the_ledger_is_sorted_as_on_the_page(realm, capsys):
    names = [entered(realm, step).id for step in (3, 1, 2)]

    def order(*words):
        said = levelcap(capsys, "vault", "ls", "--json", *words)[1]
        return [row["id"] for row in json.loads(said)]

    assert order() == names[::-1]
    assert order("--sort", "step") == [names[0], names[2], names[1]]
    assert order("--sort", "step", "--ascending", "--offset", "1") == [names[2], names[0]]
    code, _, refused = levelcap(capsys, "vault", "ls", "--sort", "colour")
    assert code == 2 and "colour" in refused


def test_memory_is_stated_before_it_is_taken(capsys):
    said = levelcap(capsys, "settings", "memory", "dio-tiny", "--batch", "30", "--length", "128")[1]
    assert said.startswith("batch_size=30 uses about 0.15") and "(green)" in said
    assert "(red)" in levelcap(capsys, "settings", "memory", "flo", "--batch", "4096")[1]
    code, _, refused = levelcap(capsys, "settings", "memory", "kestrel")
    assert code == 2 and "kestrel" in refused
    assert levelcap(capsys, "settings", "memory", "dio-tiny", "--batch", "0")[0] == 2
