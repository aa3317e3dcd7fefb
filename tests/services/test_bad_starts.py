"""A realm starts cleanly or refuses cleanly: within 2 s, in one sentence, leaving no process."""

import contextlib
import multiprocessing
import os
import subprocess
import sys
import time

import pytest

from tests.services.bad_starts import CASES, begin_in_fork, spoil
from tests.services.realms import ROOT, SLACK, processes_of

LIMIT_S = 2.0 * SLACK


@pytest.fixture(scope="module")
def forks():
    """Processes with the imports done, so that thirty starts do not import thirty times."""
    context = multiprocessing.get_context("forkserver")
    context.set_forkserver_preload(["tests.services.bad_starts", "levelcap.services.weaver.run"])
    first = context.Process(target=time.sleep, args=(0,))  # starts the server, outside any realm
    first.start()
    first.join()
    return context


def check_refusal(name, words, code, seconds):
    expected_code, part = CASES[name]
    assert code == expected_code, words
    assert len(words.strip().splitlines()) == 1, words
    assert part in words
    assert "; got " in words and words.strip().endswith(".")  # what, value, remedy
    assert seconds <= LIMIT_S


def test_there_are_at_least_twenty():
    assert len(CASES) >= 20


@pytest.mark.parametrize("name", CASES)
def test_a_bad_start_is_refused_in_one_sentence(name, home, tmp_path, forks):
    words = tmp_path / "words"
    with contextlib.ExitStack() as keep_open:
        variables = spoil(name, home, keep_open)
        process = forks.Process(target=begin_in_fork, args=(name, variables, str(words)))
        process.start()
        began = time.monotonic()
        process.join(20)
        seconds = time.monotonic() - began
        assert process.exitcode is not None, "it started"
        check_refusal(name, words.read_text(), process.exitcode, seconds)
    assert processes_of(variables["LEVELCAP_HOME"]) == []


@pytest.mark.trust
@pytest.mark.parametrize("name", CASES)
def test_a_bad_start_is_refused_by_a_process_of_its_own(name, home):
    with contextlib.ExitStack() as keep_open:
        variables = spoil(name, home, keep_open)
        began = time.monotonic()
        run = subprocess.run(
            [sys.executable, "-m", "tests.services.bad_starts", name],
            cwd=ROOT,
            env=os.environ | variables,
            capture_output=True,
            text=True,
            timeout=60,
        )
        check_refusal(name, run.stderr, run.returncode, time.monotonic() - began)
    assert processes_of(variables["LEVELCAP_HOME"]) == []
