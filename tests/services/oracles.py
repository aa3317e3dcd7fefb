"""Checkpoints that can really play, and an Oracle in a process of its own."""

import os
import signal
import subprocess
import sys
from contextlib import contextmanager

import httpx

from levelcap.guild.alphabet import load_alphabet
from levelcap.kit.db import transaction
from levelcap.kit.paths import folder
from levelcap.nets.checkpoint import save_snapshot, weights_of
from levelcap.nets.family import describe, new_net
from levelcap.nets.meta import text_meta
from levelcap.nets.text.qwen3 import fresh_text_net
from levelcap.nets.text.shape import END, MARKS, character_shape
from levelcap.services.clients.keeper import Client
from levelcap.services.door.tokens import load_tokens
from levelcap.vault.ledger import Facts
from levelcap.vault.ledger import save as save_row
from levelcap.vault.probes import digest_of, remember
from levelcap.vault.zones import load_zones
from levelcap.world.spec import arena_spec
from tests.services.realms import ROOT, free_ports, until


def net_in_vault(engine, seed=0, world="duel", size="dummy", family="flat", **options):
    """An untrained net with its row in the ledger; returns the row and the folder."""
    meta = describe(family, arena_spec(world), size, options=options)
    place = folder("runs") / "run-a" / "snapshots" / f"step-{seed:012d}"
    save_snapshot(place, weights_of(new_net(meta, seed)), meta, "test")
    with transaction(engine) as connection:
        facts = Facts(step=seed, hero="kestrel", campaign=None, world=world)
        remember(connection, digest_of(place), "evaluation")
        return save_row(connection, place, facts, load_zones()["hot"]), place


def text_in_vault(engine, seed=0, size="dummy", endless=True):
    """An untrained text net with its row in the ledger; endless: it never writes the end mark."""
    alphabet = load_alphabet()
    shape = character_shape(size, alphabet.version, "".join(alphabet.characters))
    meta = text_meta(shape, size)
    weights = weights_of(fresh_text_net(meta, seed))
    if endless:
        # The embedding is also the last layer: a mark of zeros is never the likeliest.
        weights["model.embed_tokens.weight"][MARKS.index(END)] = 0.0
    place = folder("runs") / "run-t" / "snapshots" / f"step-{seed:012d}"
    save_snapshot(place, weights, meta, "test")
    facts = Facts(
        step=seed,
        hero="dio-tiny",
        campaign=None,
        world="bin",
        role="text",
        skill_name="bin",
        skill_level=2,
    )
    with transaction(engine) as connection:
        remember(connection, digest_of(place), "evaluation")
        return save_row(connection, place, facts, load_zones()["hot"]), place


@contextmanager
def oracle(role="admin"):
    """Starts an Oracle on a free port; yields its client and its process."""
    [port] = free_ports(1)
    tokens = load_tokens()
    process = subprocess.Popen(
        [sys.executable, "-m", "levelcap.services.oracle", "--port", str(port)],
        cwd=ROOT,
        env={**os.environ},
        stderr=subprocess.DEVNULL,
    )
    client = Client(f"http://127.0.0.1:{port}", getattr(tokens, role))
    try:
        until(lambda: _answers(client), 90, "the oracle answers")
        yield client, process
    finally:
        client.close()
        process.send_signal(signal.SIGTERM)
        assert process.wait(60) == 0


def _answers(client):
    try:
        return httpx.get(f"{client.url}/health", timeout=1).status_code == 200
    except httpx.HTTPError:
        return False
