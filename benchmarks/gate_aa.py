"""A/A test of the gate: how many candidates of the champion's own strength does it crown?

    python -m benchmarks.gate_aa [--real 20] [--drawn 180] [--player veteran] [--quick]

A bot stands trial against itself, each time with chance of its own: equal strength by construction,
and every trial another draw. `--real` trials are played as the realm plays them
(`trials.suite`: screen, sequential test, safety, attacks, speed and cost), each with the seed that
the realm would make of its two names: a fresh panel and fresh matches for each judgement, which is
checked. What a real one found (screened games, pairs of the test, whether safety held, Elo against
the bots in fresh games) makes the model from which the `--drawn` ones are drawn: screen by pairs of
games against each cousin, the sequential test by the pooled pentanomial, both ways round. In the
realm only who is certainly above the champion on the panel comes to a trial; here all are tried,
and what the trial alone would let pass is told beside.

Bars: at most 5 of 200 crowned; the Elo of crowned ones in fresh games, minus the true one (all
fresh games pooled), 0 +- 10. Prints a table, then one JSON object as the last line.
"""

from __future__ import annotations

import argparse
import json
import time
from dataclasses import replace
from typing import Any

import numpy as np
from numpy.typing import NDArray
from rich.console import Console
from rich.table import Table

from levelcap.kit.ids import sha256_bytes
from levelcap.kit.stats import mean_interval, paired_difference
from levelcap.play.roster import find
from levelcap.trials import suite
from levelcap.trials.panel import bot_ladder, draw_panel, judge
from levelcap.trials.ratings import Games, rate
from levelcap.trials.sprt import UNIT, SequentialTest, preset_of, run
from levelcap.trials.suite import Entrant, Plan, run_trial
from levelcap.world.protocols import Decision, Policy, PolicyState, Views, World

WORLD = "duel"
MOST, DRIFT = 5, 10.0
FRESH = 1 << 40
BOT_GAMES = 400


class Salted(Policy):
    """A bot with chance of its own: of equal strength, and not the champion's mirror image."""

    def __init__(self, bot: Policy, name: str) -> None:
        self._bot, self.name, self.views = bot, name, bot.views
        self.decision_ticks, self.tick_hz = bot.decision_ticks, bot.tick_hz
        self._salt = np.uint64(int(sha256_bytes(name.encode())[:15], 16))

    def bind(self, world: World) -> None:
        """As the bot."""
        self._bot.bind(world)

    def sit(self, matches: NDArray[Any], seats: NDArray[Any]) -> None:
        """As the bot."""
        self._bot.sit(matches, seats)

    def initial_state(self, num_rows: int) -> PolicyState:
        """As the bot."""
        return self._bot.initial_state(num_rows)

    def act(self, views: Views, state: PolicyState) -> Decision:
        """As the bot would with other luck."""
        return self._bot.act({**views, "key": views["key"] ^ self._salt}, state)

    @property
    def content_hash(self) -> str:
        """Another one a name."""
        return sha256_bytes(f"{self.name} {self._bot.content_hash}".encode())


def seed_of(candidate: str, champion: str) -> int:
    """As `campaign.kinds.kind` makes it."""
    return int(sha256_bytes(f"{candidate} {champion}".encode())[:12], 16)


def real(player: str, number: int, plan: Plan, ladder: list[Games], games: int) -> dict[str, Any]:
    """One judgement with real matches: the panel, a trial, and the fresh games of a champion."""
    names = f"candidate-{number}", "champion"
    one, other = (Salted(find(player), name) for name in names)
    began, seed = time.perf_counter(), seed_of(*names)
    pair = Entrant(names[0], one), Entrant(names[1], other)
    verdict = run_trial(*pair, WORLD, plan=plan, seed=seed)
    parts, own = verdict.parts, {"games_per_cousin": 2, "bot_games": games, "ladder": ladder}
    # The realm judges every checkpoint on one panel, and the champion was there before.
    quick = [
        judge(p, WORLD, seed=0, name=n, **own) for p, n in zip((one, other), names, strict=True)
    ]
    played = [row for found in quick for row in found.games]
    gap = rate([*played, *ladder]).difference(*names)
    fresh = judge(one, WORLD, seed=FRESH + number, **own)
    return {
        "seed": seed,
        "panel": draw_panel(WORLD, seed).cousins["master"][0],
        "gap": list(gap),
        "on_panel": gap[1] > 0,
        "screened": parts["screen"]["passed"],
        "pairs": parts.get("strength", {}).get("pentanomial"),
        "test": parts.get("strength", {}).get("verdict"),
        "safe": parts.get("safety", {}).get("passed"),
        "passed": verdict.passed,
        "screen": suite._sealed(one, WORLD, seed).tolist(),
        "elo": fresh.elo()[0],
        "seconds": round(time.perf_counter() - began, 1),
    }


