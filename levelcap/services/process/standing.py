"""What the Weaver says of itself and of its services: `state/leader.json`, `state/services.json`.

Written by the Weaver alone; read by commands and by the Watchtower.
"""

from dataclasses import asdict, dataclass, field
from pathlib import Path
from typing import Any

from levelcap.kit.errors import BadFile
from levelcap.kit.files import read_json, write_json
from levelcap.kit.paths import folder
from levelcap.services.process.processes import is_alive

STATES = ("waiting", "starting", "up", "pausing", "down", "stopped")


@dataclass(frozen=True)
class Leader:
    """The Weaver of this realm."""

    pid: int
    birth: str
    started: str
    version: str
    lan: bool = False
    ready: bool = False  # every service has been up
    ports: dict[str, int] = field(default_factory=dict)


@dataclass(frozen=True)
class Standing:
    """One service as the Weaver sees it.

    `waiting` for an earlier service, `starting`, `up`, `pausing` before the next try, `down` for
    good after too many restarts, `stopped` on purpose.
    """

    name: str
    state: str = "waiting"
    pid: int | None = None
    birth: str | None = None
    port: int | None = None
    since: str = ""
    restarts: int = 0  # since the Weaver started
    reason: str = ""  # why it is not up, in one sentence


def leader_path() -> Path:
    """Where the Weaver says who it is."""
    return folder("state") / "leader.json"


def standings_path() -> Path:
    """Where the Weaver says how its services are."""
    return folder("state") / "services.json"


def read_leader() -> Leader | None:
    """Returns the Weaver that runs now, None when there is none."""
    fields = _read(leader_path())
    try:
        leader = Leader(**fields)
        return leader if is_alive(leader.pid, leader.birth) else None
    except TypeError:
        return None


def write_leader(leader: Leader) -> None:
    """Says who leads."""
    write_json(leader_path(), asdict(leader))


def read_standings() -> dict[str, Standing]:
    """Returns the services as last written; those of a dead Weaver too."""
    try:
        return {name: Standing(**row) for name, row in _read(standings_path()).items()}
    except TypeError:
        return {}


def write_standings(standings: dict[str, Standing]) -> None:
    """Says how the services are."""
    write_json(standings_path(), {name: asdict(row) for name, row in standings.items()})


def _read(path: Path) -> Any:
    try:
        found = read_json(path)
    except BadFile:
        return {}
    return found if isinstance(found, dict) else {}
