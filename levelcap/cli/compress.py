"""`levelcap compress`: a smaller, quicker hero that is no weaker."""

from __future__ import annotations

from pathlib import Path

from rich.console import Console

from levelcap.cli.options import AsJson, Int
from levelcap.cli.printer import print_table, say, say_json, table
from levelcap.export.compress.path import FRONT, REPORT, Compression, Effort
from levelcap.kit.paths import folder as folder_of
from levelcap.vault.ask import find_folder

COLUMNS = ("step", "shape", "form", "KB", "64: µs", "×", "1: µs", "empty", "mJ", "Elo", "test")


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
    rows = []
    for row in found["steps"]:
        own, empty = row["ms"], f"{1e3 * row['ms']['1']['empty']:.0f}"
        elo = "" if not row["games"] else "{:+.0f} ({:+.0f} to {:+.0f})".format(*row["elo"])
        quicker = own["64"]["original"] / own["64"]["own"]
        times = f"{1e3 * own['64']['own']:.0f}", f"{quicker:.2f}", f"{1e3 * own['1']['own']:.0f}"
        size, test = f"{row['bytes'] / 1e3:.0f}", row["test"].get("verdict")
        head = row["step"], row["shape"], row["form"], size
        rows.append((*head, *times, empty, row["energy_mj"], elo, test))
    print_table(table(COLUMNS, rows, f"{path.meta.world}, against the original", right=COLUMNS[3:]))
    if not found["int8_is_quicker"]:
        say("int8 is slower than float here and was not chosen")
    if found["chosen"] is None:
        say("nothing was chosen: no step passed its test; give more --minutes or --test-minutes")
    else:
        verdict = found["verdict"]
        said = "may be champion" if verdict["passed"] else "refused"
        say(f"{found['chosen']} {said}: {verdict['reason']}")
    say(f"{len(found['candidates'])} candidates: {path.out / FRONT}\n{path.out / REPORT}")
    if json_:
        say_json(found)
