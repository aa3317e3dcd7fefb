"""A checkpoint as a tar: out and in again; everything foreign is refused and leaves nothing."""

import io
import json
import struct
import tarfile

import numpy as np
import pytest

from levelcap.kit.errors import BadFile, Corrupt, LevelcapError
from levelcap.kit.files import dump_json
from levelcap.kit.ids import sha256_bytes
from levelcap.kit.paths import folder
from levelcap.vault.archive import pack, unpack
from levelcap.vault.ledger import get_ledger
from levelcap.vault.weights import check_weights
from tests.services.oracles import net_in_vault
from tests.vault.made import meta


def files_in(path):
    return [p for p in path.rglob("*") if p.is_file()]


def test_out_and_in_again_is_the_same_checkpoint(realm, tmp_path):
    entry, _ = net_in_vault(realm.engine, 5)
    tar = pack(realm.engine, entry.id, tmp_path / "a.tar")
    again = pack(realm.engine, entry.id, tmp_path / "b.tar")
    assert tar.read_bytes() == again.read_bytes()
    imported = unpack(realm.engine, tar, "kestrel")
    assert imported.id == entry.id  # known already
    from levelcap.campaign.realm import open_realm

    other = open_realm()  # another realm
    (folder("state") / "realm.db").unlink()
    other.close()
    fresh = open_realm()
    taken = unpack(fresh.engine, tar, "kestrel")
    assert (taken.id, taken.role, taken.base) == (entry.id, "decision", True)
    assert get_ledger(fresh.engine).get(entry.id).world == "duel"
    fresh.close()


def made_tar(path, files, folder_name="checkpoint-x", kind=tarfile.REGTYPE):
    with tarfile.open(path, "w") as tar:
        for name, data in files.items():
            info = tarfile.TarInfo(name if "/" in name or name == ".." else f"{folder_name}/{name}")
            info.size, info.type = (len(data) if kind == tarfile.REGTYPE else 0), kind
            info.linkname = "meta.json"
            tar.addfile(info, io.BytesIO(data))
    return path


def whole(weights: bytes, description: bytes | None = None) -> dict[str, bytes]:
    description = description or dump_json(meta().as_json())
    files = {"model.safetensors": weights, "meta.json": description}
    listed = {n: {"bytes": len(d), "sha256": sha256_bytes(d)} for n, d in files.items()}
    fields = {
        "schema": 1,
        "created": "2026-01-01T00:00:00+00:00",
        "made_by": "x",
        "parents": [],
        "files": listed,
    }
    manifest = dump_json(fields | {"sha256": sha256_bytes(dump_json(fields))})
    return {**files, "manifest.json": manifest}


def tensors(header: object, data: bytes = b"") -> bytes:
    text = json.dumps(header).encode() if not isinstance(header, bytes) else header
    return struct.pack("<Q", len(text)) + text + data


def one(dtype: str, shape: list[int]) -> bytes:
    return tensors({"a": {"dtype": dtype, "shape": shape, "data_offsets": [0, 4]}}, b"1234")


