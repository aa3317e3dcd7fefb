"""Sequential test of two players: stop as soon as it is clear whether one is stronger.

    test = SequentialTest(preset_of("gain", "duel"))
    run(test, lambda unit: play_games(a, b, "duel", UNIT, chain(seed, unit)).scores, minutes=10)

The generalised SPRT on pentanomial counts: two games of a pair share a seed with sides exchanged,
so a pair scores 0, 1/2, 1, 3/2 or 2, and pairs are independent where games are not. Hypotheses are
bounds in normalised Elo, i.e. on the t-value (mean - 1/2) / std of a pair; the log-likelihood ratio
is exact: both hypotheses are fitted to the counts by maximum likelihood (Van den Bergh, "Comments
on normalized Elo"). The usual normal approximation fails at large gaps.
"""

from __future__ import annotations

import math
import re
import time
from collections.abc import Callable
from dataclasses import dataclass, field, replace
from typing import Any

import numpy as np
from numpy.typing import ArrayLike, NDArray
from scipy.optimize import brentq

from levelcap.kit.errors import BadValue, check_known, refuse
from levelcap.kit.stats import wilson
from levelcap.world.spec import split_world

PAIR = np.arange(5) / 4  # mean score of a pair
NORMALISED = 800 / math.log(10)  # normalised Elo of a t-value of 1 in single games
SELDOM = 1e-3  # counts of outcomes never seen: their likelihood must not be 0
LONG = 3.0  # siege, crown and lms take minutes a game: three times as wide
STEPS, NEAR = 60, 1e-10  # of the fit
UNIT = 64  # games between two looks at the ratio
MINUTES = 10.0  # of the machine, then it stays undecided
Floats = NDArray[np.float64]


@dataclass(frozen=True)
class Preset:
    """What is tested: normalised Elo of at least `high`, or of at most `low`?"""

    name: str
    low: float
    high: float
    alpha: float = 0.05  # chance to say "passed" at `low`
    beta: float = 0.05  # chance to say "failed" at `high`
    most_pairs: int = 4_000


PRESETS = (Preset("gain", 0, 10), Preset("no-regression", -10, 0), Preset("simplify", -5, 5))


def preset_of(name: str, world: str) -> Preset:
    """A preset by name, with the bounds of this world.

    Raises:
        UnknownName: there is no such preset.
    """
    known = {preset.name: preset for preset in PRESETS}
    check_known("preset", name, known)
    found = known[name]
    wide = 1.0 if split_world(world)[0] == "duel" or ":" in world else LONG
    return replace(found, low=found.low * wide, high=found.high * wide)


def pair_counts(scores: ArrayLike) -> NDArray[np.int64]:
    """Pairs that scored 0, 1/2, 1, 3/2 and 2: of games in order, 2k and 2k + 1 being a pair.

    Raises:
        BadValue: an odd number of games, or a score other than 0, 1/2 and 1.
    """
    games = np.asarray(scores, np.float64)
    if len(games) % 2:
        raise BadValue(refuse("a pair is two games", len(games), "Play an even number of games"))
    if not np.isin(games, (0.0, 0.5, 1.0)).all():
        raise BadValue(refuse("scores are 0, .5 or 1", np.unique(games), "Give results of games"))
    doubled = np.rint(2 * games.reshape(-1, 2).sum(1)).astype(np.int64)
    return np.bincount(doubled, minlength=len(PAIR))


def log_likelihood_ratio(counts: ArrayLike, low: float, high: float) -> float:
    """log L(high) / L(low) of pentanomial counts; low, high in normalised Elo."""
    seen = np.maximum(np.asarray(counts, np.float64), SELDOM)
    pairs, shares = seen.sum(), seen / seen.sum()
    # A pair's t-value is that of a game times sqrt 2: twice the mean, sqrt 2 times the spread.
    fits = [_fit(shares, bound * math.sqrt(2) / NORMALISED) for bound in (low, high)]
    return float(pairs * (shares * np.log(fits[1] / fits[0])).sum())


