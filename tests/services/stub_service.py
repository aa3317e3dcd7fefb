"""A small real service for the Weaver's tests, run as `python -m tests.services.stub_service`.

`state/stubs.json` says what the stub on a port is: {"<port or 0>": {"name": …, "start": "ok" |
"crash" | "slow" | "silent", "deaf": bool, "child": bool}}. A living one is told `GET /hang` or
`GET /crash`.
"""

import json
import os
import signal
import subprocess
import sys
import threading
import time
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer

from levelcap.kit.paths import folder
from levelcap.services.process import lifeline

hanging = threading.Event()


class Handler(BaseHTTPRequestHandler):
    name = ""

    def do_GET(self):
        if self.path == "/crash":
            os._exit(9)
        if self.path == "/hang":
            hanging.set()
        elif hanging.is_set():
            time.sleep(60)
        body = json.dumps({"status": "ok", "service": self.name}).encode()
        self.send_response(200)
        self.send_header("Content-Length", str(len(body)))
        self.end_headers()
        self.wfile.write(body)

    def log_message(self, *args):
        pass


def main():
    port = sys.argv[sys.argv.index("--port") + 1] if "--port" in sys.argv else "0"
    stub = json.loads((folder("state") / "stubs.json").read_text())[port]
    launch = lifeline.start(stub["name"])
    with (folder("state") / "starts.txt").open("a") as file:
        file.write(f"{stub['name']} {time.monotonic()}\n")
    if stub.get("child"):
        # A grandchild that nobody but its session knows of.
        subprocess.Popen([sys.executable, "-c", "import time; time.sleep(300)"])
    if stub.get("deaf"):
        signal.signal(signal.SIGTERM, signal.SIG_IGN)
    if stub["start"] == "crash":
        sys.exit(7)
    if stub["start"] == "slow":
        time.sleep(0.7)
    if not launch.port:
        while stub["start"] != "silent":
            lifeline.beat(stub["name"])
            time.sleep(0.2)
        time.sleep(300)
    Handler.name = stub["name"]
    ThreadingHTTPServer((launch.host, launch.port), Handler).serve_forever()


if __name__ == "__main__":
    main()
