"""A text hero's trial: skill, format, leak, drift and saving, each with heroes made to show it."""

from zlib import crc32

import numpy as np
import pytest

from levelcap.campaign.kinds import studies
from levelcap.campaign.story.skills import tracks
from levelcap.campaign.wheel import flywheel
from levelcap.campaign.wheel.control import switch
from levelcap.kit.db import reading, transaction
from levelcap.kit.errors import Conflict
from levelcap.services.arena.daemon import worker
from levelcap.trials import text_trial
from levelcap.trials.gate import check_decision
from levelcap.trials.text_trial import TextEntrant, run_text_trial
from levelcap.trials.verdict import verdict_from_json
from levelcap.vault.champion import champion_of
from levelcap.vault.evals import EXAM, TRIAL, evaluations, store_eval
from levelcap.vault.ledger import amend
from tests.services.oracles import text_in_vault


class Pupil:
    """Answers as its kind would; asked as `TextHero` is."""

    def __init__(self, skill=0.0, passive=0.5, heart=(), says="①"):
        self.skill, self.passive, self.heart, self.says = skill, passive, set(heart), says

    def exact(self, prompts, answers):
        assert len(prompts) == len(answers) > 0 and all(isinstance(p, str) for p in prompts)
        return np.array([self._knows(prompt) for prompt in prompts])

    def answers(self, prompts, longest):
        return [self.says[:longest] for _ in prompts]

    def _knows(self, prompt):
        own = self.passive if prompt in PASSIVE else self.skill
        return prompt in self.heart or crc32(prompt.encode()) % 1000 < 1000 * own


KEPT = [p.prompt for p in text_trial._passives(0)]
PASSIVE = {p.prompt for seed in (0, 1) for p in text_trial._passives(seed)}


@pytest.fixture
def judged(monkeypatch, tmp_path):
    def judge(candidate, champion, sizes=(100, 100)):
        both = {}
        for name, hero, size in zip("ab", (candidate, champion), sizes, strict=True):
            place = tmp_path / name
            place.mkdir()
            (place / "model").write_bytes(bytes(size))
            both[place] = hero
        monkeypatch.setattr(text_trial, "load_text_hero", lambda place: both[place])
        monkeypatch.setattr(text_trial, "chain", lambda *words: 2)  # fresh passives: seed 1
        monkeypatch.setattr(text_trial, "_answer_ms", lambda hero, problems: 10.0)
        pair = [TextEntrant(p.name, p, "bin", 2, core_seconds=60.0) for p in both]
        return run_text_trial(*pair, seed=3)

    return judge


def test_who_answers_more_of_fresh_problems_passes_with_all_its_numbers(judged):
    verdict = judged(Pupil(skill=0.9), Pupil(skill=0.5))
    assert verdict.passed and verdict.version == 2, verdict.reason
    assert list(verdict.parts) == ["strength", "safety", "drift", "speed", "cost"]
    assert verdict.figures["difference"][1] > 0 and "bin level 2" in verdict.reason
    assert "point of accuracy" in verdict.parts["cost"]["why"]
    check_decision(verdict_from_json(verdict.as_json()), "a", "b")


def test_an_equal_one_is_refused_unless_it_is_a_saving(judged, tmp_path):
    verdict = judged(Pupil(skill=0.7), Pupil(skill=0.7))
    assert not verdict.passed and "strength: bin level 2: +0.0 points" in verdict.reason
    with pytest.raises(Conflict, match="does not let it pass"):
        check_decision(verdict, "a", "b")


def test_a_smaller_one_may_be_equal(judged):
    verdict = judged(Pupil(skill=0.7), Pupil(skill=0.7), sizes=(70, 100))
    assert verdict.passed and "a saving" in verdict.reason


def test_lost_passives_refuse_a_stronger_one(judged):
    verdict = judged(Pupil(skill=0.9, passive=0.1), Pupil(skill=0.5, passive=0.6))
    assert not verdict.passed and "drift: passives -" in verdict.reason


def test_answers_known_by_heart_refuse(judged):
    verdict = judged(Pupil(skill=0.9, passive=0.3, heart=KEPT), Pupil(skill=0.5))
    assert not verdict.passed and "safety: leak 0.5" in verdict.reason
    assert "most 0.05" in verdict.reason


@pytest.mark.parametrize("says", ["", "I think it is ①", "①" * 2000])
def test_answers_without_form_refuse(judged, says):
    verdict = judged(Pupil(skill=0.9, says=says), Pupil(skill=0.5))
    assert not verdict.passed and "safety: format 0.000, least 0.9" in verdict.reason


def examined(realm, number, accuracy):
    """A real net of the smallest size with its row and its exam."""
    entry, _ = text_in_vault(realm.engine, number, endless=False)
    with transaction(realm.engine) as connection:
        amend(connection, entry.id, accuracy=accuracy)
        exam = {"world": "text", "scores": {}, "passives": {}, "passives_version": 1}
        store_eval(connection, entry.id, EXAM, f"job {number}", 0, exam)
    return entry.id


def test_the_wheel_tries_a_better_examined_one_before_it_is_crowned(realm, monkeypatch):
    assert "bin" in tracks()
    monkeypatch.setattr(text_trial, "EXAMS", 1)
    monkeypatch.setattr(text_trial, "TIMED", 1)
    monkeypatch.setattr(text_trial, "FULL", 2)
    switch(realm.store, "dio-tiny")
    first = examined(realm, 1, 0.2)
    flywheel.turn(realm.store)
    second = examined(realm, 2, 0.8)
    flywheel.turn(realm.store)
    [job] = realm.store.list("queued", "trial")
    assert (job.payload["subject"], job.payload["held"]) == ("bin~2", "bin~2")
    crew = worker(realm)
    crew.types = lambda: ["trial"]
    assert crew.run(max_jobs=1) == 1
    with reading(realm.engine) as connection:
        [found] = evaluations(connection, second, [TRIAL])
        # Two untrained nets answer nothing: the exam's luck is not repeated.
        assert not found["passed"] and found["parts"]["strength"]["difference"][0] == 0
        assert champion_of(connection, "dio-tiny").checkpoint == first
        assert studies.judge_best(connection, "dio-tiny") is None
