"""A folder that somebody brings becomes a shard, with everything that was refused beside it.

    found = import_folder(folder)
    found.shard, found.report, found.quarantine

The import is named by the content of its files, so that the same files are imported once. Raw files
are published first, then what was refused, the shard, and the report last: after a kill the same
command goes on.
"""

from __future__ import annotations

import shutil
from collections.abc import Iterator, Sequence
from dataclasses import asdict, dataclass
from itertools import chain
from pathlib import Path

import numpy as np

import levelcap
from levelcap.kit.errors import BadFile, Conflict, refuse
from levelcap.kit.files import append_jsonl, dump_json, write_json
from levelcap.kit.ids import sha256_bytes, sha256_file, short_id
from levelcap.kit.publish import publish
from levelcap.kit.seeds import splitmix64
from levelcap.lake.header import STORED, Header, header_of
from levelcap.lake.importers.protocol import Importer, Options, Unit, relative
from levelcap.lake.importers.report import ImportReport
from levelcap.lake.importers.table import recognise
from levelcap.lake.records import NO_INTENT, Episodes, Steps, TrajectorySequence
from levelcap.lake.write import ShardWriter, write_shard
from levelcap.lake.zones import zone
from levelcap.world.spec import RECORDED, WorldSpec, arena_spec, recorded_spec

REPORT_FILE, REJECTS_FILE = "report.json", "rejects.jsonl"
FILE = "file"  # a parent that is a file: "file <sha256> <name>"


@dataclass(frozen=True)
class Imported:
    """Where everything lies; no shard when nothing could be read, no quarantine when all could."""

    name: str
    shard: Path | None
    raw: Path
    quarantine: Path | None
    report: ImportReport


def import_folder(
    root: Path, wanted: str | None = None, options: Options | None = None
) -> Imported:
    """Import what lies in a folder.

    Args:
        root: the folder; it is only read.
        wanted: the format's name, where the folder holds several.
        options: what the files do not say.

    Raises:
        BadFile, BadValue: nothing of a known format, or of several.
        Conflict: these files have been imported already.
    """
    options = options or Options()
    importer, units = recognise(root, wanted)
    world = importer.world(options)
    spec = recorded_spec(world) if world in RECORDED else arena_spec(world)
    sums = _sums(root, units)
    identity = {"files": sums, "format": importer.name, "options": asdict(options)}
    name = f"import-{short_id(sha256_bytes(dump_json(identity)))}"
    if (zone("processed") / name).exists():
        remedy = f"Look at it with levelcap lake show {name}"
        raise Conflict(refuse("these files have been imported already", name, remedy))
    report = ImportReport(importer.name, world, files=len(sums))
    raw = _keep_raw(root, units, name, sums)
    shard = _write(root, units, importer, options, report, spec, name, sums)
    quarantine = _keep_rejects(report, name) if report.rejects else None
    made_by = _made_by(importer)
    told = report.as_json() | {"shard": shard.name if shard else None}
    publish(
        zone("processed") / name,
        lambda tmp: write_json(tmp / REPORT_FILE, told),
        made_by=made_by,
        parents=_parents(sums),
    )
    return Imported(name, shard, raw, quarantine, report)


def _made_by(importer: Importer) -> str:
    return f"levelcap {levelcap.__version__} import of {importer.name}"


def _sums(root: Path, units: Sequence[Unit]) -> dict[str, str]:
    files = {path for unit in units for path in (*unit.files, *unit.referred)}
    try:
        return {relative(path, root): sha256_file(path) for path in sorted(files)}
    except OSError as error:
        remedy = "Make it readable, or take it out of the folder"
        raise BadFile(
            refuse(f"cannot be read ({error.strerror})", error.filename, remedy)
        ) from error


def _parents(sums: dict[str, str]) -> list[str]:
    return [f"{FILE} {sha256} {name}" for name, sha256 in sums.items()]


def _keep_raw(root: Path, units: Sequence[Unit], name: str, sums: dict[str, str]) -> Path:
    """The files as they came, but for films; an import that was killed has left them already."""
    target = zone("raw") / name

    def copy(tmp: Path) -> None:
        for path in sorted({path for unit in units for path in unit.files}):
            place = tmp / "files" / relative(path, root)
            place.parent.mkdir(parents=True, exist_ok=True)
            shutil.copyfile(path, place)

    if not target.exists():
        publish(
            target, copy, made_by=f"levelcap {levelcap.__version__} import", parents=_parents(sums)
        )
    return target


