"""`levelcap coach`: labels of recorded play, and how far two labellings agree."""

from __future__ import annotations

from pathlib import Path

from levelcap.cli.options import AsJson
from levelcap.cli.printer import print_table, say, say_json, table
from levelcap.coach.agree import agree as compare
from levelcap.coach.rules import label_shard
from levelcap.kit.backend import open_backend
from levelcap.lake.shard import Shard
from levelcap.world.spec import INTENTS


def label(
    shard: Path,
    /,
    *,
    out: Path | None = None,
    backend: str = "inline",
    json_: AsJson = False,
) -> None:
    """Say of every two seconds of a shard what the player wanted and whom it aimed at.

    Parameters
    ----------
    shard
        A folder that `levelcap record` wrote, with the views body (or player) and objects.
    out
        The folder of the labels; default: beside the shard, with .labels at its end.
    backend
        Who labels: inline, or processes (one for each core).
    json_
        Print one JSON object as the last line.
    """
    place = out or shard.with_name(f"{shard.name}.labels")
    with open_backend(backend) as opened:
        count = label_shard(Shard(shard), place, opened)
    say(f"{count:,} windows labelled: {place}")
    if json_:
        say_json({"windows": count, "labels": str(place)})


def agree(a: Path, b: Path, /, *, json_: AsJson = False) -> None:
    """How far two labellings of one shard say the same.

    Parameters
    ----------
    a
        A folder of labels.
    b
        Another of the same shard.
    json_
        Print one JSON object as the last line.
    """
    found = compare(a, b)
    rows = [(INTENTS[i], *map(str, row)) for i, row in enumerate(found.table.tolist())]
    print_table(table(("A says", *INTENTS), rows, "Windows by intent, B across", right=True))
    said = f"{found.windows:,} windows in both: intent {found.accuracy:.3f}, kappa"
    say(f"{said} {found.kappa:.3f}, target {found.targets:.3f}")
    if json_:
        names = ("windows", "accuracy", "kappa", "targets")
        told = {name: getattr(found, name) for name in names}
        say_json({**told, "per_intent": found.per_intent()})
