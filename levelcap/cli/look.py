"""Matches to look at: `watch`, `replay`, `first-match`, and the list of `worlds`."""

from __future__ import annotations

import time
from pathlib import Path
from typing import Annotated, Any

from cyclopts import Parameter
from rich.console import Console

from levelcap.cli.options import Int, World, check_targets
from levelcap.cli.policies import load_policy, world_of
from levelcap.cli.printer import print_table, table
from levelcap.cli.worlds import TickHz, at_rate
from levelcap.kit.errors import BadFile, refuse, unknown_name
from levelcap.kit.paths import folder
from levelcap.play.matchup import seats_of_game
from levelcap.play.seats import Seats, views_of
from levelcap.play.show.film import Film, film_replay, recorded_names, save_png
from levelcap.play.show.terminal import TerminalView, verdict
from levelcap.world import RULESETS, make
from levelcap.world.players.bot_names import BOTS, SEERS
from levelcap.world.replay import Recorder, load
from levelcap.world.rules.patches import champion_names, load_patch, patch_names
from levelcap.world.spec import WORLDS, arena_spec, world_name

FILM_SIZE = 480


def watch(
    a: str = "master",
    b: str = "veteran",
    /,
    *,
    world: World | None = None,
    tick_hz: TickHz = None,
    seed: Int = 0,
    patch: str = "1.0",
    champions: str | None = None,
    speed: float = 1.0,
    save_replay: Path | None = None,
) -> None:
    """Show a match of A against B in the terminal.

    Parameters
    ----------
    a
        A bot, a checkpoint (an id, champion, best, latest, a folder) or package.module:attribute.
    b
        The same.
    world
        duel, lms, siege or crown (default: the checkpoint's own, or siege).
    speed
        1 is real time, 4 four times as fast, 0 as fast as it can be drawn.
    save_replay
        Also write the match as a replay file (.lcr).
    """
    check_targets(save_replay)
    recorder, _ = _show_match(a, b, world, seed, patch, champions, speed, tick_hz)
    if save_replay is not None:
        Console().print(f"replay: {recorder.save(save_replay)}", highlight=False, soft_wrap=True)


def _show_match(
    a: str,
    b: str,
    asked: str | None,
    seed: int,
    patch: str,
    champions: str | None,
    speed: float,
    tick_hz: int | None = None,
) -> tuple[Recorder, Any]:
    policies = [load_policy(a), load_policy(b)]
    ruleset = at_rate(world_of(asked, "siege", *policies), tick_hz)
    if ruleset not in WORLDS:
        raise unknown_name("ruleset to watch", ruleset, WORLDS)
    seats = seats_of_game(ruleset, 0, seed)
    world = make(
        ruleset,
        1,
        seed=seed,
        views=views_of(policies),
        auto_reset=False,
        patch=patch,
        champions=champions,
    )
    seated = Seats(world, policies, seats[None])
    names = side_names(ruleset, seats, (a, b))
    views = world.reset()
    hashes = [(name, policy.content_hash) for name, policy in zip((a, b), policies, strict=True)]
    recorder = Recorder(world, match=0, policies=[hashes[seat] for seat in seats])
    with TerminalView(speed=speed) as view:
        view.show(world, 0, names)
        while not world.state["over"][0]:
            views, *_, info = world.step(seated.act(views))
            recorder.record(info)
            view.show(world, 0, names)
    return recorder, world


def side_names(ruleset: str, seats: Any, names: tuple[str, str]) -> tuple[str, ...]:
    """The policy of each side: two names, or one for each of the ten in lms."""
    spec = arena_spec(ruleset)
    size = spec.num_players // spec.num_teams
    return tuple(names[int(seats[team * size])] for team in range(spec.num_teams))


def replay(
    file: Path,
    /,
    *,
    gif: Path | None = None,
    png: Path | None = None,
    size: Annotated[int, Parameter(help="Pixels across.")] = FILM_SIZE,
) -> None:
    """Play a replay file again, check every stored hash, and draw it if asked.

    Parameters
    ----------
    gif
        Write the match as an animated GIF.
    png
        Write the last moment as a picture.
    """
    console = Console(highlight=False)
    if not file.exists():
        raise BadFile(refuse("no such replay file", str(file), "Give the path of a .lcr file"))
    check_targets(gif, png)
    recorded = load(file)
    names = recorded_names(recorded)
    film = Film(gif, size=size) if gif is not None else None
    board, world = film_replay(recorded, names, film)
    if film is not None:
        console.print(f"gif: {film.close()} ({len(film)} frames)", soft_wrap=True)
    if png is not None:
        from levelcap.world.draw.picture import draw

        console.print(f"png: {save_png(png, draw(world, 0, size=size, names=names))}")
    decisions = len(recorded.actions)
    console.print(f"{file.name}: {decisions} decisions, all hashes agree. {verdict(board)}")


def first_match(*, seed: Int = 2, speed: float | None = None) -> None:
    """A scripted siege: in the terminal, then saved as a replay and a GIF.

    Parameters
    ----------
    speed
        As in `watch`; 8 by default.
    """
    console, replays = Console(highlight=False), folder("replays")
    began = time.monotonic()
    console.print("siege: master (blue) against veteran (red). First start compiles for a minute.")
    pace = speed if speed is not None else 8.0
    recorder, _ = _show_match("master", "veteran", "siege", seed, "1.0", None, pace)
    path = replays / f"first-siege-{seed}.lcr"
    path.unlink(missing_ok=True)
    recorder.save(path)
    film = Film(path.with_suffix(".gif"), size=FILM_SIZE)
    board, _ = film_replay(load(path), ("master", "veteran"), film)
    film.close()
    console.print(verdict(board))
    console.print(f"replay: {path}", soft_wrap=True)
    console.print(f"gif:    {path.with_suffix('.gif')}", soft_wrap=True)
    console.print(f"done in {time.monotonic() - began:.0f} s", soft_wrap=True)


def worlds() -> None:
    """List rulesets, bots, patches and champions."""
    console = Console(highlight=False)
    objectives = {
        "duel": "last one alive wins",
        "lms": "last one standing of ten",
        "siege": "destroy the enemy core",
        "crown": "hold the centre, first to 100",
    }
    patch = load_patch("1.0")
    rows = []
    for name in RULESETS:
        spec, limit = arena_spec(name), f"{patch['rulesets'][name]['time_s']} s"
        rows.append((name, spec.num_players, spec.num_teams, limit, objectives[name]))
    print_table(table(("name", "players", "teams", "ends after", "objective"), rows, "Rulesets"))
    console.print(
        f"each also at 60 ticks a second, as {world_name(RULESETS[0], 60)} …: --tick-hz 60"
    )
    console.print("outside games: gym:<id> (gym:CartPole-v1), zoo:<module> (zoo:mpe2.simple_v3)")
    console.print(f"bots: {' < '.join(BOTS)}; cousins: veteran~17; uniform plays any world")
    console.print(f"seers (duel, they read the true state): seer-{', seer-'.join(map(str, SEERS))}")
    console.print(f"patches: {', '.join(patch_names())}")
    console.print(f"champions: {', '.join(champion_names(patch))}")
