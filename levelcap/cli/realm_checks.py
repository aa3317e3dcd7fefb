"""What `levelcap doctor` asks of a realm: its files, its ports, its services. Changes nothing."""

from __future__ import annotations

import importlib.metadata
import re
import shutil
from collections.abc import Callable

from levelcap.kit.config import load_settings
from levelcap.kit.paths import folder, get_base_dir

PASS, WARN, FAIL = "pass", "warn", "fail"
Finding = tuple[str, str]
MIN_FREE_GB = 2


def database() -> Finding:
    """The SQLite library, and every page of the realm's database."""
    from pysqlite3 import dbapi2 as sqlite

    from levelcap.kit.sqlite import MIN_SQLITE
    from levelcap.services.process.database import check_file
    from levelcap.vault.ledger import DATABASE

    version = f"SQLite {sqlite.sqlite_version}"
    if sqlite.sqlite_version_info < MIN_SQLITE:
        return FAIL, f"{version}: too old; run make setup"
    path = get_base_dir() / "state" / DATABASE
    if not path.exists():
        return PASS, f"{version}; the realm has no database yet"
    check_file(path)
    return PASS, f"{version}; {path.name} is whole, {path.stat().st_size / 1e6:.1f} MB"


def torch() -> Finding:
    """The torch that was tested, or another one."""
    try:
        version = importlib.metadata.version("torch")
    except importlib.metadata.PackageNotFoundError:
        return WARN, "torch is not installed: heroes cannot be trained; run make setup"
    wanted = [r for r in importlib.metadata.requires("levelcap") or [] if r.startswith("torch==")]
    asked = re.split(r"[;\s]", wanted[0].removeprefix("torch=="))[0] if wanted else ""
    if asked and version.split("+")[0] != asked:
        return WARN, f"torch {version}; {asked} was tested: run make setup"
    return PASS, f"torch {version}"


def registries() -> Finding:
    """hosts.json, devices.json and storage_zones.json."""
    from levelcap.jobs.devices import load_devices
    from levelcap.services.process.hosts import load_hosts
    from levelcap.vault.zones import load_zones

    hosts, devices, zones = load_hosts(), load_devices(), load_zones()
    return PASS, f"hosts {len(hosts.hosts)}, devices {len(devices)}, zones {len(zones)}"


def tokens() -> Finding:
    """Only the owner can read the tokens."""
    from levelcap.services.door.tokens import load_tokens

    path = get_base_dir() / "config" / "tokens.json"
    if not path.exists():
        return PASS, "none yet; made at the first start"
    load_tokens(path)
    return PASS, f"{path}, mode 600"


def leader() -> Finding:
    """Whether a Weaver leads this realm."""
    from levelcap.services.process.standing import read_leader

    found = read_leader()
    if found is None:
        return PASS, "not running; `levelcap up` starts the realm"
    return PASS, f"pid {found.pid}, since {found.started}"


def services() -> Finding:
    """Every service of a running realm is up and answers."""
    from levelcap.services.process.health import ask_health
    from levelcap.services.process.standing import read_leader, read_standings

    if read_leader() is None:
        return PASS, "not running"
    rows = list(read_standings().values())
    if down := [f"{row.name}: {row.reason}" for row in rows if row.state == "down"]:
        return FAIL, f"{'; '.join(down)}; see `levelcap logs`"
    if late := [f"{row.name} is {row.state}" for row in rows if row.state != "up"]:
        return WARN, ", ".join(late)
    for row in rows:
        if row.port is not None:
            ask_health(row.name, row.port)
    return PASS, ", ".join(f"{row.name} up" for row in rows)


def ports() -> Finding:
    """Every port is free, or one of our running services has it."""
    from levelcap.services.door.listen import bind
    from levelcap.services.process.hosts import LOCAL, get_port
    from levelcap.services.process.ports import SERVICES
    from levelcap.services.process.processes import is_alive
    from levelcap.services.process.standing import read_standings

    alive = [r for r in read_standings().values() if r.pid and is_alive(r.pid, r.birth or "")]
    ours = {row.port for row in alive}
    wanted = {row.name: get_port(row.name) for row in SERVICES if row.port}
    for name, port in wanted.items():
        if port not in ours:
            bind(LOCAL, port, name).close()
    return PASS, ", ".join(
        f"{port} {'ours' if port in ours else 'free'}" for port in wanted.values()
    )


def disk() -> Finding:
    """Room on the disk, and what is left of the share we may use."""
    from levelcap.campaign.wheel.schedule import used_bytes

    base = folder("state").parent
    free = shutil.disk_usage(base).free / 1e9
    used, cap = used_bytes(base) / 1e9, load_settings().disk_cap_gb
    text = f"{free:.0f} GB free, the realm uses {used:.2f} of {cap:g} GB"
    if used > cap:
        return FAIL, f"{text}: training waits; remove runs or raise disk_cap_gb"
    return (WARN if free < MIN_FREE_GB or used > 0.9 * cap else PASS), text


def hardcodes() -> Finding:
    """No place or address of somebody's machine in the installed package."""
    from levelcap.cli.hardcodes import scan

    found = scan()
    if found:
        return FAIL, f"{len(found)} hard-coded: {'; '.join(found[:5])}"
    return PASS, "no hard-coded paths or addresses"


REALM_CHECKS: dict[str, Callable[[], Finding]] = {
    "database": database,
    "torch": torch,
    "registries": registries,
    "tokens": tokens,
    "disk": disk,
    "ports": ports,
    "leader": leader,
    "services": services,
    "hard-codes": hardcodes,
}
