"""Loaded checkpoints: found in the vault, verified byte by byte, the least recently used leaves."""

from __future__ import annotations

import threading
import time
from collections import OrderedDict
from dataclasses import dataclass
from typing import Any

from sqlalchemy import Engine

from levelcap.kit.db import reading
from levelcap.kit.errors import Corrupt, LevelcapError, refuse
from levelcap.nets.meta import Meta
from levelcap.play.load import NetPolicy, load_checkpoint
from levelcap.vault.ask import ask_vault_first, resolve
from levelcap.vault.assets import content_id
from levelcap.vault.champion import champion_of
from levelcap.vault.ledger import Entry, get_ledger

CAPACITY = 8
NAME_S = 2.0  # how long "champion" means the same checkpoint without asking again
NAMES = ("champion", "best", "latest")


@dataclass(frozen=True)
class Loaded:
    """A net in memory."""

    id: str
    name: str
    net: Any
    meta: Meta
    sha256: str

    def policy(self, greedy: bool = False) -> NetPolicy:
        """A policy of its own: a policy has working memory that two threads must not share."""
        return NetPolicy(self.net, self.meta, self.sha256, greedy)

    def as_json(self) -> dict[str, Any]:
        """Plain values."""
        return {
            "id": self.id, "name": self.name, "world": self.meta.world, "size": self.meta.size,
            "patch": self.meta.patch, "steps": self.meta.steps, "views": list(self.meta.views),
        }  # fmt: skip


class Shelf:
    """At most `capacity` nets; safe to use from several threads."""

    def __init__(self, engine: Engine, capacity: int = CAPACITY) -> None:
        self.engine, self.capacity = engine, capacity
        self._loaded: OrderedDict[str, Loaded] = OrderedDict()
        self._names: dict[str, tuple[float, str]] = {}
        self._lock = threading.Lock()
        self._loading = threading.Lock()

    def known(self, checkpoint: str) -> Loaded | None:
        """The net if it is in memory; never waits for the disk or the database.

        A name like champion means what it meant when it was last asked; when that was a while ago,
        it is asked again meanwhile.
        """
        if (found := self._names.get(checkpoint)) is not None:
            if found[0] < time.monotonic():
                self._names[checkpoint] = (time.monotonic() + NAME_S, found[1])
                threading.Thread(target=self._ask_again, args=(checkpoint,), daemon=True).start()
            checkpoint = found[1]
        with self._lock:
            if checkpoint in self._loaded:
                self._loaded.move_to_end(checkpoint)
                return self._loaded[checkpoint]
        return None

    def _ask_again(self, name: str) -> None:
        try:
            entry = resolve(self.engine, name)
            self._load(entry)
            self._names[name] = (time.monotonic() + NAME_S, entry.id)
        except LevelcapError:
            self._names.pop(name, None)  # whoever asks next hears why

    def get(self, checkpoint: str) -> Loaded:
        """The net of a checkpoint: an id, a canonical name, champion, best or latest.

        Raises:
            UnknownName: nothing is called that. Corrupt: its bytes are damaged. BadFile: no net.
        """
        if (found := self.known(checkpoint)) is not None:
            return found
        entry = resolve(self.engine, checkpoint)
        made = self._load(entry)
        if checkpoint in NAMES:
            self._names[checkpoint] = (time.monotonic() + NAME_S, entry.id)
        return made

    def _load(self, entry: Entry) -> Loaded:
        with self._loading:  # of several who ask for the same one, one loads it
            if (found := self.known(entry.id)) is not None:
                return found
            place = ask_vault_first(entry.id, engine=self.engine)
            policy = load_checkpoint(place)
            if content_id("checkpoint", place)[0] != entry.id:
                remedy = "Restore the folder from a copy"
                raise Corrupt(refuse("another content lies in its place", entry.id, remedy))
            made = Loaded(entry.id, entry.canonical_name, policy.net, policy.meta,
                          policy.content_hash)  # fmt: skip
            with self._lock:
                self._loaded[entry.id] = made
                while len(self._loaded) > self.capacity:
                    self._loaded.popitem(last=False)
            return made

    def loaded(self) -> list[Loaded]:
        """What is in memory, the least recently used first."""
        with self._lock:
            return list(self._loaded.values())

    def describe(self, limit: int = 100) -> dict[str, Any]:
        """What is loaded, what the vault has (newest first), and who is champion."""
        rows = get_ledger(self.engine).list(limit=limit)
        with reading(self.engine) as connection:
            champion = champion_of(connection)
        return {
            "loaded": [one.as_json() for one in self.loaded()], "capacity": self.capacity,
            "known": [
                {"id": row.id, "name": row.canonical_name, "world": row.world, "step": row.step,
                 "hero": row.hero, "elo": row.elo, "elo_text": row.elo_text()}
                for row in rows
            ],
            "champion": None if champion is None else champion.checkpoint,
        }  # fmt: skip
