"""What a season came to: ratings, win rates by pair, exploitability, Nash mass, cycles. No torch.

Rated matches are the ground: fixed weights on both sides, in pairs, linked to the anchor by the
bots among them. What players did in training stands in the payoff table of the season itself.
"""

from __future__ import annotations

from pathlib import Path
from typing import Any

import numpy as np

from levelcap.kit.errors import BadValue, refuse
from levelcap.kit.files import read_json, read_jsonl, write_json
from levelcap.kit.stats import paired_interval
from levelcap.learn.league.config import BOT, LEARNERS, MAIN
from levelcap.learn.league.payoff import BETWEEN
from levelcap.learn.league.state import MATCHES, TURNS, League, read_league
from levelcap.play.show.plot import Series, plot_curves
from levelcap.trials.nash import cycle_share, nash
from levelcap.trials.panel import BASES, bot_ladder
from levelcap.trials.ratings import Games, from_digits, rate, to_digits
from levelcap.world.spec import WORLDS

SUMMARY, LADDER = "summary.json", "ladder.json"


def series_of(league: League) -> list[Games]:
    """Rated matches by pair, in the order played."""
    path = league.place / MATCHES
    found: dict[tuple[str, str], list[float]] = {}
    for row in read_jsonl(path).records if path.exists() else []:
        pair = row["agent_a"], row["agent_b"]
        found.setdefault(pair, []).append((row["outcome"] + 1) / 2)
    return [Games(a, b, scores) for (a, b), scores in found.items()]


def summarise(place: Path, *, ladder_games: int = 400, seed: int = 0) -> dict[str, Any]:
    """The summary of a season, also written to its summary.json.

    ladder_games: games of neighbouring bots that link the season to the anchor; 0 = none are
    played and there is no Elo.
    """
    league = read_league(place)
    series = series_of(league)
    names = [name for name, player in league.players.items() if not player.trainable]
    summary: dict[str, Any] = {
        "world": league.world,
        "turns": league.turn,
        "num_players": len(league.players),
        "num_matches": sum(len(np.asarray(games.scores)) for games in series),
        "core_hours": round(league.core_seconds / 3600, 4),
        "win_rates": {f"{g.a}{BETWEEN}{g.b}": _rate(g) for g in series},
        "elo": _elos(league, series, ladder_games, seed),
        "exploitability_proxy_min_winrate_vs_past": _worst(league),
        **_shape(names, series),
    }
    write_json(place / SUMMARY, summary)
    return summary


def _rate(games: Games) -> dict[str, float]:
    scores = np.asarray(games.scores, np.float64)
    low, high = paired_interval(scores)
    numbers = {"win_rate": float(scores.mean()), "low": low, "high": high, "games": len(scores)}
    return {name: round(value, 6) for name, value in numbers.items()}


def _elos(league: League, series: list[Games], ladder: int, seed: int) -> dict[str, Any]:
    rated = any(player.agent_type == BOT for player in league.players.values())
    if not series or ladder == 0 or not rated or league.world not in WORLDS:
        return {}
    found = rate([*series, *_ladder(league, ladder, seed)])
    return dict(found.as_json()["players"])


def _ladder(league: League, games: int, seed: int) -> list[Games]:
    """Games of the bots among themselves, played once a season."""
    path = league.place / LADDER
    asked = [games, seed]
    kept = read_json(path) if path.exists() else {}
    if kept.get("asked") != asked:
        rows = bot_ladder(league.world, seed, games)
        kept = {"asked": asked, "rows": [[g.a, g.b, to_digits(g.scores)] for g in rows]}
        write_json(path, kept)
    return [Games(a, b, from_digits(digits)) for a, b, digits in kept["rows"]]


def _worst(league: League) -> float | None:
    """The main player's lowest chance against a frozen player that was a learner once."""
    past = [p.player_id for p in league.frozen() if p.agent_type != BOT]
    rates = [league.payoff.rate(MAIN, name) for name in past if league.payoff.games(MAIN, name)]
    return round(min(rates), 6) if rates else None


def _shape(names: list[str], series: list[Games]) -> dict[str, Any]:
    """Nash mass and cycle share of the table of rated matches."""
    place = {name: index for index, name in enumerate(names)}
    wins, games = np.zeros((len(names),) * 2), np.zeros((len(names),) * 2)
    for row in series:
        i, j = place[row.a], place[row.b]
        scores = np.asarray(row.scores, np.float64)
        wins[i, j] += scores.sum()
        wins[j, i] += (1 - scores).sum()
        games[i, j] += len(scores)
        games[j, i] += len(scores)
    # Pairs that never met count as equal.
    mass = nash((wins + 1) / (games + 2))
    return {
        "nash": {name: round(float(share), 6) for name, share in zip(names, mass, strict=True)},
        "cycle_share": round(cycle_share(wins, games), 6),
    }


def draw(place: Path, summary: dict[str, Any], picture: Path) -> None:
    """Elo of the frozen learners over the season's turns, kind by kind, with intervals."""
    league, elos = read_league(place), summary["elo"]
    if not elos:
        what, remedy = "nobody is rated", "Let a player be frozen first, with bots in the league"
        raise BadValue(refuse(what, str(place), remedy))
    born = {
        row["frozen"]: row["turn"] + 1
        for row in read_jsonl(place / TURNS).records
        if row["frozen"] is not None
    }
    curves: list[Series] = []
    for kind in LEARNERS:
        names = [n for n, p in league.players.items() if p.agent_type == kind and n in elos]
        rows = [elos[name] for name in names]
        if names:
            when = [born.get(name, 0) for name in names]
            elo, low, high = ([row[key] for row in rows] for key in ("elo", "low", "high"))
            curves.append((kind, when, elo, low, high))
    bots = {name: elos[name]["elo"] for name in BASES if name in elos}
    title = f"League in {league.world}, {summary['core_hours']:.2f} core-hours"
    plot_curves(picture, curves, title=title, x_label="turns", y_label="Elo", lines=bots)
