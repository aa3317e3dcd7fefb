"""`levelcap lake import|lineage|export`: recordings in, where they came from, and out again."""

from __future__ import annotations

from collections import Counter
from dataclasses import asdict
from typing import Literal

from levelcap.cli.lake import find_shard
from levelcap.cli.options import AsJson, World
from levelcap.cli.printer import print_table, say, say_json, table
from levelcap.kit.errors import BadFile, check_known, refuse
from levelcap.lake.exporters import minari, parquet
from levelcap.lake.importers.protocol import Options
from levelcap.lake.importers.report import ImportReport
from levelcap.lake.intake import REJECTS_FILE, Imported, import_folder
from levelcap.lake.lineage import Ancestor
from levelcap.lake.lineage import lineage as find_lineage
from levelcap.lake.shard import Shard
from levelcap.lake.zones import brought, sent
from levelcap.world.spec import RECORDED, WORLDS

SHOWN_REJECTS = 5
EXPORTERS = {"parquet": parquet.write, "minari": minari.write}


def import_(
    folder: str,
    /,
    *,
    format_: str | None = None,
    world: World = "duel",
    screen: bool = False,
    json_: AsJson = False,
) -> None:
    """Make a shard of recordings: ticks, feedback streams, filtered or watch sessions.

    Parameters
    ----------
    folder
        Where they lie: a folder, or an address such as s3://bucket/recordings.
    format_
        ticks, feedback, filtered or watch, where the folder holds several.
    world
        The ruleset whose scales positions have (ticks, filtered).
    screen
        Actions of the old form: x and y are shares of a screen, 0 to 1.
    json_
        Print the report as one JSON object as the last line.
    """
    check_known("world", world, WORLDS)
    with brought(folder) as root:
        done = import_folder(root, format_, Options(world, screen))
    _tell(done)
    if json_:
        places = {"shard": str(done.shard) if done.shard else None, "raw": str(done.raw)}
        places["quarantine"] = str(done.quarantine) if done.quarantine else None
        say_json(done.report.as_json() | {"name": done.name, **places})
    if done.shard is None:
        remedy = (
            f"Read why in {done.quarantine}/{REJECTS_FILE}, mend the files and import them again"
        )
        raise BadFile(refuse("not one step could be imported", folder, remedy))


def _tell(done: Imported) -> None:
    report = done.report
    say(f"Recognised as {report.format}: {report.files:,} files, of the world {report.world}")
    print_table(table((), _rows(report), "what became of them"))
    for reject in report.rejects[:SHOWN_REJECTS]:
        say(f"refused: {reject.file}, line {reject.line}: {reject.reason}")
    if len(report.rejects) > SHOWN_REJECTS:
        say(f"… and {len(report.rejects) - SHOWN_REJECTS:,} more")
    if done.quarantine:
        say(f"quarantine: {done.quarantine}/{REJECTS_FILE}")
    if done.shard:
        say(f"shard: {done.shard}")
        views = "" if report.world in RECORDED else " --views features"
        say(f"learn from it: levelcap imitate --world {report.world}{views} --shards {done.name}")


def _rows(report: ImportReport) -> list[tuple[str, str]]:
    rows = [
        ("read", f"{report.records:,} records: {report.used:,} used, {report.refused:,} refused"),
        ("made", f"{report.steps:,} steps in {report.episodes:,} episodes"),
        ("log-probabilities", "missing: to be imitated, never weighted by importance"),
    ]
    parts: dict[str, Counter[str]] = {"derived": report.derived, "lost": report.lost}
    for word, counts in (parts | {"kept as extras": report.extras}).items():
        told = [f"{what} {count:,}" for what, count in counts.items() if count]
        rows.append((word, "\n".join(told) or "nothing"))
    return rows


def lineage(shard: str, /, *, json_: AsJson = False) -> None:
    """Show what a shard was made from, up to files and matches.

    Parameters
    ----------
    shard
        A shard's name or folder, or a folder of labels.
    json_
        Print the tree as one JSON object as the last line.
    """
    root = find_lineage(find_shard(shard))
    _tell_tree(root, 0)
    if json_:
        say_json(asdict(root))


def _tell_tree(node: Ancestor, depth: int) -> None:
    say(f"{'  ' * depth}{node.kind} {node.label} · {node.sha256[:12]}")
    for parent in node.parents:
        _tell_tree(parent, depth + 1)


def export(
    shard: str, out: str, /, *, to: Literal["parquet", "minari"], json_: AsJson = False
) -> None:
    """Write a shard for programs of others.

    Parameters
    ----------
    shard
        A shard's name or folder.
    out
        A new folder, or an address such as s3://bucket/demos.
    to
        parquet (what `datasets.load_dataset` reads) or minari (needs that package).
    json_
        Print one JSON object as the last line.
    """
    opened = Shard(find_shard(shard))
    with sent(out) as folder:
        rows = EXPORTERS[to](opened, folder)
    say(f"{rows:,} steps as {to}: {out}")
    if json_:
        say_json({"out": out, "to": to, "steps": rows, "shard": opened.digest})
