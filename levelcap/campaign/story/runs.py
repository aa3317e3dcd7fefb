"""Run folders of the realm: what they are for, what they cost, what they gained."""

from __future__ import annotations

from dataclasses import asdict, dataclass
from pathlib import Path
from typing import Any

from levelcap.kit.db import Connection
from levelcap.kit.errors import unknown_name
from levelcap.kit.ids import check_id
from levelcap.kit.paths import folder, get_base_dir
from levelcap.kit.publish import sweep
from levelcap.vault.assets import now


@dataclass(frozen=True)
class Run:
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

    def as_json(self) -> dict[str, Any]:
        """Plain values."""
        return asdict(self)


def run_folder(run_id: str) -> Path:
    """The folder of a run; an id can never lead elsewhere."""
    return folder("runs") / check_id(run_id, "run")


def shard_folder(shard: str) -> Path:
    """The folder of a shard of this realm."""
    return folder("lake") / "trajectories" / check_id(shard, "shard")


def lesson_folder(name: str) -> Path:
    """The folder of a set of lessons of this realm."""
    return folder("lake") / "lessons" / check_id(name, "lessons")


def command_of(kind: str, payload: dict[str, Any]) -> str:
    """The command a person would type to do the same without a realm."""
    if kind == "study":
        return _study_command(payload)
    words = ["levelcap", kind, "--world", payload["world"], "--seed", str(payload["seed"])]
    if kind == "record":
        words[2:2] = [payload["teacher"], payload["partner"]]
        words += ["--games", str(payload["games"]), "--keep", payload["teacher"]]
        return " ".join(words)
    words += ["--size", payload["size"], "--minutes", f"{payload['minutes']:g}"]
    if kind == "imitate":
        words += ["--shards", *(f"$LEVELCAP_HOME/lake/trajectories/{s}" for s in payload["shards"])]
        words += ["--policies", *payload["policies"]] if payload["policies"] else []
    if kind == "reinforce" and payload["start"]:
        words += ["--from", payload["start"]]
    for name, value in sorted(payload["knobs"].items()):
        words += ["--set", f"{name}={value}"]
    return " ".join([*words, "--out", f"$LEVELCAP_HOME/runs/{payload['run']}"])


def _study_command(payload: dict[str, Any]) -> str:
    words = ["levelcap", "text", "train", "--skill", payload["skill"]]
    words += ["--preset", payload["preset"]] if payload["preset"] else []
    words += ["--level", str(payload["level"]), "--seed", str(payload["seed"])]
    words += ["--minutes", f"{payload['minutes']:g}"]
    words += ["--from", payload["start"]] if payload["start"] else []
    words += ["--lessons", *payload["lessons"]] if payload["lessons"] else []
    for name, value in sorted(payload["knobs"].items()):
        words += ["--set", f"{name}={value}"]
    return " ".join([*words, "--out", f"$LEVELCAP_HOME/runs/{payload['run']}"])


def begin(
    connection: Connection, kind: str, payload: dict[str, Any], campaign: str | None,
    base_step: int,
) -> None:  # fmt: skip
    """Enter a run, or leave it when it is known (a continued one)."""
    connection.execute(
        "INSERT INTO runs (id, campaign, kind, world, seed, command, started, base_step)"
            " VALUES (:i, :c, :k, :w, :s, :m, :t, :b) ON CONFLICT (id) DO UPDATE"
            " SET command = excluded.command, ended = NULL",
        {
            "i": payload["run"], "c": campaign, "k": kind,
            "w": payload.get("world") or payload["preset"] or payload["skill"],
            "s": payload["seed"], "m": command_of(kind, payload), "t": now(), "b": base_step,
        },
    )  # fmt: skip


def finish(connection: Connection, run_id: str, result: dict[str, Any]) -> None:
    """Write what a run has cost so far."""
    connection.execute(
        "UPDATE runs SET ended = :t, seconds = :s, core_seconds = :c, steps = :n,"
            " updates = :u WHERE id = :i",
        {
            "t": now(), "s": result["seconds"], "c": result["core_seconds"],
            "n": result["steps"], "u": result["updates"], "i": run_id,
        },
    )  # fmt: skip


def cost_before(connection: Connection, run: Run, world: str | None = None) -> float:
    """Core-seconds of the other runs of its campaign, all of them or those in one world."""
    query = (
        "SELECT coalesce(sum(core_seconds), 0) FROM runs"
        " WHERE campaign = :c AND id != :i AND (:w IS NULL OR world = :w)"
    )
    found = connection.execute(query, {"c": run.campaign, "i": run.id, "w": world})
    return float(found.scalar_one())


def note_gain(
    connection: Connection, run_id: str, gain: tuple[float, float, float], cost: float | None,
    worth: str,
) -> None:  # fmt: skip
    """Write what a run gained, with its interval, and what a point of Elo cost."""
    connection.execute(
        "UPDATE runs SET gain = :g, gain_low = :l, gain_high = :h, cost_per_elo = :c,"
        " worth = :w WHERE id = :i",
        {"g": gain[0], "l": gain[1], "h": gain[2], "c": cost, "w": worth, "i": run_id},
    )


def get(connection: Connection, run_id: str) -> Run:
    """One run.

    Raises:
        UnknownName: no such run.
    """
    row = connection.execute("SELECT * FROM runs WHERE id = :i", {"i": run_id}).first()
    if row is None:
        recent = connection.execute("SELECT id FROM runs ORDER BY started DESC LIMIT 20")
        raise unknown_name("run", run_id, recent.scalars())
    return Run(**row._asdict())


def list_runs(connection: Connection, campaign: str | None = None, limit: int = 100) -> list[Run]:
    """Runs, newest first."""
    query = "SELECT * FROM runs WHERE :c IS NULL OR campaign = :c ORDER BY started DESC LIMIT :n"
    found = connection.execute(query, {"c": campaign, "n": max(1, min(limit, 1000))})
    return [Run(**row._asdict()) for row in found]


def tidy() -> list[str]:
    """At a start: remove what killed writers left anywhere in the realm; returns the names."""
    base = get_base_dir()
    places = [
        *base.glob("runs/*/snapshots"), *base.glob("runs/*/checkpoints"), *base.glob("runs/*"),
        *(base / part for part in ("lake/trajectories", "vault/imported", "vault/cache", "exports",
                                   "inbox", "inbox/quarantine", "state", "config")),
    ]  # fmt: skip
    return [name for place in places if place.is_dir() for name in sweep(place)]


def snapshot_folders() -> list[Path]:
    """Every snapshot folder under the realm's runs and among its imported checkpoints."""
    base = get_base_dir()
    imported = base.glob("vault/imported/checkpoint-*")
    return sorted([*base.glob("runs/*/snapshots/step-*"), *imported])
