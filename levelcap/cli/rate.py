"""`levelcap rate`: how strong policies are, judged by the sealed panel first."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from pathlib import Path
from typing import Any

from rich.console import Console
from rich.table import Table

from levelcap.cli.options import AsJson, Int, World, check_targets
from levelcap.cli.policies import import_world, load_policy, world_of
from levelcap.cli.printer import print_table, say, say_json, table
from levelcap.cli.worlds import TickHz, at_rate
from levelcap.kit.errors import BadValue, refuse, unknown_name
from levelcap.kit.files import write_json
from levelcap.play.matchup import play_games
from levelcap.play.returns import play_episodes
from levelcap.trials.panel import BASES, COUSINS, Judgement, Record, judge, match_seeds
from levelcap.trials.ratings import Games, Ratings
from levelcap.trials.ratings import rate as rate_games
from levelcap.world.protocols import Policy
from levelcap.world.spec import WORLDS

SEER_GAMES = 200
QUICK_GAMES = 100
LABEL_CHARS = 28


def rate(
    *policies: str,
    world: World | None = None,
    tick_hz: TickHz = None,
    games: Int = 1000,
    seed: Int = 0,
    seers: bool = False,
    one_among: bool = False,
    quick: bool = False,
    json_: AsJson = False,
    out: Path | None = None,
) -> None:
    """Judge policies: win rates against the sealed panel and the bots, and Elo, with intervals.

    Parameters
    ----------
    policies
        One or more: a checkpoint (an id, champion, best, latest, a folder), a bot or
        package.module:attribute. Several are also compared with the first, in games against it.
    world
        duel, lms, siege, crown (default: the checkpoint's own, or duel); gym:<id> and zoo:<module>
        print mean returns instead.
    games
        Games against each bot, and as many against its 20 sealed cousins together.
    seed
        Draws the panel and every match.
    seers
        duel only: play the seers too. They read the true state.
    one_among
        lms only: also one seat among nine bots.
    quick
        A tenth of the games.
    json_
        Print one JSON object as the last line.
    out
        Write the same object to this file.
    """
    _check(policies, out)
    if quick:
        games = min(games, QUICK_GAMES)
    loaded = {name: load_policy(name) for name in policies}
    world = at_rate(world_of(world, "duel", *loaded.values()), tick_hz)
    if ":" in world:
        found = _outside(loaded, world, games, seed)
    else:
        found = _arena(loaded, world, games, seed, seers, one_among)
    if out is not None:
        write_json(out, found)
    if json_:
        say_json(found)


def _check(policies: Sequence[str], out: Path | None) -> None:
    if not policies:
        remedy = "Name a checkpoint's folder or a bot: levelcap rate veteran"
        raise BadValue(refuse("nobody to rate", list(policies), remedy))
    if len(set(policies)) < len(policies):
        raise BadValue(refuse("a policy is named twice", list(policies), "Name each once"))
    check_targets(out)


def _arena(
    named: dict[str, Policy],
    world: str,
    games: int,
    seed: int,
    seers: bool,
    one_among: bool,
) -> dict[str, Any]:
    if world not in WORLDS:
        raise unknown_name("world", world, (*WORLDS, "gym:<id>", "zoo:<module>"))
    if games < 2 or games % 2:
        raise BadValue(refuse("games come in pairs", games, "Give an even number of --games"))
    policies, loaded = list(named), list(named.values())
    each = max(2, -(-games // (2 * COUSINS)) * 2)  # even, rounded up
    verdicts: list[Judgement] = []
    heads: list[Games] = []
    with Console(stderr=True).status("starting") as status:
        for label, policy in zip(_labels(policies), loaded, strict=True):
            verdict = judge(
                policy,
                world,
                seed=seed,
                games_per_cousin=each,
                bot_games=games,
                seer_games=min(SEER_GAMES, games),
                seers=seers,
                one_among=one_among,
                on_progress=_telling(status.update, label),
                name=label,
                ladder=verdicts[0].ladder if verdicts else None,
            )
            verdicts.append(verdict)
        first = verdicts[0]
        for number, (verdict, policy) in enumerate(zip(verdicts, loaded, strict=True)):
            if number:
                status.update(f"{verdict.name} against {first.name}")
                own = match_seeds(seed, "head to head", str(number))
                result = play_games(policy, loaded[0], world, games, own)
                heads.append(Games(verdict.name, first.name, result.scores))
    ratings = rate_games([*first.ladder, *(g for v in verdicts for g in v.games), *heads])
    _print_verdicts(verdicts, world, seed)
    _print_ratings(ratings, verdicts)
    return {
        "world": world,
        "seed": seed,
        "policies": [
            {**v.as_json(), "policy": name} for name, v in zip(policies, verdicts, strict=True)
        ],
        "ratings": ratings.as_json(),
        "differences": [_gap_json(ratings, v.name, first.name) for v in verdicts[1:]],
    }


def _labels(policies: Sequence[str]) -> list[str]:
    """Folders short enough for a table: the end of a long path says most. Ids are whole."""
    cut = ["…" + n[1 - LABEL_CHARS :] if "/" in n[:-LABEL_CHARS] else n for n in policies]
    return cut if len(set(cut)) == len(cut) else list(policies)


def _telling(tell: Callable[[str], None], label: str) -> Callable[[int, int, str], None]:
    return lambda done, total, what: tell(f"{label}: {what} · {done} of {total} games")


def _gap_json(ratings: Ratings, later: str, first: str) -> dict[str, Any]:
    elo, low, high = (round(number, 2) for number in ratings.difference(later, first))
    rising = ratings.rising(later, first)
    return {"of": later, "to": first, "elo": elo, "low": low, "high": high, "rising": rising}


def _print_verdicts(verdicts: Sequence[Judgement], world: str, seed: int) -> None:
    one = verdicts[0]
    sealed = {f"{COUSINS} cousins of {base}": [v.sealed[base] for v in verdicts] for base in BASES}
    sealed |= {f"{name} (sees all)": [v.seers[name] for v in verdicts] for name in one.seers}
    title = f"Sealed panel, never met in training · {world} · seed {seed}"
    print_table(_table(title, verdicts, sealed))
    trained = {base: [v.trained[base] for v in verdicts] for base in BASES}
    print_table(_table("Bots that training may use", verdicts, trained))
    gaps = {
        base: [
            f"{100 * gap:+.1f} ({100 * low:+.1f} to {100 * high:+.1f})"
            for gap, low, high in (v.differences[base] for v in verdicts)
        ]
        for base in BASES
    }
    print_table(_grid("Sealed minus trained-on, points", ["against"], verdicts, gaps))
    if one.one_among:
        alone = {f"one among nine {b}s": [v.one_among[b] for v in verdicts] for b in BASES}
        print_table(_table("One seat of ten, an even share is 0.100", verdicts, alone))


def _table(title: str, verdicts: Sequence[Judgement], rows: dict[str, list[Record]]) -> Table:
    cells = {
        name: [
            str(len(records[0].scores)),
            *(f"{r.win_rate:.3f} ({r.low:.3f}–{r.high:.3f})" for r in records),
        ]
        for name, records in rows.items()
    }
    return _grid(title, ["against", "games"], verdicts, cells)


def _grid(
    title: str, head: Sequence[str], verdicts: Sequence[Judgement], rows: dict[str, list[str]]
) -> Table:
    columns = (*head, *(v.name for v in verdicts))
    return table(columns, [(name, *cells) for name, cells in rows.items()], title, right=True)


def _print_ratings(ratings: Ratings, verdicts: Sequence[Judgement]) -> None:
    order = sorted(ratings.names, key=ratings.elo, reverse=True)
    rows = [(name, ratings.text(name), ratings.games(name)) for name in order]
    columns = ("player", "Elo (95 % interval)", "games")
    print_table(table(columns, rows, "Elo, rookie = 1000", right=True))
    first = verdicts[0].name
    for verdict in verdicts[1:]:
        gap, low, high = ratings.difference(verdict.name, first)
        above = "above 0" if low > 0 else "below 0" if high < 0 else "holds 0"
        interval = f"{low:+.0f} to {high:+.0f}, {above}"
        say(f"{verdict.name} minus {first}: {gap:+.0f} Elo ({interval})")


def _outside(loaded: dict[str, Policy], world: str, episodes: int, seed: int) -> dict[str, Any]:
    import_world(world)
    found = {name: play_episodes(who, world, episodes, seed) for name, who in loaded.items()}
    cells = []
    for name, result in found.items():
        shown = f"{result.mean:.2f} ({result.ci_low:.2f} to {result.ci_high:.2f})"
        cells.append((name, result.episodes, shown, f"{result.mean_length:.1f}"))
    columns = ("policy", "episodes", "mean return (95 % interval)", "mean length")
    print_table(table(columns, cells, f"Mean return · {world} · seed {seed}", right=True))
    rows = [{"policy": name, **result.as_json()} for name, result in found.items()]
    return {"world": world, "seed": seed, "policies": rows}
