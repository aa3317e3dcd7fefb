"""`levelcap compress`: a smaller, quicker hero that is no weaker."""

from __future__ import annotations

from dataclasses import asdict
from pathlib import Path

from rich.console import Console

from levelcap.cli.options import AsJson, Int
from levelcap.cli.printer import print_table, say, say_json, table
from levelcap.export.compress.compressed import REPORT
from levelcap.export.compress.figures import Figures
from levelcap.export.compress.path import FRONT, Compression, Effort
from levelcap.kit.paths import folder as folder_of
from levelcap.vault.ask import find_folder

COLUMNS = ("step", "shape", "form", "KB", "64: µs", "×", "1: µs", "empty", "mJ", "Elo", "test")
RIGHT = COLUMNS[3:-1]


def compress(
    checkpoint: str,
    *,
    out: Path | None = None,
    minutes: float = Effort.minutes,
    test_minutes: float = Effort.test_minutes,
    candidates: Int = Effort.candidates,
    games: Int = Effort.games,
    seed: Int = Effort.seed,
    json_: AsJson = False,
) -> None:
    """Distil, quantise, prune and search around a flat hero, and prove what it is still worth.

    Parameters
    ----------
    checkpoint
        Its id, champion, best, latest, or a folder.
    out
        The folder of this compression; the same command again continues it. By default under
        exports/ of the realm.
    minutes
        Of training, all steps together.
    test_minutes
        Of each step's no-regression test at most; then it stays undecided.
    candidates
        Shapes that are searched.
    games
        Of each candidate against the original.
    seed
        Of everything.
    json_
        Print one JSON object as the last line.
    """
    effort = Effort(minutes, test_minutes, candidates, games, seed=seed)
    place = find_folder(checkpoint)
    with Console(stderr=True).status("starting") as status:
        path = Compression(place, Path(), effort, status.update)
        path.out = out or folder_of("exports") / f"compress-{path.digest[:12]}"
        found = path.run()
    print_table(
        table(COLUMNS, map(_cells, found.steps), f"{path.meta.world}, beside the original", RIGHT)
    )
    for batch, who in (("64", "64 players"), ("1", "one player")):
        ratio = found.int8_time(batch)
        say(f"int8 for {who}: time × {ratio:.2f} of float32{', slower' if ratio >= 1 else ''}")
    if found.chosen is None:
        say("nothing was chosen: no step passed its test; give more --minutes or --test-minutes")
    else:
        said = "may be champion" if found.passed else "refused"
        say(f"chosen for 64 players: {found.chosen}; its checkpoint {said}: {found.reason}")
    say(f"{len(found.candidates)} candidates: {path.out / FRONT}\n{path.out / REPORT}")
    if json_:
        say_json(asdict(found))


def _cells(row: Figures) -> tuple[str | float | None, ...]:
    """A step as a row of the table."""
    many, one = row.ms["64"], row.ms["1"]
    elo = "{:+.0f} ({:+.0f} to {:+.0f})".format(*row.elo) if row.games else ""
    times = [f"{1e3 * ms:.0f}" for ms in (many["own"], one["own"], one["empty"])]
    times.insert(1, f"{row.faster:.2f}")
    head = row.step, row.shape, row.form, f"{row.bytes / 1e3:.0f}"
    return (*head, *times, row.energy_mj, elo, row.test.get("verdict"))
