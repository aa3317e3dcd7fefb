import os
import random
import signal
import subprocess
import sys
import time
from pathlib import Path

import pytest

from levelcap.kit import publish as pub
from levelcap.kit.errors import BadValue, Conflict, Corrupt

# A process that publishes for ever; with "naive" it writes straight into the final folder, which
# is what the protocol protects from.
PUBLISHER = """
import os, sys
from pathlib import Path
from levelcap.kit import publish as pub

parent, mode = Path(sys.argv[1]), sys.argv[2]

def write(folder):
    for name in ("weights", "optimizer", "sub/meta"):
        (folder / name).parent.mkdir(exist_ok=True)
        with (folder / name).open("wb", buffering=0) as file:
            for _ in range(20):
                file.write(os.urandom(4096))

print("ready", flush=True)
count = 0
while True:
    target = parent / f"item-{os.getpid()}-{count}"
    if mode == "naive":
        target.mkdir()
        write(target)
    pub.publish(target if mode == "safe" else parent / f"x-{target.name}", write, made_by="test")
    if count > 2:
        pub.retire(parent / f"item-{os.getpid()}-{count - 3}")
    count += 1
"""


def two_files(folder: Path) -> None:
    (folder / "a.bin").write_bytes(b"abc")
    (folder / "sub").mkdir()
    (folder / "sub" / "b.bin").write_bytes(b"defg")


def kills(parent: Path, mode: str, count: int) -> tuple[int, int]:
    """Kills a publisher `count` times; returns (visible folders that are not whole, whole ones)."""
    chance = random.Random(mode + str(count))
    broken = whole = 0
    for number in range(count):
        place = parent / f"{mode}{number}"
        place.mkdir(parents=True)
        command = [sys.executable, "-c", PUBLISHER, str(place), mode]
        process = subprocess.Popen(command, stdout=subprocess.PIPE)
        process.stdout.readline()
        time.sleep(chance.uniform(0.001, 0.03))
        process.send_signal(signal.SIGKILL)
        process.wait()
        process.stdout.close()
        for item in place.iterdir():
            if item.name.startswith((".tmp-", ".trash-", "x-")):
                continue
            try:
                pub.verify(item)
                whole += 1
            except Corrupt:
                broken += 1
        pub.sweep(place)
        assert not list(place.glob(".t*"))
    return broken, whole


def test_a_killed_publisher_leaves_whole_folders_only(tmp_path):
    broken, whole = kills(tmp_path, "safe", 40)
    assert broken == 0
    assert whole >= 10, "the kills came before anything was published"


def test_the_kills_do_find_half_folders_when_the_protocol_is_off(tmp_path):
    broken, _ = kills(tmp_path, "naive", 6)
    assert broken > 0


def test_the_manifest_names_every_file_with_size_and_hash(tmp_path):
    made = pub.publish(tmp_path / "deep" / "one", two_files, made_by="test", parents=["p1"])
    assert made == pub.verify(tmp_path / "deep" / "one")
    assert (made.schema, made.made_by, made.parents) == (1, "test", ["p1"])
    assert {name: entry["bytes"] for name, entry in made.files.items()} == {
        "a.bin": 3,
        "sub/b.bin": 4,
    }
    assert made.files["a.bin"]["sha256"] == (
        "ba7816bf8f01cfea414140de5dae2223b00361a396177a9cb410ff61f20015ad"
    )


def test_the_durable_steps_come_in_the_order_of_the_protocol(tmp_path, monkeypatch):
    calls = []
    monkeypatch.setattr(
        os, "fsync", lambda fd: calls.append(Path(os.readlink(f"/proc/self/fd/{fd}")).name)
    )
    real = pub.rename_new
    monkeypatch.setattr(pub, "rename_new", lambda a, b: (calls.append("rename"), real(a, b)))
    pub.publish(tmp_path / "one", two_files, made_by="test")
    steps = [".tmp" if c.startswith(".tmp-") else c for c in calls]
    assert steps == ["a.bin", "b.bin", "manifest.json", "sub", ".tmp", "rename", tmp_path.name]


