"""Snapshots of a season by content, and the opponents loaded from them."""

from __future__ import annotations

import shutil
from collections import OrderedDict
from pathlib import Path

import levelcap
from levelcap.kit.errors import BadFile, Corrupt, StateError, refuse
from levelcap.kit.publish import publish, read_manifest, retire, verify
from levelcap.learn.league.config import BOT
from levelcap.learn.league.players import Player
from levelcap.learn.league.state import FROZEN, PLAYERS, League
from levelcap.nets.checkpoint import MODEL
from levelcap.play.load import load_checkpoint
from levelcap.play.roster import Door, find
from levelcap.world.protocols import Policy

MOST = 48  # policies in memory: a turn has 16 opponents, and what it met before may come again


def digest_of(snapshot: Path) -> str:
    """sha256 of a snapshot's weights, as its manifest says."""
    return str(read_manifest(snapshot).files[MODEL]["sha256"])


def copy_published(source: Path, target: Path) -> None:
    """The same files as another published folder."""

    def write(place: Path) -> None:
        for name in read_manifest(source).files:
            shutil.copyfile(source / name, place / name)

    publish(target, write, made_by=f"levelcap {levelcap.__version__} league")


class Shelf:
    """Keeps snapshots and loads policies; bounded, whatever the number of players."""

    def __init__(self, league: League) -> None:
        self.league = league
        self._loaded: OrderedDict[str, Policy] = OrderedDict()

    def keep(self, snapshot: Path) -> str:
        """Copy a snapshot under its content's name; returns the sha256 of its weights."""
        digest = digest_of(snapshot)
        place = self.league.place / FROZEN / digest
        if not place.exists():
            copy_published(snapshot, place)
        return digest

    def load(self, key: str) -> Policy:
        """The policy a key names, every byte verified when it is read.

        Raises:
            Corrupt, BadFile: its file is damaged or gone.
        """
        if key in self._loaded:
            self._loaded.move_to_end(key)
            return self._loaded[key]
        if "@" in key:
            short = key.partition("@")[2]
            found = sorted((self.league.place / FROZEN).glob(f"{short}*"))
            policy: Policy = load_checkpoint(found[0] if found else Path(FROZEN) / short)
        else:
            policy = find(key, Door.TRAINING)
        self._loaded[key] = policy
        if len(self._loaded) > MOST:
            self._loaded.popitem(last=False)
        return policy

    def alive(self, player: Player) -> bool:
        """Is this opponent's file whole? One whose is not is marked dead, and met no more."""
        if player.agent_type == BOT:
            return True
        try:
            verify(self.league.place / FROZEN / player.sha256)
        except Corrupt:
            self._loaded.pop(player.key, None)
            if player.trainable:
                self._mend(player)
                return True
            self.league.put(player.with_(dead=True))
            return False
        return True

    def _mend(self, learner: Player) -> None:
        """A learner cannot be left out: its file is taken again from a run.

        Raises:
            StateError: no run has it, either.
        """
        retire(self.league.place / FROZEN / learner.sha256)
        # Of any run: it may have taken another's over.
        for place in (self.league.place / PLAYERS).glob("*/snapshots/step-*"):
            if digest_of(place) == learner.sha256:
                verify(place)
                self.keep(place)
                return
        remedy = f"Put {FROZEN}/{learner.sha256} back from a copy, or begin another season"
        raise StateError(refuse("a learner's snapshot is lost", learner.player_id, remedy))

    def stand_in(self, key: str) -> str:
        """The key itself, or that of a living player who finishes the match in its place."""
        try:
            self.load(key)
        except (Corrupt, BadFile):
            others = (player.key for player in self.league.frozen() if self.alive(player))
            return next(others, key)
        return key
