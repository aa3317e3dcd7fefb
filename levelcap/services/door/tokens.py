"""The three tokens of a realm: viewer reads, worker also claims and reports jobs, admin does all.

They lie in `config/tokens.json`, readable by the owner alone, and are made when missing.
"""

import hmac
import os
import secrets
import stat
from dataclasses import asdict, dataclass, field
from pathlib import Path

from levelcap.kit.errors import BadFile, refuse
from levelcap.kit.files import TMP, dump_json, parse_json, room, sync
from levelcap.kit.paths import folder

ROLES = ("viewer", "worker", "admin")  # each may do what those before it may
TOKEN_BYTES = 32
MIN_CHARS = 32


@dataclass(frozen=True)
class Tokens:
    """One secret a role; left out of `repr`, so that no log or traceback shows one."""

    viewer: str = field(repr=False)
    worker: str = field(repr=False)
    admin: str = field(repr=False)

    def role_of(self, token: str) -> str | None:
        """Returns whose token this is, or None; takes equally long for every wrong one."""
        found = None
        for role in ROLES:
            # Bytes: compare_digest refuses text that is not ASCII.
            if hmac.compare_digest(getattr(self, role).encode(), token.encode(errors="replace")):
                found = role
        return found


def tokens_path() -> Path:
    """Where the tokens of this realm lie."""
    return folder("config") / "tokens.json"


def load_tokens(path: Path | None = None) -> Tokens:
    """Reads the tokens, making them first when there are none.

    Raises:
        BadFile: others may read the file, or it does not hold three different long tokens.
    """
    path = path or tokens_path()
    if not os.path.lexists(path):
        _create(path)
    return _read(path)


def _create(path: Path) -> None:
    made = Tokens(**{role: secrets.token_urlsafe(TOKEN_BYTES) for role in ROLES})
    tmp = path.with_name(f"{TMP}{path.name}-{secrets.token_hex(4)}")
    with room(path):
        fd = os.open(tmp, os.O_CREAT | os.O_EXCL | os.O_WRONLY, 0o600)
        try:
            with os.fdopen(fd, "wb") as file:
                file.write(dump_json(asdict(made)))
                file.flush()
                os.fsync(file.fileno())
            # A link never replaces: of several starting processes the first one's tokens stay.
            os.link(tmp, path)
        except FileExistsError:
            pass
        finally:
            tmp.unlink(missing_ok=True)
        sync(path.parent)


def _read(path: Path) -> Tokens:
    _check_mode(path)
    remedy = "Remove the file; new tokens are made at the next start"
    try:
        tokens = Tokens(**parse_json(path.read_bytes()))
        values = [getattr(tokens, role) for role in ROLES]
        usable = all(isinstance(v, str) and len(v) >= MIN_CHARS and v.isascii() for v in values)
    except (OSError, ValueError, TypeError) as error:
        what = "the tokens file must hold viewer, worker and admin"
        raise BadFile(refuse(what, str(path), remedy)) from error
    if not usable or len(set(values)) != len(ROLES):
        what = f"tokens must be three different texts of at least {MIN_CHARS} ASCII characters"
        raise BadFile(refuse(what, str(path), remedy))
    return tokens


def _check_mode(path: Path) -> None:
    try:
        status = path.lstat()
    except OSError as error:
        what = f"cannot read the tokens ({error.strerror})"
        raise BadFile(refuse(what, str(path), "Check who owns the folder")) from error
    if not stat.S_ISREG(status.st_mode):
        what = "the tokens file must be a plain file"
        raise BadFile(refuse(what, str(path), "Replace it by a file of your own"))
    if status.st_uid != os.geteuid():
        what = f"the tokens file {path} must belong to you (uid {os.geteuid()})"
        raise BadFile(refuse(what, f"uid {status.st_uid}", f"Run chown {os.geteuid()} {path}"))
    if mode := stat.S_IMODE(status.st_mode) & 0o077:
        what = f"the tokens file {path} must be readable by its owner alone"
        raise BadFile(refuse(what, f"mode {mode | 0o600:o}", f"Run chmod 600 {path}"))
