"""Typed settings: defaults <- config/settings.yaml (or .toml) <- LEVELCAP_* <- overrides.

Later ones win. A key that is no setting is an error wherever it comes from.
"""

import os
import tomllib
from collections.abc import Callable, Mapping
from pathlib import Path
from typing import Any, Literal

import yaml
from pydantic import Field, ValidationError
from pydantic_settings import BaseSettings, EnvSettingsSource, SettingsConfigDict

from levelcap.kit.documents import load_yaml
from levelcap.kit.errors import BadFile, BadValue, refuse, unknown_name
from levelcap.kit.files import write_bytes
from levelcap.kit.paths import get_base_dir

ENV_PREFIX = "LEVELCAP_"
# Variables with our prefix that say where things lie or steer the set-up, and are no settings.
RESERVED_VARIABLES = frozenset({"LEVELCAP_HOME", "LEVELCAP_KERNEL_CACHE", "LEVELCAP_TORCH_ARGS"})
MAX_CORES = 1024  # a file may come from a larger machine; what is saved here is checked against it
MAX_DISK_GB = 1_000_000


def _all_cores() -> int:
    if hasattr(os, "sched_getaffinity"):
        return len(os.sched_getaffinity(0))
    return os.cpu_count() or 1


class Settings(BaseSettings):
    """What a user may set for this machine. Frozen; every field has one line of help."""

    model_config = SettingsConfigDict(env_prefix=ENV_PREFIX, extra="forbid", frozen=True)

    cores: int = Field(
        default_factory=_all_cores, ge=1, le=MAX_CORES, description="processor cores we may use"
    )
    disk_cap_gb: float = Field(
        20.0, gt=0, le=MAX_DISK_GB, allow_inf_nan=False, description="disk we may fill, GB"
    )
    pause_on_battery: bool = Field(True, description="stop training while on battery")
    log_level: Literal["debug", "info", "warning", "error"] = Field(
        "info", description="least severe message that is logged"
    )
    price_core_hour: float | None = Field(
        None, ge=0, allow_inf_nan=False, description="price of a core-hour, for reports"
    )
    price_kwh: float | None = Field(
        None, ge=0, allow_inf_nan=False, description="price of a kWh, for reports"
    )
    port_offset: int = Field(
        0, ge=0, le=40_000, description="added to every port, for a second realm on one machine"
    )


def load_settings(overrides: Mapping[str, object] | None = None) -> Settings:
    """Reads the settings of this realm: `config/settings.yaml` or `.toml`, if there is one.

    Args:
        overrides: values that win over file and environment, e.g. from the command line.

    Returns:
        The checked settings.

    Raises:
        UnknownName: a key, variable or override that is no setting.
        BadValue: a value a setting does not take; the message names the setting.
        BadFile: a file that is unreadable or no mapping.
    """
    path = _default_file()
    merged = _checked_keys(_read(path) if path else {}, f"setting in {path}")
    _refuse_unknown_variables()
    merged.update(EnvSettingsSource(Settings)())
    merged.update(_checked_keys(overrides or {}, "setting"))
    return _checked(merged, lambda name: f"Correct {_origin(name, path)}")


def save_settings(changes: Mapping[str, object]) -> Settings:
    """Writes settings into `config/settings.yaml`; None takes one back to its default.

    Raises:
        UnknownName, BadValue: as `load_settings`; the file is as before.
        BadFile: the realm's settings are in a TOML file, which we do not rewrite.
    """
    path = _default_file() or get_base_dir() / "config" / "settings.yaml"
    if path.suffix == ".toml":
        raise BadFile(refuse("settings in TOML are edited by hand", str(path), "Use an editor"))
    merged = _checked_keys(_read(path) if path.exists() else {}, f"setting in {path}")
    merged.update(_checked_keys(changes, "setting"))
    kept = {name: value for name, value in merged.items() if value is not None}
    checked = _checked(kept, lambda name: "Choose another value")
    if checked.cores > (here := os.cpu_count() or 1) and "cores" in changes:
        remedy = f"Give a number from 1 to {here}"
        raise BadValue(refuse(f"setting 'cores': this machine has {here}", checked.cores, remedy))
    path.parent.mkdir(parents=True, exist_ok=True)
    plain = {name: getattr(checked, name) for name in kept}
    write_bytes(path, yaml.safe_dump(plain, allow_unicode=True).encode())
    return load_settings()


def describe_settings() -> list[dict[str, Any]]:
    """Every setting: name, help, value that counts, default, and where the value comes from."""
    settings, path = load_settings(), _default_file()
    stored = _read(path) if path else {}
    rows = []
    for name, field in Settings.model_fields.items():
        variable = ENV_PREFIX + name.upper()
        origin = variable if variable in os.environ else ("file" if name in stored else "default")
        rows.append(
            {
                "name": name,
                "help": field.description,
                "value": getattr(settings, name),
                "default": field.get_default(call_default_factory=True),
                "origin": origin,
            }
        )
    return rows


def _checked(values: Mapping[str, Any], remedy: Callable[[str], str]) -> Settings:
    try:
        return Settings(**values)
    except ValidationError as error:
        first = error.errors()[0]
        name = str(first["loc"][0])
        what = f"setting {name!r}: {first['msg']}"
        raise BadValue(refuse(what, first["input"], remedy(name))) from error


def _default_file() -> Path | None:
    config = get_base_dir() / "config"
    found = [p for p in (config / "settings.yaml", config / "settings.toml") if p.exists()]
    if len(found) > 1:
        what = "two settings files, only one can win"
        raise BadFile(refuse(what, [p.name for p in found], f"Remove one of them in {config}"))
    return found[0] if found else None


def _read(path: Path) -> Mapping[str, Any]:
    try:
        text = path.read_text(encoding="utf-8")
        data = tomllib.loads(text) if path.suffix == ".toml" else load_yaml(text)
    except (OSError, ValueError) as error:  # TOML's and Unicode's errors are ValueErrors
        what = f"cannot read the settings ({' '.join(str(error).split())})"
        raise BadFile(refuse(what, str(path), "Correct or remove the file")) from error
    if data is None:
        return {}
    if not isinstance(data, dict):
        what = "settings must be lines of `name: value`"
        raise BadFile(refuse(what, data, f"Correct {path}"))
    return data


def _checked_keys(values: Mapping[str, Any], kind: str) -> dict[str, Any]:
    for key in values:
        if key not in Settings.model_fields:
            raise unknown_name(kind, key, Settings.model_fields)
    return dict(values)


def _refuse_unknown_variables() -> None:
    known = {ENV_PREFIX + name.upper() for name in Settings.model_fields} | RESERVED_VARIABLES
    for variable in os.environ:
        if variable.startswith(ENV_PREFIX) and variable not in known:
            raise unknown_name("environment variable", variable, known)


def _origin(name: str, path: Path | None) -> str:
    variable = ENV_PREFIX + name.upper()
    if variable in os.environ:
        return f"the environment variable {variable}"
    return f"it in {path}" if path else "the value"
