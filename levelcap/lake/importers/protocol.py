"""What an importer is, and how its rows become trajectories."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any, Protocol

import numpy as np

from levelcap.kit.paths import get_base_dir
from levelcap.lake.extras import objects
from levelcap.lake.importers.report import ImportReport, printable
from levelcap.lake.records import TrajectorySequence
from levelcap.world.spec import HEADS

# Extras that every trajectory has when it is read from a shard (`read.Shards.episodes`).
OURS = {
    *("source", "path", "policy", "terminal_outcome", "truncated", "mask", "alive", "intents"),
    *("first_line", "session_end", "session", "film", "metadata"),
}


@dataclass(frozen=True)
class Options:
    """What the person who imports may say."""

    world: str = "duel"
    """the ruleset whose scales recorded positions have"""
    screen: bool = False
    """old actions: x and y are shares of a screen"""


@dataclass(frozen=True)
class Unit:
    """What is read in one go: the files of one trajectory or session, and whose it is."""

    files: tuple[Path, ...]
    player: str
    episode: str
    """two units of one episode fall on the same side of a split"""
    referred: tuple[Path, ...] = ()
    """files that are hashed and named, not copied: a film is too large to have twice"""


class Importer(Protocol):
    """One format."""

    name: str
    looks_for: str
    """what `find` looks for, for a refusal"""
    source: str
    """the mark of its shards"""

    def world(self, options: Options) -> str:
        """The world its shards are of."""

    def find(self, root: Path) -> list[Unit]:
        """What of this format lies below a folder; nothing is read but names."""

    def read(
        self, root: Path, units: Sequence[Unit], options: Options, report: ImportReport
    ) -> Iterator[tuple[Unit, TrajectorySequence]]:
        """The trajectories of every unit; what is no record of the format goes to the report."""


@dataclass
class Rows:
    """Steps of one trajectory as they come, a list a column."""

    obs: list[Sequence[float]] = field(default_factory=list)
    actions: list[Sequence[float]] = field(default_factory=list)
    rewards: list[float] = field(default_factory=list)
    extras: dict[str, dict[int, Any]] = field(default_factory=dict)  # name -> step -> value

    def __len__(self) -> int:
        return len(self.obs)

    def add(
        self,
        obs: Sequence[float],
        action: Sequence[float],
        reward: float,
        extras: Mapping[str, Any],
    ) -> None:
        """One step."""
        for name, value in extras.items():
            self.extras.setdefault(name, {})[len(self.obs)] = value
        self.obs.append(obs)
        self.actions.append(action)
        self.rewards.append(reward)

    def sequence(
        self, report: ImportReport, done: bool, facts: Mapping[str, Any]
    ) -> TrajectorySequence:
        """All of them as a trajectory: unknown fields are a value a step, None where one had none.

        done: the recording says that it ended here; else it breaks off.
        facts: what is known of the whole of it.
        """
        length = len(self)
        dones = np.zeros(length, np.bool_)
        dones[-1] = done
        bins = np.array(self.actions, np.uint8).reshape(length, len(HEADS))
        kept = {}
        for name, values in self.extras.items():
            report.extras[printable(name)] += len(values)
            kept[kept_name(name, facts)] = objects([values.get(t) for t in range(length)])
        report.steps += length
        report.episodes += 1
        return TrajectorySequence(
            obs=np.array(self.obs, np.float32).reshape(length, -1),
            actions={head.name: bins[:, h] for h, head in enumerate(HEADS)},
            rewards=np.array(self.rewards, np.float32),
            dones=dones,
            extras={**kept, **facts},
        )


def kept_name(name: str, facts: Mapping[str, Any]) -> str:
    """The name of an unknown field in the extras; ours are taken."""
    return f"recorded.{name}" if name in OURS or name in facts else name


def relative(path: Path, root: Path) -> str:
    """How a file is named in reports and lineage."""
    return path.relative_to(root).as_posix()


def files_below(root: Path, pattern: str) -> list[Path]:
    """Regular files of this name in a folder, links left out: they may lead anywhere.

    A folder that holds this realm is looked at without its lake: what was brought is there again.
    """
    lake = get_base_dir() / "lake"
    own = lake if lake.is_relative_to(root.absolute()) else None
    found = (p for p in root.rglob(pattern) if p.is_file() and not p.is_symlink())
    return sorted(p for p in found if own is None or not p.absolute().is_relative_to(own))
