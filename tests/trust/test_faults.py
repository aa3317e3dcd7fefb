"""P5 and P6: a kill or an error at every durable system call, and a hundred thousand power cuts."""

import multiprocessing
import os
import random
import shutil
from concurrent.futures import ProcessPoolExecutor
from pathlib import Path

import pytest

from levelcap.campaign.realm import open_realm
from levelcap.kit.paths import folder
from tests.trust import keeping
from tests.trust.careless import MUTANTS
from tests.trust.powercut import Disk, Step, steps_of
from tests.trust.tracing import Call, calls_of, missing_strace, strace

pytestmark = [pytest.mark.trust, pytest.mark.timeout(1500)]
OPERATIONS = ("publish", "retain", "complete", "ingest")
FAULTS = ("signal=KILL", "error=ENOSPC", "error=EIO")
CUTS = 100_000


@pytest.fixture(autouse=True)
def strace_is_there():
    assert not missing_strace(), "strace is missing: run make test-trust, which installs it"


@pytest.fixture
def template(home, monkeypatch):
    """A realm with four checkpoints, a queued job and a file in the inbox."""
    realm = open_realm()
    keeping.prepare(realm)
    for number in (1, 2, 3, 4):
        keeping.publish_one(realm, number)
    payload = {"run": keeping.RUN, "minutes": 1.0, "size": "dummy"}
    realm.store.submit("reinforce", payload)
    (folder("inbox") / "a.yaml").write_text(keeping.RECIPE.format(10))
    (folder("inbox") / "b.yaml").write_text("quest: nonsense\n")
    realm.close()
    return home


def traced(template: Path, operation: str, work: Path, mutant: str = "") -> tuple[Path, list[Call]]:
    home = work / f"traced-{operation}"
    shutil.copytree(template, home)
    log = work / f"{operation}.log"
    assert b"DONE" in strace(home, operation, log, mutant=MUTANTS.get(mutant))
    return home, calls_of(log)


def broken(
    template: Path, operation: str, call: Call, fault: str, work: Path, mutant: str = ""
) -> tuple[list[str], bool]:
    """One run with one fault, in a process of its own: (what is wrong after the next start, was
    the operation broken off)."""
    name = f"{operation}-{call.name}-{call.number}-{fault.split('=')[1]}"
    home = work / name
    shutil.copytree(template, home)
    inject = f"inject={call.name}:{fault}:when={call.number}"
    log = work / f"{name}.log"
    said = strace(home, operation, log, "-e", inject, mutant=MUTANTS.get(mutant))
    os.environ["LEVELCAP_HOME"] = str(home)
    realm = open_realm()
    try:
        keeping.restart(realm)
        keeping.ingest_one(realm)
        found = keeping.violations(realm)
    finally:
        realm.close()
    shutil.rmtree(home)
    log.unlink()
    return [f"{name}: {problem}" for problem in found], b"DONE" not in said


def break_everywhere(
    template: Path,
    operation: str,
    points: list[Call],
    faults: tuple[str, ...],
    work: Path,
    mutant: str = "",
) -> tuple[list[str], int]:
    """A fault at every point: (violations, operations broken off)."""
    jobs = [(call, fault) for call in points for fault in faults]
    context = multiprocessing.get_context("forkserver")
    with ProcessPoolExecutor(2, mp_context=context) as pool:
        going = [pool.submit(broken, template, operation, *job, work, mutant) for job in jobs]
        done = [run.result() for run in going]
    return [problem for problems, _ in done for problem in problems], sum(off for _, off in done)


@pytest.mark.parametrize("operation", OPERATIONS)
def test_a_fault_at_every_durable_call(operation, template, tmp_path, figures):
    _, calls = traced(template, operation, tmp_path)
    points = [call for call in calls if call.durable]
    assert len(points) > 8, points
    found, broken_off = break_everywhere(template, operation, points, FAULTS, tmp_path)
    number = len(points) * len(FAULTS)
    figures.add(
        "P5",
        f"{operation}: kill, ENOSPC, EIO at {len(points)} of {len(points)} durable "
        f"calls ({broken_off} of {number} broken off): {len(found)} violations",
        not found,
        fault_points=number,
        violations=len(found),
    )
    assert not found, found[:5]
    assert broken_off > number // 3  # the faults do happen


