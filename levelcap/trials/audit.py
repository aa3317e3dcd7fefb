"""Audit of matches that workers report: believed as far as a sample of them holds.

    found = audit(claims, {net.content_hash: net, ...}, seed=secret)
    found.kept                       # numbers of the claims that may enter the ratings
    [a.text() for a in found.accused]

Of each worker's matches 5 % are drawn and checked. First, the stored actions are played through the
world again, which is exact on every machine: the match must be the one that was asked for, its
states and end as recorded, its score as claimed. Second, the actions must be those of the claimed
checkpoints: log pi(a) minus its expectation under pi has mean 0 whatever the match was, and its
variance follows from the logits, too; the mean over all checked decisions of a checkpoint must lie
within 4 standard errors of what is expected. Bits need not agree, because nets answer differently
in the last digits elsewhere. A net's sampled choice (a mode) is drawn again from the match's own
chance and taken as given. Bots and likeliest-action players have no log-probability; of them only
the first check is made. Another policy passes the second check only as far as the claimed one finds
its actions as likely as its own.
"""

from __future__ import annotations

import math
from collections import defaultdict
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any

import numpy as np
from numpy.typing import NDArray

from levelcap.kit.errors import BadValue, LevelcapError, refuse
from levelcap.kit.seeds import chain, check_seed, stream
from levelcap.play.load import NetPolicy
from levelcap.play.matchup import scores_of
from levelcap.play.seats import views_of
from levelcap.trials.claims import Claim, rate_of
from levelcap.world import make
from levelcap.world.match import ArenaWorld
from levelcap.world.protocols import ALWAYS, Policy, PolicyState, Views, put_rows, take_rows
from levelcap.world.spec import WORLD_VERSION, WorldSpec

SHARE = 0.05  # of each worker's matches
MOST_ERRORS = 4.0  # standard errors
NEVER = -50.0  # log-probability of an action that the mask forbids
Floats = NDArray[np.float64]


@dataclass
class Odds:
    """How likely a player's actions were, summed over decisions."""

    decisions: int = 0
    log_prob: float = 0.0
    expected: float = 0.0
    variance: float = 0.0

    def add(self, other: Odds) -> None:
        """Take in more decisions of the same player."""
        self.decisions += other.decisions
        self.log_prob += other.log_prob
        self.expected += other.expected
        self.variance += other.variance

    @property
    def errors(self) -> float:
        """Standard errors between what was done and what is expected."""
        gap = self.log_prob - self.expected
        # A net that is certain of everything has no spread: then nothing may differ.
        return gap / math.sqrt(self.variance + 1e-6 * max(1, self.decisions))


@dataclass(frozen=True)
class Check:
    """What came of one claim; problem: "" when the replay is as claimed."""

    claim: int
    problem: str
    odds: dict[str, Odds] = field(default_factory=dict)


@dataclass(frozen=True)
class Accusation:
    """Why a worker is believed no longer."""

    worker: str
    claims: int
    checked: int
    wrong: tuple[tuple[int, str], ...]
    """number of the claim and what is wrong with it"""
    unlikely: dict[str, Odds]
    """players whose actions are not theirs"""

    def text(self) -> str:
        """One sentence a finding."""
        said = [f"{self.worker}: {self.checked} of {self.claims} matches checked"]
        said += [f"match {number}: {what}" for number, what in self.wrong]
        for player, odds in self.unlikely.items():
            n = odds.decisions
            said.append(
                f"player {player[:12]}: mean log-probability {odds.log_prob / n:.3f}, expected "
                f"{odds.expected / n:.3f}, {odds.errors:+.1f} standard errors over {n} decisions"
            )
        return "; ".join(said)


@dataclass(frozen=True)
class Audit:
    """Which claims stay, and who is found."""

    kept: list[int]
    accused: list[Accusation]
    checked: list[int]


def audit(
    claims: Sequence[Claim], policies: Mapping[str, Policy], seed: int, share: float = SHARE
) -> Audit:
    """Check a sample of every worker's claims; all of a worker who fails leave.

    policies: by content hash, everybody the workers were told to play. seed: of the sample; no
    worker may know it beforehand.
    """
    checks = [check(claims[number], number, policies) for number in sample(claims, seed, share)]
    return judge(claims, checks)


