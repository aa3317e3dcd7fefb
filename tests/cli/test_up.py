"""`levelcap up`, `down`, `logs` and `doctor` as a person types them; a realm of one service."""

import contextlib
import json
import os
import signal
import socket
import subprocess
import sys
import time
from pathlib import Path

import pytest

from levelcap.cli import realm_checks
from levelcap.cli.hardcodes import scan
from levelcap.kit.errors import BadFile, Corrupt
from levelcap.kit.paths import folder
from levelcap.services.door.tokens import load_tokens, tokens_path
from levelcap.services.process.processes import birth
from levelcap.services.process.standing import Leader, Standing, write_leader, write_standings
from tests.services.realms import ROOT, SLACK, free_ports, processes_of, until

# The Watchtower alone: a real service that needs neither torch nor the Keeper.
SMALL = (
    "from levelcap.services.process import ports;"
    "ports.SERVICES = (ports.service('watchtower'),);"
    "from levelcap.cli.main import main; main()"
)


def offset():
    """A port offset whose Watchtower port is free."""
    return str(free_ports(1)[0] - 8081)


def levelcap(*words, **env):
    return subprocess.run(
        [sys.executable, "-m", "levelcap", *words],
        cwd=ROOT,
        capture_output=True,
        text=True,
        timeout=120,
        env=os.environ | {"COLUMNS": "200"} | env,
    )


@contextlib.contextmanager
def foreground(**env):
    """`levelcap up` in a terminal of its own, and what it prints in a file."""
    shown = folder("state") / "shown.txt"
    with shown.open("w") as output:
        process = subprocess.Popen(
            [sys.executable, "-c", SMALL, "up"],
            cwd=ROOT,
            stdout=output,
            stderr=output,
            env=os.environ | env,
        )
    try:
        yield process, shown
    finally:
        if process.poll() is None:
            process.kill()
            process.wait()


def test_up_shows_addresses_token_and_events_and_ctrl_c_ends_it_all(home, monkeypatch):
    moved = offset()
    with foreground(LEVELCAP_PORT_OFFSET=moved) as (process, shown):
        until(lambda: "watchtower is up" in shown.read_text(), 60, "the Watchtower is up")
        text = shown.read_text()
        assert f"http://127.0.0.1:{8081 + int(moved)}" in text
        assert str(home / "config" / "tokens.json") in text
        assert load_tokens().admin not in text and str(tokens_path()) in text
        logs = levelcap("logs", "watchtower", "-n", "1")
        assert "listening" in logs.stdout and logs.stdout.count("\n") == 1
        assert "started" in levelcap("logs").stdout
        monkeypatch.setenv("LEVELCAP_PORT_OFFSET", moved)
        assert f"{8081 + int(moved)} ours" in realm_checks.ports()[1]
        assert realm_checks.services() == ("pass", "watchtower up")
        assert realm_checks.leader()[1].startswith(f"pid {process.pid}, since ")
        began = time.monotonic()
        process.send_signal(signal.SIGINT)
        assert process.wait(60) == 0
        assert time.monotonic() - began < 10 * SLACK
        assert "watchtower stopped" in shown.read_text()
        assert "everything is stopped" in shown.read_text()
    assert processes_of(home) == []


def test_down_stops_a_realm_and_says_so_and_a_second_time_says_nothing_ran(home):
    with foreground(LEVELCAP_PORT_OFFSET=offset()) as (process, shown):
        until(lambda: "watchtower is up" in shown.read_text(), 60, "the Watchtower is up")
        assert levelcap("down").stdout == "stopped watchtower, weaver\n"
        assert process.wait(30) == 0
    again = levelcap("down")
    assert (again.returncode, again.stdout) == (0, "nothing was running\n")
    assert processes_of(home) == []