def logistic_elo(counts: ArrayLike) -> float:
    """Elo difference that the mean score stands for; infinite when everything was won or lost."""
    seen = np.asarray(counts, np.float64)
    return elo_of(float((seen * PAIR).sum() / seen.sum()))


def elo_figure(counts: ArrayLike) -> tuple[float, float, float]:
    """Elo difference with its 95 % interval; a score of all or nothing is kept finite.

    Of games that a test stopped the middle lies outwards: a lucky streak stops it, too.
    """
    seen = np.asarray(counts, np.float64)
    pairs = seen.sum()
    mean = float((seen * PAIR).sum() / pairs)
    half = 1.96 * math.sqrt(float((seen * (PAIR - mean) ** 2).sum()) / pairs / pairs)
    low, high = (mean - half, mean + half) if half else wilson(mean, float(pairs))
    edge = 1 / (4 * pairs + 2)
    scores = (min(max(score, edge), 1 - edge) for score in (mean, low, high))
    middle, below, above = (elo_of(score) for score in scores)
    return middle, below, above


def normalised_elo(counts: ArrayLike) -> tuple[float, float, float]:
    """(estimate, low, high): the t-value of the counts in Elo, with its 95 % interval."""
    seen = np.asarray(counts, np.float64)
    shares = seen / seen.sum()
    mean = float((shares * PAIR).sum())
    std = math.sqrt(max(1e-9, float((shares * (PAIR - mean) ** 2).sum())))
    t, error = (mean - 0.5) / std, 1.96 / math.sqrt(seen.sum())
    low, middle, high = (x * NORMALISED / math.sqrt(2) for x in (t - error, t, t + error))
    return middle, low, high


@dataclass
class SequentialTest:
    """A test as it stands."""

    preset: Preset
    counts: NDArray[np.int64] = field(default_factory=lambda: np.zeros(len(PAIR), np.int64))
    results: NDArray[np.int64] = field(default_factory=lambda: np.zeros(3, np.int64))
    """games won, drawn, lost by A"""
    expired: bool = False  # out of time

    def add(self, scores: ArrayLike) -> None:
        """Take in games of A against B, pair after pair."""
        self.counts = self.counts + pair_counts(scores)
        won, drawn = (int((np.asarray(scores) == score).sum()) for score in (1.0, 0.5))
        lost = len(np.asarray(scores)) - won - drawn
        self.results = self.results + np.array([won, drawn, lost])

    @property
    def llr(self) -> float:
        """The log-likelihood ratio so far."""
        pairs = self.counts.sum()
        return (
            log_likelihood_ratio(self.counts, self.preset.low, self.preset.high) if pairs else 0.0
        )

    @property
    def bounds(self) -> tuple[float, float]:
        """Where it stops: failed below the first, passed above the second (Wald)."""
        alpha, beta = self.preset.alpha, self.preset.beta
        return math.log(beta / (1 - alpha)), math.log((1 - beta) / alpha)

    @property
    def verdict(self) -> str | None:
        """passed, failed, undecided (out of games or time); None: play on."""
        llr, (low, high) = self.llr, self.bounds
        if llr >= high or llr <= low:
            return "passed" if llr >= high else "failed"
        over = self.expired or self.counts.sum() >= self.preset.most_pairs
        return "undecided" if over else None

    @property
    def games_to_go(self) -> int:
        """Until a bound, if the ratio goes on as it did so far; at most what the limit leaves."""
        pairs, llr = int(self.counts.sum()), self.llr
        left = 0 if self.verdict else self.preset.most_pairs - pairs
        if not pairs or abs(llr) < NEAR:
            return 2 * left
        bound = self.bounds[1 if llr > 0 else 0]
        return 2 * max(0, min(left, math.ceil(pairs * (bound / llr - 1))))

    @property
    def share(self) -> float:
        """Where the ratio stands between its bounds, 0 to 1."""
        low, high = self.bounds
        return min(1.0, max(0.0, (self.llr - low) / (high - low)))

    def line(self) -> str:
        """How it stands, in one line that `read_line` understands."""
        low, high = self.bounds
        won, drawn, lost = self.results
        pairs = " ".join(map(str, self.counts))
        said = f"pairs {pairs}, games {won} won {drawn} drawn {lost} lost"
        return f"{said}, LLR {self.llr:+.2f} of [{low:.2f}, {high:.2f}], {self.games_to_go} to go"

    def block(self) -> str:
        """The result, to be copied."""
        won, drawn, lost = self.results
        middle, low, high = normalised_elo(self.counts)
        elo, below, above = elo_figure(self.counts)
        return (
            f"LLR {self.llr:.2f} [{self.bounds[0]:.2f}, {self.bounds[1]:.2f}], {self.preset.name}"
            f" [{self.preset.low:g}, {self.preset.high:g}]; Elo {elo:+.1f} ({below:+.1f} to"
            f" {above:+.1f}), normalised {middle:+.1f} ({low:+.1f} to {high:+.1f});"
            f" games {self.results.sum():,}: {won} won, {lost} lost, {drawn} drawn;"
            f" pentanomial {', '.join(map(str, self.counts))}"
        )

    def as_json(self) -> dict[str, Any]:
        """The numbers of a result block."""
        return {
            "verdict": self.verdict,
            "preset": self.preset.name,
            "llr": round(self.llr, 4),
            "bounds": [round(bound, 4) for bound in self.bounds],
            "pentanomial": self.counts.tolist(),
            "games": int(2 * self.counts.sum()),
            "results": self.results.tolist(),
            "elo": [round(number, 2) for number in elo_figure(self.counts)],
            "normalised_elo": [round(number, 2) for number in normalised_elo(self.counts)],
        }


