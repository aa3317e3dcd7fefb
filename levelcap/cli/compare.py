"""`levelcap test`: is A stronger than B? Plays pairs of games until it is clear."""

from __future__ import annotations

import time
from pathlib import Path
from typing import Annotated, Any

from cyclopts import Parameter

from levelcap.cli.options import AsJson, Int, World
from levelcap.cli.policies import load_policy, world_of
from levelcap.cli.printer import print_table, say, say_json, table
from levelcap.cli.worlds import TickHz, at_rate
from levelcap.kit.errors import BadValue, check_known, refuse
from levelcap.kit.ids import run_name
from levelcap.kit.paths import folder
from levelcap.kit.seeds import chain, check_seed
from levelcap.play.matchup import play_games
from levelcap.trials.sprt import MINUTES, UNIT, SequentialTest, preset_of, run
from levelcap.vault.ask import id_of
from levelcap.vault.ledger import DATABASE
from levelcap.world.protocols import Policy
from levelcap.world.spec import WORLDS


def test(
    a: str | None = None,
    b: str | None = None,
    /,
    *,
    world: World | None = None,
    tick_hz: TickHz = None,
    preset: str = "gain",
    seed: Int = 0,
    minutes: float = MINUTES,
    queue: bool = False,
    recipe: Annotated[list[Path] | None, Parameter(consume_multiple=True, negative=())] = None,
    seeds: Int = 5,
    games: Int = 128,
    json_: AsJson = False,
) -> None:
    """Test whether A is stronger than B: a sequential test on pairs of games, sides exchanged.

    Parameters
    ----------
    a
        A checkpoint (an id, champion, best, latest, a folder), a bot or package.module:attribute.
    b
        The same.
    world
        duel, lms, siege or crown (default: the checkpoint's own, or duel).
    preset
        gain, no-regression or simplify: what A must show, in normalised Elo.
    seed
        Of the matches.
    minutes
        Of the machine at most; then the test stays undecided.
    queue
        Let the realm do it when its turn comes; a and b are checkpoints or bots.
    recipe
        Two recipes instead of a and b: each is trained with every seed, and the heroes meet.
    seeds
        Of each recipe.
    games
        Of every pair of heroes of two recipes.
    json_
        Print one JSON object as the last line.
    """
    if recipe is not None:
        from levelcap.cli.settings_test import compare_recipes

        if a is not None or len(recipe) != 2:
            given = [a, b, *map(str, recipe)]
            remedy = "Give --recipe a.yaml b.yaml alone"
            raise BadValue(refuse("two recipes are compared", given, remedy))
        found = compare_recipes((recipe[0], recipe[1]), seeds, games, seed)
    elif a is None or b is None:
        raise BadValue(refuse("a test needs two players", [a, b], "Name two, or two --recipe"))
    elif queue:
        from levelcap.cli.campaign import add

        asked = {"a": id_of(a), "b": id_of(b), "preset": preset, "minutes": minutes, "seed": seed}
        where = {} if world is None else {"world": at_rate(world, tick_hz)}
        found = add({"quest": "test", **asked, **where}).as_json()
    else:
        if world is not None and ":" in world:
            remedy = "Give one of our rulesets; levelcap play compares outside games"
            raise BadValue(refuse("a test needs two sides", world, remedy))
        players = {"a": load_policy(a), "b": load_policy(b)}
        world = at_rate(world_of(world, "duel", *players.values()), tick_hz)
        check_known("world", world, WORLDS)
        found = _play({"a": a, "b": b, "world": world, "seed": seed}, players, preset, minutes)
    if json_:
        say_json(found)


def _play(
    told: dict[str, Any], players: dict[str, Policy], preset: str, minutes: float
) -> dict[str, Any]:
    """Here and now; kept in the realm if there is one."""
    world, seed = str(told["world"]), int(told["seed"])
    check_seed(seed)
    running, began = SequentialTest(preset_of(preset, world)), time.monotonic()
    asked = running.preset
    say(
        f"{told['a']} against {told['b']} in {world}: {preset}, {asked.low:g} or {asked.high:g}"
        f" normalised Elo, at most {asked.most_pairs:,} pairs or {minutes:g} minutes"
    )
    run(
        running,
        lambda unit: play_games(players["a"], players["b"], world, UNIT, chain(seed, unit)).scores,
        minutes=minutes,
        on_unit=lambda: say(_line(running)),
    )
    found = running.as_json() | {"block": running.block()}
    say(f"{found['verdict']}: {found['block']}")
    if (folder("state") / DATABASE).exists():
        from levelcap.campaign.realm import realm
        from levelcap.campaign.story.tests import keep

        seconds = {"seconds": round(time.monotonic() - began, 2)}
        with realm() as opened:
            opened.write(keep, run_name("test"), told, found | seconds)
    return told | found


def tests(*, limit: Int = 20, json_: AsJson = False) -> None:
    """List tests: those that run and wait, then those that have ended.

    Parameters
    ----------
    limit
        At most so many.
    json_
        Print one JSON object as the last line.
    """
    from levelcap.campaign.realm import realm
    from levelcap.campaign.sheet.tests import list_tests

    with realm() as opened:
        rows = opened.read(list_tests, limit)
    columns = ("test", "A", "B", "world", "preset", "state", "LLR", "games", "W/D/L", "to go")
    cells = [
        (
            *(row.id, row.a, row.b, row.world, row.preset, row.verdict or row.state),
            f"{row.llr:+.2f} of [{row.bounds[0]:.2f}, {row.bounds[1]:.2f}]",
            *(row.games, f"{row.won}/{row.drawn}/{row.lost}"),
            None if row.seconds_to_go is None else f"{row.games_to_go}, {row.seconds_to_go:.0f} s",
        )
        for row in rows
    ]
    print_table(table(columns, cells))
    if json_:
        say_json({"tests": [row.as_json() for row in rows]})


def _line(running: SequentialTest) -> str:
    """How the test stands, with the ratio as a bar between its bounds."""
    low, high = running.bounds
    bar = "█" * round(20 * running.share) + "░" * (20 - round(20 * running.share))
    games, to_go = running.results.sum(), running.games_to_go
    ratio = f"LLR {running.llr:+.2f} [{low:.2f} {bar} {high:.2f}]"
    return f"{games:6,} games  {ratio}  about {to_go:,} to go"
