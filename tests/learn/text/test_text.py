"""Text training: lessons by number, the loss of answers alone, exams, levels, exact resume."""

import os
import signal
import subprocess
import sys
import time
from collections import Counter
from concurrent.futures import ThreadPoolExecutor
from dataclasses import replace

import numpy as np
import pytest
import torch

from levelcap.guild.alphabet import load_alphabet
from levelcap.guild.engine import get_engine
from levelcap.kit.errors import BadValue, Conflict, UnknownName
from levelcap.kit.files import append_jsonl, read_jsonl
from levelcap.learn.engine.config import EngineConfig
from levelcap.learn.engine.state import checkpoints, load_newest
from levelcap.learn.engine.stops import Stops
from levelcap.learn.text.config import TextConfig
from levelcap.learn.text.exams import Examiner, starting_at
from levelcap.learn.text.lessons import Lesson, Lessons, Plan, read_lessons
from levelcap.learn.text.run import Request, train_text
from levelcap.learn.text.update import backward, halves, make_batch
from levelcap.nets.meta import text_meta
from levelcap.nets.text.pretrained import to_transformers
from levelcap.nets.text.qwen3 import fresh_text_net
from levelcap.nets.text.shape import character_shape
from levelcap.nets.text.tokens import character_tokens
from levelcap.play.answers import TextHero, load_text_hero

ALPHABET = load_alphabet()
SHAPE = character_shape("dummy", ALPHABET.version, "".join(ALPHABET.characters))
META = text_meta(SHAPE, "dummy")
TOKENS = character_tokens(SHAPE)
PLAIN = TextConfig(school=0.0)
QUICK = TextConfig(
    batch=6,
    school=0.0,
    exam_every=25,
    exam_hope=0.0,
    engine=EngineConfig(optimizer="muon", lr=3e-3, ema=0.95, schedule="constant"),
)


def lessons(config=PLAIN, rows=(), seed=0):
    return Lessons(get_engine().get("bin"), Plan("bin", None, rows), config, TOKENS, seed)


def test_a_problem_follows_from_its_number_alone():
    one, other = lessons(), lessons()
    wanted = [one.text(n, 3) for n in range(40)]
    assert [other.text(n, 3) for n in reversed(range(40))] == wanted[::-1]
    assert [lessons(seed=1).text(n, 3) for n in range(40)] != wanted


def test_the_mix_is_three_quarters_current_and_the_rest_of_the_four_levels_before():
    found = Counter(lessons().source(n, 7) for n in range(8000))
    assert found["current", 7] / 8000 == pytest.approx(0.75, abs=0.02)
    for level in (3, 4, 5, 6):
        assert found["before", level] / 8000 == pytest.approx(0.25 / 4, abs=0.012)
    assert sum(found.values()) == 8000 and len(found) == 5
    assert {lessons().source(n, 1) for n in range(500)} == {("current", 1)}


def test_forms_come_as_often_as_exams_ask_them_and_never_from_an_exam():
    made = lessons(replace(PLAIN, review=0.0))
    skill = get_engine().get("bin")
    prompts = [made.text(n, 4)[1] for n in range(2000)]
    traces = sum(prompt.startswith("Compute [trace]") for prompt in prompts) / 2000
    assert traces == pytest.approx(8 / 96, abs=0.02)
    exam = {p.prompt for seed in range(5) for p in skill.exam(4, 200, seed)}
    assert not exam & set(prompts)
    plain = lessons(replace(PLAIN, as_examined=False))
    assert plain.text(5, 1)[1] == skill.lesson(1, seed=0, index=5).prompt


def test_school_and_files_get_their_share():
    config = replace(PLAIN, school=0.1, file_share=0.5)
    found = Counter(lessons(config, (("a", "b"),)).source(n, 1)[0] for n in range(8000))
    assert found["file"] / 8000 == pytest.approx(0.5, abs=0.02)
    assert found["school"] / 8000 == pytest.approx(0.05, abs=0.01)


def test_a_lesson_is_prompt_newline_answer_end():
    made = lessons()
    for number, lesson in enumerate(made.batch(0, 2)):
        _, prompt, answer = made.text(number, 2)
        assert TOKENS.decode(lesson.prompt + lesson.answer[:-1]) == f"{prompt}\n{answer}"
        assert lesson.answer[-1] == TOKENS.end


def test_lessons_that_are_too_long_are_left_out_and_counted():
    made = lessons(replace(PLAIN, longest=60))
    assert all(lesson.length <= 60 for lesson in made.batch(0, 4))
    assert made.too_long > 0


def test_the_loss_is_that_of_transformers_with_prompts_ignored():
    net = fresh_text_net(META, 1)
    some = lessons().batch(0, 1)[:5]
    logged = backward(net, halves(some, TOKENS.pad))
    theirs = to_transformers(net)
    total, count = torch.zeros(()), 0
    for lesson in some:
        text = torch.tensor([lesson.prompt + lesson.answer])
        labels = torch.tensor([[-100] * len(lesson.prompt) + lesson.answer])
        total = total + theirs(text, labels=labels).loss * len(lesson.answer)
        count += len(lesson.answer)
    (total / count).backward()
    assert logged["loss"] == pytest.approx(float(total.detach()) / count, rel=1e-5)
    wanted = dict(theirs.named_parameters())
    for name, parameter in net.named_parameters():
        torch.testing.assert_close(parameter.grad, wanted[name].grad, rtol=1e-3, atol=1e-6)


