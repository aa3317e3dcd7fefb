"""`levelcap test`: is A stronger than B? Plays pairs of games until it is clear."""

from __future__ import annotations

from typing import Any

from rich.console import Console

from levelcap.cli.options import AsJson, World
from levelcap.cli.policies import import_world, load_policy
from levelcap.cli.printer import say_json
from levelcap.cli.worlds import TickHz, at_rate
from levelcap.kit.errors import BadValue, refuse
from levelcap.kit.seeds import chain, check_seed
from levelcap.play.matchup import play_games
from levelcap.trials.sprt import MINUTES, UNIT, SequentialTest, preset_of, run
from levelcap.world.spec import WORLDS


def test(
    a: str,
    b: str,
    *,
    world: World = "duel",
    tick_hz: TickHz = None,
    preset: str = "gain",
    seed: int = 0,
    minutes: float = MINUTES,
    json_: AsJson = False,
) -> None:
    """Test whether A is stronger than B: a sequential test on pairs of games, sides exchanged.

    Parameters
    ----------
    a
        A checkpoint's folder, a bot or package.module:attribute.
    b
        The same.
    world
        duel, lms, siege or crown.
    preset
        gain, no-regression or simplify: what A must show, in normalised Elo.
    seed
        Of the matches.
    minutes
        Of the machine at most; then the test stays undecided.
    json_
        Print one JSON object as the last line.
    """
    console = Console(highlight=False)
    world = at_rate(world, tick_hz)
    import_world(world)
    if world not in WORLDS:
        remedy = "Give one of our rulesets; levelcap play compares outside games"
        raise BadValue(refuse("a test needs two sides", world, remedy))
    check_seed(seed)
    running = SequentialTest(preset_of(preset, world))
    asked = running.preset
    console.print(
        f"{a} against {b} in {world}: {preset}, {asked.low:g} or {asked.high:g} normalised Elo, "
        f"at most {asked.most_pairs:,} pairs or {minutes:g} minutes"
    )
    first, second = load_policy(a), load_policy(b)
    run(
        running,
        lambda unit: play_games(first, second, world, UNIT, chain(seed, unit)).scores,
        minutes=minutes,
        on_unit=lambda: console.print(_line(running)),
    )
    found = running.as_json()
    console.print(f"{found['verdict']}: {_block(found)}")
    if json_:
        say_json({"a": a, "b": b, "world": world, "seed": seed, **found})


def _line(running: SequentialTest) -> str:
    """How the test stands, with the ratio as a bar between its bounds."""
    low, high = running.bounds
    share = min(1.0, max(0.0, (running.llr - low) / (high - low)))
    bar = "█" * round(20 * share) + "░" * (20 - round(20 * share))
    return (
        f"{2 * running.counts.sum():6,} games  LLR {running.llr:+.2f} [{low:.2f} {bar} {high:.2f}]"
    )


def _block(found: dict[str, Any]) -> str:
    """To be copied."""
    middle, low, high = found["normalised_elo"]
    elo = f"Elo {found['elo'][0]:+.1f}, normalised {middle:+.1f} ({low:+.1f} to {high:+.1f})"
    counts = ", ".join(map(str, found["pentanomial"]))
    return f"LLR {found['llr']:.2f}, {elo}, {found['games']:,} games, pentanomial {counts}"
