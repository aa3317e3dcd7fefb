"""What must hold before a Weaver starts anything. Each check ends in one sentence or in nothing."""

import importlib.util
import shutil
from collections.abc import Callable, Iterable, Mapping

from levelcap.kit.config import load_settings
from levelcap.kit.errors import BadValue, MissingPackage, NoSpace, refuse
from levelcap.kit.paths import folder, get_base_dir

# Import name of what every service stands on; torch is the Arena's.
PACKAGES = (
    *("fastapi", "uvicorn", "httpx", "prometheus_client", "psutil", "pydantic", "pysqlite3"),
    *("structlog", "torch", "numba", "safetensors"),
)
MIN_FREE_BYTES = 500_000_000
# Larger databases are left to `levelcap doctor`: a start must not take longer with every week.
CHECKED_DATABASE_BYTES = 50_000_000


def check_packages(names: Iterable[str] = PACKAGES) -> None:
    """Refuses to start services that would fail at their first import."""
    for name in names:
        if importlib.util.find_spec(name) is None:
            what = "the services need a package that is missing"
            raise MissingPackage(refuse(what, name, "Run make setup"))


def check_home() -> None:
    """The folders exist and can be written to, with room left on their disk."""
    for name in ("state", "config", "runs", "vault", "inbox"):
        folder(name)
    free = shutil.disk_usage(get_base_dir()).free
    if free < MIN_FREE_BYTES:
        what = f"the disk of {get_base_dir()} needs {MIN_FREE_BYTES / 1e6:.0f} MB free"
        raise NoSpace(refuse(what, f"{free / 1e6:.0f} MB", "Make room, or move LEVELCAP_HOME"))


def check_boot() -> None:
    """The boot id can be read: leases and the identity of processes rest on it."""
    from levelcap.services.process.processes import boot_id

    boot_id()


def check_settings() -> None:
    """Settings, hosts, devices and zones can be read and have no unknown key."""
    from levelcap.jobs.devices import load_devices
    from levelcap.services.process.hosts import load_hosts
    from levelcap.vault.zones import load_zones

    load_settings()
    load_hosts()
    load_devices()
    load_zones()


def check_tokens() -> None:
    """The tokens exist and are ours alone."""
    from levelcap.services.door.tokens import load_tokens

    load_tokens()


def check_database() -> None:
    """The database opens, is ours, is not newer than this code, and is whole."""
    from levelcap.services.process.database import check_integrity, open_database

    engine = open_database()
    try:
        path = engine.path
        if path.stat().st_size <= CHECKED_DATABASE_BYTES:
            check_integrity(engine)
    finally:
        engine.dispose()


def check_ports(ports: Mapping[str, int], host: str) -> None:
    """Nobody listens where a service will; run when leftovers of ours are gone."""
    from levelcap.services.door.listen import bind

    by_port: dict[int, str] = {}
    for name, port in ports.items():
        if port in by_port:
            what = f"{by_port[port]} and {name} cannot share a port"
            raise BadValue(refuse(what, port, "Correct config/hosts.json"))
        by_port[port] = name
        bind(host, port, name).close()


BEFORE_LEADING: tuple[Callable[[], None], ...] = (check_packages, check_home, check_boot)
WHILE_LEADING: tuple[Callable[[], None], ...] = (check_settings, check_tokens, check_database)
