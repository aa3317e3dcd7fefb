"""Loaded checkpoints: found in the vault, verified byte by byte, the least recently used leaves."""

from __future__ import annotations

import threading
import time
from collections import OrderedDict
from dataclasses import dataclass, replace
from pathlib import Path
from typing import Any

from levelcap.kit.db import Database
from levelcap.kit.errors import BadValue, Corrupt, LevelcapError, refuse
from levelcap.kit.ids import spoken_name
from levelcap.nets.checkpoint import load_snapshot
from levelcap.nets.meta import Meta
from levelcap.nets.text.tokens import character_tokens
from levelcap.play.answers import TextHero
from levelcap.play.load import NetPolicy
from levelcap.play.orders import load_orders
from levelcap.services.oracle.bundles import TORCH, Serving, choose
from levelcap.services.oracle.names import champion, find
from levelcap.vault.ask import ask_vault_first
from levelcap.vault.assets import content_id
from levelcap.vault.ledger import Entry, get_ledger
from levelcap.world.protocols import Policy

CAPACITY = 8
NAME_S = 2.0  # how long "champion" means the same checkpoint without asking again


@dataclass(frozen=True)
class Loaded:
    """A net in memory."""

    id: str
    name: str
    net: Any
    meta: Meta
    sha256: str
    place: Path
    shown: str
    """what people call it: kestrel 11,552"""
    serving: Serving = TORCH
    """what it plays live matches with"""

    def policy(self, greedy: bool = False) -> NetPolicy:
        """A policy of its own: a policy has working memory that two threads must not share.

        Raises:
            BadValue: this net reads text.
        """
        if self.meta.text is not None:
            remedy = "Ask it at /generate, or name a checkpoint of the arena"
            raise BadValue(refuse("this checkpoint reads text and plays no world", self.id, remedy))
        made = NetPolicy(self.net, self.meta, self.sha256, greedy)
        # Read anew: orders may have been learned since the net was loaded.
        made.take_vectors(load_orders(self.place, self.net.goal_size))
        return made

    def player(self) -> Policy:
        """A policy for a live match: the bundle's where that is quicker, else torch's.

        Raises:
            BadValue: this net reads text.
        """
        net = self.policy()
        made = self.serving.policy()
        if made is None:
            return net
        made.take_vectors(net.vectors)
        return made

    def hero(self) -> TextHero:
        """A text hero, ready to answer.

        Raises:
            BadValue: this net plays a world.
        """
        if self.meta.text is None:
            remedy = "Ask it at /act, or name a text checkpoint"
            raise BadValue(
                refuse("this checkpoint plays a world and reads no text", self.id, remedy)
            )
        return TextHero(self.net, character_tokens(self.meta.text), self.meta, self.sha256)

    def as_json(self) -> dict[str, Any]:
        """Plain values."""
        return {
            "id": self.id,
            "name": self.name,
            "shown": self.shown,
            "world": self.meta.world,
            "size": self.meta.size,
            "patch": self.meta.patch,
            "steps": self.meta.steps,
            "views": list(self.meta.views),
            "runtime": self.serving.words,
        }


class CheckpointCache:
    """At most `capacity` nets; safe to use from several threads."""

    def __init__(self, engine: Database, capacity: int = CAPACITY) -> None:
        self.engine, self.capacity = engine, capacity
        self._loaded: OrderedDict[str, Loaded] = OrderedDict()
        self._names: dict[tuple[str, bool], tuple[float, str]] = {}
        self._lock = threading.Lock()
        self._loading = threading.Lock()

    def known(self, checkpoint: str, reads: bool = False) -> Loaded | None:
        """The net if it is in memory; never waits for the disk or the database.

        A name like champion means what it meant when it was last asked; when that was a while ago,
        it is asked again meanwhile. reads: such names mean text heroes.
        """
        name = (checkpoint, reads)
        if (found := self._names.get(name)) is not None:
            if found[0] < time.monotonic():
                self._names[name] = (time.monotonic() + NAME_S, found[1])
                threading.Thread(target=self._ask_again, args=name, daemon=True).start()
            checkpoint = found[1]
        with self._lock:
            if checkpoint in self._loaded:
                self._loaded.move_to_end(checkpoint)
                return self._loaded[checkpoint]
        return None

    def _ask_again(self, checkpoint: str, reads: bool) -> None:
        try:
            entry = find(self.engine, checkpoint, reads)
            self._load(entry)
            self._names[checkpoint, reads] = (time.monotonic() + NAME_S, entry.id)
        except LevelcapError:
            self._names.pop((checkpoint, reads), None)  # whoever asks next hears why

    def get(self, checkpoint: str, reads: bool = False) -> Loaded:
        """The net of a checkpoint by any name of `names.find`.

        Raises:
            UnknownName: nothing is called that. Corrupt: its bytes are damaged. BadFile: no net.
        """
        if (found := self.known(checkpoint, reads)) is not None:
            return found
        entry = find(self.engine, checkpoint, reads)
        made = self._load(entry)
        if checkpoint not in (entry.id, entry.canonical_name):
            self._names[checkpoint, reads] = (time.monotonic() + NAME_S, entry.id)
        return made

    def _load(self, entry: Entry) -> Loaded:
        with self._loading:  # of several who ask for the same one, one loads it
            if (found := self.known(entry.id)) is not None:
                return found
            place = ask_vault_first(entry.id, engine=self.engine)
            net, meta, digest = load_snapshot(place)
            if content_id("checkpoint", place)[0] != entry.id:
                remedy = "Restore the folder from a copy"
                raise Corrupt(refuse("another content lies in its place", entry.id, remedy))
            name, shown = entry.canonical_name, spoken_name(entry.hero, entry.step)
            made = Loaded(entry.id, name, net, meta, digest, place, shown)
            if meta.text is None:
                made = replace(made, serving=choose(entry.id, made.policy()))
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
        """What is loaded, what the vault has of either kind (newest first), and the champions."""
        ledger = get_ledger(self.engine)
        known = ledger.list(role="decision", limit=limit)
        reigning = champion(self.engine)
        if reigning is not None and reigning not in [row.id for row in known]:
            known.append(ledger.get(reigning))  # however old
        return {
            "loaded": [one.as_json() for one in self.loaded()],
            "capacity": self.capacity,
            "known": [arena_json(row) for row in known],
            "text": [text_json(row) for row in self.texts(limit)],
            "champion": reigning,
            "text_champion": champion(self.engine, reads=True),
        }

    def texts(self, limit: int = 100) -> list[Entry]:
        """Text checkpoints, newest first."""
        return get_ledger(self.engine).list(role="text", limit=limit)


def arena_json(row: Entry) -> dict[str, Any]:
    """What a list of checkpoints that play says of one."""
    return {
        "id": row.id,
        "name": row.canonical_name,
        "shown": spoken_name(row.hero, row.step),
        "world": row.world,
        "step": row.step,
        "hero": row.hero,
        "elo": row.elo,
        "elo_text": row.elo_text(),
    }


def text_json(row: Entry) -> dict[str, Any]:
    """What a list of text checkpoints says of one."""
    return {
        "id": row.id,
        "name": row.canonical_name,
        "hero": row.hero,
        "step": row.step,
        "skill": row.skill_name,
        "level": row.skill_level,
        "accuracy": row.accuracy,
    }
