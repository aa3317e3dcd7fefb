"""Fetches what runs a bundle inside a browser: onnxruntime-web, as package.json pins it.

    .venv/bin/python scripts/browser_runtime.py

`npm pack` brings the one archive, its sha512 is compared, and the two files that /anywhere needs go
into the environment, with the licence. A second time nothing is done. Without npm, or without a
network, one sentence is said and everything else of levelcap works.
"""

import base64
import hashlib
import importlib.util
import json
import shutil
import subprocess
import sys
import tarfile
import tempfile
from pathlib import Path

NAME = "onnxruntime-web"
ROOT = Path(__file__).resolve().parent.parent
PLACE = Path(sys.prefix) / "share" / "levelcap" / NAME
FILES = ("ort.wasm.bundle.min.mjs", "ort-wasm-simd-threaded.wasm")
LICENCES = ("LICENSE", "ThirdPartyNotices.txt")  # the archive has none; the same project's are here
FETCH_S = 120


def main() -> None:
    """Fetch it unless it is there."""
    pin = json.loads((ROOT / "package.json").read_text())["fetched"][NAME]
    place = PLACE / pin["version"]
    if place.is_dir():
        return
    if shutil.which("npm") is None:
        say("npm is not installed")
        return
    with tempfile.TemporaryDirectory() as made:
        command = ["npm", "pack", "--silent", "--fetch-retries", "1", "--pack-destination", made]
        try:
            subprocess.run(
                [*command, f"{NAME}@{pin['version']}"],
                check=True,
                capture_output=True,
                cwd=made,
                timeout=FETCH_S,
            )
        except (subprocess.CalledProcessError, subprocess.TimeoutExpired):
            say("npm could not fetch it")
            return
        [archive] = Path(made).glob("*.tgz")
        digest = base64.b64encode(hashlib.sha512(archive.read_bytes()).digest()).decode()
        if f"sha512-{digest}" != pin["integrity"]:
            say(f"the archive is not the pinned one (sha512-{digest})")
            return
        unpack(archive, place)


def unpack(archive: Path, place: Path) -> None:
    """The files that are needed, in place at once; other versions go."""
    shutil.rmtree(PLACE, ignore_errors=True)
    PLACE.mkdir(parents=True)
    with tempfile.TemporaryDirectory(dir=PLACE) as made, tarfile.open(archive) as tar:
        filling = Path(made) / place.name
        filling.mkdir()
        for name in FILES:
            content = tar.extractfile(f"package/dist/{name}")
            assert content is not None
            (filling / name).write_bytes(content.read())
        found = importlib.util.find_spec("onnxruntime")
        assert found is not None and found.origin is not None
        for name in LICENCES:
            shutil.copyfile(Path(found.origin).parent / name, filling / name)
        filling.rename(place)


def say(why: str) -> None:
    """On stderr: a set-up goes on without it."""
    remedy = "the page /anywhere waits for it, all else works; run `make setup` again"
    sys.stderr.write(f"setup: no {NAME}: {why}; {remedy}\n")


if __name__ == "__main__":
    main()
