"""Campaigns, control, schedule, and the decision of what comes next."""

from dataclasses import replace

import pytest

from levelcap.campaign.kinds.arena import Line, next_recipe
from levelcap.campaign.kinds.heroes import all_heroes, find_hero
from levelcap.campaign.kinds.kind import Stat
from levelcap.campaign.sheet.hero import sheet
from levelcap.campaign.story import campaigns, quests
from levelcap.campaign.story.events import follow, last_seq, list_events, say, trim
from levelcap.campaign.story.runs import run_folder
from levelcap.campaign.wheel import control, inbox, schedule
from levelcap.kit.config import Settings
from levelcap.kit.db import reading, transaction
from levelcap.kit.errors import BadFile, BadValue, Conflict, UnknownName
from levelcap.kit.paths import folder

FRESH = Line(
    open_quests=0,
    shard=None,
    base=None,
    base_kept=False,
    last=None,
    tip=None,
    own_clone=False,
    rounds=0,
)


def make(realm, name="one", **more):
    with transaction(realm.engine) as connection:
        return campaigns.create(connection, "kestrel", name, **more)


def test_one_campaign_of_a_hero_is_active(realm):
    one = make(realm)
    two = make(realm, "two")
    with transaction(realm.engine) as connection:
        assert campaigns.active(connection, "kestrel").id == two.id
        assert campaigns.get(connection, one.id).status == "archived"
        campaigns.resume(connection, one.id)
        assert campaigns.active(connection, "kestrel").id == one.id
        with pytest.raises(Conflict, match="active already"):
            campaigns.resume(connection, one.id)
        with pytest.raises(Conflict, match="archived already"):
            campaigns.archive(connection, two.id)
    for bad in ("", " ", "x" * 81):
        with pytest.raises(BadValue):
            make(realm, bad)


def test_peaks_keep_their_step_and_direction(realm):
    one = make(realm)
    with transaction(realm.engine) as connection:
        campaigns.advance(connection, one.id, 10, {"elo": 1200.0, "imitate_loss": 2.0})
        campaigns.advance(connection, one.id, 20, {"elo": 1100.0, "imitate_loss": 1.0})
        found = campaigns.get(connection, one.id)
    assert found.current_step == 20
    assert found.peak_metrics["elo"] == {"value": 1200.0, "step": 10}
    assert found.peak_metrics["imitate_loss"] == {"value": 1.0, "step": 20}


def test_locked_settings_of_a_campaign_need_approval(realm):
    one = make(realm, config_overrides={"base_model": "a"})
    with transaction(realm.engine) as connection:
        with pytest.raises(Conflict):
            campaigns.set_overrides(connection, one.id, {"base_model": "b"}, [])
        found = campaigns.set_overrides(connection, one.id, {"base_model": "b"}, ["base_model"])
    assert found.config_overrides == {"base_model": "b"}


def round_of(recipe, minutes):
    """A finished round of that recipe."""
    return quests.Quest(
        id="quest-1",
        campaign="c",
        kind="reinforce",
        title="",
        recipe=recipe | {"minutes": minutes},
        priority="normal",
        source="scheduler",
        status="done",
        job=None,
        run="reinforce-1",
        created="",
        ended="",
        result={},
        seq=3,
    )


def test_what_comes_next(realm):
    hero, campaign = find_hero("kestrel"), make(realm)
    assert next_recipe(hero, campaign, FRESH)["quest"] == "record"
    assert next_recipe(hero, campaign, replace(FRESH, open_quests=1)) is None
    recorded = replace(FRESH, shard="demos-1")
    clone = next_recipe(hero, campaign, recorded)
    assert clone["shards"] == ["demos-1"]
    # Whoever waits for the hero sees it halfway through its first lesson.
    assert float(clone["set"]["engine.snapshot_s"]) < 60 * clone["minutes"]
    schooled = replace(recorded, base="checkpoint-1", base_kept=True)
    first = next_recipe(hero, campaign, schooled)
    assert (first["quest"], first["from"], first["run"]) == ("reinforce", "checkpoint-1", None)
    assert first["minutes"] == hero.round_minutes
    later = replace(schooled, last=round_of(first, 3.0), tip="checkpoint-2", rounds=2)
    second = next_recipe(hero, campaign, later)
    assert (second["run"], second["minutes"]) == ("reinforce-1", 3.0 + hero.round_minutes)
    old = replace(later, last=round_of(first, 9.0), rounds=hero.late_after_rounds)
    assert next_recipe(hero, campaign, old)["minutes"] == 9.0 + hero.late_round_minutes
    for changed in (
        replace(later, base_kept=False),
        replace(later, last=round_of(first | {"seed": 5}, 3.0)),
        replace(later, last=round_of(first | {"set": {"kl_coef": "9"}}, 3.0)),
    ):  # a run that would refuse to go on: another one begins where it stands
        third = next_recipe(hero, campaign, changed)
        assert (third["run"], third["from"]) == (None, "checkpoint-2")


