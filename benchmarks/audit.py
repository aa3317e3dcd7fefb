"""Are lying workers found, and honest ones left alone?  `trials/audit.py` on real matches.

    python benchmarks/audit.py [--games 1000] [--runs 100] [--quick]

Duels of tiny untrained nets (weights drawn wide, so that they differ as trained ones do). A run is
one worker with all the games, audited with a sample of its own. Matches are the same in all runs,
what is checked of them is not; a check is made once and remembered. The last line is JSON.

    honest     nobody may be accused
    scores     15 % of the scores are false, the replays true
    swapped    B is another net than claimed, in 15 % of the matches, and in all of them
"""

from __future__ import annotations

import argparse
import json
import tempfile
import time
from collections.abc import Sequence
from dataclasses import replace
from math import comb
from pathlib import Path
from typing import Any

import numpy as np

from levelcap.play.load import NetPolicy
from levelcap.trials.audit import SHARE, Check, Odds, check, judge, sample
from levelcap.trials.claims import Claim, play_claims
from tests.trials.heroes import hero

FALSE = 0.15
BATCH = 100  # games at once


class Memory:
    """Checks by claim: the same claim is played again once."""

    def __init__(self, nets: Sequence[NetPolicy]) -> None:
        self._nets = {net.content_hash: net for net in nets}
        self._done: dict[tuple[int, float], Check] = {}

    def check(self, claim: Claim, number: int) -> Check:
        """The same as `audit.check`."""
        key = id(claim.replay), claim.score
        if key not in self._done:
            self._done[key] = check(claim, number, self._nets)
        return replace(self._done[key], claim=number)

    def accused(self, claims: Sequence[Claim], seed: int) -> bool:
        """Is the worker of these claims found?"""
        checks = [self.check(claims[number], number) for number in sample(claims, seed)]
        return bool(judge(claims, checks).accused)

    def odds(self) -> list[Odds]:
        """Of every match and player checked so far."""
        return [odds for done in self._done.values() for odds in done.odds.values()]


def play(nets: tuple[NetPolicy, NetPolicy], games: int, seed: int) -> list[Claim]:
    """Claims of one worker."""
    found: list[Claim] = []
    while len(found) < games:
        found += play_claims("worker", nets, "duel", min(BATCH, games - len(found)), seed)
        seed += 1
    return found


def claimed_for(claim: Claim, of: str, by: str) -> Claim:
    """The same match, said to be another player's."""
    head = claim.replay.header
    rows = [
        row | {"sha256": by if row["sha256"] == of else row["sha256"]} for row in head["policies"]
    ]
    players = tuple(by if digest == of else digest for digest in claim.players)
    return replace(
        claim, players=players, replay=replace(claim.replay, header=head | {"policies": rows})
    )


def chance_to_miss(games: int, false: int) -> float:
    """Chance that a sample without replacement holds no false one."""
    checked = int(np.ceil(SHARE * games))
    return comb(games - false, checked) / comb(games, checked)


def lie(claims: list[Claim], rng: np.random.Generator) -> list[Claim]:
    """15 % of the scores turned round; a draw becomes a win."""
    told = list(claims)
    for number in rng.choice(len(claims), round(FALSE * len(claims)), replace=False):
        score = claims[number].score
        told[number] = replace(claims[number], score=1.0 if score == 0.5 else 1 - score)
    return told


def drawn_blank(claim: Claim, games: int, runs: int) -> int:
    """Samples of as many claims that hold none of the false ones: no match is played for it."""
    claims, rng, missed = [claim] * games, np.random.default_rng(0), 0
    for seed in range(runs):
        false = rng.choice(games, round(FALSE * games), replace=False)
        missed += not set(false.tolist()) & set(sample(claims, seed))
    return missed


def main() -> None:
    """Play, lie, audit, print."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--games", type=int, default=1000)
    parser.add_argument("--runs", type=int, default=100)
    parser.add_argument("--quick", action="store_true")
    options = parser.parse_args()
    games, runs = (60, 5) if options.quick else (options.games, options.runs)
    began, result = time.monotonic(), {"games": games, "runs": runs}
    miss = chance_to_miss(1000, 150)
    print(f"1,000 games, 150 false, 50 checked: found with p = {1 - miss:.6f} (exact)")
    with tempfile.TemporaryDirectory() as home:
        nets = [hero(Path(home) / str(seed), seed) for seed in range(3)]
        a, b, c = nets
        memory = Memory(nets)
        honest = play((a, b), games, seed=0)
        blank = drawn_blank(honest[0], 1000, 200 if options.quick else 10_000)
        result |= {"p_exact": 1 - miss, "p_drawn": 1 - blank / (200 if options.quick else 10_000)}
        print(f"the same by drawing samples: {result['p_drawn']:.6f}")
        others = [
            claimed_for(claim, c.content_hash, b.content_hash) for claim in play((a, c), games, 50)
        ]
        print(f"{2 * games} matches played, {time.monotonic() - began:.0f} s", flush=True)
        result |= audit_runs(memory, honest, others, runs)
    errors = np.array([odds.errors for odds in memory.odds()])
    print(f"checks made: {len(errors) // 2}, {time.monotonic() - began:.0f} s")
    print(json.dumps(result))


def audit_runs(
    memory: Memory, honest: list[Claim], others: list[Claim], runs: int
) -> dict[str, Any]:
    """Each kind of worker, `runs` times with another sample."""
    games = len(honest)
    found: dict[str, Any] = {
        "honest_accused": sum(memory.accused(honest, seed) for seed in range(runs))
    }
    errors = np.array([odds.errors for odds in memory.odds()])
    found |= {"errors_mean": float(errors.mean()), "errors_std": float(errors.std())}
    found["errors_most"] = float(np.abs(errors).max())
    print(f"honest: accused in {found['honest_accused']} of {runs} runs")
    print(
        f"  standard errors of single matches: mean {found['errors_mean']:+.3f}, std "
        f"{found['errors_std']:.3f}, furthest {found['errors_most']:.2f} of {len(errors)}",
        flush=True,
    )
    rng = np.random.default_rng(1)
    few = max(1, runs // 5)
    found["scores_found"] = sum(memory.accused(lie(honest, rng), seed) for seed in range(few))
    print(f"scores, 15 % false: found in {found['scores_found']} of {few} runs", flush=True)
    part = 0
    for seed in range(few):
        mixed = list(honest)
        for number in rng.choice(games, round(FALSE * games), replace=False):
            mixed[number] = others[number]
        part += memory.accused(mixed, seed)
    found["swapped_part_found"] = part
    print(f"swapped in 15 %: found in {part} of {few} runs", flush=True)
    found["swapped_all_found"] = sum(memory.accused(others, seed) for seed in range(3))
    print(f"swapped in all: found in {found['swapped_all_found']} of 3 runs")
    return found | {"lying_runs": few}


if __name__ == "__main__":
    main()
