"""The saboteur: of many ways to bend what a player sees, the one that hurts this player most.

    pattern = train_saboteur(policy, find("master"), "duel", strength=0.15, games=50, seed=0)

A pattern is a sign for every number of every view; the saboteur adds or takes away `strength`
there, the same in every look. It is found from outside, by results alone: every pattern plays some
games, the worse half for the player plays as many more, and so on until one is left (successive
halving). So it works on any player, bots included, and needs nothing of its weights. It is the
worst of `PATTERNS`, not the worst there is. No torch.
"""

from __future__ import annotations

from levelcap.kit.seeds import chain
from levelcap.learn.adversary.attacks import Attacked
from levelcap.play.matchup import play_games
from levelcap.world.protocols import Policy

PATTERNS = 8


def train_saboteur(
    policy: Policy, opponent: Policy, world: str, *, strength: float, games: int, seed: int
) -> int:
    """The number of the pattern under which the player wins least; games: of a pattern, a round."""
    scores: dict[int, list[float]] = {number: [] for number in range(PATTERNS)}
    turn = 0
    while len(scores) > 1:
        for number, row in scores.items():
            hit = Attacked(policy, "saboteur", strength, number)
            # The same games for all patterns of a round: they differ by the pattern alone.
            row += play_games(hit, opponent, world, games, chain(seed, turn)).scores.tolist()
        order = sorted(scores, key=lambda number: sum(scores[number]))
        scores = {number: scores[number] for number in order[: len(order) // 2]}
        turn += 1
    return next(iter(scores))
