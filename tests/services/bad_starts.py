"""Bad starts of a realm: each spoils one thing and names what the refusal must say.

Run as `python -m tests.services.bad_starts NAME`, spoils what only the process itself can spoil,
then starts a Weaver; `spoil` prepares everything else from outside.
"""

import contextlib
import json
import os
import shutil
import socket
import sys
from collections import namedtuple
from pathlib import Path

import pysqlite3.dbapi2 as sqlite

from levelcap.services.door.tokens import load_tokens
from levelcap.services.process import processes
from levelcap.services.process.hosts import default_hosts

# name -> (exit code, part of the sentence)
CASES = {
    "port_of_keeper_taken": (1, "keeper cannot listen on port"),
    "port_of_watchtower_taken": (1, "watchtower cannot listen on port"),
    "home_is_a_file": (2, "cannot create the folder 'state' (Not a directory)"),
    "home_below_a_file": (2, "cannot create the folder 'state' (Not a directory)"),
    "home_cannot_be_made": (2, "cannot create the folder 'state'"),
    "state_is_a_file": (2, "cannot create the folder 'state' (File exists)"),
    "lock_is_a_folder": (1, "cannot open the lock of this realm (Is a directory)"),
    "disk_nearly_full": (1, "needs 500 MB free; got '12 MB'"),
    "boot_id_unreadable": (1, "cannot read the boot id"),
    "package_missing": (2, "need a package that is missing; got 'prometheus_client'"),
    "settings_unknown_key": (2, "unknown setting in"),
    "settings_wrong_value": (2, "setting 'cores'"),
    "settings_not_yaml": (2, "cannot read the settings"),
    "settings_twice": (2, "two settings files"),
    "variable_unknown": (2, "unknown environment variable; got 'LEVELCAP_CROES'"),
    "variable_wrong": (2, "setting 'disk_cap_gb'"),
    "offset_too_large": (2, "setting 'port_offset'"),
    "tokens_readable_by_others": (2, "must be readable by its owner alone; got 'mode 644'"),
    "tokens_not_json": (2, "the tokens file must hold viewer, worker and admin"),
    "tokens_without_admin": (2, "the tokens file must hold viewer, worker and admin"),
    "tokens_short": (2, "at least 32 ASCII characters"),
    "tokens_a_link": (2, "the tokens file must be a plain file"),
    "database_is_text": (1, "not a usable database"),
    "database_damaged": (1, "the database is damaged"),
    "database_is_a_folder": (1, "the database cannot be opened"),
    "database_newer": (1, "written by a newer levelcap (jobs); got ['from_the_future']"),
    "hosts_not_json": (2, "cannot read JSON"),
    "hosts_unknown_key": (2, "hosts.json is wrong at hostz: Extra inputs"),
    "hosts_port_too_large": (2, "less than or equal to 65535"),
    "hosts_same_port": (2, "keeper and watchtower cannot share a port"),
    "hosts_no_local": (2, "local_host must name one of the hosts"),
    "hosts_with_a_path": (2, "must be a host name or IP address"),
    "devices_not_json": (2, "cannot read JSON"),
    "devices_unknown_role": (2, "has a role that does not exist; got 'wizard'"),
    "zones_unknown": (2, "storage_zones.json"),
}
Usage = namedtuple("Usage", "total used free")


def spoil(name, home, keep_open):
    """Spoils the realm at `home`; returns its variables. `keep_open` ends what it opened."""
    variables = {"LEVELCAP_HOME": str(home)}
    config, state = home / "config", home / "state"
    if name.startswith("home_"):
        return variables | {"LEVELCAP_HOME": _bad_home(name, home)}
    config.mkdir(parents=True)
    if name == "state_is_a_file":
        state.write_text("")
        return variables
    state.mkdir()
    kind, _, rest = name.partition("_")
    if kind == "port":
        return variables | _take_port(rest.split("_")[1], keep_open)
    if name == "lock_is_a_folder":
        (state / "leader.lock").mkdir()
    variables |= {
        "variable_unknown": {"LEVELCAP_CROES": "2"},
        "variable_wrong": {"LEVELCAP_DISK_CAP_GB": "-1"},
        "offset_too_large": {"LEVELCAP_PORT_OFFSET": "50000"},
    }.get(name, {})
    spoilers = {"settings": _settings, "tokens": _tokens, "database": _database, "hosts": _hosts}
    if kind in spoilers:
        spoilers[kind](rest, config, state)
    for file, text in {
        "devices_not_json": ("devices.json", "{"),
        "devices_unknown_role": ("devices.json", '{"devices": {"x": {"roles": ["wizard"]}}}'),
        "zones_unknown": ("storage_zones.json", '{"zones": [{"zone_id": "lukewarm"}]}'),
    }.items():
        if file == name:
            (config / text[0]).write_text(text[1])
    return variables


