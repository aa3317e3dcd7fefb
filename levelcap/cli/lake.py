"""`levelcap lake …`: which shards there are, what is in one, is it whole; old recordings read."""

from __future__ import annotations

import json
from dataclasses import asdict
from pathlib import Path
from typing import Any

from rich.table import Table

from levelcap.cli.options import AsJson
from levelcap.cli.printer import print_table, say, say_json, table
from levelcap.kit.errors import BadValue, refuse, unknown_name
from levelcap.kit.ids import check_id
from levelcap.kit.paths import get_base_dir
from levelcap.kit.publish import read_manifest
from levelcap.lake.check import check_shard, list_shards
from levelcap.lake.header import HEADER_FILE, Header
from levelcap.lake.old_actions import convert_old
from levelcap.lake.quality import one_sided
from levelcap.world.actions import HOTKEYS


def _trajectories() -> Path:
    return get_base_dir() / "lake" / "trajectories"


def find_shard(shard: str) -> Path:
    """The folder of a shard given by name or by path."""
    if Path(shard).is_dir():
        return Path(shard)
    if "/" in shard:
        raise BadValue(refuse("no such shard", shard, "Give a shard's folder or its name"))
    path = _trajectories() / check_id(shard, "shard")
    if not path.is_dir():
        raise unknown_name("shard", shard, [p.name for p, *_ in list_shards(_trajectories())])
    return path


def _size(folder: Path) -> float:
    return sum(entry["bytes"] for entry in read_manifest(folder).files.values()) / 1e6


def ls() -> None:
    """List the shards below $LEVELCAP_HOME/lake/trajectories."""
    rows: list[tuple[Any, ...]] = []
    for path, header, made in list_shards(_trajectories()):
        if header is None:
            rows.append((path.name, "unreadable: levelcap lake check says why"))
            continue
        names = ", ".join(policy["name"] for policy in header.policies)
        counts = (f"{header.num_steps:,}", f"{header.num_episodes:,}", f"{_size(path):.1f}")
        rows.append((path.name, header.world, names, header.views, *counts, made))
    numbers = ("steps", "episodes", "MB", "made")
    columns = ("shard", "world", "policies", "views", *numbers)
    print_table(table(columns, rows, str(_trajectories()), numbers))


def show(shard: str, /, *, json_: AsJson = False) -> None:
    """Show what a shard says of itself.

    Parameters
    ----------
    shard
        A shard's name or folder.
    json_
        Print the header as one JSON object as the last line.
    """
    folder = find_shard(shard)
    manifest = read_manifest(folder)
    header = Header.from_file(folder / HEADER_FILE)
    facts = _facts(header) | {
        "made": f"{manifest.created} by {header.made_by}",
        "size": f"{_size(folder):.1f} MB in {len(manifest.files)} files",
    }
    print_table(table((), facts.items(), str(folder)))
    print_table(report_block(header.quality))
    if json_:
        say(header.to_bytes().decode().replace("\n", ""))


def check(*shards: str, json_: AsJson = False) -> None:
    """Read every byte and every value of shards; a broken one ends the command with its reason.

    Parameters
    ----------
    shards
        Names or folders; none: all below $LEVELCAP_HOME/lake/trajectories.
    json_
        Print the quality reports as one JSON object as the last line.
    """
    folders = [find_shard(shard) for shard in shards]
    if not shards:
        folders = [path for path, *_ in list_shards(_trajectories())]
    reports: dict[str, Any] = {}
    for folder in folders:
        header, report = check_shard(folder)
        reports[str(folder)] = report
        say(f"{folder}: whole · {header.world} · {header.num_steps:,} steps")
        print_table(report_block(report))
        for warning in one_sided(report):
            say(f"one-sided: {warning}")
    if json_:
        say_json(reports)


def old_actions(file: Path, out: Path, /, *, screen: bool = False, json_: AsJson = False) -> None:
    """Read actions of the old form [x, y, click, ability_val] as mouse rows; says what is lost.

    Parameters
    ----------
    file
        Rows of four numbers, .csv or .npy.
    out
        The new file of rows x, y, click_type, hotkey_id: .csv or .npy.
    screen
        x and y are shares of a screen, 0 to 1, with the player in its middle.
    json_
        Print the report as one JSON object as the last line.
    """
    report = asdict(convert_old(file, out, screen))
    keys = {name: count for name, count in report["hotkeys"].items() if count}
    shown = report | {"hotkeys": ", ".join(f"{name} {count:,}" for name, count in keys.items())}
    rows = [(name.replace("_", " "), value) for name, value in shown.items()]
    place = "shares of a screen, 0 to 1" if screen else "offsets from the player, -1 to 1"
    say(f"Read as: x, y {place}; click > .5 left; ability_val 0 to 1 in {len(HOTKEYS)} equal parts")
    print_table(table((), rows, "rows, and what was lost of them"))
    if json_:
        say_json(report)


def _facts(header: Header) -> dict[str, Any]:
    shapes = (f"{name}{list(shape)}" for name, shape in header.view_shapes.items())
    patch = f", patch {header.patch['name']} {header.patch['sha256'][:12]}"
    return {
        "world": f"{header.world}, version {header.world_version}"
        + (patch if header.patch["name"] else ""),
        "views": f"{header.views}: {', '.join(shapes)}",
        "heads": ", ".join(f"{name} {size}" for name, size in header.heads),
        "policies": ", ".join(
            f"{p['name']} {p['hash'][:12]}" + (" with log-probabilities" if p["log_probs"] else "")
            for p in header.policies
        ),
        "steps": f"{header.num_steps:,} in {header.num_episodes:,} episodes of "
        f"{header.num_matches:,} matches",
        "source": header.source,
        "parents": "\n".join(header.parents),
        "config": json.dumps(header.config),
    }


def report_block(report: dict[str, Any]) -> Table:
    """The quality report as a table."""
    rows = [
        (name.replace("_", " "), "known after a check" if value is None else f"{value:,}")
        for name, value in report.items()
        if name not in ("shares", "length")
    ]
    rows.append(("length", ", ".join(f"{n} {v:g}" for n, v in report["length"].items())))
    for name, shares in report["shares"].items():
        listed = ", ".join(f"{value or '–'} {share:.1%}" for value, share in shares.items())
        rows.append((f"by {name}", listed))
    return table((), rows, "quality")
