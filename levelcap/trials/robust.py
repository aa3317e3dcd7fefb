"""Robustness: what every attack costs a hero, in points of win rate against one fixed opponent.

    report = measure(policy, "duel", games=200, seed=0)
    report["attacks"]["late"]["loss"]       # [points, low, high]

Clean and attacked games have the same seeds, so a loss is a mean of differences of pairs. An attack
that takes less than `COUNTS` from a hero says nothing of how hard it is to disturb: it does not
count. No torch.
"""

from __future__ import annotations

from typing import Any

from levelcap.kit.seeds import chain
from levelcap.kit.stats import paired_difference
from levelcap.learn.adversary.attacks import STRENGTHS, Attacked
from levelcap.learn.adversary.saboteur import train_saboteur
from levelcap.play.matchup import Result, play_games
from levelcap.play.roster import find
from levelcap.world.protocols import Policy
from levelcap.world.spec import arena_spec

OPPONENT = "master"
GAMES = {2: 200, 10: 48}  # by players of a match
COUNTS = 0.15
TRAINING = 5  # purpose of the seeds on which a saboteur is trained


def measure(
    policy: Policy,
    world: str,
    *,
    games: int | None = None,
    seed: int = 0,
    strengths: dict[str, float] | None = None,
) -> dict[str, Any]:
    """Win rates clean and under each attack, with intervals; strengths None: all at theirs.

    games: an even number, for each row; None: what takes some seconds of this world.
    """
    games = GAMES[arena_spec(world).num_players] if games is None else games
    opponent = find(OPPONENT)
    clean = play_games(policy, opponent, world, games, seed)
    rows: dict[str, dict[str, Any]] = {}
    for attack, strength in (STRENGTHS if strengths is None else strengths).items():
        pattern = 0
        if attack == "saboteur":
            # Trained on games of its own: what it costs is not the luck of the best of many looks.
            few, own = max(2, games // 8 * 2), chain(seed, TRAINING)
            pattern = train_saboteur(
                policy, opponent, world, strength=strength, games=few, seed=own
            )
        hit = play_games(Attacked(policy, attack, strength, pattern), opponent, world, games, seed)
        points, low, high = paired_difference(clean.scores, hit.scores)
        rows[attack] = {
            "strength": strength,
            "win_rate": _figure(hit),
            "loss": [points, low, high],
            "counts": points >= COUNTS,
        }
    worst = max(rows, key=lambda attack: rows[attack]["loss"][0])
    why = f"{worst} costs most: {100 * rows[worst]['loss'][0]:.0f} points of win rate"
    head = {"opponent": OPPONENT, "games": games, "clean": _figure(clean), "attacks": rows}
    return head | {"passed": True, "why": why}


def recovered(before: dict[str, Any], after: dict[str, Any]) -> dict[str, float | None]:
    """Share of what each attack cost before that is won back after; None: it did not count."""
    clean = before["clean"][0]
    shares: dict[str, float | None] = {}
    for attack, row in before["attacks"].items():
        rate = row["win_rate"][0]
        gained = after["attacks"][attack]["win_rate"][0] - rate
        shares[attack] = gained / (clean - rate) if row["counts"] else None
    return shares


def _figure(result: Result) -> list[float]:
    return [result.win_rate, result.ci_low, result.ci_high]
