"""`levelcap track`: a run's metrics in TensorBoard's files, each step once whatever is killed."""

import struct
import subprocess
import sys
import time

import pytest

from levelcap.cli.event_file import NAME, EventFile, _step_of, masked_crc, record
from levelcap.kit.files import append_jsonl, write_json
from levelcap.kit.paths import folder
from tests.cli.calling import levelcap

# Read with TensorBoard 2.21.0's EventFileLoader: file_version "brain.Event:2", then step 300 at
# 1.5 s with loss 0.25 and score 1.0.
GOLDEN = (
    "1800000000000000a37f4b220900000000000000001a0d627261696e2e4576656e743a32eedf28a3"
    "290000000000000037ff5f0009000000000000f83f10ac022a1b0a0b0a046c6f7373150000803e0a0c"
    "0a0573636f7265150000803f0dc11720"
)


@pytest.fixture
def run():
    place = folder("runs") / "reinforce-20261118-aaaa"
    place.mkdir()
    write_json(place / "config.json", {"seed": 3, "config": {"engine": {"lr": 0.1}}})
    return place


def tell(place, *steps):
    append_jsonl(
        place / "metrics.jsonl", [{"step": s, "time": s / 2, "loss": 1 / s} for s in steps]
    )


def steps_in(place):
    """The steps of an event file, every checksum checked."""
    data, at, found = place.read_bytes(), 0, []
    while at < len(data):
        length, check = struct.unpack_from("<QI", data, at)
        assert check == masked_crc(data[at : at + 8])
        body = data[at + 12 : at + 12 + length]
        assert struct.unpack_from("<I", data, at + 12 + length)[0] == masked_crc(body)
        found.append(_step_of(body))
        at += 16 + length
    return found


def test_the_checksum_is_crc32c():
    crc = masked_crc(b"123456789") - 0xA282EAD8 & 0xFFFFFFFF
    assert (crc << 15 | crc >> 17) & 0xFFFFFFFF == 0xE3069283  # the value of RFC 3720


def test_an_event_file_has_the_bytes_that_tensorboard_reads(tmp_path):
    file = EventFile(tmp_path)
    file.write(1.5, 300, {"loss": 0.25, "score": 1.0})
    file.close()
    assert (tmp_path / NAME).read_bytes().hex() == GOLDEN
    assert steps_in(tmp_path / NAME) == [-1, 300]


def test_tracking_again_goes_on_without_doubled_steps(run, tmp_path, capsys):
    tell(run, 8, 16, 24)
    log = tmp_path / "tb"
    file = log / run.name / NAME
    code, out, err = levelcap(capsys, "track", "aaaa", str(log))
    assert code == 0 and "3 steps written" in out, err
    with file.open("ab") as torn:  # the mirror was killed in the middle of a record
        torn.write(record(b"\x09" + bytes(8) + b"\x10\x20")[:-6])
    tell(run, 16, 24, 32, 40)  # the run was killed, too: it repeats what it did after a checkpoint
    code, out, _ = levelcap(capsys, "track", str(run), str(log))
    assert code == 0 and "2 steps after step 24" in out
    assert steps_in(file) == [-1, 8, 16, 24, 32, 40]
    assert "0 steps" in levelcap(capsys, "track", "latest", str(log))[1]


def test_a_killed_follower_leaves_no_gap_and_no_double(run, tmp_path, capsys):
    tell(run, *range(1, 200))
    log = tmp_path / "tb"
    file = log / run.name / NAME
    command = [sys.executable, "-m", "levelcap", "track", run.name, str(log), "--follow"]
    with subprocess.Popen(command, stdout=subprocess.DEVNULL) as follower:
        until = time.monotonic() + 60
        while time.monotonic() < until and not (file.exists() and file.stat().st_size > 2000):
            time.sleep(0.02)
        assert follower.poll() is None
        follower.kill()
    tell(run, *range(200, 260))
    assert levelcap(capsys, "track", run.name, str(log))[0] == 0
    assert steps_in(file) == [-1, *range(1, 260)]


@pytest.mark.parametrize(
    ("words", "said"),
    [
        (("track", "latest", "tb", "--to", "mlflow"), "pip install mlflow"),
        (("track", "latest", "tb", "--to", "trackio"), "pip install trackio"),
        (("track", "reinforce-9", "tb"), "unknown run"),
        (("track", "no/such/run", "tb"), "not the folder of a run"),
    ],
)
def test_what_cannot_be_tracked_is_refused_in_one_sentence(run, capsys, words, said):
    code, _, err = levelcap(capsys, *words)
    assert code == 2 and said in err and len(err.strip().splitlines()) == 1