def _bad_home(name, home):
    if name == "home_cannot_be_made":
        return "/proc/levelcap"
    home.parent.mkdir(exist_ok=True)
    home.write_text("")
    return str(home if name == "home_is_a_file" else home / "deeper")


def _take_port(service, keep_open):
    places = default_hosts().hosts["local"].services
    for offset in range(20_000, 40_000, 7):
        with contextlib.suppress(OSError), contextlib.ExitStack() as others:
            for name, place in places.items():  # the other services' ports must be free
                if name != service:
                    others.enter_context(socket.create_server(("127.0.0.1", place.port + offset)))
            mine = socket.create_server(("127.0.0.1", places[service].port + offset))
            keep_open.enter_context(contextlib.closing(mine))
            return {"LEVELCAP_PORT_OFFSET": str(offset)}
    raise AssertionError("no free port")


def _settings(how, config, _state):
    text = {
        "unknown_key": "croes: 2",
        "wrong_value": "cores: 0",
        "not_yaml": "cores: [",
        "twice": "",
    }
    (config / "settings.yaml").write_text(text[how])
    if how == "twice":
        (config / "settings.toml").write_text("")


def _tokens(how, config, _state):
    path = config / "tokens.json"
    tokens = load_tokens(path)
    three = {"viewer": tokens.viewer, "worker": tokens.worker, "admin": tokens.admin}
    if how == "readable_by_others":
        path.chmod(0o644)
    elif how == "a_link":
        path.rename(config / "elsewhere.json")
        path.symlink_to(config / "elsewhere.json")
    else:
        without = {k: v for k, v in three.items() if k != "admin"}
        text = {"not_json": "{", "without_admin": json.dumps(without)}
        text["short"] = json.dumps(three | {"admin": "secret"})
        path.write_text(text[how])


def _database(how, _config, state):
    path = state / "realm.db"
    if how == "is_a_folder":
        path.mkdir()
    elif how == "is_text":
        path.write_text("not a database, but longer than the header of one " * 10)
    elif how == "newer":
        with contextlib.closing(sqlite.connect(str(path))) as db:
            db.execute("CREATE TABLE migrations (scope TEXT, name TEXT, applied TEXT)")
            db.execute("INSERT INTO migrations VALUES ('jobs', 'from_the_future', '')")
            db.commit()
    else:
        with contextlib.closing(sqlite.connect(str(path))) as db:
            db.execute("CREATE TABLE filler (a TEXT)")
            db.executemany("INSERT INTO filler VALUES (?)", [("x" * 500,)] * 200)
            db.commit()
        size = path.stat().st_size
        with path.open("r+b") as file:
            file.seek(8192)
            file.write(os.urandom(size - 8192))


def _hosts(how, config, _state):
    data = default_hosts().model_dump()
    local = data["hosts"]["local"]
    if how == "unknown_key":
        data["hostz"] = {}
    elif how == "port_too_large":
        local["services"]["keeper"]["port"] = 99_999
    elif how == "same_port":
        local["services"]["keeper"]["port"] = local["services"]["watchtower"]["port"]
    elif how == "no_local":
        data["local_host"] = "elsewhere"
    elif how == "with_a_path":
        local["host"] = "example.org/x"
    text = "{" if how == "not_json" else json.dumps(data)
    (config / "hosts.json").write_text(text)


def begin(name):
    """What only the process itself can spoil, then the start."""
    from levelcap.services.weaver.__main__ import main

    if name == "disk_nearly_full":
        shutil.disk_usage = lambda path: Usage(10**12, 10**12, 12_000_000)
    elif name == "boot_id_unreadable":
        processes.BOOT_ID_FILE = Path("/proc/there/is/none")
    elif name == "package_missing":
        sys.modules["prometheus_client"] = None
    sys.argv = ["weaver"]
    main()


def begin_in_fork(name, variables, words):
    """Target of a forked process: its own variables, its own standard error."""
    os.environ.update(variables)
    fd = os.open(words, os.O_WRONLY | os.O_CREAT)
    os.dup2(fd, 2)
    sys.stderr = os.fdopen(2, "w")
    begin(name)


if __name__ == "__main__":
    begin(sys.argv[1])
