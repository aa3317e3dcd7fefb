"""`levelcap play`: games between two policies, or episodes of one in an outside game."""

from __future__ import annotations

from rich.console import Console
from rich.table import Table

from levelcap.cli.options import AsJson, Int, World
from levelcap.cli.policies import import_world, load_policy, world_of
from levelcap.cli.printer import say_json, table
from levelcap.cli.worlds import TickHz, at_rate
from levelcap.kit.errors import BadValue, refuse
from levelcap.play.matchup import Result, play_games
from levelcap.play.returns import play_episodes
from levelcap.play.seats import ask_every_tick
from levelcap.world.mouse import Control
from levelcap.world.protocols import Policy
from levelcap.world.spec import arena_spec


def play(
    a: str,
    b: str | None = None,
    /,
    *,
    world: World | None = None,
    tick_hz: TickHz = None,
    every_tick: bool = False,
    control: Control = "heads",
    games: Int = 100,
    seed: Int = 0,
    patch: str = "1.0",
    champions: str | None = None,
    one_among: bool = False,
    json_: AsJson = False,
) -> None:
    """Play A against B, sides swapped in pairs, and print the result.

    Parameters
    ----------
    a
        A bot (master), a cousin (veteran~17), a seer (seer-16), a checkpoint (an id, champion,
        best, latest, a folder) or package.module:attribute.
    b
        The opponent. Worlds of one player (gym:…) take no opponent and print the mean return.
    world
        duel, lms, siege, crown, gym:<id> or zoo:<module> (default: the checkpoint's own, or duel).
    every_tick
        Ask A at every tick instead of at the rate it was trained at.
    control
        mouse: A says what it does with cursor, click and hotkey (a net with `mouse=on`).
    games
        Number of games or episodes.
    seed
        Games 2k and 2k+1 are played from the same seed, seats exchanged.
    patch
        Numbers and champions of the game.
    champions
        base, random, or one champion for everybody.
    one_among
        lms only: A has one seat, B the nine others; wins are counted for A's seat.
    json_
        Print one JSON object as the last line.
    """
    console = Console(highlight=False)
    hero = _hero(a, control)
    world = at_rate(world_of(world, "duel", hero), tick_hz)
    if ":" in world:
        _episodes(console, (a, b, hero), world, games, seed, json_)
        return
    if b is None:
        raise BadValue(refuse(f"{world} needs two policies", a, "Name an opponent, e.g. rookie"))
    result = play_games(
        ask_every_tick(hero, arena_spec(world).tick_hz) if every_tick else hero,
        load_policy(b),
        world,
        games,
        seed,
        patch=patch,
        champions=champions,
        one_among=one_among,
    )
    console.print(result_block(a, b, world, seed, result))
    if "seer-" in a + b:
        console.print("Seers read the true state and simulate it: anchors, not fair opponents.")
    if json_:
        say_json(result.as_json())


def result_block(a: str, b: str, world: str, seed: int, result: Result) -> Table:
    """The copyable block: games, wins, draws, losses, win rate and its interval."""
    title = f"{a} against {b} · {world} · seed {seed}"
    columns = ("games", "wins", "draws", "losses", "win rate", "95 % interval", "median length")
    interval, lengths = f"{result.ci_low:.3f} – {result.ci_high:.3f}", sorted(result.lengths)
    counts = (result.games, result.wins, result.draws, result.losses)
    median_s = lengths[len(lengths) // 2] / arena_spec(world).tick_hz
    shown = (f"{result.win_rate:.3f}", interval, f"{median_s:.0f} s")
    return table(columns, [(*counts, *shown)], title, right=columns)


def _hero(name: str, control: Control) -> Policy:
    policy = load_policy(name)
    if control == "heads":
        return policy
    from levelcap.play.load import use_mouse  # brings torch in

    return use_mouse(policy)


def _episodes(
    console: Console,
    players: tuple[str, str | None, Policy],
    world: str,
    games: int,
    seed: int,
    as_json: bool,
) -> None:
    a, b, hero = players
    if b is not None:
        remedy = f"Name one policy: levelcap play {a} --world {world}"
        raise BadValue(refuse("an outside game takes one policy", f"{a} {b}", remedy))
    import_world(world)
    result = play_episodes(hero, world, games, seed)
    console.print(
        f"{a} · {world} · {games} episodes · mean return {result.mean:.2f} "
        f"(95 % interval {result.ci_low:.2f} to {result.ci_high:.2f}), "
        f"mean length {result.mean_length:.1f}"
    )
    if as_json:
        say_json(result.as_json())
