"""Where services are reached: `config/hosts.json`. No address stands anywhere else in the code.

The file is written with this machine's services when missing. Ports of the local host are moved by
the setting `port_offset`, so that a second realm or a test needs no file of its own.
"""

import ipaddress
import re
from pathlib import Path
from typing import Annotated, Literal

from pydantic import AfterValidator, BaseModel, ConfigDict, Field, ValidationError

from levelcap.kit.config import load_settings
from levelcap.kit.errors import BadFile, BadValue, refuse, unknown_name
from levelcap.kit.files import read_json, write_json
from levelcap.kit.paths import folder
from levelcap.services.process.ports import SERVICES

LOCAL = "127.0.0.1"
EVERYWHERE = "0.0.0.0"
LOOPBACK = ("localhost", LOCAL, "[::1]")  # the names a Host header may call loopback
# Names people use for a service -> its name in the table.
ALIASES = {
    "vault": "keeper", "jobs": "keeper", "inference": "oracle", "game": "tavern",
    "bin": "school-bin", "sy": "school-sy",
}  # fmt: skip
HOST_NAME = re.compile(r"(?!-)[A-Za-z0-9-]{1,63}(\.[A-Za-z0-9-]{1,63})*")


def _check_host(text: str) -> str:
    try:
        ipaddress.ip_address(text)
    except ValueError as error:
        if not HOST_NAME.fullmatch(text) or len(text) > 253:
            raise ValueError("must be a host name or IP address, no port, no path") from error
    return text


class _Strict(BaseModel):
    model_config = ConfigDict(extra="forbid", frozen=True)


class Place(_Strict):
    """How one service of a host is reached."""

    port: int = Field(ge=1, le=65535)
    path: str = Field(default="", pattern=r"^(/[A-Za-z0-9._~-]+)*$")
    health: str = Field(default="/health", pattern=r"^(/[A-Za-z0-9._~-]+)+$")
    critical: bool = True


class Host(_Strict):
    """One machine."""

    name: str
    host: Annotated[str, AfterValidator(_check_host)]
    role: Literal["trainer", "inference", "storage", "controller", "hybrid"] = "hybrid"
    services: dict[str, Place] = Field(default_factory=dict)
    capabilities: list[str] = Field(default_factory=list)


class Hosts(_Strict):
    """The whole file."""

    hosts: dict[str, Host]
    local_host: str
    default_trainer: str
    default_inference: str

    def find(self, name: str) -> tuple[str, Host, Place]:
        """Returns host id, host and place of a service; the local host wins.

        A service that the file does not name, because it is older, is where the table says.

        Raises:
            UnknownName: no host has it.
        """
        wanted = ALIASES.get(name, name)
        ids = [self.local_host, *sorted(self.hosts.keys() - {self.local_host})]
        for host_id in ids:
            if place := self.hosts[host_id].services.get(wanted):
                return host_id, self.hosts[host_id], place
        local = self.hosts[self.local_host]
        for row in SERVICES:
            if row.name == wanted and row.port:
                return self.local_host, local, Place(port=row.port, critical=row.critical)
        known = {*ALIASES, *(s for host in self.hosts.values() for s in host.services)}
        raise unknown_name("service", name, known)


def hosts_path() -> Path:
    """Where the registry of this realm lies."""
    return folder("config") / "hosts.json"


def load_hosts(path: Path | None = None) -> Hosts:
    """Reads the registry, writing the default one first when there is none.

    Raises:
        BadFile: not JSON, an unknown key, a value out of range; the message names the place.
    """
    path = path or hosts_path()
    if not path.exists():
        write_json(path, default_hosts().model_dump())
    data = read_json(path)
    try:
        hosts = Hosts.model_validate(data)
    except ValidationError as error:
        first = error.errors()[0]
        place = ".".join(str(part) for part in first["loc"])
        what = f"{path} is wrong at {place or 'its top'}: {first['msg']}"
        raise BadFile(refuse(what, first["input"], "Correct it, or remove the file")) from error
    for field in ("local_host", "default_trainer", "default_inference"):
        if getattr(hosts, field) not in hosts.hosts:
            what = f"{path}: {field} must name one of the hosts"
            raise BadFile(refuse(what, getattr(hosts, field), f"Use one of {sorted(hosts.hosts)}"))
    return hosts


def default_hosts() -> Hosts:
    """This machine with every service that has a port."""
    places = {s.name: Place(port=s.port, critical=s.critical) for s in SERVICES if s.port}
    local = Host(name="this machine", host=LOCAL, services=places)
    return Hosts(
        hosts={"local": local},
        local_host="local",
        default_trainer="local",
        default_inference="local",
    )


def get_port(name: str) -> int:
    """Returns the port a service of this machine listens on, `port_offset` included.

    Raises:
        BadValue: the service is on another host, or the port would be beyond 65535.
    """
    hosts = load_hosts()
    host_id, _, place = hosts.find(name)
    if host_id != hosts.local_host:
        what = f"{name} does not run on this machine"
        raise BadValue(refuse(what, host_id, "Ask its host, or correct config/hosts.json"))
    return _moved(place.port, name)


def get_service_url(name: str) -> str:
    """Returns the address of a service by its name or alias, e.g. "keeper", "vault", "inference".

    Returns:
        `http://host:port` and the path of config/hosts.json, without a slash at the end.

    Raises:
        UnknownName: no host has this service.
        BadFile: config/hosts.json cannot be used.
    """
    hosts = load_hosts()
    host_id, host, place = hosts.find(name)
    port = _moved(place.port, name) if host_id == hosts.local_host else place.port
    address = f"[{host.host}]" if ":" in host.host else host.host
    return f"http://{address}:{port}{place.path}"


def _moved(port: int, name: str) -> int:
    offset = load_settings().port_offset
    if port + offset > 65535:
        what = f"the port of {name} with port_offset {offset} must be at most 65535"
        raise BadValue(refuse(what, port + offset, "Lower port_offset"))
    return port + offset
