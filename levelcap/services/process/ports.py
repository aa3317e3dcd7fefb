"""The table of services: name, port, command, order. No other file lists them.

Weaver starts them in this order and stops them in the reverse one. A service with a port is ready
when `GET /health` answers; one without touches `state/<name>.alive` at least every five seconds.
"""

import signal
from dataclasses import dataclass

from levelcap.kit.errors import unknown_name

ALIVE_EVERY_S = 5.0


@dataclass(frozen=True)
class Service:
    """One row of the table."""

    name: str
    module: str  # run as `python -m <module>`
    port: int | None  # before port_offset is added; None: it listens nowhere
    ready_s: float = 30.0  # how long its start may take
    nice: int = 0  # added to the Weaver's own nice level
    death_signal: signal.Signals = signal.SIGTERM  # what it gets when the Weaver is gone
    restarts_per_hour: int = 3  # then it stays down and an alarm is raised
    critical: bool = True  # False: the realm is usable without it


SERVICES: tuple[Service, ...] = (
    Service("keeper", "levelcap.services.keeper", 8767),
    Service("tavern", "levelcap.services.tavern", 8888, critical=False),
    Service("arena", "levelcap.services.arena", None, ready_s=60.0, nice=10),
    Service("watchtower", "levelcap.services.watchtower", 8081, critical=False),
    Service("oracle", "levelcap.services.oracle", 8765, ready_s=120.0, critical=False),
    Service("school-sy", "levelcap.services.school.sy", 8080, ready_s=60.0, critical=False),
    Service("school-bin", "levelcap.services.school.bin", 8090, ready_s=60.0, critical=False),
)


def service(name: str) -> Service:
    """Returns the row of a service.

    Raises:
        UnknownName: no such service.
    """
    for row in SERVICES:
        if row.name == name:
            return row
    raise unknown_name("service", name, [row.name for row in SERVICES])