def sample(claims: Sequence[Claim], seed: int, share: float = SHARE) -> list[int]:
    """Numbers of the claims to check: of every worker's this share, at least one."""
    check_seed(seed)
    if not 0 < share <= 1:
        raise BadValue(refuse("a share to check lies above 0 and up to 1", share, "Give 0.05"))
    found: list[int] = []
    for place, numbers in enumerate(_by_worker(claims).values()):
        rng = stream(chain(seed, place), "audit")
        count = math.ceil(share * len(numbers))
        found += sorted(rng.choice(numbers, count, replace=False).tolist())
    return found


def judge(claims: Sequence[Claim], checks: Sequence[Check]) -> Audit:
    """Who fails by these checks. A player's odds are pooled over all of a worker's matches."""
    accused = []
    for worker, numbers in _by_worker(claims).items():
        mine = [done for done in checks if claims[done.claim].worker == worker]
        odds: defaultdict[str, Odds] = defaultdict(Odds)
        for done in mine:
            for player, found in done.odds.items():
                odds[player].add(found)
        wrong = tuple((done.claim, done.problem) for done in mine if done.problem)
        unlikely = {p: found for p, found in odds.items() if abs(found.errors) > MOST_ERRORS}
        if wrong or unlikely:
            accused.append(Accusation(worker, len(numbers), len(mine), wrong, unlikely))
    out = {accusation.worker for accusation in accused}
    kept = [number for number, claim in enumerate(claims) if claim.worker not in out]
    return Audit(kept, accused, [done.claim for done in checks])


def check(claim: Claim, number: int, policies: Mapping[str, Policy]) -> Check:
    """Play one claim again."""
    head = claim.replay.header
    hashes = [policy["sha256"] for policy in head["policies"]]
    told, sat = list(claim.players), [hashes[seat] for seat in head["seats"]]
    problem = ""
    if head["world_version"] != WORLD_VERSION:
        problem = f"played in world version {head['world_version']}, this is {WORLD_VERSION}"
    elif not set(told) <= set(policies) or sat != [told[seat] for seat in claim.seats]:
        problem = f"played by {' and '.join(h[:12] for h in hashes)}, who were not to sit there"
    elif not len(claim.replay.actions):
        problem = "holds no decision"
    if problem:
        return Check(number, problem)
    try:
        odds = _play(claim, [policies[digest] for digest in told])
    except LevelcapError as error:  # the world or a net refuses what the worker sent
        return Check(number, str(error))
    winner = head["result"]["winner"]
    if winner is None:
        return Check(number, "was cut off before its end", odds)
    score = float(scores_of(head["ruleset"], np.array([claim.seats]), np.array([winner]))[0])
    if score != claim.score:
        problem = f"score {claim.score:g} was claimed, the match gives {score:g}"
    return Check(number, problem, odds)


def _check_as_told(world: ArenaWorld, claim: Claim, policies: list[Policy]) -> None:
    """Is this the match that was asked for: world, rules, rate, seed and so champions?"""
    rate = rate_of(policies, claim.world)
    told = make(claim.world, 1, match_seeds=[claim.seed], auto_reset=False, decision_ticks=rate)
    told.reset()

    def facts(of: ArenaWorld) -> tuple[object, ...]:
        rates = of.decision_ticks, of.seat_ticks.tolist()
        return of.ruleset, of.spec.tick_hz, of.patch_sha256(), rates, of.match_hash(0)

    if facts(world) != facts(told):
        what = f"another match than {claim.world} from seed {claim.seed}"
        raise BadValue(refuse(what, facts(world), "Play what was asked for"))


def _by_worker(claims: Sequence[Claim]) -> dict[str, list[int]]:
    found: dict[str, list[int]] = {}
    for number, claim in enumerate(claims):
        found.setdefault(claim.worker, []).append(number)
    return dict(sorted(found.items()))


