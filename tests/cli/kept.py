"""Heroes of a realm without a minute of training: nets as they are born, with their rows."""

from levelcap.kit.db import transaction
from levelcap.kit.paths import folder
from levelcap.nets.checkpoint import save_snapshot, weights_of
from levelcap.nets.family import describe, new_net
from levelcap.trials.verdict import Override
from levelcap.vault.champion import promote
from levelcap.vault.ledger import Facts, rate, save
from levelcap.vault.probes import digest_of, remember
from levelcap.vault.zones import load_zones
from levelcap.world.spec import arena_spec


def keep(realm, meta, step, run="run-a", elo=None, **facts):
    """A born net in the ledger; returns (row, folder)."""
    place = folder("runs") / run / "snapshots" / f"step-{step:012d}"
    save_snapshot(place, weights_of(new_net(meta, seed=step)), meta, "test")
    known = {"step": step, "hero": "kestrel", "world": meta.world, "run": run, **facts}
    with transaction(realm.engine) as connection:
        remember(connection, digest_of(place), "evaluation")
        row = save(connection, place, Facts(**known), load_zones()["hot"])
        if elo is not None:
            rate(connection, row.id, (elo, elo - 40.0, elo + 40.0))
    return row, place


def keep_arena(realm, step, **facts):
    """A born flat net of duel."""
    return keep(realm, describe("flat", arena_spec("duel"), "dummy"), step, **facts)


def crown(realm, row):
    """Make it champion."""
    promote(realm.engine, row.id, Override("for a test", "test"))
