"""`levelcap harden`: a hero learns under attack; what every attack costs it before and after."""

from __future__ import annotations

from pathlib import Path
from typing import Any

from rich.console import Console

from levelcap.cli.options import AsJson, Int, Overrides
from levelcap.cli.printer import print_table, say, say_json, table
from levelcap.cli.progress import Report
from levelcap.kit.ids import run_name
from levelcap.kit.paths import folder
from levelcap.learn.adversary.harden import harden as run_hardening
from levelcap.learn.adversary.world import TRAINED
from levelcap.learn.engine.overrides import apply
from levelcap.learn.engine.stops import Stops
from levelcap.learn.engine.task import Hooks
from levelcap.learn.rl.config import for_world
from levelcap.learn.rl.run import Request
from levelcap.nets.checkpoint import read_meta
from levelcap.play.load import load_checkpoint
from levelcap.trials.robust import measure, recovered
from levelcap.vault.ask import find_folder


def harden(
    checkpoint: str,
    /,
    *,
    minutes: float = 5.0,
    out: Path | None = None,
    seed: Int = 0,
    games: Int | None = None,
    set_: Overrides = None,
    json_: AsJson = False,
) -> None:
    """Let a hero learn while its senses are attacked, and report before and after.

    Parameters
    ----------
    checkpoint
        The hero: an id, champion, best, latest or a folder; it learns in its own world.
    minutes
        Training time.
    out
        The run's folder; the same command again continues it.
    seed
        Of the matches.
    games
        Against the fixed opponent, clean and under each attack (default: by the world).
    set_
        Any knob of the learning, e.g. --set kl_coef=.02.
    json_
        Print one JSON object as the last line.
    """
    console = Console(highlight=False)
    start = find_folder(checkpoint, reads=False)
    meta = read_meta(start)
    place = out or folder("runs") / run_name("harden")
    config = apply(for_world(meta.world, meta.architecture), set_ or [])
    request = Request(meta.world, place, start, seed=seed, patch=meta.patch)
    with Report(console, "harden", minutes) as report:
        stops = Stops(minutes=minutes)
        outcome, levels = run_hardening(request, config, stops, Hooks(on_report=report))
    before, after = (
        measure(load_checkpoint(where), meta.world, games=games, seed=seed)
        for where in (start, outcome.snapshot)
    )
    won_back = recovered(before, after)
    print_table(table(("", "before", "after", "won back"), _rows(before, after, won_back)))
    say(f"levels reached: {', '.join(f'{name} {level:g}' for name, level in levels.items())}")
    say(f"snapshot: {outcome.snapshot}")
    if json_:
        found = {"before": before, "after": after, "recovered": won_back, "levels": levels}
        say_json({**found, "snapshot": str(outcome.snapshot), "seconds": outcome.seconds})


def _rows(before: Any, after: Any, won_back: dict[str, float | None]) -> list[tuple[Any, ...]]:
    def shown(figure: list[float]) -> str:
        return f"{figure[0]:.3f} ({figure[1]:.3f} to {figure[2]:.3f})"

    rows: list[tuple[Any, ...]] = [("clean", shown(before["clean"]), shown(after["clean"]), "")]
    for attack, row in before["attacks"].items():
        share = won_back[attack]
        name = f"{attack} {row['strength']:g}" + ("" if attack in TRAINED else ", never trained on")
        after_row = after["attacks"][attack]
        told = "too weak to count" if share is None else f"{share:.0%}"
        rows.append((name, shown(row["win_rate"]), shown(after_row["win_rate"]), told))
    return rows