@pytest.mark.parametrize("fallback", [False, True])
def test_an_existing_folder_is_never_replaced(tmp_path, monkeypatch, fallback):
    if fallback:
        monkeypatch.setattr(pub, "_rename_noreplace", lambda a, b: False)
    pub.publish(tmp_path / "one", two_files, made_by="first")

    def late(folder):
        (folder / "x").write_text("x")
        pub.publish(tmp_path / "two", two_files, made_by="rival")

    for target, write in (("one", two_files), ("two", late)):
        with pytest.raises(Conflict, match="never replaced"):
            pub.publish(tmp_path / target, write, made_by="second")
    assert pub.verify(tmp_path / "one").made_by == "first"
    assert pub.verify(tmp_path / "two").made_by == "rival"
    assert sorted(os.listdir(tmp_path)) == ["one", "two"]


def test_without_renameat2_a_folder_is_published_all_the_same(tmp_path, monkeypatch):
    monkeypatch.setattr(pub, "_rename_noreplace", lambda a, b: False)
    pub.publish(tmp_path / "one", two_files, made_by="test")
    pub.verify(tmp_path / "one")


def test_a_writer_that_fails_leaves_nothing(tmp_path):
    def fails(folder):
        two_files(folder)
        raise RuntimeError("no")

    with pytest.raises(RuntimeError, match="no"):
        pub.publish(tmp_path / "one", fails, made_by="test")
    assert os.listdir(tmp_path) == []


def test_a_writer_may_not_make_its_own_manifest(tmp_path):
    with pytest.raises(BadValue, match=r"manifest\.json"):
        pub.publish(tmp_path / "one", lambda f: (f / "manifest.json").touch(), made_by="test")


def test_every_flipped_bit_is_seen(tmp_path):
    folder = tmp_path / "one"
    pub.publish(folder, two_files, made_by="test")
    chance = random.Random(0)
    for file in [p for p in folder.rglob("*") if p.is_file()]:
        good = file.read_bytes()
        for _ in range(60):
            bad = bytearray(good)
            bad[chance.randrange(len(bad))] ^= 1 << chance.randrange(8)
            file.write_bytes(bad)
            with pytest.raises(Corrupt):
                pub.verify(folder)
        for length in (0, len(good) - 1):
            file.write_bytes(good[:length])
            with pytest.raises(Corrupt):
                pub.verify(folder)
        file.write_bytes(good)
    pub.verify(folder)


@pytest.mark.parametrize(
    "damage, word",
    [
        (lambda f: (f / "a.bin").unlink(), "missing file"),
        (lambda f: (f / "new").touch(), "extra file"),
        (lambda f: (f / "a.bin").write_bytes(b"abcd"), "wrong size"),
        (lambda f: (f / "a.bin").write_bytes(b"abd"), "wrong sha256"),
        (lambda f: (f / "manifest.json").unlink(), "no readable manifest"),
        (lambda f: (f / "manifest.json").write_text("[]"), "no readable manifest"),
        (lambda f: (f / "link").symlink_to("a.bin"), "neither file nor folder"),
    ],
)
def test_damage_is_named(tmp_path, damage, word):
    pub.publish(tmp_path / "one", two_files, made_by="test")
    damage(tmp_path / "one")
    with pytest.raises(Corrupt, match=word):
        pub.verify(tmp_path / "one")


def test_retire_removes_and_may_be_repeated(tmp_path):
    pub.publish(tmp_path / "one", two_files, made_by="test")
    pub.retire(tmp_path / "one")
    pub.retire(tmp_path / "one")
    assert os.listdir(tmp_path) == []


def test_sweep_clears_leftovers_and_spares_the_living(tmp_path):
    (tmp_path / ".tmp-dead-1").mkdir()
    (tmp_path / ".trash-dead-2").mkdir()
    (tmp_path / ".tmp-file").write_text("half")
    (tmp_path / ".tmp-link").symlink_to("nowhere")
    (tmp_path / ".theme").write_text("not ours")
    seen = []

    def write(folder):
        two_files(folder)
        seen.extend(pub.sweep(tmp_path))

    pub.publish(tmp_path / "one", write, made_by="test")
    assert seen == [".tmp-dead-1", ".tmp-file", ".tmp-link", ".trash-dead-2"]
    assert sorted(os.listdir(tmp_path)) == [".theme", "one"]