def _play(claim: Claim, policies: list[Policy]) -> dict[str, Odds]:
    """The match once more, and the odds of what the nets in it did."""
    seats, replay = np.array(claim.seats), claim.replay
    witnesses: list[_Witness] = []
    for decision, world in enumerate(replay.play(views_of(policies))):
        if decision == 0:
            _check_as_told(world, claim, policies)
            witnesses = [
                _Witness(policy, world, np.flatnonzero(seats == index))
                for index, policy in enumerate(policies)
                if isinstance(policy, NetPolicy) and policy.knows_log_probs
            ]
        if witnesses and decision < len(replay.actions):
            shown = world.observe()
            due = world.buffers.due[0] if decision else np.ones(len(seats), np.bool_)
            for witness in witnesses:
                witness.see(shown, due, replay.actions[decision])
    return {w.policy.content_hash: w.odds() for w in witnesses}


class _Witness:
    """A net that is shown what was done in its seats, and says how likely that was."""

    def __init__(self, policy: NetPolicy, world: ArenaWorld, rows: NDArray[np.int64]) -> None:
        policy.bind(world)
        self.policy, self._rows, self._spec = policy, rows, world.spec
        # Logits, mask and actions of every decision: their odds are counted at once, at the end.
        self._seen: list[tuple[NDArray[Any], ...]] = []
        self._state: PolicyState = policy.initial_state(len(rows))

    def see(self, shown: Views, due: NDArray[np.bool_], actions: NDArray[np.uint8]) -> None:
        """One decision; due [P], actions [P, H]. Who is not due remembers nothing new."""
        part = np.flatnonzero(due[self._rows])
        if len(part) == 0:
            return
        rows = self._rows[part]
        mine = {name: shown[name][0][rows] for name in (*self.policy.views, *ALWAYS)}
        out = self.policy.think(mine, take_rows(self._state, part))
        put_rows(self._state, part, {name: new.numpy() for name, new in out.state.items()})
        self._seen.append((out.logits[0].numpy(), mine["mask"], actions[rows]))

    def odds(self) -> Odds:
        """Of all that it was shown."""
        logits, mask, actions = (np.concatenate(part) for part in zip(*self._seen, strict=True))
        return odds_of(logits.astype(np.float64), mask, actions, self._spec)


def odds_of(
    logits: Floats, mask: NDArray[np.uint8], actions: NDArray[np.uint8], spec: WorldSpec
) -> Odds:
    """log pi of actions [n, H] over used heads, with expectation and variance under pi itself.

    logits, mask: [n, bins of all heads]. A row's log pi is S + U A: S the sum over heads that
    always count, A that over aim heads, U whether one of the heads that aim is in use.
    """
    n, heads, first = len(logits), len(spec.heads), 0
    chosen, mean, variance, zero, none = (np.zeros((heads, n)) for _ in range(5))
    for h, head in enumerate(spec.heads):
        allowed = mask[:, first : first + head.size] != 0
        z = np.where(allowed, logits[:, first : first + head.size], -np.inf)
        first += head.size
        usable = allowed.any(1)
        z = np.where(usable[:, None], z, 0.0)
        z = z - np.logaddexp.reduce(z, axis=1, keepdims=True)
        p, z = np.exp(z), np.maximum(z, NEVER)
        z[~usable] = 0.0  # a head without a choice says nothing
        chosen[h] = z[np.arange(n), actions[:, h]]
        mean[h] = (p * z).sum(1)
        variance[h] = (p * z**2).sum(1) - mean[h] ** 2
        zero[h], none[h] = z[:, 0], np.where(usable, p[:, 0], 1.0)
    aim = np.isin(np.arange(heads), spec.aim_heads)
    users = np.isin(np.arange(heads), spec.aim_users)
    used = (actions[:, users] != 0).any(1)
    idle = none[users].prod(0)  # chance that no head aims
    always, aimed = mean[~aim].sum(0), mean[aim].sum(0)
    square = variance[aim].sum(0) + aimed**2
    # Cov(S, U) = -Cov(S, 1 - U): where nothing aims, the heads that could have are known to be 0.
    together = -idle * (zero[users].sum(0) - mean[users].sum(0))
    spread = variance[~aim].sum(0) + (1 - idle) * square - ((1 - idle) * aimed) ** 2
    return Odds(
        n,
        float((chosen[~aim].sum(0) + used * chosen[aim].sum(0)).sum()),
        float((always + (1 - idle) * aimed).sum()),
        float((spread + 2 * aimed * together).sum()),
    )
