"""Takes torch (pinned in torch.txt) and remarks out of a lock:  lock_tidy.py LOCK

Run by `make lock`. What stays is names, versions and hashes, nothing about the machine that
resolved them.
"""

import re
import sys
from pathlib import Path

HEAD = """\
# Every package of this environment except torch (requirements/torch.txt): version and sha256.
# Installed with --require-hashes --no-deps; made by `make lock`.
"""


def tidy(text: str) -> str:
    """Returns the lock without comments, options and the torch entry."""
    lines = [
        line for line in text.splitlines() if line.strip() and not line.strip().startswith("#")
    ]
    blocks = re.split(r"\n(?=\S)", "\n".join(lines))
    kept = [block for block in blocks if not block.startswith(("torch==", "-"))]
    return HEAD + "\n".join(kept) + "\n"


if __name__ == "__main__":
    path = Path(sys.argv[1])
    path.write_text(tidy(path.read_text()))