GOOD = tensors(
    {"a": {"dtype": "F32", "shape": [2], "data_offsets": [0, 8]}}, np.ones(2, "<f4").tobytes()
)
HOSTILE_WEIGHTS = {
    "pickle": b"\x80\x04cos\nsystem\n(S'true'\ntR.",
    "empty": b"",
    "short": b"\x01",
    "length beyond the file": struct.pack("<Q", 1 << 60) + b"{}",
    "no json": tensors(b"{nonsense"),
    "deep json": tensors(b"[" * 100_000),
    "list": tensors([]),
    "nan": tensors(
        {"a": {"dtype": "F32", "shape": [1], "data_offsets": [0, 4]}},
        np.array([np.nan], "<f4").tobytes(),
    ),
    "bf16 infinity": tensors(
        {"a": {"dtype": "BF16", "shape": [1], "data_offsets": [0, 2]}}, b"\x80\x7f"
    ),
    "unknown dtype": tensors(
        {"a": {"dtype": "OBJ", "shape": [1], "data_offsets": [0, 4]}}, b"1234"
    ),
    "negative shape": tensors({"a": {"dtype": "F32", "shape": [-1], "data_offsets": [0, 4]}}),
    "bool shape": tensors(
        {"a": {"dtype": "F32", "shape": [True], "data_offsets": [0, 4]}}, b"1234"
    ),
    "huge shape": tensors(
        {"a": {"dtype": "F32", "shape": [1 << 62], "data_offsets": [0, 4]}}, b"1"
    ),
    "overlap": tensors(
        {
            "a": {"dtype": "U8", "shape": [4], "data_offsets": [0, 4]},
            "b": {"dtype": "U8", "shape": [4], "data_offsets": [2, 6]},
        },
        b"123456",
    ),
    "trailing bytes": GOOD + b"x",
    "duplicate key": tensors(b'{"a": 1, "a": 2}'),
}


@pytest.mark.parametrize("name", HOSTILE_WEIGHTS)
def test_hostile_weights_are_refused(name, realm, tmp_path):
    path = tmp_path / "w.safetensors"
    path.write_bytes(HOSTILE_WEIGHTS[name])
    with pytest.raises(BadFile):
        check_weights(path)
    tar = made_tar(tmp_path / "x.tar", whole(HOSTILE_WEIGHTS[name]))
    with pytest.raises(LevelcapError):
        unpack(realm.engine, tar, "kestrel")
    assert files_in(folder("vault")) == []


def test_good_weights_are_described(tmp_path):
    (tmp_path / "w").write_bytes(GOOD)
    assert check_weights(tmp_path / "w") == {"a": ("F32", (2,))}


@pytest.mark.parametrize(
    "files",
    [
        {"../evil": b"x"},
        {"/etc/evil": b"x"},
        {"a/b/model.safetensors": b"x"},
        {"checkpoint-x/run.py": b"x"},
        {"..": b"x"},
        {"meta.json": b"{}"},
        {},
        {f"checkpoint-x/{n}": b"" for n in range(50)},
    ],
)
def test_archives_with_other_contents_are_refused(files, realm, tmp_path):
    tar = made_tar(tmp_path / "x.tar", files)
    with pytest.raises(BadFile):
        unpack(realm.engine, tar, "kestrel")
    assert files_in(folder("vault")) == []


@pytest.mark.parametrize("kind", [tarfile.SYMTYPE, tarfile.LNKTYPE, tarfile.DIRTYPE, b"3", b"6"])
def test_links_devices_and_pipes_are_refused(kind, realm, tmp_path):
    tar = made_tar(tmp_path / "x.tar", {"model.safetensors": b""}, kind=kind)
    with pytest.raises(BadFile):
        unpack(realm.engine, tar, "kestrel")


def test_what_is_no_tar_is_refused(realm, tmp_path):
    for data in (b"", b"PK\x03\x04", b"\x1f\x8b" + b"\x00" * 100, b"x" * 5000):
        (tmp_path / "x.tar").write_bytes(data)
        with pytest.raises(BadFile):
            unpack(realm.engine, tmp_path / "x.tar", "kestrel")
    with pytest.raises(BadFile, match="no such file"):
        unpack(realm.engine, tmp_path / "nowhere.tar", "kestrel")


def test_a_changed_byte_is_refused(realm, tmp_path):
    files = whole(GOOD)
    files["model.safetensors"] = GOOD[:-1] + b"\x00"
    with pytest.raises(Corrupt):
        unpack(realm.engine, made_tar(tmp_path / "x.tar", files), "kestrel")
    assert files_in(folder("vault")) == []


def test_a_description_of_something_else_is_refused(realm, tmp_path):
    tar = made_tar(tmp_path / "x.tar", whole(GOOD, b'{"architecture": "flat"}\n'))
    with pytest.raises(BadFile, match="does not describe"):
        unpack(realm.engine, tar, "kestrel")
