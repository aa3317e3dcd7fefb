"""`levelcap league …`: a season of players that learn against each other, and what came of it."""

from __future__ import annotations

from pathlib import Path
from typing import Annotated, Any

from cyclopts import Parameter
from rich.console import Console

from levelcap.cli.options import AsJson, Int, Overrides, World
from levelcap.cli.policies import import_world
from levelcap.cli.printer import print_table, say, say_json, table
from levelcap.cli.worlds import TickHz, at_rate
from levelcap.kit.backend import open_backend
from levelcap.kit.errors import BadValue, refuse
from levelcap.kit.files import read_jsonl
from levelcap.kit.ids import run_name
from levelcap.kit.paths import folder
from levelcap.learn.league.config import MAIN, LeagueConfig
from levelcap.learn.league.state import MATCHES, TURNS, League, read_league
from levelcap.learn.league.tuning import listed, told


def start(
    *,
    from_: Annotated[str, Parameter(name="--from")],
    world: World = "duel",
    tick_hz: TickHz = None,
    out: Path | None = None,
    minutes: float = 0.0,
    turns: Int = 0,
    seed: Int = 0,
    set_: Overrides = None,
    rl: Annotated[list[str] | None, Parameter(consume_multiple=False)] = None,
    backend: str = "inline",
    json_: AsJson = False,
) -> None:
    """Play a season: a main player and two exploiters take turns at learning.

    Parameters
    ----------
    from_
        The checkpoint all players begin as: an id, champion, best, latest or a folder.
    world
        duel, lms, siege, crown or a two-sided outside game.
    out
        The season's folder; the same command again continues it.
    minutes
        Length of the season; or give turns.
    turns
        Length in turns.
    seed
        Of every draw.
    set_
        A rule of the league, e.g. --set self_play=.5 --set bots=master.
    rl
        A knob of the learning, e.g. --rl kl_coef=.02.
    backend
        Who plays the rated matches: inline, or processes (one for each core).
    json_
        Print one JSON object as the last line.
    """
    from levelcap.learn.engine.overrides import apply
    from levelcap.learn.league.season import Season, play_season
    from levelcap.learn.rl.config import for_world
    from levelcap.nets.checkpoint import read_meta
    from levelcap.vault.ask import find_folder

    world = at_rate(world, tick_hz)
    import_world(world)
    place = out or folder("runs") / run_name("league")
    first = find_folder(from_, reads=False).resolve()
    season = Season(world, first, place, minutes, turns, seed)
    config = apply(LeagueConfig(), set_ or [])
    learning = apply(for_world(world, read_meta(first).architecture), rl or [])
    with open_backend(backend) as opened:
        ending = play_season(
            season, config, learning, on_turn=lambda _, row: say(_line(row)), backend=opened
        )
    say(f"{ending.reason}; season: {place}")
    if json_:
        league = ending.league
        say_json({"season": str(place), "turns": league.turn, "players": len(league.players)})


def status(season: Path, /, *, json_: AsJson = False) -> None:
    """Show where a season stands: its learners and its last turns.

    Parameters
    ----------
    season
        The season's folder.
    json_
        Print one JSON object as the last line.
    """
    league = read_league(season)
    rows = [
        (p.player_id, p.turns, f"{p.steps:,}", p.life, p.parent_id, _worst(league, p.player_id))
        for p in league.learners()
    ]
    title = f"{season}: {league.world}, {league.turn} turns, {len(league.players)} players"
    columns = ("learner", "turns", "steps", "life", "began as", "hardest opponent")
    print_table(table(columns, rows, title, ("turns", "steps", "life")))
    for player in league.learners():
        if player.factors:
            say(f"settings of {player.player_id}: {listed(player.factors)}")
    for row in _turns(season)[-5:]:
        say(_line(row))
    if json_:
        learners = {p.player_id: p.as_json() for p in league.learners()}
        say_json({"turns": league.turn, "players": len(league.players), "learners": learners})


def players(season: Path, /, *, json_: AsJson = False) -> None:
    """List everybody in a season, with the main player's chance against them.

    Parameters
    ----------
    season
        The season's folder.
    json_
        Print one JSON object as the last line.
    """
    league = read_league(season)
    rows = []
    for player in sorted(league.players.values(), key=lambda p: (not p.trainable, p.born)):
        games = league.payoff.games(MAIN, player.player_id)
        chance = f"{league.payoff.rate(MAIN, player.player_id):.2f}" if games else ""
        state = "dead" if player.dead else "learns" if player.trainable else "frozen"
        content, step = player.sha256[:12], f"{player.created_at_step:,}"
        rows.append((player.player_id, state, player.parent_id, content, step, chance))
    columns = ("player", "state", "parent", "sha256", "step", "main's chance")
    print_table(table(columns, rows, str(season), ("step", "main's chance")))
    if json_:
        say_json({name: player.as_json() for name, player in league.players.items()})


