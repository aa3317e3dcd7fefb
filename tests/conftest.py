"""Every test has a realm of its own and none of the caller's settings."""

import os
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest

# Headless machines have no screen and no sound card; the classic-control games ask for both.
os.environ.setdefault("SDL_VIDEODRIVER", "dummy")
os.environ.setdefault("SDL_AUDIODRIVER", "dummy")
os.environ.setdefault("MPLBACKEND", "Agg")


@pytest.fixture(autouse=True)
def home(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Iterator[Path]:
    """An empty $LEVELCAP_HOME for this test alone."""
    for variable in [name for name in os.environ if name.startswith("LEVELCAP_")]:
        if (
            variable != "LEVELCAP_KERNEL_CACHE"
        ):  # compiled kernels are shared, or tests take minutes
            monkeypatch.delenv(variable)
    monkeypatch.delenv("TRAINING_BASE_DIR", raising=False)
    path = tmp_path / "home"
    monkeypatch.setenv("LEVELCAP_HOME", str(path))
    yield path


@pytest.fixture
def realm(home: Path) -> Iterator[Any]:
    """The database of that realm, open; tests of the game alone never pay for its imports."""
    from levelcap.campaign.realm import open_realm

    opened = open_realm()
    yield opened
    opened.close()


@pytest.fixture(scope="session")
def crew() -> Iterator[Any]:
    """Two processes for the stages of all tests: starting them anew would take seconds each."""
    from levelcap.kit.backend import Processes

    with Processes(2) as made:
        yield made
