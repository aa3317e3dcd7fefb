"""Small checkpoints and realms for tests of what is kept."""

from __future__ import annotations

from pathlib import Path

import numpy as np
from safetensors.numpy import save

from levelcap.campaign.realm import Realm
from levelcap.kit.db import transaction
from levelcap.kit.files import write_json
from levelcap.kit.paths import folder
from levelcap.kit.publish import publish
from levelcap.nets.meta import Meta
from levelcap.vault.ledger import Entry, Facts
from levelcap.vault.ledger import save as save_row
from levelcap.vault.probes import digest_of, remember
from levelcap.vault.zones import load_zones


def meta(updates: int = 100, world: str = "duel") -> Meta:
    """The description of a net of two weights."""
    return Meta(
        architecture="flat",
        size="dummy",
        world=world,
        world_version=1,
        patch="1.0",
        views=("features",),
        head_names=("move",),
        head_sizes=(2,),
        aim_heads=(),
        aim_users=(),
        shape={"input_size": 19, "hidden": (2,), "standardise": False},
        steps=updates * 10,
        metrics={"updates": float(updates), "core_seconds": updates / 10, "value_loss": 0.5},
    )


def snapshot(place: Path, updates: int = 100, value: float = 1.0) -> Path:
    """A published checkpoint folder."""

    def write(target: Path) -> None:
        weights = {"a": np.full(4, value, np.float32), "b": np.arange(3, dtype=np.float32)}
        (target / "model.safetensors").write_bytes(save(weights))
        write_json(target / "meta.json", meta(updates).as_json())

    publish(place, write, made_by="test", parents=["parent"])
    return place


def entered(realm: Realm, number: int, probed: bool = True, **facts: object) -> Entry:
    """A snapshot under the realm's runs with its row; probed: it is known as a net that works."""
    place = folder("runs") / "run-a" / "snapshots" / f"step-{number:012d}"
    snapshot(place, updates=number, value=float(number))
    known = {"step": number, "hero": "kestrel", "campaign": None, **facts}
    with transaction(realm.engine) as connection:
        if probed:
            remember(connection, digest_of(place), "evaluation")
        return save_row(connection, place, Facts(**known), load_zones()["hot"])
