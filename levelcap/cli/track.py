"""`levelcap track RUN WHERE --to …`: the metrics of a run in the tracker people already use."""

from __future__ import annotations

import importlib
import time
from collections.abc import Mapping
from pathlib import Path
from types import ModuleType
from typing import Any, Literal

from levelcap.campaign.story.curves import new_rows
from levelcap.cli.event_file import EventFile
from levelcap.cli.printer import say
from levelcap.cli.runs import find_run
from levelcap.kit.errors import BadFile, MissingPackage, refuse
from levelcap.kit.files import read_json
from levelcap.learn.engine.folder import CONFIG, METRICS, is_training, leaves

EVERY_S = 2.0
QUIET_S = 60.0  # rounds of one run have pauses: evaluations
BATCH = 900  # MLflow takes 1,000 metrics at once


def track(
    run: str,
    where: str,
    /,
    *,
    to: Literal["tensorboard", "mlflow", "trackio"] = "tensorboard",
    follow: bool = False,
) -> None:
    """Mirror the metrics of a run into TensorBoard, MLflow or trackio; again goes on where it was.

    Parameters
    ----------
    run
        A run's name or its beginning, latest, or its folder.
    where
        TensorBoard: the log folder. MLflow: the tracking URI (http://…, sqlite:///runs.db).
        trackio: the project.
    to
        tensorboard (needs nothing installed), mlflow or trackio.
    follow
        Go on until the run has rested for a minute; Ctrl-C ends it, too.
    """
    place = find_run(run)
    if to == "tensorboard" and Path(where).is_file():
        raise BadFile(refuse("not a folder", where, "Give a folder for TensorBoard's files"))
    mirror = _open(to, where, place)
    before, offset, written = mirror.last_step, 0, 0
    alive_s = time.monotonic()
    try:
        while True:
            rows, offset = new_rows(place / METRICS, offset)
            written += _mirror(mirror, rows)
            mirror.flush()
            if rows or is_training(place):
                alive_s = time.monotonic()
            if not rows and not (follow and time.monotonic() - alive_s < QUIET_S):
                break
            if not rows:
                time.sleep(EVERY_S)
    finally:
        mirror.close()
    since = "" if before < 0 else f" after step {before:,}"
    say(f"{place.name}: {written:,} steps{since} written to {to} {where}")


def _mirror(mirror: Mirror, rows: list[dict[str, Any]]) -> int:
    """Write what is newer; returns how many steps that were.

    A run that was killed and goes on repeats the steps since its last checkpoint: they are there
    already, and its repetition is the same to the bit.
    """
    count = 0
    for row in rows:
        step = int(row["step"])
        if step <= mirror.last_step:
            continue
        values = {
            name: float(value)
            for name, value in row.items()
            if name not in ("step", "time") and isinstance(value, int | float)
        }
        mirror.write(float(row.get("time", 0.0)), step, values)
        count += 1
    return count


def _open(to: str, where: str, run: Path) -> Mirror:
    if to == "tensorboard":
        return EventFile(Path(where) / run.name)
    return Mlflow(where, run) if to == "mlflow" else Trackio(where, run)


def _package(name: str) -> ModuleType:
    try:
        return importlib.import_module(name)
    except ImportError as error:
        remedy = f"Install it with: pip install {name}"
        raise MissingPackage(refuse(f"{name} is not installed", name, remedy)) from error


class Mlflow:
    """A run of MLflow, found again by its tag."""

    def __init__(self, uri: str, run: Path) -> None:
        mlflow = _package("mlflow")
        self._client = mlflow.MlflowClient(tracking_uri=uri)
        self._metric = mlflow.entities.Metric
        found = self._client.get_experiment_by_name("levelcap")
        home = found.experiment_id if found else self._client.create_experiment("levelcap")
        known = self._client.search_runs([home], f"tags.levelcap_run = '{run.name}'")
        if known:
            self._run = known[0].info.run_id
        else:
            tags = {"levelcap_run": run.name, "mlflow.runName": run.name}
            self._run = self._client.create_run(home, tags=tags).info.run_id
            for name, value in leaves(read_json(run / CONFIG)).items():
                self._client.log_param(self._run, name, str(value)[:500])
        told = self._client.get_metric_history(self._run, "levelcap_step")
        self.last_step = max((point.step for point in told), default=-1)
        self._waiting: list[Any] = []

    def write(self, time_s: float, step: int, scalars: Mapping[str, float]) -> None:
        """Gather; the step's own mark comes last, so that a step counts when it is whole."""
        if len(self._waiting) + len(scalars) >= BATCH:
            self.flush()
        marked = {**scalars, "levelcap_step": float(step)}
        self._waiting += [self._metric(k, v, int(1000 * time_s), step) for k, v in marked.items()]
        self.last_step = step

    def flush(self) -> None:
        """Send what was gathered."""
        if self._waiting:
            self._client.log_batch(self._run, metrics=self._waiting)
        self._waiting = []

    def close(self) -> None:
        """Send the rest."""
        self.flush()


class Trackio:
    """A run of trackio, kept on this machine."""

    def __init__(self, project: str, run: Path) -> None:
        trackio = _package("trackio")
        storage = importlib.import_module("trackio.sqlite_storage").SQLiteStorage
        told = storage.get_logs(project, run.name) if run.name in storage.get_runs(project) else []
        self.last_step = max((int(row["step"]) for row in told), default=-1)
        self._run = trackio.init(
            project=project,
            name=run.name,
            config=read_json(run / CONFIG),
            resume="allow",
            auto_log_cpu=False,  # of this process, which has nothing to do with the run's
        )

    def write(self, time_s: float, step: int, scalars: Mapping[str, float]) -> None:
        """Write a step."""
        self._run.log(dict(scalars), step=step)
        self.last_step = step

    def flush(self) -> None:
        """It sends by itself."""

    def close(self) -> None:
        """Wait until all is written."""
        self._run.finish()


# Where metrics can go; each knows itself how far it has come (`last_step`).
Mirror = EventFile | Mlflow | Trackio
