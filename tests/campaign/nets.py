"""Checkpoints of real nets in a realm of a test."""

from levelcap.kit.db import transaction
from levelcap.kit.paths import folder
from levelcap.nets.checkpoint import save_snapshot, weights_of
from levelcap.nets.family import describe, new_net
from levelcap.vault.ledger import Facts
from levelcap.vault.ledger import save as save_row
from levelcap.vault.probes import digest_of, remember
from levelcap.vault.zones import load_zones
from levelcap.world.spec import arena_spec


def net(realm, number):
    """A real one, with its row."""
    spec = arena_spec("duel")
    made = describe("flat", spec, "dummy", False)
    place = folder("runs") / "run-b" / "snapshots" / f"step-{number:012d}"
    save_snapshot(place, weights_of(new_net(made, number)), made, "test")
    with transaction(realm.engine) as connection:
        facts = Facts(step=number, hero="kestrel", campaign=None, role="decision", world="duel")
        remember(connection, digest_of(place), "evaluation")
        return save_row(connection, place, facts, load_zones()["hot"]).id
