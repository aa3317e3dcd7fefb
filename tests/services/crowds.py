"""Many Weavers that start at one moment; run as a module, one of them.

`crowd(count, home)` starts `count` processes that have done their imports and wait for a file,
lets them go, and counts those that came to lead.
"""

import os
import subprocess
import sys
import time
from pathlib import Path

from tests.services.realms import ROOT, until


def crowd(count, home, mutant=False):
    """Returns how many of `count` simultaneous starts in the realm `home` led it."""
    home.mkdir(parents=True)
    go = home / "go"
    command = [sys.executable, "-m", "tests.services.crowds", str(go), *(["mutant"] * mutant)]
    env = os.environ | {"LEVELCAP_HOME": str(home)}
    started = [
        subprocess.Popen(command, cwd=ROOT, env=env, stdout=subprocess.PIPE, text=True)
        for _ in range(count)
    ]
    for process in started:
        assert process.stdout.readline() == "waiting\n"
    go.touch()
    # Who leads holds on until everybody has tried, however late.
    until(lambda: len(list(home.glob("tried-*"))) == count, 120, "all have tried")
    (home / "end").touch()
    words = [process.communicate(timeout=120)[0].strip() for process in started]
    assert set(words) <= {"led", "refused"}, words
    return words.count("led")


def main():
    from levelcap.kit.errors import Busy
    from levelcap.services.weaver import leadership as lock

    go = Path(sys.argv[1])
    if "mutant" in sys.argv:
        lock.fcntl.flock = lambda *_: None
    print("waiting", flush=True)
    while not go.exists():
        time.sleep(0.001)
    tried = go.with_name(f"tried-{os.getpid()}")
    try:
        with lock.leadership():
            tried.touch()
            while not go.with_name("end").exists():
                time.sleep(0.01)
            print("led", flush=True)
    except Busy:
        tried.touch()
        print("refused", flush=True)


if __name__ == "__main__":
    main()
