"""Does a change leave every bit of training where it was?

    python benchmarks/same_bits.py                    the digests of this checkout
    python benchmarks/same_bits.py --against FOLDER   and of another one, side by side

Both checkouts are run by their own command line, each command in a home of its own. A digest is the
sha256 of the weights in the snapshot a command leaves. Results depend on the processor's kind, so
they are compared within one run and are no constants of a test.
"""

from __future__ import annotations

import argparse
import json
import os
import signal
import subprocess
import sys
import tempfile
import time
from pathlib import Path

HERE = Path(__file__).resolve().parents[1]
RL = ("--games", "0", "--json", "--seed", "5")
INTERRUPT_S = 9.0  # start-up takes about half of it


class Checkout:
    """One copy of the project, and a folder for what its commands leave."""

    def __init__(self, source: Path, work: Path) -> None:
        self.source, self.work = source, work
        self.env = {**os.environ, "PYTHONPATH": str(source), "LEVELCAP_HOME": str(work / "home")}

    def start(self, *words: str) -> subprocess.Popen[str]:
        """Begin a command of this checkout."""
        command = [sys.executable, "-m", "levelcap", *words]
        return subprocess.Popen(
            command,
            cwd=self.work,
            env=self.env,
            text=True,
            stdout=subprocess.PIPE,
            stderr=subprocess.PIPE,
        )

    def run(self, *words: str) -> dict[str, object]:
        """One command to its end; the JSON object of its last line."""
        process = self.start(*words)
        out, err = process.communicate()
        if process.returncode != 0:
            raise SystemExit(f"{' '.join(words)} failed in {self.source}:\n{out}\n{err}")
        last = out.strip().splitlines()[-1] if "--json" in words else "{}"
        return json.loads(last)

    def weights(self, *words: str) -> str:
        """Digest of the weights that a training command leaves."""
        snapshot = Path(str(self.run(*words, "--json")["snapshot"]))
        manifest = json.loads((snapshot / "manifest.json").read_text())
        return str(manifest["files"]["model.safetensors"]["sha256"])

    def interrupted(self, *words: str) -> str:
        """The same, interrupted once on the way and continued by the same command."""
        process = self.start(*words)
        time.sleep(INTERRUPT_S)
        process.send_signal(signal.SIGINT)
        process.communicate()
        return self.weights(*words)


def digests(checkout: Checkout, quick: bool) -> dict[str, str]:
    """Every case by name."""
    work = checkout.work
    shard, sup = str(work / "shard"), str(work / "sup")
    checkout.run("record", "master", "veteran", "--games", "60", "--seed", "3", "--out", shard)
    imitate = ("imitate", "--shards", shard, "--updates", "160", "--games", "0", "--out", sup)
    found = {"imitate duel": checkout.weights(*imitate)}
    start = str(next((work / "sup" / "snapshots").iterdir()))
    rl = ("reinforce", *RL[:2], *RL[3:], "--updates", "480")
    again = ("--from", start, "--out")
    found["reinforce duel"] = checkout.weights(*rl, *again, str(work / "rl"))
    found["the same, interrupted"] = checkout.interrupted(*rl, *again, str(work / "rl2"))
    found["reinforce duel from nothing"] = checkout.weights(
        "reinforce", "--games", "0", "--updates", "128", "--out", str(work / "scratch")
    )
    text = ("text", "train", "--skill", "bin", "--preset", "bin_add", "--updates")
    found["text bin_add"] = checkout.weights(*text, "60", "--out", str(work / "text"))
    if quick:
        return found
    found["reinforce siege"] = checkout.weights(
        "reinforce",
        "--world",
        "siege",
        "--games",
        "0",
        "--updates",
        "8",
        "--out",
        str(work / "siege"),
    )
    found["reinforce lms"] = checkout.weights(
        "reinforce", "--world", "lms", "--games", "0", "--updates", "8", "--out", str(work / "lms")
    )
    found["reinforce CartPole"] = checkout.weights(
        "reinforce",
        "--world",
        "gym:CartPole-v1",
        "--games",
        "0",
        "--updates",
        "80",
        "--out",
        str(work / "pole"),
    )
    return found


def main() -> None:
    """Print the table and, as the last line, one JSON object."""
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--against", type=Path, help="another checkout")
    parser.add_argument("--quick", action="store_true", help="duel and text only")
    arguments = parser.parse_args()
    sources = {"here": HERE} | ({"other": arguments.against} if arguments.against else {})
    tables: dict[str, dict[str, str]] = {}
    for name, source in sources.items():
        with tempfile.TemporaryDirectory() as folder:
            checkout = Checkout(source.resolve(), Path(folder))
            tables[name] = digests(checkout, arguments.quick)
    names = list(tables)
    for case in tables["here"]:
        row = [tables[name][case][:16] for name in names]
        verdict = "" if len(row) < 2 else ("same" if row[0] == row[1] else "DIFFERS")
        print(f"{case:30} {'  '.join(row)}  {verdict}")
    same = all(tables[names[0]] == tables[name] for name in names)
    resumed = tables["here"]["reinforce duel"] == tables["here"]["the same, interrupted"]
    print(json.dumps({"same": same, "resumed": resumed, **tables}))


if __name__ == "__main__":
    main()