def _keep_rejects(report: ImportReport, name: str) -> Path:
    target = zone("quarantine") / name
    if not target.exists():
        lines = [asdict(reject) for reject in report.rejects]
        made_by = f"levelcap {levelcap.__version__} import"
        publish(target, lambda tmp: append_jsonl(tmp / REJECTS_FILE, lines), made_by=made_by)
    return target


def _write(
    root: Path,
    units: Sequence[Unit],
    importer: Importer,
    options: Options,
    report: ImportReport,
    spec: WorldSpec,
    name: str,
    sums: dict[str, str],
) -> Path | None:
    """The shard, or None when there is not one step."""
    players = sorted({unit.player for unit in units})
    header = _header(importer, spec, players, sums, options)
    target = zone("trajectories") / name
    found = _noted(root, units, importer.read(root, units, options, report), report)
    first = next(found, None)
    if first is None:
        return None

    def fill(writer: ShardWriter) -> None:
        pieces: dict[str, int] = {}
        for unit, sequence in chain((first,), found):
            number = pieces[unit.episode] = pieces.get(unit.episode, -1) + 1
            writer.add(*_block(unit, sequence, players.index(unit.player), number, spec))
            writer.add_extras(sequence.extras)

    if target.exists():  # a kill came before the report: read it all again, for the counts
        for _ in found:
            pass
    else:
        write_shard(target, header, fill)
    return target


def _noted(
    root: Path,
    units: Sequence[Unit],
    found: Iterator[tuple[Unit, TrajectorySequence]],
    report: ImportReport,
) -> Iterator[tuple[Unit, TrajectorySequence]]:
    """The same; then a reject of every unit that gave nothing and about which nothing was said."""
    gave = set()
    for unit, sequence in found:
        gave.add(unit)
        yield unit, sequence
    told = {reject.file for reject in report.rejects}
    for unit in units:
        if unit not in gave and not told & {relative(path, root) for path in unit.files}:
            what = "not one step is in it"
            report.reject(relative(unit.files[0], root), 0, what, record=False)


def _header(
    importer: Importer, spec: WorldSpec, players: list[str], sums: dict[str, str], options: Options
) -> Header:
    return header_of(
        spec,
        (_view(spec),),
        patch={"name": "", "sha256": "", "content": None},  # nobody says which
        views=STORED,
        decision_ticks=1,
        champions=None,
        # How likely an action was is known to whoever chose it, and nobody wrote it down.
        policies=[{"name": player, "hash": "", "log_probs": False} for player in players],
        made_by=_made_by(importer),
        source=importer.source,
        config={"format": importer.name, **asdict(options)},
        parents=_parents(sums),
    )


def _view(spec: WorldSpec) -> str:
    """The view that holds the 19 numbers."""
    return spec.name if spec.name in RECORDED else "features"


def _block(
    unit: Unit, sequence: TrajectorySequence, player: int, number: int, spec: WorldSpec
) -> tuple[Steps, Episodes]:
    """A trajectory as a match of its own; `number` counts the pieces of one episode."""
    length = len(sequence)
    ended = bool(sequence.dones[-1])
    truncated = np.zeros(length, np.bool_)
    truncated[-1] = not ended
    steps = Steps(
        actions=np.stack([sequence.actions[head.name] for head in spec.heads], 1),
        log_probs=np.full(length, np.nan, np.float32),
        intents=np.full(length, NO_INTENT, np.int8),
        mask=np.ones((length, spec.mask_size), np.uint8),  # nobody says what was forbidden
        rewards=sequence.rewards,
        terminated=sequence.dones,
        truncated=truncated,
        alive=np.ones(length, np.bool_),
        views={_view(spec): sequence.obs},
    )
    # Pieces of one episode share its seed, so that no split tears it apart; the seat tells them.
    seed = splitmix64(int(sha256_bytes(unit.episode.encode("utf-8", "surrogateescape"))[:15], 16))
    episodes = Episodes(
        match=np.zeros(1, np.int32),
        match_seed=np.array([seed], np.uint64),
        seat=np.array([number % (1 << 15)], np.int16),
        team=np.zeros(1, np.int16),
        policy=np.array([player], np.int16),
        champion=np.array([""]),
        outcome=np.array([sequence.extras.get("terminal_outcome", 0)], np.int8),
        reward_sum=np.array([sequence.rewards.sum(dtype=np.float64)], np.float32),
        length=np.array([length], np.int32),
        kept=np.ones(1, np.bool_),
    )
    return steps, episodes
