"""`levelcap trial`: may this checkpoint be champion? A whole trial, and its verdict."""

from __future__ import annotations

from pathlib import Path
from typing import Any

from rich.console import Console

from levelcap.cli.options import AsJson, Int, check_targets
from levelcap.cli.policies import load_policy, world_of
from levelcap.cli.printer import say, say_json, table
from levelcap.kit.errors import BadValue, refuse
from levelcap.kit.files import write_json
from levelcap.kit.seeds import chain
from levelcap.trials.cost import prices
from levelcap.trials.speed import size_of
from levelcap.trials.sprt import MINUTES
from levelcap.trials.suite import Entrant, Plan, run_trial
from levelcap.trials.verdict import Verdict
from levelcap.vault.ask import find_folder

ASIDE = ("vacuous", "not_measured")


def trial(
    checkpoint: str,
    /,
    *,
    against: str | None = None,
    world: str | None = None,
    minutes: float = MINUTES,
    matches: Int = Plan.matches,
    core_seconds: float | None = None,
    seed: Int | None = None,
    out: Path | None = None,
    replays: Path | None = None,
    json_: AsJson = False,
) -> None:
    """Judge a checkpoint against the champion: every number, pass or fail, and why.

    Parameters
    ----------
    checkpoint
        An id, champion, best, latest, a folder; or a bot, or package.module:attribute.
    against
        Whom it has to beat, named alike: `champion`; without it the throne counts as empty and the
        verdict is provisional.
    world
        duel, lms, siege or crown (default: the checkpoint's own).
    minutes
        Of the machine for the sequential test at most; then it stays undecided.
    matches
        In which the constitution is checked.
    core_seconds
        What training took in all (default: what the checkpoint says of its last run).
    seed
        Draws the sealed panel and every match (default: by the two players, so that every pair
        meets a fresh panel).
    out
        Write verdict.json here.
    replays
        A folder for the matches in which rules were broken.
    json_
        Print the verdict as one JSON object, the last line.
    """
    _check(out, replays, matches)
    candidate = _entrant(checkpoint, core_seconds)
    champion = None if against is None else _entrant(against, None)
    named = world_of(world, "duel", candidate.policy)
    players = [candidate] if champion is None else [candidate, champion]
    if seed is None:
        seed = chain(*(int(player.policy.content_hash[:12], 16) for player in players))
    plan = Plan(minutes=minutes, matches=matches, prices=prices(), replays=replays)
    with Console(stderr=True).status("starting") as status:
        verdict = run_trial(candidate, champion, named, plan=plan, seed=seed, tell=status.update)
    _print(verdict, named, seed)
    found = {**verdict.as_json(), "world": named, "seed": seed}
    if out is not None:
        write_json(out, verdict.as_json())
    if json_:
        say_json(found)


def _check(out: Path | None, replays: Path | None, matches: int) -> None:
    if matches < 2 or matches % 2:
        raise BadValue(refuse("matches come in pairs", matches, "Give an even number of --matches"))
    check_targets(out, replays and replays / "match")


def _entrant(name: str, core_seconds: float | None) -> Entrant:
    """A player with what is known of its size and cost."""
    policy = load_policy(name)
    metrics: dict[str, float] = getattr(getattr(policy, "meta", None), "metrics", {})
    spent = metrics.get("core_seconds", 0.0) if core_seconds is None else core_seconds
    if spent < 0:
        raise BadValue(refuse("core-seconds spent", spent, "Give a number of at least 0"))
    size = size_of(find_folder(name, reads=False)) if hasattr(policy, "meta") else 0
    return Entrant(name, policy, size, spent)


def _print(verdict: Verdict, world: str, seed: int) -> None:
    """One row a part, the rules of the constitution and the attacks below theirs."""
    rows: list[tuple[Any, ...]] = []
    for name, part in verdict.parts.items():
        rows.append((name, "passed" if part["passed"] else "failed", part["why"]))
        rows += [("", "", f"told: {words}") for words in part.get("told", ())]
        for rule, row in part.get("rules", {}).items():
            aside = [f"{key.replace('_', ' ')}, {row[key]}" for key in ASIDE if key in row]
            share = f"{row['share'][0]:.3f} of matches flagged" if "share" in row else ""
            rows.append(("", "", f"{rule}: {share}{''.join(aside)}"))
        for attack, row in part.get("attacks", {}).items():
            points, low, high = (100 * number for number in row["loss"])
            weak = "" if row["counts"] else ", too weak to count"
            cost = f"{points:.1f} points lost ({low:.1f} to {high:.1f}){weak}"
            rows.append(("", "", f"{attack} {row['strength']:g}: {cost}"))
        if name == "cost":
            said = f"{part['core_seconds']:,} core-seconds, {part['joules']:,} J"
            said += f" ({part['energy_source']}), price {part['price']} ({part['price_source']})"
            rows.append(("", "", said))
    title = f"{verdict.candidate} against {verdict.champion or 'an empty throne'} · {world}"
    Console(highlight=False).print(table(("part", "", "why"), rows, f"{title} · seed {seed}"))
    decided = "may be champion" if verdict.passed else "refused"
    say(f"{decided}: {verdict.reason}")
