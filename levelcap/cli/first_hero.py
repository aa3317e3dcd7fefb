"""`levelcap first-hero`: record, imitate, reinforce, rate, plot — a hero in minutes."""

from __future__ import annotations

import time
from dataclasses import replace
from pathlib import Path
from typing import Any

import psutil
from rich.console import Console

from levelcap.cli.options import AsJson, Int, NetOptions, Overrides, World
from levelcap.cli.printer import say, say_json, table
from levelcap.cli.progress import Report
from levelcap.cli.worlds import TickHz, at_rate
from levelcap.kit.errors import unknown_name
from levelcap.kit.files import write_json
from levelcap.kit.ids import run_name
from levelcap.kit.paths import folder
from levelcap.learn.engine.overrides import apply
from levelcap.learn.engine.task import Hooks
from levelcap.learn.first_hero import RECIPES, Hero, raise_hero, recipe_of, snapshots_of
from levelcap.learn.rl.config import for_world
from levelcap.nets.family import DEFAULT
from levelcap.play.load import load_checkpoint
from levelcap.play.matchup import play_games
from levelcap.play.roster import find
from levelcap.play.show.plot import plot_curves
from levelcap.trials.panel import BASES, Judgement, bot_ladder, judge
from levelcap.trials.ratings import Games, rate
from levelcap.world.spec import split_world

CURVE_GAMES = 200


def first_hero(
    *,
    world: World = "duel",
    tick_hz: TickHz = None,
    minutes: float = 5.0,
    seed: Int = 0,
    family: str = DEFAULT,
    net: NetOptions = None,
    size: str = "slim",
    teacher: str | None = None,
    games: Int = 1000,
    out: Path | None = None,
    set_: Overrides = None,
    json_: AsJson = False,
) -> None:
    """Raise a hero from nothing and say how strong it got.

    Parameters
    ----------
    world
        duel, lms, siege or crown.
    minutes
        From this command to the last checkpoint: recording, imitation and reinforcement. Rating
        comes afterwards.
    seed
        Of everything.
    family
        Kind of net: flat or hierarchy.
    net
        A part of the net chosen by name, e.g. --net aim=residual.
    size
        dummy, slim or full.
    teacher
        The bot whose recorded play is imitated, against itself (default: master against veteran).
    games
        Games against each bot when rating, and as many against its sealed cousins.
    out
        The hero's folder; the same command again continues it.
    set_
        Any knob of the reinforcement, e.g. --set kl_coef=.05.
    json_
        Print one JSON object as the last line.
    """
    console = Console(highlight=False)
    ruleset, world = split_world(world)[0], at_rate(world, tick_hz)
    recipe = recipe_of(ruleset, family)
    if recipe is None:
        raise unknown_name("ruleset", world, tuple(RECIPES))
    if teacher is not None:
        recipe = replace(recipe, teacher=teacher, partner=teacher)
    began = psutil.Process().create_time()
    place = out or folder("runs") / run_name("first-hero")
    console.print(f"A first hero of {world}, {minutes:g} minutes, seed {seed}: {place}")
    with Report(console, "reinforce", None) as report:
        hero = raise_hero(
            world,
            place,
            minutes=minutes,
            seed=seed,
            size=size,
            family=family,
            options=tuple(net or ()),
            began=began,
            recipe=recipe,
            rl=apply(for_world(world, family), set_ or []),
            say=lambda text: console.print(f"[{time.time() - began:4.0f} s] {text}"),
            hooks=Hooks(on_report=report),
        )
    console.print(f"[{time.time() - began:4.0f} s] rating pi_sup and pi_rl")
    verdicts, difference = rate_hero(hero, world, games, seed)
    picture = place / "elo.png"
    points = elo_curve(hero, world, seed)
    plot_elo(picture, points, verdicts, world)
    summary = summarise(hero, verdicts, difference, points, began)
    write_json(place / "hero.json", summary)
    show(console, verdicts, summary)
    say(f"picture: {picture}\nsnapshot: {hero.rl}")
    if json_:
        say_json(summary)


