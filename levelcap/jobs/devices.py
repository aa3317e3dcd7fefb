"""Which devices of this realm may do what: config/devices.json.

    {"devices": {"local_gpu_1": {"enabled": true, "roles": ["trainer", …],
                                 "resource_class": "local", "capabilities": [],
                                 "max_concurrent_jobs": 1}}}

A realm without the file gets it with one device. The name `local_gpu_1` is historic: it may be a
CPU.
"""

import re
from collections.abc import Mapping, Sequence
from pathlib import Path

from pydantic import BaseModel, ConfigDict, Field, ValidationError

from levelcap.kit.errors import BadFile, BadValue, check_known, refuse
from levelcap.kit.files import read_json, write_json
from levelcap.kit.paths import folder

DEVICES_FILE = "devices.json"
ROLES = ("trainer", "inference", "eval_worker", "data_forge", "vault_worker", "analytics")
STORAGE_ROLE = re.compile(r"storage_[a-z0-9_]+")
DEFAULT_DEVICE = "local_gpu_1"
DEFAULT_ROLES = ["trainer", "eval_worker", "data_forge", "analytics", "vault_worker"]


class Device(BaseModel):
    """One device, as the file describes it."""

    model_config = ConfigDict(extra="forbid", strict=True, frozen=True)

    enabled: bool = True
    roles: list[str]
    resource_class: str = "local"
    capabilities: list[str] = Field(default_factory=list)
    max_concurrent_jobs: int = Field(default=1, ge=1)


class _File(BaseModel):
    model_config = ConfigDict(extra="forbid", strict=True)

    devices: dict[str, Device]


def devices_file() -> Path:
    """Returns where the file lies in this realm."""
    return folder("config") / DEVICES_FILE


def load_devices() -> Mapping[str, Device]:
    """Reads the devices of this realm, writing the default file when there is none.

    Raises:
        BadFile: not JSON, a missing, unknown or wrong field, a role that does not exist.
    """
    path = devices_file()
    if not path.exists():
        default = Device(roles=DEFAULT_ROLES)
        write_json(path, {"devices": {DEFAULT_DEVICE: default.model_dump()}})
    try:
        devices = _File.model_validate(read_json(path)).devices
    except ValidationError as error:
        first = error.errors()[0]
        field = ".".join(str(part) for part in first["loc"])
        what = f"{path.name}: {field}: {first['msg']}"
        raise BadFile(refuse(what, first["input"], f"Correct {path}")) from error
    for name, device in devices.items():
        for role in device.roles:
            if not is_role(role):
                what = f"{path.name}: device {name!r} has a role that does not exist"
                remedy = f"Use {', '.join(ROLES)} or storage_*"
                raise BadFile(refuse(what, role, remedy))
    return devices


def is_role(name: str) -> bool:
    """Tells whether a worker can have this role."""
    return name in ROLES or STORAGE_ROLE.fullmatch(name) is not None


def check_device(device: str, roles: Sequence[str]) -> Device:
    """Returns the device if a worker on it may have these roles.

    Raises:
        UnknownName: no such device.
        BadValue: the device is switched off, no role is asked for, or one it may not have.
    """
    devices = load_devices()
    check_known("device", device, devices)
    found = devices[device]
    if not found.enabled:
        what = "this device is switched off"
        raise BadValue(refuse(what, device, f"Set its `enabled` to true in {devices_file()}"))
    if not roles or not set(roles) <= set(found.roles):
        what = f"device {device!r} may have the roles {', '.join(found.roles)}"
        raise BadValue(refuse(what, list(roles), f"Ask for these, or edit {devices_file()}"))
    return found
