"""Sparring: three lessons a wrong answer, none of an exam, weak primitives first."""

import numpy as np
import pytest

from levelcap.guild.alphabet import load_alphabet
from levelcap.guild.engine import get_engine
from levelcap.kit.errors import BadValue
from levelcap.kit.seeds import chain
from levelcap.learn.text.lessons import read_lessons
from levelcap.learn.text.spar import SPAR_WORD, rows_of, spar, write_rows
from levelcap.nets.meta import text_meta
from levelcap.nets.text.qwen3 import fresh_text_net
from levelcap.nets.text.shape import character_shape
from levelcap.nets.text.tokens import character_tokens
from levelcap.play.answers import TextHero

ALPHABET = load_alphabet()
META = text_meta(character_shape("dummy", 1, "".join(ALPHABET.characters)), "dummy")


CARRIES = {"add_with_carry", "sub_with_borrow"}


class Adder(TextHero):
    """Answers everything right but what needs a carry or a borrow."""

    def __init__(self):
        super().__init__(fresh_text_net(META), character_tokens(META.text), META)
        skill = get_engine().get("bin")
        known = [skill.lesson(3, seed=chain(0, SPAR_WORD), index=n) for n in range(4000)]
        self.uses = {p.prompt: set(p.primitives) for p in known}

    def exact(self, prompts, answers):
        return np.array([not CARRIES & self.uses[prompt] for prompt in prompts])


def test_weak_primitives_are_found_and_asked_first():
    found = spar(get_engine(), Adder(), "bin", 3, 160)
    assert set(found.weak) & CARRIES and found.asked == 160
    plain = np.mean([bool(CARRIES & uses) for uses in Adder().uses.values()])
    assert found.wrong / found.asked > plain + 0.03  # other primitives are weak beside them


def test_a_wrong_answer_becomes_three_lessons():
    problem = get_engine().get("bin").lesson(1, seed=0, index=0, preset="bin_add")
    wrong, correct, confirm = rows_of(problem, "nonsense")
    assert wrong["prompt"] == f"Right or wrong: nonsense\n{problem.prompt}"
    assert wrong["answer"] == "wrong" and confirm["answer"] == "right"
    assert correct["prompt"] == f"Correct it: nonsense\n{problem.prompt}"
    assert correct["answer"] == problem.answer
    assert confirm["prompt"] == f"Right or wrong: {problem.answer}\n{problem.prompt}"


def test_an_untrained_hero_is_wrong_everywhere_and_its_rows_pass_the_gate(tmp_path):
    hero = TextHero(fresh_text_net(META), character_tokens(META.text), META)
    found = spar(get_engine(), hero, "bin", 4, 12, seed=3)
    assert (found.asked, found.wrong, len(found.rows)) == (12, 12, 36)
    write_rows(tmp_path / "spar.jsonl", found.rows)
    rows = read_lessons([tmp_path / "spar.jsonl"], [get_engine().get("bin")])
    assert len(rows) == 36 and spar(get_engine(), hero, "bin", 4, 12, seed=3) == found
    exam = {p.prompt for p in get_engine().generate_eval_batch("bin", level=4, count=200, seed=0)}
    other = spar(get_engine(), hero, "bin", 4, 40, seed=3)
    assert not exam & {row["prompt"].split("\n", 1)[1] for row in other.rows}


def test_too_few_problems_are_refused():
    hero = TextHero(fresh_text_net(META), character_tokens(META.text), META)
    with pytest.raises(BadValue, match="at least 4"):
        spar(get_engine(), hero, "bin", 1, 3)