@pytest.mark.parametrize(
    ("operation", "mutant"),
    [("publish", "torn_publish"), ("publish", "manifest_first"), ("retain", "folder_first")],
)
def test_faults_show_a_missing_protection(operation, mutant, template, tmp_path, figures):
    _, calls = traced(template, operation, tmp_path, mutant)
    points = [call for call in calls if call.durable]
    found, _ = break_everywhere(template, operation, points, FAULTS[:1], tmp_path, mutant)
    figures.add("P5", f"without protection ({mutant}): seen", bool(found))
    assert found


def existing_of(home: Path) -> dict[str, bool]:
    return {str(p): p.is_dir() for p in home.rglob("*")}


class Publishing:
    """What must hold at every cut while a snapshot is published."""

    def __init__(self, home: Path) -> None:
        self.place = str(home / "runs" / keeping.RUN / "snapshots" / "step-000000000077")

    def violated(self, left, done: bool) -> str | None:
        node = left.at(self.place)
        if node is not None:
            names = left.names(node)
            for name in ("manifest.json", "meta.json", "model.safetensors"):
                if name not in names or not left.intact(names[name]):
                    return f"visible but torn: {name}"
            if ".ledger.json" in names and not left.intact(names[".ledger.json"]):
                return "torn .ledger.json"
        if left.commits >= self.commits and node is None:
            return "a row without its folder"
        if done and (node is None or ".ledger.json" not in left.names(node)):
            return "done, and .ledger.json is not there"
        return None


class Retaining:
    """What must hold at every cut while a checkpoint is removed."""

    def __init__(self, home: Path) -> None:
        self.place = str(home / "runs" / keeping.RUN / "snapshots" / "step-000000000001")

    def violated(self, left, done: bool) -> str | None:
        node = left.at(self.place)
        whole = node is not None and {"manifest.json", "meta.json", "model.safetensors"} <= set(
            left.names(node)
        )
        # The last two commits are: the row is retired, the place is forgotten.
        if left.commits < self.commits - 1 and not whole:
            return "the folder went before the row said so"
        if node is not None and not whole:
            return "half removed under its own name"
        if left.commits >= self.commits and node is not None:
            return "told as removed, and still there"
        return None


def cut_often(home, steps: list[Step], law, cuts: int, rng: random.Random) -> str | None:
    """Power cuts at random moments; the first thing that went wrong, or None."""
    existing = law.existing
    for _ in range(cuts):
        end = rng.randrange(len(steps) + 1)
        disk = Disk(str(home), existing)
        for step in steps[:end]:
            disk.apply(step)
        for _ in range(10):
            problem = law.violated(disk.cut(rng), end == len(steps))
            if problem is not None:
                return f"after {end} of {len(steps)} steps: {problem}"
    return None


def last_name(steps: list[Step], index: int) -> str:
    """What the target of a step is called in the end, after all later renames."""
    path = steps[index].path
    for step in steps[index:]:
        if step.kind == "rename" and (path + "/").startswith(step.path + "/"):
            path = step.target + path[len(step.path) :]
    return path


@pytest.mark.parametrize("law_class", [Publishing, Retaining])
def test_power_cuts(law_class, template, tmp_path, figures):
    operation = "publish" if law_class is Publishing else "retain"
    existing = existing_of(template)
    home, calls = traced(template, operation, tmp_path)
    stop = next(i for i, c in enumerate(calls) if c.name == "write" and '"DONE' in c.arguments)
    steps = steps_of(calls[:stop])
    law = law_class(home)
    law.existing = {path.replace(str(template), str(home)): d for path, d in existing.items()}
    law.commits = sum(step.kind == "commit" for step in steps)
    rng = random.Random(6)
    found = cut_often(home, steps, law, CUTS // 20, rng)
    figures.add(
        "P6",
        f"{operation}: {CUTS // 2:,} power cuts: {found or '0 violations'}",
        found is None,
        power_cuts=CUTS // 2,
    )
    assert found is None
    # Every sync matters: without it (or, where another covers it, without all of that file or
    # folder) the model finds something wrong.
    syncs = [i for i, step in enumerate(steps) if step.kind == "sync" and "runs" in step.path]
    missed = []
    for index in syncs:
        alone = steps[:index] + steps[index + 1 :]
        target = last_name(steps, index)
        without = [
            step
            for i, step in enumerate(steps)
            if not (step.kind == "sync" and last_name(steps, i) == target)
        ]
        if cut_often(home, alone, law, 400, rng) is None:
            if cut_often(home, without, law, 400, rng) is None:
                missed.append(target)
    figures.add(
        "P6", f"{operation}: each of {len(syncs)} syncs removed: {len(missed)} unseen", not missed
    )
    assert syncs and not missed, missed
