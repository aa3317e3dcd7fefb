"""`levelcap hunt`: how far can this champion be exploited? A lower bound, with its price."""

from __future__ import annotations

from dataclasses import asdict
from pathlib import Path

from rich.console import Console

from levelcap.cli.options import AsJson, From, Int, Overrides, World
from levelcap.cli.printer import say, say_json
from levelcap.cli.progress import Report
from levelcap.cli.worlds import TickHz, at_rate
from levelcap.kit.ids import run_name
from levelcap.kit.paths import folder
from levelcap.learn.engine.overrides import apply
from levelcap.learn.engine.task import Hooks
from levelcap.learn.league.hunt import CORE_MINUTES, Hunt
from levelcap.learn.league.hunt import hunt as run_hunt
from levelcap.learn.rl.config import for_world
from levelcap.nets.checkpoint import read_meta
from levelcap.vault.ask import find_folder


def hunt(
    champion: str,
    /,
    *,
    from_: From = None,
    world: World | None = None,
    tick_hz: TickHz = None,
    core_minutes: float = CORE_MINUTES,
    out: Path | None = None,
    seed: Int = 0,
    set_: Overrides = None,
    json_: AsJson = False,
) -> None:
    """Train a fresh exploiter against a frozen champion; its win rate is a bound on exploitability.

    Parameters
    ----------
    champion
        Who is hunted: an id, champion, best, latest or a folder.
    from_
        Whom the exploiter begins as, if not as the champion itself.
    world
        duel, lms, siege or crown (default: the checkpoint's own).
    core_minutes
        What the exploiter may cost.
    out
        The hunt's folder; the same command again goes on, or tells what was found.
    seed
        Of the matches.
    set_
        Any knob of the learning, e.g. --set kl_coef=0.
    json_
        Print one JSON object as the last line.
    """
    place = out or folder("runs") / run_name("hunt")
    prey = find_folder(champion, reads=False).resolve()
    start = None if from_ is None else find_folder(from_, reads=False)
    meta = read_meta(start or prey)
    world = at_rate(world or meta.world, tick_hz)
    config = apply(for_world(world, meta.architecture), set_ or [])
    asked = Hunt(world, prey, place, start, core_minutes, seed)
    console = Console(highlight=False)
    with Report(console, "hunt", None) as report:
        found = run_hunt(asked, config, Hooks(on_report=report))
    if found is None:
        say(f"not done: the same command with --out {place} goes on")
        return
    for cost, rate in found.curve:
        say(f"{cost:8,.0f} core-s  {rate:.2f} of 96 games")
    say(found.sentence())
    say(f"exploiter: {place / found.snapshot}")
    if json_:
        say_json(asdict(found))