def test_a_detached_start_that_is_refused_says_why_and_leaves_nothing(home):
    (port,) = free_ports(1)
    with contextlib.closing(socket.create_server(("127.0.0.1", port))):
        run = levelcap("up", "--detach", LEVELCAP_PORT_OFFSET=str(port - 8767))
    assert run.returncode == 1
    assert f"keeper cannot listen on port {port}" in run.stderr
    assert len(run.stderr.strip().splitlines()) == 1
    assert processes_of(home) == []


def test_logs_of_an_unknown_service_are_refused():
    folder("state")
    run = levelcap("logs", "keper")
    assert run.returncode == 2
    assert "unknown service with a log; got 'keper'" in run.stderr


def test_logs_are_merged_in_the_order_of_time_and_followed():
    logs = folder("state") / "logs"
    logs.mkdir()

    def line(second, event):
        stamp = f"2026-01-01T00:00:0{second}Z"
        return json.dumps({"timestamp": stamp, "level": "info", "event": event}) + "\n"

    (logs / "a.log").write_text(line(1, "one") + line(3, "three"))
    (logs / "b.log").write_text(line(2, "two") + "Traceback: bare\n")
    process = subprocess.Popen(
        [sys.executable, "-m", "levelcap", "logs", "--follow", "-n", "3"],
        cwd=ROOT,
        stdout=subprocess.PIPE,
        text=True,
    )
    try:
        first = [process.stdout.readline() for _ in range(3)]
        assert [words.split()[-1] for words in first] == ["two", "bare", "three"]
        with (logs / "a.log").open("a") as file:
            file.write(line(4, "four"))
        assert process.stdout.readline().split()[-1] == "four"
    finally:
        process.kill()
        process.communicate()


def test_the_scan_finds_places_and_addresses_but_not_docstrings(tmp_path):
    tree = Path("/") / "home"
    (tmp_path / "x.py").write_text(
        '"""Listens on 127.0.0.1."""\n'
        f'A = "{tree}/me/data"\n'
        'B = "http://10.0.0.7:80/x"\n'
        'C = "relative/path 1.2.3"\n'
    )
    assert [row.split()[0] for row in scan(tmp_path)] == ["x.py:2", "x.py:3"]
    assert [row.split()[0] for row in scan(tmp_path, ignore_ips=True)] == ["x.py:2"]


def test_the_package_has_no_hard_coded_place_or_address():
    assert scan() == []


def test_doctor_sees_a_damaged_database_open_tokens_a_full_share_and_a_dead_service(home):
    assert [realm_checks.database()[0], realm_checks.disk()[0]] == ["pass", "pass"]
    load_tokens()
    (home / "config" / "tokens.json").chmod(0o644)
    with pytest.raises(BadFile, match="mode 644"):
        realm_checks.tokens()
    (home / "config" / "settings.yaml").write_text("disk_cap_gb: 1e-6")
    (folder("state") / "realm.db").write_text("no database " * 100)
    assert realm_checks.disk()[0] == "fail"
    with pytest.raises(Corrupt, match="not a usable database"):
        realm_checks.database()
    write_leader(Leader(os.getpid(), birth(os.getpid()), "now", "0"))
    write_standings({"keeper": Standing("keeper", "down", reason="ended (7)")})
    assert realm_checks.services() == ("fail", "keeper: ended (7); see `levelcap logs`")


@pytest.mark.trust
def test_the_whole_realm_starts_behind_the_terminal_and_stops(home):
    (port,) = free_ports(1)
    env = {"LEVELCAP_PORT_OFFSET": str(port - 8767)}
    run = levelcap("up", "--detach", **env)
    try:
        assert run.returncode == 0, run.stderr
        assert "running (pid" in run.stdout and str(tokens_path()) in run.stdout
        assert load_tokens().admin not in run.stdout + run.stderr
        memory = {p.name(): p.memory_info().rss / 1e6 for p in processes_of(home)}
        print({name: f"{mb:.0f} MB" for name, mb in memory.items()})
        assert memory["lc-keeper"] < 150 and memory["lc-watchtower"] < 150
    finally:
        assert levelcap("down", **env).returncode == 0
    assert processes_of(home) == []
