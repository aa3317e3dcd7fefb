"""The table of work: every kind complete, payloads as they were. `tests/drills` adds one."""

import sys

import pytest

from levelcap.campaign.work import table
from levelcap.campaign.work.base import Work
from levelcap.campaign.work.recipes import read_recipe
from levelcap.kit.errors import BadValue

# Jobs that wait in a realm of the version before carry these: their keys are a format.
PAYLOADS = {
    "record": {"shard": "s", "world": "duel", "teacher": "master", "partner": "veteran",
               "games": 20, "seed": 0},
    "imitate": {"run": "r", "world": "duel", "shards": ["s"], "policies": [], "minutes": 0.5,
                "size": "slim", "seed": 0, "knobs": {}},
    "reinforce": {"run": "r", "world": "duel", "start": None, "minutes": 1.5, "size": "slim",
                  "seed": 0, "knobs": {"kl_coef": "0.02"}},
    "league_round": {"run": "r", "world": "duel", "start": "c", "minutes": 30.0, "seed": 0,
                     "knobs": {}, "learning": {"kl_coef": "0.02"}},
    "hunt": {"run": "r", "world": "duel", "checkpoint": "c", "core_minutes": 20.0, "seed": 0,
             "knobs": {}},
    "trial": {"checkpoint": "c", "champion": "d", "world": "duel", "minutes": 10.0, "matches": 96,
              "core_seconds": 12.5, "seed": 0},
    "test": {"test": "t", "a": "c", "b": "master", "world": "duel", "preset": "gain",
             "minutes": 10.0, "seed": 0},
    "export": {"checkpoint": "c", "to": "onnx"},
    "study": {"run": "r", "hero": "dio-tiny", "skill": "bin", "preset": None, "start": None,
              "level": 1, "lessons": [], "minutes": 2.0, "seed": 0, "knobs": {}},
    "sparring": {"lessons": "l", "skill_id": "bin", "checkpoint": "c", "preset": None, "level": 1,
                 "count": 400, "seed": 0},
    "eval": {"checkpoint": "c", "skill_id": None, "preset": None, "level": None,
             "passives": "lite", "games": 400, "seed": 0},
    "unpack": {"upload": "u", "hero": "kestrel"},
    "retention": {"zone": "hot", "keep": 20},
    "report": {"report_type": "weekly"},
    "health_check": {},
}  # fmt: skip


def test_every_kind_of_work_is_complete():
    for work in table.WORKS.values():
        assert work.perform is not Work.perform, work
        assert work.job_type().name == work.type
    for quest, recipe in table.RECIPES.items():
        assert recipe.order is not recipe.__base__.order, quest
    assert table.TRAINING == ("record", "imitate", "reinforce", "league_round", "hunt", "study")


def test_payloads_of_waiting_jobs_are_still_understood():
    assert set(PAYLOADS) == set(table.WORKS)
    for name, payload in PAYLOADS.items():
        read = table.WORKS[name].model_validate(payload)
        assert {key: getattr(read, key) for key in payload} == payload
        # What came later is what such a job meant without it.
        usual = {
            key: type(read).model_fields[key].default
            for key in set(read.model_dump()) - set(payload)
        }
        assert all(getattr(read, key) == value for key, value in usual.items())


def test_the_table_loads_without_torch():
    import subprocess

    code = "import sys, levelcap.campaign.work.table; sys.exit('torch' in sys.modules)"
    assert subprocess.run([sys.executable, "-c", code], check=False).returncode == 0


def test_an_unknown_quest_is_refused_with_those_there_are():
    with pytest.raises(
        BadValue, match="evaluate, export, hunt, imitate, league, record, reinforce"
    ):
        read_recipe({"quest": "cheat"})
    with pytest.raises(BadValue, match="quest"):
        read_recipe({"games": 3})


def test_a_recipe_names_a_world_at_either_tick_rate():
    for world in ("siege", "siege-60hz"):
        assert read_recipe({"quest": "record", "world": world}).world == world
    with pytest.raises(BadValue, match="siege-60hz"):
        read_recipe({"quest": "record", "world": "siege-90hz"})
