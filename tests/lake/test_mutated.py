"""Files of others, damaged in many ways: imported or refused with a line number, nothing lost."""

import gzip
import shutil

import numpy as np
import pytest

from levelcap.lake.check import check_shard
from levelcap.lake.importers.table import recognise
from levelcap.lake.intake import import_folder
from levelcap.lake.read import open_shards
from tests.lake import formats

WORDS = [
    *(b"null", b"NaN", b"-Infinity", b"1e400", b"1e-400", b"9" * 400, b"-1", b"true", b'""', b"[]"),
    *(
        b"{}",
        b"[" * 3000,
        b'{"a":' * 50,
        b'"\\ud800"',
        b"\xff\xfe",
        b"\x00",
        b"\r\n",
        b"\n\n",
        b",",
    ),
]


def mutated(data, rng):
    """The same bytes with one to three things wrong."""
    for _ in range(rng.integers(1, 4)):
        a, b = sorted(rng.integers(0, len(data) + 1, 2).tolist())
        b = min(b, a + 40)
        word = WORDS[rng.integers(len(WORDS))]
        lines = data.split(b"\n")
        i, j = rng.integers(0, len(lines), 2).tolist()
        numbers = [k for k, c in enumerate(data) if chr(c).isdigit()]
        kind = rng.integers(8)
        if kind == 0:
            data = data[:a] + bytes([rng.integers(256)]) + data[a + 1 :]
        elif kind == 1:
            data = data[:a] + data[b:]
        elif kind == 2:
            data = data[:b] + data[a:b] + data[b:]
        elif kind == 3:
            data = data[:a] + word + data[b:]
        elif kind == 4:
            lines[i], lines[j] = lines[j], lines[i]
            data = b"\n".join(lines)
        elif kind == 5 and numbers:  # a number becomes something else, the JSON stays whole
            k = numbers[rng.integers(len(numbers))]
            data = data[:k] + word + data[k + 1 :]
        elif kind == 6:
            data = data[: max(a, 1)]
        else:
            lines.insert(i, lines[j])
            data = b"\n".join(lines)
    return data or b"?"


def slipped(data, rng):
    """The same document with one value of a wrong kind: the JSON stays whole."""
    numbers = [k for k, c in enumerate(data) if chr(c).isdigit() and data[k - 1 : k] in b" ["]
    k = numbers[rng.integers(len(numbers))]
    end = next(k + n for n in range(1, 30) if data[k + n : k + n + 1] in (b",", b"]", b"}"))
    word = (b"null", b"1e300", b'"7"', b"[]", b"true", b"-2", b"9" * 30)[rng.integers(7)]
    return data[:k] + word + data[end:]


def damage(path, rng):
    path.write_bytes(mutated(path.read_bytes(), rng))


def ticks(root, number, rng):
    path = formats.ticks(root, formats.some_ticks(6, number), f"ep{number}", f"p{number}")
    if rng.random() < 0.3:
        damage(path, rng)
    else:
        inner = mutated(gzip.decompress(path.read_bytes()), rng)
        path.write_bytes(gzip.compress(inner, mtime=0, compresslevel=1))


def feedback(root, number, rng):
    events = [formats.event(float(k), ocr=k) for k in range(5)]
    path = formats.feedback(root, [*events, formats.END], f"run-{number}")
    if number == 0:
        rows = [(f"/x/run-{k}/feedback_stream.jsonl", "win") for k in range(9)]
        damage(formats.manifest(root, rows), rng)
    damage(path, rng)


def filtered(root, number, rng):
    states = rng.uniform(-1, 1, (5, 19)).round(3).tolist()
    signed = number % 3 == 0
    path = formats.filtered(root / f"s{number}", states, [[0.1, 0.2, 1, 0.5]] * 5, metadata=signed)
    place = path.parent.rename(root / f"session_{number}")
    if signed or number % 2:
        damage(place / ("metadata.json" if signed and number % 2 else path.name), rng)
    else:
        (place / path.name).write_bytes(slipped((place / path.name).read_bytes(), rng))


def watch(root, number, rng):
    kind = ("csv", "csv", "parquet")[number % 3]
    place = formats.watch(root, formats.inputs(1.0), kind, f"session_20260102_{number:06d}")
    damage(place / (f"events.{kind}" if number % 4 else "metadata.json"), rng)
    if number % 8 != 7:
        formats.sign(place)
    else:
        damage(place / "integrity.sha256", rng)


def check_damaged(make, root, count, seed):
    """Import `count` damaged units; returns how many gave steps and how many lines were refused."""
    rng = np.random.default_rng(seed)
    for number in range(count):
        make(root, number, rng)
    importer, units = recognise(root)
    assert len(units) == count
    done = import_folder(root)
    report = done.report
    assert report.records == report.used + report.refused
    assert sum(r.line >= 0 and bool(r.reason) for r in report.rejects) == len(report.rejects)
    told = {r.file.split("/files/")[-1] for r in report.rejects}
    gave = set()
    if done.shard is not None:
        check_shard(done.shard)
        gave = {one.extras["policy"] for one in open_shards([done.shard]).episodes()}
    for unit in units:
        names = {path.relative_to(root).as_posix() for path in unit.files}
        assert unit.player in gave or names & told, unit
        for path in unit.files:
            kept = done.raw / "files" / path.relative_to(root)
            assert kept.read_bytes() == path.read_bytes()
    return len(gave), len(report.rejects)


MAKERS = (ticks, feedback, filtered, watch)


@pytest.mark.parametrize("make", MAKERS, ids=lambda make: make.__name__)
def test_fifty_damaged_files_of_a_format(tmp_path, make):
    gave, refused = check_damaged(make, tmp_path / "in", 50, 1)
    assert gave > 5 and refused > 10


@pytest.mark.slow
@pytest.mark.timeout(3600)
@pytest.mark.parametrize("make", MAKERS, ids=lambda make: make.__name__)
def test_2500_damaged_files_of_a_format(tmp_path, make):
    gave = refused = 0
    for seed in range(10):
        some = check_damaged(make, tmp_path / str(seed), 250, 100 + seed)
        gave, refused = gave + some[0], refused + some[1]
        shutil.rmtree(tmp_path / str(seed))
    print(f"{make.__name__}: 2,500 damaged, {gave:,} gave steps, {refused:,} refusals")
    assert gave > 250 and refused > 500
