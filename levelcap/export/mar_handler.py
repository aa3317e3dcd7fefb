"""TorchServe's side of a bundle: travels inside the `.mar`, is never run by levelcap itself.

A request is a table of views and, optionally, `mask`, `key`, `reset` and `state`, rows first; the
answer has `actions`, `values` and the `state` to send with the next request.
"""

import json
from pathlib import Path
from typing import Any

import numpy as np

from levelcap.export.bundle import FILE, bundle_from_json
from levelcap.export.pipe import KINDS, decide
from levelcap.export.runtime import Hero

_hero: Hero | None = None


def initialize(context: Any) -> None:
    """Load the graphs that were unpacked beside this file."""
    global _hero
    place = Path(context.system_properties["model_dir"])
    bundle = bundle_from_json(json.loads((place / FILE).read_bytes()))
    _hero = Hero(bundle, {n: (place / g.file).read_bytes() for n, g in bundle.graphs.items()})


def handle(data: Any, context: Any) -> list[dict[str, Any]]:
    """Decide for every request of a batch."""
    if _hero is None:
        initialize(context)
    return [] if data is None else [_decide(row.get("body", row.get("data"))) for row in data]


def _decide(body: Any) -> dict[str, Any]:
    asked = json.loads(body) if isinstance(body, bytes | bytearray | str) else body
    assert _hero is not None
    names = (*_hero.bundle.views, *KINDS)
    request = {name: asked[name] for name in names if name in asked}
    state = asked.get("state")
    if state is not None:
        known = _hero.initial_state(0)
        state = {name: np.asarray(state[name], array.dtype) for name, array in known.items()}
    answer, kept = decide(_hero, request, state)
    return answer | {"state": {name: rows.tolist() for name, rows in (kept or {}).items()}}
