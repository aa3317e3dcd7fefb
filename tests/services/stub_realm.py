"""A realm of stubs: `python -m tests.services.stub_realm '<json of rows>' '<json of pace>'`."""

import json
import sys

from levelcap.kit.errors import LevelcapError
from levelcap.services.process.ports import Service
from levelcap.services.weaver.run import run
from levelcap.services.weaver.supervise import Pace
from tests.services.realms import SLACK

MODULE = "tests.services.stub_service"
QUICK = {
    "health_every_s": 0.2,
    "probe_s": 0.4 * SLACK,
    "first_pause_s": 0.1,
    "stop_s": 2.0,
    "stop_all_s": 4.0,
}


def main():
    rows = json.loads(sys.argv[1])
    pace = QUICK | json.loads(sys.argv[2])
    services = [Service(name, MODULE, port, ready_s=10.0 * SLACK) for name, port in rows]
    ports = {name: port for name, port in rows if port}
    try:
        run(services=services, ports=ports, pace=Pace(**pace))
    except LevelcapError as error:
        sys.exit(f"levelcap: {error}")


if __name__ == "__main__":
    main()