def test_a_hero_that_is_taught_plays_under_its_teachers_eyes_once(realm):
    hero, campaign = find_hero("merlin"), make(realm)
    cloned = replace(FRESH, base="checkpoint-1", base_kept=True, own_clone=True)
    lesson = next_recipe(hero, campaign, cloned)
    assert (lesson["quest"], lesson["teacher"]) == ("reinforce", "master")
    assert (lesson["from"], lesson["minutes"]) == ("checkpoint-1", hero.taught_minutes)
    # What a person cloned is not led back to the bot.
    assert "teacher" not in next_recipe(hero, campaign, replace(cloned, own_clone=False))
    taught = replace(cloned, own_clone=False, last=round_of(lesson, 9.0), tip="checkpoint-2")
    battle = next_recipe(hero, campaign, taught)
    assert "teacher" not in battle and (battle["from"], battle["run"]) == ("checkpoint-2", None)
    # The lesson's own overrides could be the same as a round's: its run still does not go on.
    same = replace(taught, last=round_of(battle | {"teacher": "master"}, 9.0))
    assert next_recipe(hero, campaign, same)["run"] is None


def test_a_hero_of_the_league_plays_a_season_after_its_rounds(realm):
    campaign = make(realm)
    hero = find_hero("kestrel").model_copy(update={"league_minutes": 30.0})
    schooled = replace(FRESH, base="checkpoint-1", base_kept=True)
    first = next_recipe(hero, campaign, schooled)
    later = replace(schooled, last=round_of(first, 9.0), tip="checkpoint-2", rounds=7)
    assert next_recipe(hero, campaign, replace(later, fresh_rounds=7))["quest"] == "reinforce"
    ready = replace(later, fresh_rounds=hero.league_after_rounds)
    season = next_recipe(hero, campaign, ready)
    assert (season["quest"], season["from"]) == ("league", "checkpoint-2")
    assert season["minutes"] == 30.0
    # A hero without one only ever has rounds.
    assert next_recipe(find_hero("kestrel"), campaign, ready)["quest"] == "reinforce"


def test_new_game_plus_skips_the_school(realm):
    campaign = make(realm, starting_checkpoint="checkpoint-old", starting_step=500)
    now = replace(FRESH, base=campaign.starting_checkpoint)
    assert next_recipe(find_hero("kestrel"), campaign, now)["quest"] == "reinforce"
    assert campaign.current_step == 500


def running(realm):
    make(realm)
    quest = inbox.enter_text(realm.store, b"quest: reinforce\nminutes: 1\n", "x.yaml")
    realm.store.register("w", "local_gpu_1", ["trainer"])
    assert realm.store.claim("w") is not None
    return run_folder(quest.run)


def test_control_reaches_the_running_run_and_the_next_claim(realm):
    place = running(realm)
    control.control(realm.store, "pause")
    assert (place / "pause").exists()
    assert control.claimable(realm.store, ["reinforce", "eval"]) == ["eval"]
    control.control(realm.store, "resume")
    assert not (place / "pause").exists()
    assert control.claimable(realm.store, ["reinforce", "eval"]) == ["reinforce", "eval"]
    control.control(realm.store, "skip")
    assert (place / "stop").exists() and (place / "skip").exists()
    (place / "stop").unlink()
    control.control(realm.store, "stop")
    assert (place / "stop").exists()
    assert control.claimable(realm.store, ["reinforce"]) == []
    with pytest.raises(UnknownName):
        control.control(realm.store, "explode")


