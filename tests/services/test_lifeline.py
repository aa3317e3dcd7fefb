import os
import signal
import subprocess
import sys
import time
from pathlib import Path

from levelcap.kit.paths import folder
from levelcap.services.process import lifeline
from levelcap.services.process.processes import birth, is_alive, session_members
from tests.services.realms import SLACK, until

SERVICE = """
import sys, time
from levelcap.services.process import lifeline
lifeline.start("arena", ["--parent", sys.argv[1]])
print("started", flush=True)
time.sleep(60)
"""
PARENT = f"""
import os, subprocess, sys, time
child = subprocess.Popen([sys.executable, "-c", {SERVICE!r}, str(os.getpid())],
                         stdout=subprocess.PIPE, start_new_session=True)
child.stdout.readline()
print(child.pid, flush=True)
time.sleep(60)
"""


def test_a_service_ends_with_the_process_that_started_it(home):
    command = [sys.executable, "-c", PARENT]
    with subprocess.Popen(command, stdout=subprocess.PIPE, text=True) as parent:
        pid = int(parent.stdout.readline())
        born = birth(pid)
        assert os.getpriority(os.PRIO_PROCESS, pid) == min(19, os.getpriority(0, 0) + 10)
        group = Path(f"/proc/{pid}/autogroup")
        if group.exists() and "autogroup" in group.read_text():
            assert group.read_text().split()[-1] == "10"  # its session gives way as a whole
        parent.send_signal(signal.SIGKILL)
        until(lambda: not is_alive(pid, born), 8 * SLACK, "the service ends")
    log = (folder("state") / "logs" / "arena.log").read_text()
    assert '"event": "started"' in log


PARENT_OF_TWO = """
import subprocess, sys, time
from levelcap.services.process import lifeline
lifeline.start("arena", ["--parent", sys.argv[1]])
child = subprocess.Popen([sys.executable, "-c", "import time; time.sleep(60)"])
print(child.pid, flush=True)
time.sleep(60)
"""


def test_a_second_signal_does_not_break_off_the_end_of_the_first(home):
    for pause in (0.0, 0.001, 0.002, 0.004, 0.006, 0.01, 0.02):
        command = [sys.executable, "-c", PARENT_OF_TWO, str(os.getpid())]
        with subprocess.Popen(
            command, stdout=subprocess.PIPE, text=True, start_new_session=True
        ) as service:
            child = int(service.stdout.readline())
            born = birth(child)
            service.send_signal(signal.SIGTERM)
            time.sleep(pause)
            service.send_signal(signal.SIGTERM)
            service.wait(30)
            assert not is_alive(child, born), f"left behind; second signal after {pause} s"


def test_a_service_whose_parent_is_gone_already_does_not_start(home):
    run = subprocess.run([sys.executable, "-c", SERVICE, "1"], capture_output=True, timeout=60)
    assert run.returncode == lifeline.ORPHANED
    assert run.stdout == b""


def test_the_command_line_says_where_to_listen():
    given = lifeline.parse("keeper", ["--port", "1234", "--lan", "--parent", "7"])
    assert (given.host, given.port, given.lan, given.parent) == ("0.0.0.0", 1234, True, 7)
    assert lifeline.parse("keeper", []).port == 8767
    assert lifeline.parse("arena", []).port == 0


def test_a_log_that_has_grown_is_moved_aside_and_the_oldest_forgotten(tmp_path):
    log = tmp_path / "logs" / "x.log"
    for number in range(5):
        lifeline.rotate(log, limit=3, kept=2)
        log.write_text(f"log {number}")
    lifeline.rotate(log, limit=100, kept=2)
    found = {path.name: path.read_text() for path in log.parent.iterdir()}
    assert found == {"x.log": "log 4", "x.log.1": "log 3", "x.log.2": "log 2"}


def test_a_sign_of_life_is_renewed():
    alive = folder("state") / "arena.alive"
    assert not alive.exists()
    lifeline.beat("arena")
    os.utime(alive, (time.time() - 60, time.time() - 60))
    lifeline.beat("arena")
    assert time.time() - alive.stat().st_mtime < 5


def test_a_number_given_to_another_process_is_not_ours():
    mine = birth(os.getpid())
    boot, _, ticks = mine.partition(":")
    assert is_alive(os.getpid(), mine)
    assert not is_alive(os.getpid(), f"{boot}:{int(ticks) - 1}")
    assert not is_alive(os.getpid(), f"another-boot:{ticks}")
    assert session_members(os.getsid(0), f"another-boot:{ticks}") == []
