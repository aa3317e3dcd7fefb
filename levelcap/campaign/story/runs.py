"""Run folders of the realm: what they are for, what they cost, what they gained."""

from __future__ import annotations

import json
from dataclasses import asdict, dataclass
from pathlib import Path
from typing import Any

from levelcap.campaign.story import rows
from levelcap.campaign.story.rows import Row
from levelcap.kit.db import Connection
from levelcap.kit.errors import unknown_name
from levelcap.kit.ids import check_id
from levelcap.kit.paths import folder, get_base_dir
from levelcap.kit.prefix import by_prefix
from levelcap.kit.publish import sweep
from levelcap.nets.meta import TEXT_WORLD
from levelcap.vault.assets import now

# Where something is written whole or not at all.
_WRITTEN = (
    *("runs/*/snapshots", "runs/*/checkpoints", "runs/*", "lake/trajectories", "vault/imported"),
    *("vault/cache", "exports", "inbox", "inbox/quarantine", "state", "config"),
)
SKIP = "skip"  # a file in a run's folder: it ends and its quest counts as skipped


@dataclass(frozen=True)
class Run(Row):
    """One row. `worth` says in words whether the run brought anything."""

    id: str
    campaign: str | None
    kind: str
    world: str
    seed: int
    command: str
    started: str
    ended: str | None
    seconds: float
    core_seconds: float
    steps: int
    updates: int
    base_step: int
    gain: float | None
    gain_low: float | None
    gain_high: float | None
    cost_per_elo: float | None
    worth: str | None
    skill: str | None
    start: str | None
    settled: int


def run_folder(run_id: str) -> Path:
    """The folder of a run; an id can never lead elsewhere."""
    return folder("runs") / check_id(run_id, "run")


def shard_folder(shard: str) -> Path:
    """The folder of a shard of this realm."""
    return folder("lake") / "trajectories" / check_id(shard, "shard")


def lesson_folder(name: str) -> Path:
    """The folder of a set of lessons of this realm."""
    return folder("lake") / "lessons" / check_id(name, "lessons")


@dataclass(frozen=True)
class NewRun:
    """A run that is to be entered: `world` of an arena hero's, `skill` of a text hero's."""

    id: str
    kind: str
    seed: int
    command: str
    world: str = TEXT_WORLD
    skill: str | None = None
    start: str | None = None


def begin(connection: Connection, run: NewRun, campaign: str | None, base_step: int) -> None:
    """Enter a run, or leave it when it is known (a continued one)."""
    connection.execute(
        "INSERT INTO runs (id, campaign, kind, world, skill, start, seed, command, started,"
        " base_step) VALUES (:id, :campaign, :kind, :world, :skill, :start, :seed, :command,"
        " :started, :base_step) ON CONFLICT (id) DO UPDATE"
        " SET command = excluded.command, ended = NULL",
        {**asdict(run), "campaign": campaign, "started": now(), "base_step": base_step},
    )


def finish(connection: Connection, run_id: str, result: dict[str, Any]) -> None:
    """Write what a run has cost so far."""
    connection.execute(
        "UPDATE runs SET ended = :t, seconds = :seconds, core_seconds = :core_seconds,"
        " steps = :steps, updates = :updates WHERE id = :i",
        {**result, "t": now(), "i": run_id},
    )


def cost_before(connection: Connection, run: Run, skill: str | None = None) -> float:
    """Core-seconds of the other runs of its campaign, all of them or those in one skill."""
    query = (
        "SELECT coalesce(sum(core_seconds), 0) FROM runs"
        " WHERE campaign = :c AND id != :i AND (:s IS NULL OR skill = :s)"
    )
    found = connection.execute(query, {"c": run.campaign, "i": run.id, "s": skill})
    return float(found.scalar_one())


@dataclass(frozen=True)
class Gain:
    """What a run gained: Elo with its interval, what a point cost, in words, and up to where."""

    elo: float
    low: float
    high: float
    cost_per_elo: float | None
    worth: str
    settled: int  # number of the newest judged checkpoint that is in it


def note_gain(connection: Connection, run_id: str, gain: Gain) -> None:
    """Write it."""
    connection.execute(
        "UPDATE runs SET gain = :elo, gain_low = :low, gain_high = :high,"
        " cost_per_elo = :cost_per_elo, worth = :worth, settled = :settled WHERE id = :run",
        {**asdict(gain), "run": run_id},
    )


def settled(connection: Connection, campaign: str) -> dict[str, int]:
    """Run of a campaign -> number of the checkpoint up to which its gain was written."""
    query = "SELECT id, settled FROM runs WHERE campaign = :c"
    return rows.counts(connection, query, c=campaign)


def find(connection: Connection, run_id: str) -> Run | None:
    """One run, or None."""
    return rows.first(connection, Run, "SELECT * FROM runs WHERE id = :i", i=run_id)


def find_id(connection: Connection, given: str) -> str:
    """The id that was typed, whole or its beginning; see `kit.prefix`."""
    return by_prefix(connection, "run", "runs", given)


def get(connection: Connection, run_id: str) -> Run:
    """One run.

    Raises:
        UnknownName: no such run.
    """
    found = find(connection, run_id)
    if found is None:
        recent = connection.execute("SELECT id FROM runs ORDER BY started DESC LIMIT 20").scalars()
        raise unknown_name("run", run_id, recent)
    return found


def list_runs(connection: Connection, campaign: str | None = None, limit: int = 100) -> list[Run]:
    """Runs, newest first."""
    query = "SELECT * FROM runs WHERE :c IS NULL OR campaign = :c ORDER BY started DESC LIMIT :n"
    return rows.select(connection, Run, query, c=campaign, n=rows.at_most(limit))


def tidy() -> list[str]:
    """At a start: remove what killed writers left anywhere in the realm; returns the names."""
    base = get_base_dir()
    places = [place for pattern in _WRITTEN for place in base.glob(pattern)]
    return [name for place in places if place.is_dir() for name in sweep(place)]


def snapshot_folders() -> list[Path]:
    """Every snapshot folder under the realm's runs and among its imported checkpoints."""
    base = get_base_dir()
    imported = base.glob("vault/imported/checkpoint-*")
    return sorted([*base.glob("runs/*/snapshots/step-*"), *imported])


def new_lines(path: Path, offset: int, limit: int = -1) -> tuple[list[dict[str, Any]], int]:
    """Whole lines of a JSONL file of a run after a byte, and the byte to go on from.

    A line that is no JSON (cut off by a kill and written over) is left out.
    """
    try:
        with path.open("rb") as file:
            file.seek(offset)
            data = file.read(limit)
    except FileNotFoundError:
        return [], offset
    end = data.rfind(b"\n") + 1
    found = []
    for line in data[:end].splitlines():
        try:
            row = json.loads(line)
        except ValueError:
            continue
        if isinstance(row, dict):
            found.append(row)
    return found, offset + end
