"""The locks pin everything, say nothing about a machine, and are what is installed."""

import importlib.metadata
import json
import re
from pathlib import Path

import pytest

from tests.house.sources import ROOT

LOCKS = ("run-test.lock.txt", "peers.lock.txt")
TORCH = "2.13.0"
# pip comes with the environment; torch is pinned by version; levelcap is this repository.
UNLOCKED = {"pip", "setuptools", "torch", "levelcap"}


def key(name: str) -> str:
    return re.sub(r"[-_.]+", "-", name).lower()


def entries(lock: str) -> dict[str, tuple[str, int]]:
    """name -> (version, number of sha256 hashes) of a lock file."""
    text = (ROOT / "requirements" / lock).read_text().replace("\\\n", " ")
    found = {}
    for line in text.splitlines():
        if line.strip() and not line.startswith("#"):
            name, version = re.match(r"([A-Za-z0-9_.-]+)==(\S+)", line).groups()
            found[key(name)] = (version, len(re.findall(r"--hash=sha256:[0-9a-f]{64}\b", line)))
    return found


def installed() -> dict[str, str]:
    return {key(d.name): d.version for d in importlib.metadata.distributions()}


@pytest.mark.parametrize("lock", LOCKS)
def test_every_package_but_torch_has_a_hash(lock):
    pinned = entries(lock)
    assert len(pinned) > 20
    assert [name for name, (_, hashes) in pinned.items() if not hashes] == []
    assert not {"torch", "torchvision"} & set(pinned)
    assert [name for name in pinned if name.startswith("nvidia")] == []


@pytest.mark.parametrize("lock", LOCKS)
def test_a_lock_names_no_address_and_no_path(lock):
    text = (ROOT / "requirements" / lock).read_text()
    assert re.findall(r"\S*(?:https?:|file:|\.org|\.com|--index|--find-links| @ )\S*", text) == []


def test_what_is_installed_is_what_is_locked():
    pinned = {name: version for name, (version, _) in entries(LOCKS[0]).items()}
    there = {n: v for n, v in installed().items() if n not in UNLOCKED}
    assert there == {n: v for n, v in pinned.items() if n not in UNLOCKED}


def test_torch_is_exactly_the_pinned_one():
    pin = re.findall(r"^torch==(\S+)$", (ROOT / "requirements" / "torch.txt").read_text(), re.M)
    assert pin == [TORCH]
    assert installed()["torch"].split("+")[0] == TORCH
    assert f'"torch=={TORCH}"' in (ROOT / "pyproject.toml").read_text()


def test_nothing_of_cuda_without_a_device_and_no_torchvision():
    names = installed()
    assert "torchvision" not in names
    if not Path("/dev/nvidiactl").exists():
        assert [n for n in names if n.startswith("nvidia")] == []


def test_every_run_dependency_is_locked():
    required = importlib.metadata.requires("levelcap") or []
    plain = {key(re.match(r"[A-Za-z0-9_.-]+", r)[0]) for r in required if "extra ==" not in r}
    assert plain - set(entries(LOCKS[0])) == {"torch"}


def test_the_browsers_tools_are_pinned_by_version_and_hash():
    lock = json.loads((ROOT / "package-lock.json").read_text())
    wanted = json.loads((ROOT / "package.json").read_text())["devDependencies"]
    assert wanted == lock["packages"][""]["devDependencies"]
    assert all(re.fullmatch(r"\d+\.\d+\.\d+", version) for version in wanted.values())
    tools = {name: row for name, row in lock["packages"].items() if name}
    assert tools and all(row["integrity"].startswith("sha512-") for row in tools.values())
    # Where a package was fetched from is a matter of each machine.
    assert not any("resolved" in row for row in tools.values())


def test_what_is_fetched_for_the_browser_is_pinned_by_version_and_hash():
    fetched = json.loads((ROOT / "package.json").read_text())["fetched"]
    assert list(fetched) == ["onnxruntime-web"]
    for pin in fetched.values():
        assert re.fullmatch(r"\d+\.\d+\.\d+", pin["version"])
        assert re.fullmatch(r"sha512-[A-Za-z0-9+/]{86}==", pin["integrity"])