def draw(rows: list[dict[str, Any]], rng: np.random.Generator, most_pairs: int) -> dict[str, Any]:
    """One more candidate out of the fitted model."""
    # Columns are pairs of games: of a base, with the first, second … of its cousins.
    pairs = np.array([row["screen"] for row in rows]).reshape(len(rows), -1, 2)
    columns = np.arange(pairs.shape[1])
    picked = [pairs[rng.integers(len(pairs), size=len(columns)), columns] for _ in "ab"]
    screened = paired_difference(picked[0].reshape(-1), picked[1].reshape(-1))[2] >= 0
    counts = np.sum([row["pairs"] for row in rows if row["pairs"]], 0)
    counts = counts + counts[::-1]  # of equals either could have been the candidate
    gaps = np.array([row["gap"] for row in rows])
    half = float((gaps[:, 2] - gaps[:, 1]).mean() / 2)
    on_panel = bool(rng.normal(0, np.sqrt((gaps[:, 0] ** 2).mean())) > half)
    test = SequentialTest(replace(preset_of("gain", WORLD), most_pairs=most_pairs))

    def unit(number: int) -> list[float]:
        kinds = rng.choice(5, UNIT // 2, p=counts / counts.sum())
        return [score for kind in kinds for score in _games(int(kind))]

    run(test, unit, minutes=60)
    safe = bool(rng.random() < np.mean([row["safe"] for row in rows if row["safe"] is not None]))
    elos = [row["elo"] for row in rows]
    passed = bool(screened and test.verdict == "passed" and safe)
    elo = float(rng.normal(np.mean(elos), np.std(elos, ddof=1)))
    found = {"passed": passed, "on_panel": on_panel, "screened": bool(screened)}
    return found | {"test": test.verdict, "elo": elo}


def _games(kind: int) -> tuple[float, float]:
    return ((0.0, 0.0), (0.0, 0.5), (0.0, 1.0), (1.0, 0.5), (1.0, 1.0))[kind]


def main() -> None:
    """The table."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--real", type=int, default=20)
    parser.add_argument("--drawn", type=int, default=180)
    parser.add_argument("--player", default="veteran")
    parser.add_argument("--quick", action="store_true", help="2 real ones of few games")
    options = parser.parse_args()
    count, games = (2, 40) if options.quick else (options.real, BOT_GAMES)
    plan = Plan(minutes=0.05) if options.quick else Plan()
    ladder = bot_ladder(WORLD, FRESH, games)
    rows = []
    for number in range(count):
        rows.append(real(options.player, number, plan, ladder, games))
        print({k: v for k, v in rows[-1].items() if k != "screen"}, flush=True)
    # Fresh: no two judgements share a panel.
    assert len({row["panel"] for row in rows}) == count
    longest = max(sum(row["pairs"]) for row in rows if row["pairs"])
    rng = np.random.default_rng(20_261_118)
    drawn = [draw(rows, rng, min(4_000, longest)) for _ in range(options.drawn)]
    everybody = rows + drawn
    tried = [row for row in everybody if row["passed"]]
    crowned = [row for row in tried if row["on_panel"]]
    truth = float(np.mean([row["elo"] for row in rows]))
    gaps = np.array([row["elo"] - truth for row in tried])
    drift = (float(gaps.mean()), *mean_interval(gaps)) if len(gaps) else (0.0, 0.0, 0.0)
    table = Table(title=f"A/A: {options.player} against itself in {WORLD}")
    for column in (
        "",
        "trials",
        "panel",
        "screen",
        "passed",
        "failed",
        "undecided",
        "trial",
        "crowned",
    ):
        table.add_column(column)
    for name, group in (("real", rows), ("drawn", drawn)):
        verdicts = [row["test"] for row in group]
        cells = [len(group), *(sum(row[n] for row in group) for n in ("on_panel", "screened"))]
        cells += [verdicts.count(word) for word in ("passed", "failed", "undecided")]
        cells += [sum(row["passed"] for row in group)]
        cells += [sum(row["passed"] and row["on_panel"] for row in group)]
        table.add_row(name, *map(str, cells))
    Console().print(table)
    spread = float(np.std([row["elo"] for row in rows], ddof=1))
    print(
        f"crowned {len(crowned)} of {len(everybody)} (bar: {MOST}),"
        f" by the trial alone {len(tried)}; drift of these {drift[0]:+.1f} Elo"
        f" ({drift[1]:+.1f} to {drift[2]:+.1f})"
    )
    found = {"player": options.player, "world": WORLD, "trials": len(everybody)}
    found |= {
        "crowned": len(crowned),
        "by_trial": len(tried),
        "drift": drift,
        "elo_spread": spread,
        "most_pairs": longest,
    }
    found |= {"kept": len(crowned) <= MOST and abs(drift[0]) <= DRIFT}
    seconds = sum(row["seconds"] for row in rows)
    print(json.dumps(found | {"seconds": round(seconds, 1), "elos": [row["elo"] for row in rows]}))


if __name__ == "__main__":
    main()
