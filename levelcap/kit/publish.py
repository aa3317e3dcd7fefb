"""Published folders: whole or not there, checked before use, removed without a trace.

Publishing follows one order, so that a kill or a power cut at any instant leaves either the
complete folder or none: write into `.tmp-…` → fsync every file → manifest.json last → fsync it
and the folder → rename, never over an existing one → fsync the parent. Retiring renames to
`.trash-…` first. `sweep` clears what a kill left behind; a folder still being written is locked
by its writer and is left alone.
"""

import ctypes
import errno
import fcntl
import os
import secrets
import shutil
import stat
from collections.abc import Callable, Iterator, Sequence
from contextlib import contextmanager, suppress
from dataclasses import asdict, dataclass
from datetime import UTC, datetime
from pathlib import Path
from typing import Any

from levelcap.kit.errors import BadValue, Conflict, Corrupt, refuse
from levelcap.kit.files import TMP, dump_json, parse_json, room, sync, write_bytes
from levelcap.kit.ids import check_id, sha256_bytes, sha256_file

MANIFEST = "manifest.json"
MANIFEST_SCHEMA = 1
LEDGER_FILE, ORDERS_FILE = ".ledger.json", ".orders.json"
ATTACHED = {LEDGER_FILE, ORDERS_FILE}  # written after publishing; no part of the content
TRASH = ".trash-"
RENAME_NOREPLACE = 1
AT_FDCWD = -100


@dataclass(frozen=True)
class Manifest:
    """What a published folder says of itself; `files` maps a relative name to sha256 and bytes."""

    schema: int
    created: str
    made_by: str
    parents: list[str]
    files: dict[str, dict[str, Any]]


def publish(
    folder: Path,
    write: Callable[[Path], None],
    *,
    made_by: str,
    parents: Sequence[str] = (),
) -> Manifest:
    """Publishes a new folder, whole or not at all.

    Args:
        folder: where it will be; its parent is created when missing, its name is an id.
        write: called with an empty temporary folder, which it fills (subfolders allowed).
        made_by: what wrote it, e.g. "levelcap 0.1.0 imitate".
        parents: names or hashes of what it was made from.

    Returns:
        The manifest, as stored in the folder's `manifest.json`.

    Raises:
        Conflict: `folder` exists; it is untouched.
        NoSpace: the disk is full. After this or any other error nothing is left behind.
    """
    check_id(folder.name, "folder")
    folder.parent.mkdir(parents=True, exist_ok=True)
    if os.path.lexists(folder):
        raise _exists(folder)
    with room(folder), _tmp_folder(folder) as tmp:
        write(tmp)
        files = {name: _sync_entry(tmp / name) for name in _names(tmp)}
        if MANIFEST in files:
            what = f"the writer made its own {MANIFEST}"
            raise BadValue(refuse(what, str(folder), "Give that file another name"))
        created = datetime.now(UTC).isoformat(timespec="seconds")
        manifest = Manifest(MANIFEST_SCHEMA, created, made_by, list(parents), files)
        (tmp / MANIFEST).write_bytes(_manifest_bytes(manifest))
        _sync_entry(tmp / MANIFEST)
        for inner in sorted((p for p in tmp.rglob("*") if p.is_dir()), reverse=True):
            sync(inner)
        sync(tmp)
        rename_new(tmp, folder)
        sync(folder.parent)
    return manifest


def verify(folder: Path) -> Manifest:
    """Reads every byte of a published folder and compares it with the manifest.

    Raises:
        Corrupt: no manifest, a manifest that was changed, a missing, extra, longer, shorter or
            different file. The message names the file.
    """
    manifest = read_manifest(folder)
    there = set(_names(folder)) - {MANIFEST, *ATTACHED}
    for kind, names in (
        ("missing", manifest.files.keys() - there),
        ("extra", there - set(manifest.files)),
    ):
        if names:
            raise _corrupt(folder, f"{kind} file", sorted(names)[0])
    for name, entry in manifest.files.items():
        if (folder / name).stat().st_size != entry["bytes"]:
            raise _corrupt(folder, "wrong size", name)
        if sha256_file(folder / name) != entry["sha256"]:
            raise _corrupt(folder, "wrong sha256", name)
    return manifest


def read_manifest(folder: Path) -> Manifest:
    """Reads the manifest alone, checked against its own sha256; the files are not looked at."""
    try:
        data = (folder / MANIFEST).read_bytes()
        fields = parse_json(data)
        del fields["sha256"]
        manifest = Manifest(**fields)
        # Comparing bytes, not values, also sees a flipped blank.
        changed = data != _manifest_bytes(manifest)
        changed |= any(set(entry) != {"bytes", "sha256"} for entry in manifest.files.values())
    except (OSError, ValueError, TypeError, KeyError, AttributeError) as error:
        raise _corrupt(folder, "no readable manifest", MANIFEST) from error
    if changed:
        raise _corrupt(folder, "changed manifest", MANIFEST)
    if manifest.schema != MANIFEST_SCHEMA:
        what = f"manifest of {folder} has a schema this version does not know"
        raise Conflict(refuse(what, manifest.schema, "Use the levelcap version that wrote it"))
    return manifest