def test_two_cores_learn_what_one_does_bit_for_bit():
    some = lessons().batch(0, 2)
    nets = [fresh_text_net(META, 1) for _ in range(2)]
    parts = halves(some, TOKENS.pad)
    assert len(parts) == 2 and sum(len(part.begins) for part in parts) == len(some)
    tokens = [part.num_tokens for part in parts]
    assert max(tokens) < 1.2 * min(tokens)
    with ThreadPoolExecutor(1) as helper:
        assert backward(nets[0], parts, helper) == backward(nets[1], parts)
    for one, other in zip(*(net.parameters() for net in nets), strict=True):
        assert torch.equal(one.grad, other.grad)
    assert len(halves(some[:1], TOKENS.pad)) == 1


def test_what_is_logged_as_exact_is_exact_match_on_current_lessons():
    net = fresh_text_net(META, 1)
    hero = TextHero(net, TOKENS, META)
    end = Lesson("current", TOKENS.encode("a\n"), [*TOKENS.encode(hero.answers(["a"], 4)[0])])
    batch = [replace(end, answer=[*end.answer[:3]]), replace(end, answer=[TOKENS.end])]
    assert backward(net, [make_batch(batch, TOKENS.pad)])["exact"] == 0.5
    other = [replace(batch[0]), replace(batch[1], source="school")]
    assert backward(net, [make_batch(other, TOKENS.pad)])["exact"] == 1.0


class Pupil:
    """A hero that answers a given share of any exam, and checks that it was given its weights."""

    def __init__(self):
        self.net, self.share, self.sizes, self.prompts = fresh_text_net(META, 1), 1.0, [], []

    def exact(self, prompts, answers):
        self.sizes.append(len(prompts))
        self.prompts.append(tuple(prompts))
        return np.arange(len(prompts)) >= round((1 - self.share) * len(prompts))


@pytest.fixture
def examiner():
    progress = starting_at(get_engine(), "bin", 1, None)
    config = replace(QUICK, exam_hope=0.5, exam_rarely=100)
    found = Examiner(get_engine(), progress, config, Pupil(), 0)
    found.running = 1.0
    return found


def examine(examiner, update):
    return [e.kind for e in examiner.examine(examiner.hero.net.state_dict(), update)]


def test_a_level_needs_three_exams_and_a_confirmation(examiner):
    found = [examine(examiner, update) for update in (25, 50, 75)]
    assert found == [["evaluation"], ["evaluation"], ["evaluation", "confirmation", "level_up"]]
    assert examiner.hero.sizes == [96, 96, 96, 200]
    assert len(set(examiner.hero.prompts)) == 4  # fresh problems each time
    assert examiner.level == 2 and examiner.running == 0.0


def test_exams_keep_their_distance_and_are_rare_while_lessons_go_badly(examiner):
    assert [u for u in range(1, 60) if examine(examiner, u)] == [25, 50]
    examiner.running = 0.4
    assert not examiner.due(149) and examiner.due(150)
    for _ in range(10):
        examiner.heard(1.0)
    assert examiner.running > 0.5 and examiner.due(75)


def test_below_four_fifths_nothing_rises_and_a_failed_confirmation_holds_it(examiner):
    examiner.hero.share = 0.78
    for update in range(25, 250, 25):
        assert examine(examiner, update) == ["evaluation"]
    examiner.hero.share = 1.0
    assert examine(examiner, 250) == ["evaluation", "confirmation", "level_up"]
    examiner.running = 1.0
    assert examine(examiner, 275) == ["evaluation"] and examiner.level == 2


def test_an_examiner_goes_on_from_its_state(examiner):
    for update in (25, 50):
        examine(examiner, update)
    other = Examiner(
        get_engine(), starting_at(get_engine(), "bin", 1, None), examiner.config, Pupil(), 0
    )
    other.restore(examiner.state())
    assert examine(other, 75) == examine(examiner, 75) == ["evaluation", "confirmation", "level_up"]
    assert other.hero.prompts == examiner.hero.prompts[2:]


@pytest.mark.slow
def test_it_learns_two_digit_addition_and_rises(tmp_path):
    config = replace(PLAIN, batch=16)
    request = Request("bin", tmp_path / "run", "bin_add")
    done = train_text(request, config, Stops(updates=220))
    assert done.level >= 2
    first = done.level_ups[0]
    assert (first["skill"], first["preset"], first["level"]) == ("bin", "bin_add", 2)
    assert first["update"] >= 75 and first["seconds"] > first["exam_seconds"] > 0
    hero = load_text_hero(done.outcome.snapshot)
    assert hero.meta.metrics["level"] == done.level
    problems = get_engine().generate_eval_batch("bin", level=1, count=50, seed=9, preset="bin_add")
    score = get_engine().score_eval(problems, hero.answers([p.prompt for p in problems], 40))
    assert score.accuracy >= 0.8


