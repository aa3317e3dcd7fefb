"""Who may come in: a one-time code in an address is exchanged for a cookie.

    code = make_code()                 # `levelcap up` and `levelcap open` print the address
    session = enter(code)              # once, within ten minutes
    role_of(session)                   # for thirty days

Codes and sessions lie under `state/entry`, each as a file named by the hash of the secret, so who
reads the folder learns neither. Removing a session's file ends it. The long tokens of the realm
never appear in an address.
"""

from __future__ import annotations

import hashlib
import os
import secrets
import time
from pathlib import Path

from levelcap.kit.files import dump_json, parse_json, write_bytes
from levelcap.kit.paths import folder
from levelcap.services.process.hosts import get_port, get_service_url

CODE_S = 600.0
SESSION_S = 30 * 86_400.0
SECRET_BYTES = 32
LONGEST = 200
ROLE = "admin"


def make_code(now: float | None = None) -> str:
    """A new code, good once and for ten minutes."""
    return _keep("codes", CODE_S, now)


def entry_url(code: str) -> str:
    """The address that lets its reader in."""
    return f"{get_service_url('tavern')}/enter?code={code}"


def enter(code: str, now: float | None = None) -> str | None:
    """Spends a code: the secret of a new session, or None for a code that is wrong or spent."""
    place = _place("codes", code)
    good = _expires(place) > (time.time() if now is None else now)
    try:
        place.unlink()  # of two who bring the same code, one removes it
    except FileNotFoundError:
        return None
    return _keep("sessions", SESSION_S, now) if good else None


def role_of(session: str | None, now: float | None = None) -> str | None:
    """The role of whoever brings this cookie; None: let nobody in."""
    if not session or len(session) > LONGEST:
        return None
    moment = time.time() if now is None else now
    return ROLE if _expires(_place("sessions", session)) > moment else None


def cookie_name(port: int | None = None) -> str:
    """Cookies know no ports: two realms on one machine need two names."""
    return f"levelcap_{get_port('tavern') if port is None else port}"


def sweep(now: float | None = None) -> int:
    """Removes what is out of date; returns how many files went."""
    moment = time.time() if now is None else now
    old = [p for kind in ("codes", "sessions") for p in _folder(kind).iterdir()]
    old = [p for p in old if not p.name.startswith(".") and _expires(p) <= moment]
    for path in old:
        path.unlink(missing_ok=True)
    return len(old)


def _keep(kind: str, seconds: float, now: float | None) -> str:
    secret = secrets.token_urlsafe(SECRET_BYTES)
    expires = (time.time() if now is None else now) + seconds
    write_bytes(_place(kind, secret), dump_json({"expires": expires}))
    return secret


def _folder(kind: str) -> Path:
    path = folder("state") / "entry" / kind
    path.mkdir(parents=True, exist_ok=True)
    os.chmod(path.parent, 0o700)
    return path


def _place(kind: str, secret: str) -> Path:
    digest = hashlib.sha256(secret.encode(errors="replace")).hexdigest()
    return _folder(kind) / digest


def _expires(place: Path) -> float:
    """When it ends, in seconds since 1970; 0 for what does not exist or cannot be read."""
    try:
        found = parse_json(place.read_bytes())["expires"]
        return float(found)
    except (OSError, ValueError, KeyError, TypeError):
        return 0.0
