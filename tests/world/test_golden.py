"""Golden matches: one story per ruleset and tick rate, played anew and compared line by line.

A changed rule shows as a diff of a text a person can read. When the change is meant, rewrite:

    REWRITE_GOLDEN=1 python -m pytest tests/world/test_golden.py
"""

import difflib
import itertools
import os
from pathlib import Path

import pytest

import levelcap.world
from levelcap.world.replay import Recorder
from levelcap.world.spec import RULESETS, WORLDS
from tests.world.plays import wavering_chaser
from tests.world.story import describe

FOLDER = Path(__file__).resolve().parents[1] / "golden"
REWRITE = "REWRITE_GOLDEN=1 python -m pytest tests/world/test_golden.py"
SEED = 2


def golden_match(ruleset):
    """The recorded match of this ruleset: wavering chasers in every seat, a fixed seed."""
    world = levelcap.world.make(ruleset, 1, seed=SEED)
    views = world.reset()
    recorder = Recorder(world)
    while True:
        views, *_, info = world.step(wavering_chaser(views))
        if not recorder.record(info):
            return recorder.replay()


@pytest.mark.parametrize("ruleset", WORLDS)
def test_the_golden_match_is_played_as_it_always_was(ruleset):
    path = FOLDER / f"{ruleset}.txt"
    text = describe(golden_match(ruleset).play())
    if os.environ.get("REWRITE_GOLDEN"):
        path.parent.mkdir(exist_ok=True)
        path.write_text(text, encoding="utf-8")
    known = path.read_text(encoding="utf-8") if path.exists() else ""
    if text != known:
        diff = difflib.unified_diff(known.splitlines(), text.splitlines(), "known", "now", n=1)
        shown = "\n".join(list(diff)[:40])
        pytest.fail(f"the {ruleset} match went differently; if that is meant: {REWRITE}\n{shown}")


def test_a_story_has_a_title_a_line_up_places_events_and_an_end():
    stories = {r: (FOLDER / f"{r}.txt").read_text(encoding="utf-8") for r in RULESETS}
    for word in (" falls at ", " takes ", " uses ", " returns", "tower of A falls"):
        assert any(word in text for text in stories.values()), word
    for ruleset, text in stories.items():
        lines = text.splitlines()
        assert lines[0].startswith(f"{ruleset}, patch 1.0, world version 1, seed ")
        assert " wins: " in lines[-1] or "draw: " in lines[-1]
        assert max(len(line) for line in lines) <= 200 and len(lines) < 1500


def test_a_story_can_break_off():
    moments = itertools.islice(golden_match("duel").play(), 20)
    assert describe(moments).endswith("the story breaks off\n")