def arrays(run):
    found = load_newest(run / "checkpoints")
    assert found is not None
    return found[0].arrays, found[0].values["task"]


def assert_same(one, other):
    (left, standing), (right, again) = arrays(one), arrays(other)
    for name, array in left.items():
        np.testing.assert_array_equal(array, right[name], err_msg=name)
    for values in (standing, again):
        values["examiner"].pop("seconds")
    assert standing == again


def test_a_run_in_pieces_is_the_unbroken_run(tmp_path):
    train_text(Request("bin", tmp_path / "a", size="dummy"), QUICK, Stops(updates=55))
    for steps in (3_000, 12_000, 10**9):
        request = Request("bin", tmp_path / "b", size="dummy")
        train_text(request, QUICK, Stops(updates=55, steps=steps))
    assert_same(tmp_path / "a", tmp_path / "b")


CHILD = """
import sys
from dataclasses import replace
from pathlib import Path
from levelcap.learn.engine.stops import Stops
from levelcap.learn.text.run import Request, train_text
from tests.learn.text.test_text import QUICK
config = replace(QUICK, engine=replace(QUICK.engine, checkpoint_s=0.3))
train_text(Request("bin", Path(sys.argv[1]), size="dummy"), config, Stops(updates=250))
"""


def test_a_killed_run_goes_on_to_the_same_bits(tmp_path):
    config = replace(QUICK, engine=replace(QUICK.engine, checkpoint_s=0.3))
    command = [sys.executable, "-c", CHILD, str(tmp_path / "b")]
    child = subprocess.Popen(command, env={**os.environ, "PYTHONPATH": os.getcwd()})
    until = time.monotonic() + 120
    while len(checkpoints(tmp_path / "b" / "checkpoints")) < 1 and time.monotonic() < until:
        time.sleep(0.01)
    child.send_signal(signal.SIGKILL)
    child.wait()
    at = load_newest(tmp_path / "b" / "checkpoints")
    assert at is not None and 0 < at[0].values["progress"]["update"] < 250
    for name in "ab":
        request = Request("bin", tmp_path / name, size="dummy")
        done = train_text(request, config, Stops(updates=250))
        assert done.outcome.reason == "250 updates"  # not cut short by a signal from outside
    assert_same(tmp_path / "a", tmp_path / "b")
    assert "resumed" in [row["event"] for row in read_jsonl(tmp_path / "b/events.jsonl").records]


def test_lesson_files_are_trained_on(tmp_path):
    append_jsonl(tmp_path / "l.jsonl", [{"prompt": "Say it", "answer": "abc"}])
    request = Request("bin", tmp_path / "run", files=(tmp_path / "l.jsonl",))
    config = replace(PLAIN, batch=8, file_share=0.9)
    done = train_text(request, config, Stops(updates=40))
    assert load_text_hero(done.outcome.snapshot).answers(["Say it"], 9) == ["abc"]
    append_jsonl(tmp_path / "l.jsonl", [{"prompt": "More", "answer": "d"}])
    with pytest.raises(Conflict, match="files"):
        train_text(request, config, Stops(updates=41))


def test_school_has_no_levels(tmp_path):
    done = train_text(Request("school", tmp_path / "s", size="dummy"), QUICK, Stops(updates=3))
    assert done.level_ups == [] and done.outcome.progress.update == 3
    made = Lessons(None, Plan("school"), QUICK, TOKENS, 0)
    assert {made.source(n, 1)[0] for n in range(50)} == {"school"}


def test_a_snapshot_is_started_from(tmp_path):
    first = train_text(Request("bin", tmp_path / "a", size="dummy"), QUICK, Stops(updates=4))
    request = Request("bin", tmp_path / "b", start=first.outcome.snapshot, level=2)
    done = train_text(request, QUICK, Stops(updates=4))
    hero = load_text_hero(done.outcome.snapshot)
    assert hero.meta.size == "dummy" and done.level == 2 and len(hero.meta.parents) == 1


def test_refusals(tmp_path):
    for request, error in (
        (Request("bim", tmp_path / "x"), UnknownName),
        (Request("bin", tmp_path / "x", "bin_ad"), UnknownName),
        (Request("bin", tmp_path / "x", level=99), BadValue),
        (Request("bin", tmp_path / "x", size="huge"), UnknownName),
    ):
        with pytest.raises(error):
            train_text(request, QUICK, Stops(updates=1))
    append_jsonl(tmp_path / "bad.jsonl", [{"prompt": "a", "answer": "b"}, {"prompt": "a"}])
    with pytest.raises(BadValue, match="line 2"):
        read_lessons([tmp_path / "bad.jsonl"], [get_engine().get("bin")])
    assert not (tmp_path / "x").exists()
