"""Sheets are dataclasses inside; as JSON they have the shapes that programs outside rely on."""

import json
from dataclasses import FrozenInstanceError

import pytest

from levelcap.campaign.kinds.heroes import find_hero
from levelcap.campaign.sheet.drift import PassiveRow, PassiveTable
from levelcap.campaign.sheet.guild import guild_sheet
from levelcap.campaign.sheet.hero import sheet
from levelcap.campaign.sheet.report import FAMILIES, GainReport, RunCost, Totals, make_report
from levelcap.campaign.story import campaigns
from levelcap.campaign.story.skills import Best
from levelcap.kit.db import reading, transaction
from levelcap.vault.champion import Promotion
from levelcap.vault.lookup import Day

STAT = {"value", "formula", "raw"}
HERO = {
    *("id", "name", "kind", "subtitle", "portrait", "world", "chosen", "why_not", "skills"),
    *("campaign", "stats", "elo", "reigns", "bests", "checkpoint", "judged", "champion"),
}
GUILD = {
    *("hero", "campaign", "skills", "primitives", "passives", "bests", "curriculum", "chosen"),
    *("presets", "strategies"),
}
SKILL = {
    *("skill", "of", "preset", "title", "version", "level", "levels", "level_name", "threshold"),
    *("mastered", "xp", "exams", "core_seconds", "window", "mean", "accuracy", "peak", "outcome"),
    *("forms", "operations", "primitives", "pool", "level_ups"),
    *("cap", "title_won", "title_next", "warnings"),
}


@pytest.fixture
def begun(realm):
    with transaction(realm.engine) as connection:
        campaigns.create(connection, "kestrel", "one")
        campaigns.create(connection, "dio-tiny", "two")
    return realm


def plain(made):
    """What arrives over HTTP."""
    return json.loads(json.dumps(made.as_json()))


def test_a_heros_sheet(begun):
    with reading(begun.engine) as connection:
        made = sheet(connection, find_hero("kestrel"))
    found = plain(made)
    assert set(found) == HERO
    assert list(found["stats"]) == ["level", "XP", "ATK", "DEF", "ACC", "gold"]
    assert all(set(stat) == STAT for stat in found["stats"].values())
    assert found["elo"] == dict.fromkeys(("elo", "elo_low", "elo_high", "elo_bound"))
    assert found["campaign"]["name"] == "one" and found["campaign"]["current_step"] == 0
    with pytest.raises(FrozenInstanceError):
        made.name = "another"


def test_a_champion_on_the_sheet():
    line = Promotion(1, "kestrel", "c", None, "t", "stronger", {"gain": [1.0, 2.0, 3.0]})
    assert set(line.as_json()) == {
        *("seq", "hero", "checkpoint", "previous", "time", "reason", "verdict"),
    }


def test_the_guild_of_a_text_hero(begun):
    with reading(begun.engine) as connection:
        found = plain(guild_sheet(connection, "dio-tiny"))
    assert set(found) == GUILD
    [first, *_] = found["skills"]
    assert set(first) == SKILL
    assert set(first["pool"]) == {"size", "exact", "memorisable"}
    assert set(first["cap"]) == {"flat", "cap", "low", "high", "points", "words"}
    assert set(first["title_next"]) == {"title", "at", "accuracy"}
    assert set(found["primitives"][0]) == {"name", "track", "right", "count", "accuracy"}
    assert set(found["curriculum"]) == {"strategy", "skills", "preset", "focus"}
    assert found["chosen"] == {"curriculum": None, "strategy": None}
    assert (found["passives"], found["bests"]) == (None, [])


def test_the_guild_of_a_hero_without_a_campaign(realm):
    with reading(realm.engine) as connection:
        found = plain(guild_sheet(connection, "dio-tiny"))
    assert (found["campaign"], found["skills"], found["curriculum"]) == (None, [], None)
    assert found["chosen"] == {} and len(found["primitives"]) == 39


def test_passives_and_personal_bests():
    row = PassiveRow("copy", 4, 5, 0.8, 0.6, 0.1, ["a"], "gained")
    found = plain(PassiveTable("c", "b", [row], 1, 0, 0, 1))
    assert set(found) == {
        *("checkpoint", "base", "passives", "gained", "held", "lost", "above_chance"),
    }
    assert found["passives"] == [
        {
            "name": "copy",
            "right": 4,
            "count": 5,
            "accuracy": 0.8,
            "base": 0.6,
            "chance": 0.1,
            "primitives": ["a"],
            "drift": "gained",
        }
    ]
    assert set(vars(Best("bin", 2, 3.0, "c"))) == {"skill", "level", "core_seconds", "campaign"}


def test_the_report(begun):
    found = plain(make_report(begun.engine))
    nothing = {"gain": None, "elo_per_day": None, "cost_per_elo": None, "price": None}
    assert found.pop("since") and found.pop("now").items() >= nothing.items()
    assert found.pop("before").items() >= nothing.items()
    assert found == {
        "type": "weekly",
        "days": [],
        "incidents": {},
        "runs": 0,
        "runs_with_gain": 0,
        "core_seconds": 0,
        "cost_per_elo": [],
        "families": dict.fromkeys((*FAMILIES, "other"), 0),
        "trend": None,
        "crowned": [],
        "energy_source": "model: 10 W a core",
        "price_source": "unknown: set price_core_hour or price_kwh",
    }
    days = [Day("2026-01-01", 2, 3.0, 1000.0, 900.0, 1100.0, "", "c")]
    cost = RunCost("r", 10.0, 5.0, 15.0, 2.0)
    more = ({"other": 1}, Totals(), None, None, [], "model", "unknown")
    full = plain(GainReport("campaign", None, days, {"alarm.disk": 1}, 3, 1, 7.0, [cost], *more))
    assert full["days"][0]["elo_high"] == 1100.0 and full["incidents"] == {"alarm.disk": 1}
    assert full["cost_per_elo"] == [
        {"run": "r", "gain": 10.0, "low": 5.0, "high": 15.0, "cost_per_elo": 2.0}
    ]
