"""TorchServe's side of a bundle: travels inside the `.mar`, is never run by levelcap itself.

A request and its answer are those of `levelcap-play`: views by name, rows first, and optionally
`mask`, `key`, `reset` and `who`, whose memory stays in the serving process.
"""

import json
from pathlib import Path
from typing import Any

from levelcap.export.bundle import FILE, bundle_from_json
from levelcap.export.pipe import Memory, decide
from levelcap.export.runtime import Hero

_hero: Hero | None = None
_memory: Memory | None = None


def initialize(context: Any) -> None:
    """Load the graphs that were unpacked beside this file."""
    global _hero, _memory
    place = Path(context.system_properties["model_dir"])
    bundle = bundle_from_json(json.loads((place / FILE).read_bytes()))
    _hero = Hero(bundle, {n: (place / g.file).read_bytes() for n, g in bundle.graphs.items()})
    _memory = Memory(_hero)


def handle(data: Any, context: Any) -> list[dict[str, Any]]:
    """Decide for every request of a batch."""
    if _hero is None:
        initialize(context)
    return [] if data is None else [_decide(row.get("body", row.get("data"))) for row in data]


def _decide(body: Any) -> dict[str, Any]:
    asked = json.loads(body) if isinstance(body, bytes | bytearray | str) else body
    assert _hero is not None and _memory is not None
    return decide(_hero, asked, _memory)