def test_the_machine_holds_and_lets_go_without_touching_the_persons_wish(realm):
    place = running(realm)
    control.hold(realm.store, "on battery")
    assert (place / "pause").exists()
    control.control(realm.store, "resume")
    assert (place / "pause").exists()  # still on battery
    control.hold(realm.store, None)
    assert not (place / "pause").exists()
    control.control(realm.store, "pause")
    control.hold(realm.store, "the disk is full")
    control.hold(realm.store, None)
    assert (place / "pause").exists()  # a person paused it
    with reading(realm.engine) as connection:
        kinds = [event.message for event in list_events(connection, kind="training")]
    assert kinds[0] == "training goes on: the disk is full is over"


MACHINE = schedule.Machine(2, 10.0, 50.0, 1.0, False)


def test_when_training_waits():
    settings = Settings(cores=2, disk_cap_gb=20)
    assert schedule.why_wait(MACHINE, settings, None) is None
    assert schedule.why_wait(replace(MACHINE, on_battery=True), settings, None) == "on battery"
    allowed = Settings(cores=2, pause_on_battery=False)
    assert schedule.why_wait(replace(MACHINE, on_battery=True), allowed, None) is None
    full = replace(MACHINE, free_disk_gb=0.5)
    assert schedule.why_wait(full, settings, None) == "the disk is full"
    # A little room is not enough to go on, or it would stop again at once.
    some = replace(MACHINE, free_disk_gb=1.2)
    assert schedule.why_wait(some, settings, None) is None
    assert schedule.why_wait(some, settings, "the disk is full") == "the disk is full"
    capped = replace(MACHINE, realm_gb=20.5)
    assert schedule.why_wait(capped, settings, None) == "the disk cap is reached"
    near = replace(MACHINE, realm_gb=19.5)
    assert schedule.why_wait(near, settings, None) is None
    assert schedule.why_wait(near, settings, "the disk cap is reached") is not None


def test_workers_beside_training():
    assert schedule.extra_workers(MACHINE, Settings(cores=2)) == 0
    wide = replace(MACHINE, cores=8, free_memory_gb=32.0)
    assert schedule.extra_workers(wide, Settings(cores=8)) == 4
    assert schedule.extra_workers(wide, Settings(cores=3)) == 1
    assert schedule.extra_workers(replace(wide, free_memory_gb=3.5), Settings(cores=8)) == 1


def test_the_sheet_has_formulas_and_no_made_up_numbers(realm):
    make(realm)
    with reading(realm.engine) as connection:
        found = sheet(connection, find_hero("kestrel"))
    assert found.stats["ATK"] == Stat(None, "1 / training loss", None)
    assert found.stats["level"].value == 0
    assert found.champion is None


def test_heroes_of_the_realm_win_and_bad_files_are_named(home):
    own = folder("config") / "heroes"
    own.mkdir()
    (own / "kestrel.yaml").write_text("id: kestrel\nname: Mine\nkind: arena\n")
    assert all_heroes()["kestrel"].name == "Mine"
    (own / "odd.yaml").write_text("id: odd\nname: x\nkind: arena\nspeed: 9\n")
    with pytest.raises(BadFile, match=r"odd.yaml: speed"):
        all_heroes()


def test_events_are_numbered_paged_and_trimmed(realm):
    for number in range(10):
        say(realm.engine, "service.up", f"event {number}", severity="info")
    assert [e.message for e in follow(realm.engine, 7)] == ["event 7", "event 8", "event 9"]
    assert last_seq(realm.engine) == 10
    with reading(realm.engine) as connection:
        page = list_events(connection, limit=3)
        assert [e.seq for e in page] == [10, 9, 8]
        assert [e.seq for e in list_events(connection, before=8, limit=2)] == [7, 6]
        assert [e.seq for e in list_events(connection, after=3, limit=2)] == [4, 5]
    assert trim(realm.engine, keep=4) == 6
    with pytest.raises(UnknownName):
        say(realm.engine, "gossip.heard", "x")