def attach(folder: Path, data: bytes, name: str = LEDGER_FILE) -> None:
    """Puts the ledger's file (or another of `ATTACHED`) into a published folder, or replaces it.

    Atomically: it is written beside the folder and moved in, so that a kill leaves nothing inside
    that `verify` would call an extra file.
    """
    write_bytes(folder / name, data, beside=folder)


def retire(folder: Path) -> None:
    """Removes a published folder so that it is never seen half removed.

    Whoever keeps a ledger writes its row first. A folder that is already gone is no error.
    """
    trash = folder.with_name(f"{TRASH}{folder.name}-{secrets.token_hex(4)}")
    try:
        os.rename(folder, trash)
    except FileNotFoundError:
        return
    sync(folder.parent)
    shutil.rmtree(trash)


def sweep(parent: Path) -> list[str]:
    """Removes what killed writers left in `parent`; returns the removed names, sorted.

    Only `.tmp-…` and `.trash-…` that no living process has locked. Called at every start.
    """
    removed = []
    for path in sorted(parent.glob(".t*")):
        if path.name.startswith((TMP, TRASH)) and not _locked(path):
            if path.is_dir() and not path.is_symlink():
                shutil.rmtree(path)
            else:
                path.unlink(missing_ok=True)
            removed.append(path.name)
    return removed


def rename_new(source: Path, target: Path) -> None:
    """Renames a folder, refusing to replace anything.

    Uses renameat2 with RENAME_NOREPLACE. Where the kernel or the file system lacks it, a plain
    rename after a look: it too cannot replace a published folder, because that is never empty.

    Raises:
        Conflict: `target` exists.
    """
    try:
        if not _rename_noreplace(source, target):
            if os.path.lexists(target):
                raise _exists(target)
            os.rename(source, target)
    except OSError as error:
        if error.errno in (errno.EEXIST, errno.ENOTEMPTY):
            raise _exists(target) from error
        raise


def _rename_noreplace(source: Path, target: Path) -> bool:
    call = getattr(ctypes.CDLL(None, use_errno=True), "renameat2", None)
    if call is None:
        return False
    names = os.fsencode(source), os.fsencode(target)
    if call(AT_FDCWD, names[0], AT_FDCWD, names[1], RENAME_NOREPLACE) == 0:
        return True
    code = ctypes.get_errno()
    if code in (errno.ENOSYS, errno.EINVAL, errno.ENOTSUP):
        return False
    raise OSError(code, os.strerror(code), str(target))


@contextmanager
def _tmp_folder(folder: Path) -> Iterator[Path]:
    tmp = folder.with_name(f"{TMP}{folder.name}-{secrets.token_hex(4)}")
    tmp.mkdir()
    fd = os.open(tmp, os.O_RDONLY | os.O_DIRECTORY)
    try:
        fcntl.flock(fd, fcntl.LOCK_EX)
        yield tmp
    except BaseException:
        shutil.rmtree(tmp, ignore_errors=True)
        raise
    finally:
        os.close(fd)


def _locked(path: Path) -> bool:
    if path.is_symlink():
        return False
    with suppress(FileNotFoundError):
        fd = os.open(path, os.O_RDONLY | os.O_NOFOLLOW)
        try:
            fcntl.flock(fd, fcntl.LOCK_EX | fcntl.LOCK_NB)
        except BlockingIOError:
            return True
        finally:
            os.close(fd)
    return False


def _names(folder: Path) -> list[str]:
    names = []
    for path in folder.rglob("*"):
        mode = path.lstat().st_mode
        if stat.S_ISREG(mode):
            names.append(path.relative_to(folder).as_posix())
        elif not stat.S_ISDIR(mode):
            raise _corrupt(folder, "neither file nor folder", path.name)
    return sorted(names)


def _sync_entry(path: Path) -> dict[str, Any]:
    sync(path)
    return {"bytes": path.stat().st_size, "sha256": sha256_file(path)}


def _manifest_bytes(manifest: Manifest) -> bytes:
    fields = asdict(manifest)
    return dump_json(fields | {"sha256": sha256_bytes(dump_json(fields))})


def _exists(folder: Path) -> Conflict:
    remedy = "Choose another name, or retire the old one first"
    return Conflict(refuse("a published folder is never replaced", str(folder), remedy))


def _corrupt(folder: Path, what: str, name: str) -> Corrupt:
    remedy = "Restore it from a copy, or remove the folder"
    return Corrupt(refuse(f"{folder} is damaged: {what}", name, remedy))
