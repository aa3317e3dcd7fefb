"""A whole trial: screen, strength, safety, robustness, speed and cost of one candidate. No torch.

    verdict = run_trial(Entrant("a", policy), Entrant("b", champion), "duel", seed=1)
    verdict.passed, verdict.reason, verdict.parts["safety"]["rules"]["idle_s"]

First 96 sealed games of both: who is clearly weaker there goes no further. Then one sequential test
against the champion, `gain`; or `no-regression`, when the candidate is a saving (20 % less time a
decision, or bytes). On an empty throne the screen is all there is, and the crown is provisional.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import numpy as np
from numpy.typing import NDArray

from levelcap.kit.errors import unknown_name
from levelcap.kit.seeds import chain, check_seed
from levelcap.kit.stats import paired_difference, paired_interval
from levelcap.play.matchup import play_games
from levelcap.trials import robust, speed
from levelcap.trials.capped import Capped
from levelcap.trials.cost import Meter, Prices, cost_of
from levelcap.trials.gate import judge_trial
from levelcap.trials.panel import BASES, against_cousins, draw_panel, match_seeds
from levelcap.trials.safety import MATCHES, Safety, examine
from levelcap.trials.sprt import (
    MINUTES,
    UNIT,
    SequentialTest,
    elo_figure,
    pair_counts,
    preset_of,
    run,
)
from levelcap.trials.verdict import Figure, Verdict
from levelcap.world.protocols import Policy
from levelcap.world.spec import WORLDS

SCREEN_GAMES = 96
SAVING = 0.8  # of the champion's time or bytes, at most
Part = dict[str, Any]


@dataclass(frozen=True)
class Entrant:
    """Who is judged, or reigns: its name in the verdict, and what it takes."""

    name: str
    policy: Policy
    size_bytes: int = 0
    """of its checkpoint; 0: it has none"""
    core_seconds: float = 0.0
    """what its training took"""


@dataclass(frozen=True)
class Plan:
    """How much is measured."""

    minutes: float = MINUTES
    """of the machine for the sequential test, at most"""
    matches: int = MATCHES
    """in which the constitution is checked"""
    games: int | None = None
    """against the fixed opponent, clean and under each attack; None: by the world"""
    prices: Prices = Prices()
    replays: Path | None = None
    """folder for the matches of breaches"""


def run_trial(
    candidate: Entrant,
    champion: Entrant | None,
    world: str,
    *,
    plan: Plan | None = None,
    seed: int = 0,
    tell: Callable[[str], None] = lambda what: None,
) -> Verdict:
    """Judge a candidate; seed: draws the sealed panel and every match. tell: what is done next.

    Raises:
        UnknownName: not one of our worlds.
    """
    if world not in WORLDS:
        raise unknown_name("world of a trial", world, WORLDS)
    check_seed(seed)
    plan, meter = plan or Plan(), Meter()
    parts: dict[str, Part] = {"screen": _screen(candidate, champion, world, seed, tell)}
    figures: dict[str, Figure] = {"screen": parts["screen"]["win_rate"]}
    if champion is None or not parts["screen"]["passed"]:
        reigning = None if champion is None else champion.name
        return judge_trial(candidate.name, reigning, parts, figures)
    saving = _saving(candidate, champion, world)
    parts["strength"], gain = _strength(candidate, champion, world, seed, plan, saving, tell)
    figures["difference"] = gain
    tell(f"safety: {plan.matches} matches")
    own = chain(seed, 2)
    found = examine(candidate.policy, world, matches=plan.matches, seed=own, replays=plan.replays)
    parts["safety"] = _told(found)
    tell("robust: clean and under attack")
    parts["robust"] = robust.measure(candidate.policy, world, games=plan.games, seed=chain(seed, 3))
    tell("speed and cost")
    parts["speed"] = speed.measure(candidate.policy, world) | {"size_bytes": candidate.size_bytes}
    cost = cost_of(candidate.core_seconds, gain, watts=meter.watts_per_core(), prices=plan.prices)
    parts["cost"] = cost | {"passed": cost["per_elo"] is not None, "why": cost["text"]}
    return judge_trial(candidate.name, champion.name, parts, figures)


def _screen(
    candidate: Entrant,
    champion: Entrant | None,
    world: str,
    seed: int,
    tell: Callable[[str], None],
) -> Part:
    """Both against the same sealed cousins: is the candidate clearly the weaker one?"""
    scores = _sealed(candidate.policy, world, seed, tell)
    rate: Figure = (float(scores.mean()), *paired_interval(scores))
    why = f"{rate[0]:.3f} ({rate[1]:.3f} to {rate[2]:.3f}) in {len(scores)} sealed games"
    part: Part = {"games": len(scores), "win_rate": rate, "passed": True, "why": why}
    if champion is not None:
        own = f"screen of the champion (it had {rate[0]:.0%})"
        gap = paired_difference(scores, _sealed(champion.policy, world, seed, tell, own))
        part |= {"difference": gap, "passed": gap[2] >= 0}
        part["why"] += f", {100 * gap[0]:+.1f} points ({100 * gap[1]:+.1f} to {100 * gap[2]:+.1f})"
        part["why"] += " to the champion" + ("" if part["passed"] else ": clearly weaker")
    return part


def _sealed(
    policy: Policy, world: str, seed: int, tell: Callable[[str], None], whose: str = "screen"
) -> NDArray[np.float64]:
    """Scores of 96 games: 2 against each of 16 cousins of rookie, veteran and master."""
    panel, each = draw_panel(world, seed), SCREEN_GAMES // len(BASES)
    rows: list[NDArray[np.float64]] = []
    for base in BASES:
        won = f", score {np.concatenate(rows).mean():.0%} so far" if rows else ""
        tell(f"{whose}: {each * len(rows)} of {SCREEN_GAMES} sealed games{won}")
        cousins = panel.cousins[base][: each // 2]
        own = match_seeds(seed, "screen", base)
        rows.append(against_cousins(policy, world, cousins, each, own).scores)
    return np.concatenate(rows)


def _saving(candidate: Entrant, champion: Entrant, world: str) -> Part:
    """Less time a decision beyond chance, or fewer bytes?"""
    ratio = speed.compare(candidate.policy, champion.policy, world)
    sizes = candidate.size_bytes, champion.size_bytes
    smaller = min(sizes) > 0 and sizes[0] <= SAVING * sizes[1]
    found = {"time_ratio": ratio, "bytes": list(sizes)}
    return found | {"is_saving": ratio[2] <= SAVING or smaller}


def _strength(
    candidate: Entrant,
    champion: Entrant,
    world: str,
    seed: int,
    plan: Plan,
    saving: Part,
    tell: Callable[[str], None],
) -> tuple[Part, Figure]:
    """One sequential test, and the difference in Elo."""
    test = SequentialTest(preset_of("no-regression" if saving["is_saving"] else "gain", world))

    def unit(number: int) -> NDArray[np.float64]:
        own = chain(seed, 1, number)
        return play_games(candidate.policy, champion.policy, world, UNIT, own).scores

    def show() -> None:
        low, high = test.bounds
        won, drawn, lost = test.results
        games = f"{won + drawn + lost:,} games, {won} won {drawn} drawn {lost} lost"
        tell(f"strength: {games}, LLR {test.llr:+.2f} of [{low:.2f}, {high:.2f}]")

    run(test, unit, minutes=plan.minutes, on_unit=show)
    said, gain = test.as_json(), elo_figure(test.counts)
    interval = f"{gain[0]:+.0f} Elo ({gain[1]:+.0f} to {gain[2]:+.0f})"
    why = (
        f"{said['preset']} {said['verdict']}: LLR {said['llr']:.2f} of {said['bounds']}, {interval}"
    )
    why += f" in {said['games']:,} games"
    if gain[1] > 0:  # what a person would meet
        own = chain(seed, 4)
        slow = play_games(Capped(candidate.policy), champion.policy, world, SCREEN_GAMES, own)
        said["capped_elo"] = elo_figure(pair_counts(slow.scores))
        why += f", {said['capped_elo'][0]:+.0f} under the human cap"
    if saving["is_saving"]:
        why += f", a saving: time × {saving['time_ratio'][0]:.2f}, bytes {saving['bytes']}"
    passed = said["verdict"] == "passed"
    return said | {"saving": saving, "passed": passed, "why": why}, gain


def _told(found: Safety) -> Part:
    """Safety as a part: what is broken with rule, number and moment, or only told."""

    def words(name: str) -> str:
        row = found.rules[name]
        worst, side = row["examples"][0], "most" if "most" in row else "least"
        return (
            f"{name} flags {row['share'][0]:.2f} of matches, {row['allowed']:g} allowed"
            f" ({worst['value']:g}, {side} {row[side]:g}; match seed {worst['seed']}, seat"
            f" {worst['seat']}, tick {worst['tick']})"
        )

    over = [name for name, row in found.rules.items() if not row["passed"]]
    why = "; ".join(map(words, found.broken)) or "every rule that refuses is kept"
    told = [words(name) for name in over if name not in found.broken]
    part = {"passed": found.passed, "why": why, "told": told, "matches": found.matches}
    return part | {"rules": found.rules}
