"""P4, P7, P9, P23: checkpoints under kills, corruption, NaN and foreign hands."""

import os
import random
import signal
import time
from pathlib import Path

import numpy as np
import pytest

from levelcap.campaign.realm import open_realm
from levelcap.kit.errors import LevelcapError
from levelcap.kit.publish import verify
from levelcap.vault.ledger import get_ledger
from tests.trust import keeping
from tests.trust.careless import MUTANTS
from tests.vault.made import snapshot

pytestmark = [pytest.mark.trust, pytest.mark.timeout(1500)]
KILLS = 1000


def child(home: Path, first: int, mutant, acknowledged: int) -> None:
    """Publish and retain for ever; tells every acknowledged id through the pipe."""
    os.environ["LEVELCAP_HOME"] = str(home)
    if mutant is not None:
        mutant()
    realm = open_realm()
    number = first
    while True:
        made = keeping.publish_one(realm, number)
        os.write(acknowledged, f"+{made}\n".encode())
        while (gone := keeping.retain_one(realm, most=6)) is not None:
            os.write(acknowledged, f"-{gone}\n".encode())
        number += 1


def kill_often(home: Path, kills: int, mutant=None, seed: int = 0) -> tuple[list[str], int]:
    """Start, kill at a random moment, restart, check; (violations, checkpoints made)."""
    rng, found, alive = random.Random(seed), [], set()
    realm = open_realm()
    keeping.prepare(realm)
    realm.close()
    number, made = 1, 0
    for _ in range(kills):
        receive, send = os.pipe()
        pid = os.fork()
        if pid == 0:  # the parent has no database open while it forks
            try:
                os.close(receive)
                child(home, number, mutant, send)
            finally:
                os._exit(1)
        os.close(send)
        first = os.read(receive, 1) if rng.random() < 0.7 else b""
        time.sleep(rng.random() * 0.03)
        os.kill(pid, signal.SIGKILL)
        os.waitpid(pid, 0)
        said = first
        while block := os.read(receive, 65536):
            said += block
        os.close(receive)
        for line in said.decode().split("\n")[:-1]:
            made += line[0] == "+"
            alive = alive | {line[1:]} if line[0] == "+" else alive - {line[1:]}
        number += 400
        realm = open_realm()
        keeping.restart(realm)
        found += keeping.violations(realm)
        there = {row.id for row in get_ledger(realm.engine).list(limit=1000)}
        # What was acknowledged is there; at most one removal may have happened without a word.
        if len(alive - there) > 1:
            found.append(f"acknowledged and gone: {alive - there}")
        alive = there
        realm.close()
        if found and mutant is not None:
            break
    return found, made


def test_a_thousand_kills_of_publish_ledger_and_retention(home, figures):
    found, made = kill_often(home, KILLS)
    figures.add(
        "P4",
        f"{KILLS:,} kills of publish/ledger/retain, {made:,} checkpoints: {len(found)} bad",
        not found,
        checkpoint_kills=KILLS,
        bad_checkpoints=len(found),
    )
    assert not found, found[:5]
    assert made > KILLS // 3


@pytest.mark.parametrize("name", MUTANTS)
def test_the_harness_sees_a_missing_protection(name, home, figures):
    found, _ = kill_often(home, 100, MUTANTS[name], seed=1)
    figures.add("P4", f"without protection ({name}): seen", bool(found))
    assert found


def test_every_corruption_is_seen_before_use(home, tmp_path, figures):
    rng = random.Random(3)
    place = snapshot(tmp_path / "step-000000000001")
    good = {p.name: p.read_bytes() for p in place.iterdir()}
    seen = 0
    for _ in range(10_000):
        name = rng.choice(sorted(good))
        data = bytearray(good[name])
        kind = rng.choice(["flip", "zero page", "truncate", "extend", "swap"])
        at = rng.randrange(len(data))
        if kind == "flip":
            data[at] ^= 1 << rng.randrange(8)
        elif kind == "zero page":
            start = at // 512 * 512
            data[start : start + 512] = bytes(len(data[start : start + 512]))
        elif kind == "truncate":
            del data[at:]
        elif kind == "extend":
            data += rng.randbytes(1 + at % 64)
        else:
            other = rng.choice([n for n in good if n != name])
            data = bytearray(good[other])
        if bytes(data) == good[name]:
            seen += 1  # nothing changed: nothing to see
            continue
        (place / name).write_bytes(data)
        try:
            verify(place)
        except LevelcapError:
            seen += 1
        (place / name).write_bytes(good[name])
    verify(place)
    figures.add(
        "P7",
        f"10,000 corruptions: {seen:,} detected",
        seen == 10_000,
        corruptions=10_000,
        detected=seen,
    )
    assert seen == 10_000


