"""`levelcap record`: play games between policies into a new shard of the lake."""

from __future__ import annotations

from pathlib import Path

from rich.console import Console
from rich.progress import Progress
from rich.table import Table

from levelcap.cli.options import AsJson, Int, World
from levelcap.cli.policies import import_world, load_policy
from levelcap.cli.printer import say, say_json, table
from levelcap.cli.worlds import TickHz, at_rate
from levelcap.play.record.games import Summary
from levelcap.play.record.games import record as play_and_record


def record(
    *policies: str,
    world: World = "duel",
    tick_hz: TickHz = None,
    games: Int = 400,
    seed: Int = 0,
    out: Path | None = None,
    keep: list[str] | None = None,
    views: list[str] | None = None,
    patch: str = "1.0",
    champions: str | None = None,
    lazy: bool = False,
    json_: AsJson = False,
) -> None:
    """Play whole games, sides swapped in pairs, and keep every decision as a shard.

    Parameters
    ----------
    policies
        Bots, cousins, seers, checkpoint folders or package.module:attribute. Two or more: all
        pairs share the games. One: against itself. Outside games (gym:…, zoo:…) take one.
    world
        duel, lms, siege, crown, gym:<id> or zoo:<module>.
    games
        Number of games in all.
    seed
        Games 2k and 2k+1 are played from the same seed, seats exchanged.
    out
        Folder of the new shard; default: below $LEVELCAP_HOME/lake/trajectories.
    keep
        Keep only the steps of this policy (may be given several times).
    views
        View to store (may be given several times); default: what a flat net reads.
    patch
        Numbers and champions of the game.
    champions
        base, random, or one champion for everybody.
    lazy
        Store seeds and actions only; views are computed again when read.
    json_
        Print one JSON object as the last line.
    """
    console = Console(highlight=False)
    world = at_rate(world, tick_hz)
    if ":" in world:
        import_world(world)
    with Progress(console=console, transient=True, disable=not console.is_terminal) as bar:
        task = bar.add_task("games", total=games)
        summary = play_and_record(
            [load_policy(name) for name in policies],
            world,
            games,
            seed,
            out,
            names=[_short(name) for name in policies],
            keep=None if keep is None else [_short(name) for name in keep],
            views=views,
            patch=patch,
            champions=champions,
            lazy=lazy,
            on_progress=lambda done, _: bar.update(task, completed=done),
        )
    console.print(summary_block(summary, world, seed))
    say(f"shard: {summary.folder}")
    if json_:
        say_json(summary.as_json())


def _short(name: str) -> str:
    """A checkpoint is called by the name of its folder, wherever that lies."""
    return Path(name).resolve().name if Path(name).is_dir() else name


def summary_block(summary: Summary, world: str, seed: int) -> Table:
    """Results of the pairings, and what was written."""
    size = sum(path.stat().st_size for path in summary.folder.iterdir())
    title = (
        f"{world} · seed {seed} · {summary.steps:,} steps in {summary.episodes:,} episodes, "
        f"{size / 1e6:.1f} MB · {summary.seconds:.1f} s, {summary.steps_per_s:,.0f} steps/s"
    )
    numbers = ("games", "wins", "draws", "losses", "win rate")
    rows = []
    for row in summary.results:
        rate = f"{row['win_rate']:.3f}" if "win_rate" in row else None
        counts = [row.get(key) for key in numbers[:4]]
        rows.append((row["a"], row.get("b"), *counts, rate))
    return table(("a", "b", *numbers), rows, title, right=numbers)
