"""Calling a command in this process."""

import pytest

from levelcap.cli.main import main


def levelcap(capsys, *words):
    """Runs a command; returns its exit code, output and refusal."""
    with pytest.raises(SystemExit) as ended:
        main(words)
    said = capsys.readouterr()
    return ended.value.code or 0, said.out, said.err