def test_a_damaged_newest_checkpoint_falls_back_to_the_one_before(tmp_path, figures):
    from levelcap.learn.engine.state import State, load_newest, save_state

    for update in (10, 20):
        save_state(tmp_path, update, State({"net/a": np.full(100_000, update, np.float32)}))
    newest = sorted(tmp_path.iterdir())[-1]
    (newest / "tensors.safetensors").write_bytes(b"x")
    began = time.monotonic()
    state, place = load_newest(tmp_path)
    took = time.monotonic() - began
    figures.add("P7", f"fall back to the last good one: {took * 1000:.0f} ms", took <= 2)
    assert float(state.arrays["net/a"][0]) == 10 and took <= 2


def test_nan_never_reaches_a_checkpoint(tmp_path, figures):
    import torch

    from levelcap.learn.engine.guard import Guard
    from levelcap.learn.engine.state import State, save_state
    from levelcap.nets.checkpoint import save_snapshot
    from tests.vault.made import meta

    rng, published = random.Random(4), 0
    bad = [float("nan"), float("inf"), -float("inf")]
    guard = Guard(5)
    for number in range(1000):
        weights = torch.zeros(50)
        weights[rng.randrange(50)] = rng.choice(bad)
        assert not guard.passes({"loss": rng.choice(bad)}, 1.0)
        assert not guard.passes({"loss": 1.0}, rng.choice(bad))
        for save in (
            lambda n=number, w=weights: save_snapshot(tmp_path / f"s{n}", {"w": w}, meta(), "x"),
            lambda n=number, w=weights: save_state(tmp_path, n, State({"net/w": w.numpy()})),
        ):
            try:
                save()
                published += 1
            except LevelcapError:
                pass
    assert not list(tmp_path.iterdir())
    figures.add(
        "P9",
        f"1,000 NaN injections: {published} published",
        published == 0,
        nan_injected=1000,
        nan_published=published,
    )
    assert published == 0


def test_hostile_artifacts_run_nothing(home, tmp_path, figures):
    from levelcap.vault.archive import unpack
    from tests.vault.test_archive import GOOD, HOSTILE_WEIGHTS, made_tar, whole

    marker = tmp_path / "ran"
    pickled = f"cposix\nsystem\n(S'touch {marker}'\ntR.".encode()
    rng = random.Random(5)
    artifacts = [whole(weights) for weights in HOSTILE_WEIGHTS.values()]
    artifacts += [whole(pickled), {"model.safetensors": pickled, "meta.json": b"{}"}]
    while len(artifacts) < 200:
        data = bytearray(GOOD)
        for _ in range(1 + rng.randrange(5)):
            data[rng.randrange(len(data))] = rng.randrange(256)
        files = whole(bytes(data), rng.choice([None, b"{}", b"[]", pickled]))
        artifacts.append({n: d for n, d in files.items() if rng.random() < 0.95})
    realm, taken = open_realm(), 0
    for number, files in enumerate(artifacts):
        try:
            unpack(realm.engine, made_tar(tmp_path / f"{number}.tar", files), "kestrel")
            taken += 1  # harmless changes of weights are weights
        except LevelcapError:
            pass
    realm.close()
    figures.add(
        "P23",
        f"{len(artifacts)} hostile artifacts: 0 executions",
        not marker.exists(),
        hostile_artifacts=len(artifacts),
    )
    assert not marker.exists() and taken < len(artifacts) // 2
