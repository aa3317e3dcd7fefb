import subprocess
import sys

import pytest

from levelcap.kit.errors import BadFile
from levelcap.services.door.tokens import ROLES, load_tokens, tokens_path

PRINT = "from levelcap.services.door.tokens import load_tokens as t; print(t().viewer, t().admin)"


def test_tokens_are_made_once_for_the_owner_alone():
    first = load_tokens()
    assert tokens_path().stat().st_mode & 0o777 == 0o600
    assert load_tokens() == first
    assert len({first.viewer, first.worker, first.admin}) == 3
    assert [p.name for p in tokens_path().parent.iterdir()] == ["tokens.json"]


def test_processes_that_start_together_agree_on_the_tokens(home):
    command = [sys.executable, "-c", PRINT]
    started = [subprocess.Popen(command, stdout=subprocess.PIPE, text=True) for _ in range(4)]
    found = {process.communicate(timeout=60)[0] for process in started}
    assert found == {f"{load_tokens().viewer} {load_tokens().admin}\n"}


def test_each_token_has_its_role_and_nothing_else_has_one():
    tokens = load_tokens()
    assert [tokens.role_of(getattr(tokens, role)) for role in ROLES] == list(ROLES)
    for wrong in ("", "x", tokens.admin[:-1], tokens.admin + "x", tokens.admin.upper(), "\ud800é"):
        assert tokens.role_of(wrong) is None


def test_no_token_is_shown_when_they_are_printed():
    tokens = load_tokens()
    assert tokens.admin not in repr(tokens) + str(tokens) + f"{tokens}"


@pytest.mark.parametrize("mode", [0o640, 0o604, 0o660, 0o620, 0o601])
def test_a_file_that_others_may_use_is_refused_with_the_remedy(mode):
    load_tokens()
    tokens_path().chmod(mode)
    with pytest.raises(BadFile, match=f"got 'mode {mode:o}'. Run chmod 600"):
        load_tokens()


def test_two_roles_with_one_token_are_refused():
    text = tokens_path()
    tokens = load_tokens()
    text.write_text(text.read_text().replace(tokens.admin, tokens.viewer))
    with pytest.raises(BadFile, match="three different texts"):
        load_tokens()
