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
from levelcap.trials.sprt import SequentialTest, logistic_elo, normalised_elo, preset_of
from levelcap.world.spec import WORLDS

UNIT = 64  # games between two looks at the ratio


def test(
    a: str,
    b: str,
    *,
    world: World = "duel",
    tick_hz: TickHz = None,
    preset: str = "gain",
    seed: int = 0,
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
        f"at most {asked.most_pairs:,} pairs"
    )
    first, second = load_policy(a), load_policy(b)
    unit = 0
    while running.verdict is None:
        running.add(play_games(first, second, world, UNIT, chain(seed, unit)).scores)
        unit += 1
        console.print(_line(running))
    found = result(running)
    console.print(f"{found['verdict']}: {_block(found)}")
    if json_:
        say_json({"a": a, "b": b, "world": world, "preset": preset, "seed": seed, **found})


def result(running: SequentialTest) -> dict[str, Any]:
    """The numbers of a test."""
    elo, low, high = normalised_elo(running.counts)
    return {
        "verdict": running.verdict,
        "llr": round(running.llr, 4),
        "bounds": [round(bound, 4) for bound in running.bounds],
        "pentanomial": running.counts.tolist(),
        "games": int(2 * running.counts.sum()),
        "elo": logistic_elo(running.counts),
        "normalised_elo": [round(elo, 2), round(low, 2), round(high, 2)],
    }


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
    elo = f"Elo {found['elo']:+.1f}, normalised {middle:+.1f} ({low:+.1f} to {high:+.1f})"
    counts = ", ".join(map(str, found["pentanomial"]))
    return f"LLR {found['llr']:.2f}, {elo}, {found['games']:,} games, pentanomial {counts}"
