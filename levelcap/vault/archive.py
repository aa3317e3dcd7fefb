"""A checkpoint as one `.tar`: its folder with its manifest, nothing else.

Unpacking trusts nothing: names, kinds and sizes are checked before a byte is written, every file
against the manifest, the weights as safetensors, the description as ours; then the net must work
(`vault.probes`) before its row exists. What fails leaves nothing behind.
"""

from __future__ import annotations

import io
import shutil
import tarfile
import tempfile
import time
from pathlib import Path

from levelcap.kit.db import Connection, Database, reading, transaction
from levelcap.kit.errors import BadFile, UserError, refuse
from levelcap.kit.files import TMP, read_json, room
from levelcap.kit.paths import folder
from levelcap.kit.publish import LEDGER_FILE, MANIFEST, read_manifest, rename_new, verify
from levelcap.nets.meta import Meta, meta_from_json
from levelcap.vault.assets import content_id, place_of, verify_asset
from levelcap.vault.ledger import Entry, Facts, get_ledger, save, write_beside
from levelcap.vault.probes import digest_of, has_passed, probe, remember
from levelcap.vault.weights import check_weights
from levelcap.vault.zones import load_zones

MAX_FILES = 16
MAX_BYTES = 8 << 30
UPLOAD_S = 7 * 86_400
MAX_JSON_BYTES = 4 << 20
ALLOWED = frozenset({"model.safetensors", "meta.json", MANIFEST, LEDGER_FILE})
REMEDY = "Give a .tar that levelcap vault pack wrote"


def pack(engine: Database, checkpoint: str, target: Path) -> Path:
    """Write the checkpoint's folder as a tar; the same checkpoint gives the same bytes.

    Raises:
        Corrupt: it is damaged or gone. BadFile: the target exists or its folder does not.
    """
    if target.exists() or not target.absolute().parent.is_dir():
        what = "cannot write the archive here (it exists, or its folder does not)"
        raise BadFile(refuse(what, str(target), "Give the name of a new file"))
    asset = verify_asset(engine, get_ledger(engine).get(checkpoint).id)
    place = place_of(asset)
    assert place is not None  # verified a moment ago
    tmp = target.with_name(f"{TMP}{target.name}")
    with room(target):
        try:
            with tarfile.open(tmp, "w") as tar:
                names = sorted([*read_manifest(place).files, MANIFEST])
                for name in names:
                    data = (place / name).read_bytes()
                    info = tarfile.TarInfo(f"{asset.id}/{name}")
                    info.size, info.mode = len(data), 0o644
                    tar.addfile(info, io.BytesIO(data))
            tmp.rename(target)
        finally:
            tmp.unlink(missing_ok=True)
    return target


def imported(asset_id: str) -> Path:
    """Where a checkpoint lies that was taken in."""
    return folder("vault") / "imported" / asset_id


def upload_file(name: str) -> Path:
    """Where an archive waits that came over HTTP, until its job takes it in."""
    return folder("exports") / f"upload-{name}.tar"


def sweep_uploads() -> None:
    """Remove archives whose job was cancelled or gave up: older than any job waits."""
    for path in folder("exports").glob("upload-*.tar"):
        if path.stat().st_mtime < time.time() - UPLOAD_S:
            path.unlink(missing_ok=True)


def unpack(engine: Database, source: Path, hero: str, *, reads: bool = False) -> Entry:
    """Take in a checkpoint from a tar, as a base model of `hero`; reads: it is a text hero.

    Raises:
        BadFile: not such a tar, or no net that works. Corrupt: bytes differ from its manifest.
        Nothing is left behind.
    """
    place = take_in(engine, source, reads=reads)
    with transaction(engine) as connection:
        entry = enter(connection, place, hero)
    write_beside(place, entry)
    return entry


def take_in(engine: Database, source: Path, *, reads: bool = False) -> Path:
    """The folder of a tar's checkpoint among the imported ones, checked and probed; no row yet."""
    there = folder("vault") / "imported"
    there.mkdir(exist_ok=True)
    with tempfile.TemporaryDirectory(prefix=TMP, dir=there) as place:
        inner = Path(place) / "checkpoint"
        _extract(source, inner)
        if (check_foreign(inner).text is not None) != reads:
            what = "the checkpoint is of the other kind of hero"
            raise BadFile(refuse(what, "arena" if reads else "text", "Name a hero of its kind"))
        asset_id, digest = content_id("checkpoint", inner)
        with reading(engine) as connection:
            known = has_passed(connection, digest)
        if not known:
            probe(inner)
        target = imported(asset_id)
        if not target.exists():
            rename_new(inner, target)
    return target


def enter(connection: Connection, place: Path, hero: str) -> Entry:
    """Write the row of a folder that `take_in` let through."""
    meta = meta_from_json(read_json(place / "meta.json"), "meta.json")
    facts = Facts(
        step=int(meta.metrics.get("updates", 0)),
        hero=hero,
        world=meta.world,
        role="decision" if meta.text is None else "text",
        total_examples_trained=meta.steps,
        base=True,
    )
    remember(connection, digest_of(place), "probe")
    return save(connection, place, facts, load_zones()["hot"])


def check_foreign(place: Path) -> Meta:
    """Read a folder that somebody else wrote: manifest, weights and description, all checked."""
    verify(place)
    if not (ALLOWED - {LEDGER_FILE} <= {p.name for p in place.iterdir()}):
        raise BadFile(refuse("files are missing", sorted(ALLOWED), REMEDY))
    for name in ("meta.json", MANIFEST):
        if (place / name).stat().st_size > MAX_JSON_BYTES:
            raise BadFile(refuse(f"{name} is too long", (place / name).stat().st_size, REMEDY))
    meta = meta_from_json(read_json(place / "meta.json"), "meta.json")
    check_weights(place / "model.safetensors")
    return meta


def _extract(source: Path, target: Path) -> None:
    try:
        with tarfile.open(source, "r:") as tar:  # "r:" takes no compression: no bombs
            members = _members(tar)
            target.mkdir()
            for name, member in members.items():
                reader = tar.extractfile(member)
                assert reader is not None
                with (target / name).open("xb") as file:
                    shutil.copyfileobj(reader, file)
    except (tarfile.TarError, OSError, EOFError) as error:
        if not source.is_file():
            raise BadFile(refuse("no such file", str(source), REMEDY)) from error
        what = f"cannot be read as a tar ({error})"
        raise BadFile(refuse(what, source.name, REMEDY)) from error


def _members(tar: tarfile.TarFile) -> dict[str, tarfile.TarInfo]:
    """File name -> member, if the archive holds exactly one folder of allowed plain files."""
    found: dict[str, tarfile.TarInfo] = {}
    total = 0
    for count, member in enumerate(tar, start=1):
        parts = member.name.split("/")
        fits = count <= MAX_FILES and member.isreg() and len(parts) == 2
        if not fits or parts[0] in ("", ".", "..") or parts[1] not in ALLOWED - set(found):
            raise _foreign("an entry that does not belong there", member.name)
        total += member.size
        if total > MAX_BYTES:
            raise _foreign("too many bytes", total)
        found[parts[1]] = member
    if MANIFEST not in found:
        raise _foreign("no manifest", sorted(found))
    return found


def _foreign(what: str, value: object) -> UserError:
    return BadFile(refuse(f"the archive has {what}", value, REMEDY))