def read_line(line: str, preset: Preset) -> SequentialTest:
    """The test that `SequentialTest.line` told of; one without games if it is no such line."""
    found = re.match(r"pairs( \d+){5}, games \d+ won \d+ drawn \d+ lost", line)
    if not found:
        return SequentialTest(preset)
    numbers = np.array([int(word) for word in re.findall(r"\d+", found[0])])
    return SequentialTest(preset, numbers[:5], numbers[5:])


def run(
    test: SequentialTest,
    play: Callable[[int], ArrayLike],
    *,
    minutes: float = MINUTES,
    on_unit: Callable[[], None] | None = None,
) -> SequentialTest:
    """Play units of games until the test ends; play: scores of unit 0, 1, …

    Raises:
        BadValue: no time at all.
    """
    if not 0 < minutes < math.inf:
        raise BadValue(refuse("minutes of a test", minutes, "Give a number above 0, e.g. 10"))
    ends, unit = time.monotonic() + 60 * minutes, 0
    while test.verdict is None:
        test.add(play(unit))
        unit += 1
        test.expired = time.monotonic() >= ends
        if on_unit:
            on_unit()
    return test


def elo_of(score: float) -> float:
    """Elo difference that a mean score stands for."""
    if score in (0.0, 1.0):
        return math.copysign(math.inf, score - 0.5)
    return -400 * math.log10(1 / score - 1)


def _fit(shares: Floats, t: float) -> Floats:
    """The distribution of pairs with this t-value under which `shares` are likeliest."""
    fitted = np.full(len(PAIR), 1 / len(PAIR))
    for _ in range(STEPS):
        mean = float((fitted * PAIR).sum())
        std = math.sqrt(float((fitted * (PAIR - mean) ** 2).sum()))
        # "t-value = t" is not linear in the distribution; its tangent at the last fit is.
        tangent = PAIR - 0.5 - t * std * (1 + ((PAIR - mean) / std) ** 2) / 2
        last, fitted = fitted, _with_mean_zero(shares, tangent)
        if np.abs(fitted - last).max() < NEAR:
            break
    return fitted


def _with_mean_zero(shares: Floats, values: Floats) -> Floats:
    """The likeliest distribution for `shares` whose mean of `values` is 0 (Owen 1988)."""
    low, high = -1 / values.max(), -1 / values.min()
    edge = 1e-9 * (high - low)

    def slope(x: float) -> float:
        return float((shares * values / (1 + x * values)).sum())

    return shares / (1 + brentq(slope, low + edge, high - edge, xtol=1e-14) * values)
