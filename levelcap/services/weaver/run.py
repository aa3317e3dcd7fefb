"""A realm from its start to its end, in this process: check, lead, clear, weave, stop."""

import asyncio
import os
import signal
from collections.abc import Callable, Coroutine, Mapping, Sequence
from dataclasses import replace
from datetime import UTC, datetime
from typing import Any

import levelcap
from levelcap.kit.config import load_settings
from levelcap.kit.db import Database
from levelcap.kit.errors import StateError, refuse
from levelcap.kit.log import configure, get_logger
from levelcap.kit.paths import folder
from levelcap.services.process.database import open_database
from levelcap.services.process.hosts import EVERYWHERE, LOCAL, get_port
from levelcap.services.process.lifeline import rotate
from levelcap.services.process.ports import SERVICES, Service
from levelcap.services.process.processes import birth, end_session
from levelcap.services.process.standing import Leader, read_standings, write_leader
from levelcap.services.process.voice import voice
from levelcap.services.weaver.checks import BEFORE_LEADING, WHILE_LEADING, check_ports
from levelcap.services.weaver.leadership import leadership
from levelcap.services.weaver.supervise import Pace, Weaver

# Runs beside the Weaver until it is cancelled; the command line shows events with it.
Beside = Callable[[Database, Leader], Coroutine[Any, Any, None]]


def run(
    *,
    lan: bool = False,
    services: Sequence[Service] = SERVICES,
    ports: Mapping[str, int] | None = None,
    pace: Pace | None = None,
    beside: Beside | None = None,
) -> None:
    """Runs a realm until SIGINT, SIGTERM or SIGHUP; returns when every process is gone.

    Args:
        lan: True to listen on every address of this machine.
        services: what to start, in this order.
        ports: where each listens; by default config/hosts.json and port_offset decide.
        pace: how often and how long; tests are faster.
        beside: a coroutine to run beside it, given the database and the leader.

    Raises:
        LevelcapError: a check failed; nothing was started and nothing is left.
    """
    for check in BEFORE_LEADING:
        check()
    with leadership():
        for check in WHILE_LEADING:
            check()
        if ports is None:
            ports = {row.name: get_port(row.name) for row in services if row.port}
        end_leftovers()
        check_ports(ports, EVERYWHERE if lan else LOCAL)
        engine = open_database()
        try:
            leader = _begin(lan, ports)
            asyncio.run(_weave(engine, leader, services, pace, beside))
        finally:
            engine.dispose()


def end_leftovers() -> list[str]:
    """Ends services that an earlier Weaver of this realm left behind; returns their names."""
    left = [row for row in read_standings().values() if row.pid and row.birth]
    return [row.name for row in left if end_session(row.pid or 0, row.birth or "")]


def _begin(lan: bool, ports: Mapping[str, int]) -> Leader:
    log_file = folder("state") / "logs" / "weaver.log"
    rotate(log_file)
    configure(load_settings().log_level, log_file, console=False)
    born = birth(os.getpid())
    if born is None:
        raise StateError(refuse("cannot read our own process", os.getpid(), "Mount /proc"))
    started = datetime.now(UTC).isoformat(timespec="seconds")
    leader = Leader(os.getpid(), born, started, levelcap.__version__, lan, ports=dict(ports))
    write_leader(leader)
    get_logger("weaver").info("leading", pid=leader.pid, lan=lan)
    return leader


async def _weave(
    engine: Database,
    leader: Leader,
    services: Sequence[Service],
    pace: Pace | None,
    beside: Beside | None,
) -> None:
    weaver = Weaver(
        services,
        leader.ports,
        say=voice(engine),
        lan=leader.lan,
        pace=pace,
        on_ready=lambda: write_leader(replace(leader, ready=True)),
    )
    loop = asyncio.get_running_loop()
    for number in (signal.SIGINT, signal.SIGTERM, signal.SIGHUP):
        loop.add_signal_handler(number, weaver.stop)
    companion = asyncio.create_task(beside(engine, leader)) if beside else None
    try:
        await weaver.run()
    finally:
        if companion is not None:
            companion.cancel()
            await asyncio.wait([companion])
