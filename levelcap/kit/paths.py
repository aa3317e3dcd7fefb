"""Where everything lives: one base folder, and named folders in it, made when first asked for.

The base is $LEVELCAP_HOME, else $TRAINING_BASE_DIR, else ~/.levelcap. It is read at every call,
so a test or a second realm only has to set the variable.
"""

import os
import tempfile
from pathlib import Path

from levelcap.kit.errors import BadValue, check_known, refuse

HOME_VARIABLES = ("LEVELCAP_HOME", "TRAINING_BASE_DIR")
FOLDERS = ("inbox", "lake", "runs", "vault", "exports", "state", "config", "replays")


def get_base_dir() -> Path:
    """Returns the absolute base folder of this realm; does not create it.

    An empty variable counts as unset; "~" is expanded.
    """
    for variable in HOME_VARIABLES:
        if value := os.environ.get(variable, "").strip():
            return Path(value).expanduser().absolute()
    return Path.home() / ".levelcap"


def without_paths(text: str) -> str:
    """A message as strangers may read it: paths begin below the realm's, the user's or our folder.

    Where a machine keeps its files is nobody's business who only may call a service.
    """
    own = Path(__file__).resolve().parents[2]
    for place in (get_base_dir(), own, Path.cwd(), Path(tempfile.gettempdir()), Path.home()):
        if place != Path("/"):
            text = text.replace(f"{place}/", "").replace(str(place), "the realm's folder")
    return text


def folder(name: str) -> Path:
    """Returns the folder `name` under the base, creating it (and the base) when missing.

    Args:
        name: one of `FOLDERS`.

    Raises:
        UnknownName: no such folder.
        BadValue: it cannot be created or is not writable.
    """
    check_known("folder", name, FOLDERS)
    path = get_base_dir() / name
    remedy = "Set LEVELCAP_HOME to a folder you may write to"
    try:
        path.mkdir(parents=True, exist_ok=True)
    except OSError as error:
        what = f"cannot create the folder {name!r} ({error.strerror})"
        raise BadValue(refuse(what, str(path), remedy)) from error
    if not os.access(path, os.W_OK | os.X_OK):
        raise BadValue(refuse(f"the folder {name!r} is not writable", str(path), remedy))
    return path
