"""Writes the browser's reader of match states from the types in `levelcap/play/show/frames.py`.

    python scripts/frame_layout.py       # writes static/arena/layout.js; a test compares

One place says what a state looks like in bytes; the page knows offsets by name.
"""

from __future__ import annotations

from pathlib import Path

import numpy as np

from levelcap.play.show import frames

TARGET = Path(__file__).parents[1] / "levelcap/services/tavern/static/arena/layout.js"
RECORDS = ("HEAD", "PLAYER", "SHOT", "ITEM", "CREEP", "STRUCTURE", "LOOK", "MIND")
NUMBERS = (
    *("KIND_HEADER", "KIND_STATE", "KIND_NOTE", "OVER", "IDLE"),
    *("ALIVE", "SNARED", "GUARDED", "DASHING", "RELOADING", "FIRING", "WARDING", "OUT"),
    *("NO_VALUE", "NO_INTENT", "NO_TARGET"),
    *("HAS_PLAN", "HAS_TARGET", "GOAL_CHANGED", "LOOKS"),
)


def layout() -> str:
    """The file's content."""
    lines = [
        "// Made by scripts/frame_layout.py from levelcap/play/show/frames.py: do not edit.",
        "",
    ]
    for name in NUMBERS:
        lines.append(f"export const {name} = {getattr(frames, name)};")
    for name in RECORDS:
        record: np.dtype = getattr(frames, name)
        assert record.fields is not None
        lines += ["", f"export const {name} = {{", f"  bytes: {record.itemsize},"]
        lines += [f"  {field}: {record.fields[field][1]}," for field in record.names or ()]
        lines.append("};")
    names = ", ".join(f"'{spot}'" for spot in frames.SPOTS)
    lines += ["", "// biome-ignore format: a list", f"export const SPOTS = [{names}];"]
    return "\n".join(lines) + "\n"


if __name__ == "__main__":
    TARGET.write_text(layout(), encoding="utf-8")
