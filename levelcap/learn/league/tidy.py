"""Order in a season's folder: what a lost turn left is taken back, what nobody needs is removed."""

from __future__ import annotations

import os
import shutil
from pathlib import Path

from levelcap.kit.files import sync
from levelcap.kit.ids import checkpoint_step
from levelcap.kit.publish import retire
from levelcap.learn.engine.state import checkpoints
from levelcap.learn.league.state import FROZEN, PLAYERS, League


def take_back(league: League) -> None:
    """Undo what an interrupted turn wrote after the last commit."""
    for name, size in league.sizes.items():
        path = league.place / name
        if path.exists() and path.stat().st_size > size:
            os.truncate(path, size)
            sync(path)
    for player in league.learners():
        for place in checkpoints(league.run_folder(player) / "checkpoints"):
            if checkpoint_step(place.name) > player.updates:
                retire(place)
    known = {player.run for player in league.players.values()}
    for place in (league.place / PLAYERS).glob("*"):
        kind, _, number = place.name.rpartition("-")
        # A life that was begun by the lost turn: its number is used again.
        if place.name not in known and int(number) > league.players[kind].life:
            shutil.rmtree(place)


def remove_unneeded(league: League) -> None:
    """Remove snapshots that nobody is any more and no match of a checkpoint needs."""
    needed = {player.sha256 for player in league.players.values()}
    needed |= {Path(player.start).name for player in league.players.values() if player.start}
    slots = {slot.partition("@")[2] for p in league.players.values() for slot in p.slots}
    for place in (league.place / FROZEN).iterdir():
        if place.name not in needed and place.name[:12] not in slots:
            retire(place)
    for player in league.learners():
        # A run publishes one at the end of every turn; what counts lies under frozen/.
        for old in sorted((league.run_folder(player) / "snapshots").glob("step-*"))[:-1]:
            retire(old)
    runs = {player.run for player in league.learners()}
    for run in (league.place / PLAYERS).iterdir():
        # A life that is over: its course stays, its state is of no use to anybody.
        for old in checkpoints(run / "checkpoints") if run.name not in runs else ():
            retire(old)