def rate_hero(
    hero: Hero, world: str, games: int, seed: int
) -> tuple[dict[str, Judgement], tuple[float, float, float]]:
    """Verdicts of pi_sup and pi_rl on the same panel, and the Elo that RL added."""
    ladder = bot_ladder(world, seed)
    verdicts = {
        name: judge(
            load_checkpoint(path),
            world,
            seed=seed,
            name=name,
            ladder=ladder,
            games_per_cousin=max(2, games // 40 * 2),
            bot_games=games,
            one_among=split_world(world)[0] == "lms",
        )
        for name, path in (("pi_sup", hero.sup), ("pi_rl", hero.rl))
    }
    both = rate([*ladder, *(g for v in verdicts.values() for g in v.games)])
    return verdicts, both.difference("pi_rl", "pi_sup")


def elo_curve(hero: Hero, world: str, seed: int) -> list[dict[str, float]]:
    """Elo of pi_sup and of every snapshot, over training seconds."""
    ladder = bot_ladder(world, seed)
    rows = []
    school_s = hero.seconds - hero.reinforcement.seconds
    for path in (hero.sup, *snapshots_of(hero)):
        policy = load_checkpoint(path)
        own = [
            Games("hero", bot, play_games(policy, find(bot), world, CURVE_GAMES, seed + 1).scores)
            for bot in BASES
        ]
        ratings = rate([*own, *ladder])
        low, high = ratings.interval("hero")
        spent = 0.0 if path == hero.sup else policy.meta.metrics["seconds"]
        rows.append(
            {"seconds": school_s + spent, "elo": ratings.elo("hero"), "low": low, "high": high}
        )
    return rows


def plot_elo(
    path: Path, points: list[dict[str, float]], verdicts: dict[str, Judgement], world: str
) -> None:
    """Elo over time with its interval, and the bots as lines."""
    ratings = verdicts["pi_rl"].ratings
    lines = {bot: ratings.elo(bot) for bot in BASES}
    columns = {key: [point[key] for point in points] for key in points[0]}
    minutes = [second / 60 for second in columns["seconds"]]
    series = [("hero", minutes, columns["elo"], columns["low"], columns["high"])]
    plot_curves(
        path,
        series,
        title=f"{world}: Elo over time",
        x_label="minutes from the command",
        y_label="Elo (rookie = 1000)",
        lines=lines,
    )


def summarise(
    hero: Hero,
    verdicts: dict[str, Judgement],
    difference: tuple[float, float, float],
    points: list[dict[str, float]],
    began: float,
) -> dict[str, Any]:
    """Everything the table shows, as plain numbers."""
    gained = max(difference[0], 1e-9)
    return {
        "seconds": round(hero.seconds, 1),
        "total_seconds": round(time.time() - began, 1),
        "core_seconds": round(hero.core_seconds, 1),
        "stages": {name: round(value, 1) for name, value in hero.stages.items()},
        "steps": hero.reinforcement.progress.steps,
        "updates": hero.reinforcement.progress.update,
        "steps_per_s": round(hero.reinforcement.progress.steps / hero.reinforcement.seconds),
        "accuracy": hero.imitation.validation,
        "verdicts": {name: verdict.as_json() for name, verdict in verdicts.items()},
        "rl_gain_elo": [round(value, 1) for value in difference],
        "core_seconds_per_elo": round(hero.reinforcement.core_seconds / gained, 2),
        "curve": [{k: round(v, 1) for k, v in point.items()} for point in points],
        "sup": str(hero.sup),
        "rl": str(hero.rl),
    }


def show(console: Console, verdicts: dict[str, Judgement], summary: dict[str, Any]) -> None:
    """The table a newcomer reads: sealed opponents first, then the bots of training, then Elo."""
    title = "Win rate (95 % interval), sampled actions"
    shown = table(("opponent", *verdicts), [], title, right=True)
    for kind, label in (("sealed", "sealed cousins of {}"), ("trained", "{} (met in training)")):
        for base in BASES:
            cells = [_cell(getattr(verdict, kind)[base]) for verdict in verdicts.values()]
            shown.add_row(label.format(base), *cells)
    for base in verdicts["pi_rl"].one_among:
        cells = [_cell(verdict.one_among[base]) for verdict in verdicts.values()]
        shown.add_row(f"one among nine {base}s", *cells)
    shown.add_section()
    shown.add_row("Elo (rookie = 1000)", *(v.ratings.text(n) for n, v in verdicts.items()))
    console.print(shown)
    gain, low, high = summary["rl_gain_elo"]
    console.print(
        f"RL added {gain:+.0f} Elo ({low:+.0f} to {high:+.0f}) in {summary['steps']:,} steps, "
        f"{summary['steps_per_s']:,} a second · {summary['core_seconds']:.0f} core-seconds in all, "
        f"{summary['core_seconds_per_elo']:.2f} a point of Elo"
    )
    stages = ", ".join(f"{name} {value:.0f} s" for name, value in summary["stages"].items())
    console.print(f"{summary['seconds']:.0f} s to the checkpoint ({stages})")


def _cell(record: Any) -> str:
    return f"{record.win_rate:.3f} ({record.low:.3f} – {record.high:.3f})"