def why(season: Path, match: str, /, *, json_: AsJson = False) -> None:
    """Say why a player met its opponents: a turn by its number, a rated match by m and its number.

    Parameters
    ----------
    season
        The season's folder.
    match
        12: turn 12. m3: the fourth line of matches.jsonl.
    json_
        Print one JSON object as the last line.
    """
    read_league(season)
    rated = match.startswith("m")
    rows = read_jsonl(season / MATCHES).records if rated else _turns(season)
    number = match.removeprefix("m")
    if not number.isdecimal() or int(number) >= len(rows):
        kind = "rated match" if rated else "turn"
        remedy = f"Give a turn, 0 to {len(_turns(season)) - 1}, or m and the number of a match"
        raise BadValue(refuse(f"no such {kind}", match, remedy))
    row = rows[int(number)]
    if rated:
        say(
            f"{row['agent_a']} had just been frozen (turn {row['round']}) and is measured against "
            f"others; game {row['game']} of series {row['seed']} against {row['agent_b']}"
        )
    else:
        lines = [
            (pairing["opponent"], f"{rule['share']:.3f}", f"{rule['win_chance']:.2f}", rule["rule"])
            for pairing in row["opponents"]
            for rule in pairing["why"]
        ]
        columns = ("opponent", "share", "chance to win", "rule")
        print_table(table(columns, lines, _line(row), columns[1:3]))
        if row.get("tuned"):
            say(told(row["player"], row["tuned"]))
    if json_:
        say_json(row)


def report(
    season: Path, /, *, picture: Path | None = None, games: Int = 400, json_: AsJson = False
) -> None:
    """Rate everybody in a season: Elo, win rates, Nash mass, cycles; writes summary.json.

    Parameters
    ----------
    season
        The season's folder.
    picture
        Also draw Elo over core-hours to this PNG.
    games
        Games of neighbouring bots that tie the ratings to the anchor; 0 = no Elo.
    json_
        Print the summary as one JSON object as the last line.
    """
    from levelcap.trials.league_report import draw, summarise

    if games < 0 or games % 2:
        raise BadValue(refuse("games are played in pairs", games, "Give an even number"))
    found = summarise(season, ladder_games=games)
    elos: dict[str, Any] = found["elo"]
    names = sorted(found["nash"], key=lambda name: -elos.get(name, {"elo": 0})["elo"])
    rows = []
    for name in names:
        elo = elos.get(name)
        shown = "" if elo is None else f"{elo['elo']:.0f} ({elo['low']:.0f} to {elo['high']:.0f})"
        rows.append((name, shown, elo and elo["games"], f"{found['nash'][name]:.3f}"))
    print_table(table(("player", "Elo", "games", "Nash"), rows, str(season), ("games", "Nash")))
    worst = found["exploitability_proxy_min_winrate_vs_past"]
    Console(highlight=False).print(
        f"{found['num_matches']:,} rated matches · cycle share {found['cycle_share']:.3f} · main's "
        f"lowest chance against the past {'unknown' if worst is None else f'{worst:.2f}'} · "
        f"{found['core_hours']:.2f} core-hours"
    )
    if picture is not None:
        draw(season, found, picture)
        say(f"picture: {picture}")
    if json_:
        say_json(found)


def _turns(season: Path) -> list[dict[str, Any]]:
    path = season / TURNS
    return list(read_jsonl(path).records) if path.exists() else []


def _worst(league: League, name: str) -> str:
    others = [p.player_id for p in league.frozen() if league.payoff.games(name, p.player_id)]
    if not others:
        return ""
    worst = min(others, key=lambda other: league.payoff.rate(name, other))
    return f"{worst} {league.payoff.rate(name, worst):.2f}"


def _line(row: dict[str, Any]) -> str:
    """A turn in one line."""
    counts = [sum(column) for column in zip(*row["results"].values(), strict=True)] or [0, 0, 0]
    frozen = f" · frozen as {row['frozen']}" if row["frozen"] else ""
    # Seasons of before siblings have no such field.
    change = row.get("tuned")
    taken = f" · took over {change['against']}" if change and change["copied"] else ""
    return (
        f"turn {row['turn']}: {row['player']} ({row['run']}) {row['steps']:,} steps, "
        f"{row['seconds']:.0f} s · {counts[0]} won, {counts[1]} drawn, {counts[2]} lost against "
        f"{len(row['results'])} opponents{taken}{frozen}"
    )
