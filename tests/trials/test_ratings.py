"""Ratings: closed forms, an independent optimiser, coverage, order, perfect records."""

import itertools
import math
import subprocess
import sys

import numpy as np
import pytest
from scipy.optimize import minimize

from levelcap.kit.errors import BadValue, UnknownName
from levelcap.trials.ratings import Games, rate

ELO = 400 / math.log(10)
Z = 1.959963984540054


def scores(won, drawn, lost):
    return [1.0] * won + [0.5] * drawn + [0.0] * lost


def draw_games(rng, gap, nu, pairs, repeat=0.0):
    """Scores of paired games by Davidson's chances; the second repeats the first that often."""
    weights = np.array([math.exp(-gap / 2), nu, math.exp(gap / 2)])
    drawn = rng.choice([0.0, 0.5, 1.0], (pairs, 2), p=weights / weights.sum())
    drawn[:, 1] = np.where(rng.random(pairs) < repeat, drawn[:, 0], drawn[:, 1])
    return drawn.reshape(-1)


def tournament(rng, theta, nu, pairs, repeat=0.0, meet=None):
    names = list(theta)
    meet = meet or itertools.combinations(names, 2)
    return [Games(a, b, draw_games(rng, theta[a] - theta[b], nu, pairs, repeat)) for a, b in meet]


def test_two_players_without_draws_by_hand():
    # 75 : 25 and half a win and half a loss: theta = ln(75.5 / 25.5).
    found = rate([Games("hero", "rookie", scores(75, 0, 25))])
    assert found.elo("hero") == pytest.approx(1000 + 400 * math.log10(75.5 / 25.5), abs=1e-8)
    assert found.elo("rookie") == 1000
    assert found.draw_nu == 0


def test_two_players_with_draws_by_hand():
    # As many outcomes as parameters: the fit is exact, won : drawn : lost = 60.5 : 20 : 20.5.
    found = rate([Games("hero", "rookie", scores(60, 20, 20))])
    assert found.elo("hero") == pytest.approx(1000 + 400 * math.log10(60.5 / 20.5), abs=1e-8)
    assert found.draw_nu == pytest.approx(20 / math.sqrt(60.5 * 20.5), rel=1e-10)


def test_the_interval_of_two_players_by_hand():
    # 40 pairs 1 1, 15 pairs 1 0, 5 pairs 0 0: W = 95, L = 25 and the halves. p = 95.5 / 121.
    rows = [1, 1] * 40 + [1, 0] * 15 + [0, 0] * 5
    p = 95.5 / 121
    information = 121 * p * (1 - p)
    # A pair's score is its points minus 2p; the halves enter with their weights.
    middle = 40 * (2 - 2 * p) ** 2 + 15 * (1 - 2 * p) ** 2 + 5 * (2 * p) ** 2
    middle += ((1 - p) ** 2 + p**2) / 2
    half = Z * ELO * math.sqrt(middle) / information
    found = rate([Games("hero", "rookie", rows)])
    low, high = found.interval("hero")
    assert high - low == pytest.approx(2 * half, rel=1e-9)
    assert found.elo("hero") == pytest.approx((low + high) / 2)
    assert found.interval("rookie") == (1000.0, 1000.0)


def outcome_log_chance(score, gap, nu):
    z = math.exp(gap / 2) + math.exp(-gap / 2) + nu
    return math.log({1.0: math.exp(gap / 2), 0.5: nu, 0.0: math.exp(-gap / 2)}[score] / z)


def slope_of(function, at, h=1e-5):
    out = np.zeros(len(at))
    for k in range(len(at)):
        step = np.zeros(len(at))
        step[k] = h
        out[k] = (function(at + step) - function(at - step)) / (2 * h)
    return out


def by_another_way(games, anchor):
    """Elo and covariance by a general optimiser and finite differences, pair by pair."""
    names = sorted({name for g in games for name in (g.a, g.b)})
    free = [name for name in names if name != anchor]

    def log_chance(parts, x):
        theta = dict(zip(free, x, strict=False)) | {anchor: 0.0}
        nu = math.exp(x[-1])
        return sum(
            weight * outcome_log_chance(score, theta[a] - theta[b], nu)
            for a, b, score, weight in parts
        )

    clusters = []
    for g in games:
        for k in range(0, len(g.scores), 2):
            clusters.append((1.0, [(g.a, g.b, float(s), 1.0) for s in g.scores[k : k + 2]]))
    for a, b in {tuple(sorted((g.a, g.b))) for g in games}:
        clusters.extend((0.5, [(a, b, s, 1.0)]) for s in (1.0, 0.0))
    parts = [(a, b, s, w * v) for w, cluster in clusters for a, b, s, v in cluster]
    best = minimize(lambda x: -log_chance(parts, x), np.zeros(len(names)), tol=1e-12)
    best = minimize(
        lambda x: -log_chance(parts, x),
        best.x,
        method="Nelder-Mead",
        options={"xatol": 1e-9, "fatol": 1e-12, "maxiter": 4000},
    )
    at = best.x
    information = np.array(
        [
            slope_of(lambda x, k=k: slope_of(lambda y: -log_chance(parts, y), x, 1e-4)[k], at, 1e-4)
            for k in range(len(at))
        ]
    )
    middle = np.zeros_like(information)
    for weight, cluster in clusters:
        s = slope_of(lambda x, c=cluster: log_chance(c, x), at)
        middle += weight * np.outer(s, s)
    inverse = np.linalg.inv(information)
    covariance = inverse @ middle @ inverse
    elos = {name: 1000 + ELO * at[k] for k, name in enumerate(free)} | {anchor: 1000.0}
    return elos, ELO**2 * covariance[:-1, :-1], free


def test_an_independent_optimiser_agrees():
    rng = np.random.default_rng(4)
    theta = {"rookie": 0.0, "a": 0.7, "b": -0.5, "c": 1.4}
    meet = [("a", "rookie"), ("a", "b"), ("b", "rookie"), ("c", "a")]
    games = tournament(rng, theta, 0.4, 25, repeat=0.4, meet=meet)
    found = rate(games)
    elos, covariance, free = by_another_way(games, "rookie")
    for name in theta:
        assert found.elo(name) == pytest.approx(elos[name], abs=1e-3)
    for i, one in enumerate(free):
        for j, other in enumerate(free):
            variance = covariance[i, i] + covariance[j, j] - 2 * covariance[i, j]
            gap, low, high = found.difference(one, other)
            assert gap == pytest.approx(elos[one] - elos[other], abs=1e-3)
            assert high - low == pytest.approx(2 * Z * math.sqrt(max(0, variance)), abs=0.02)
        low, high = found.interval(one)
        assert high - low == pytest.approx(2 * Z * math.sqrt(covariance[i, i]), abs=0.02)


@pytest.mark.parametrize("seed", range(60))
def test_at_the_maximum_everybody_scores_as_expected(seed):
    """Wild tables: all wins, all draws and mixtures, from one game to ten thousand."""
    rng = np.random.default_rng(seed)
    names = ["rookie", *(f"p{k}" for k in range(1, int(rng.integers(2, 8))))]
    shares = ([1, 0, 0], [0, 0, 1], [0, 1, 0], [0.5, 0, 0.5], rng.dirichlet([0.2] * 3))
    games, points, expected = [], dict.fromkeys(names, 0.0), dict.fromkeys(names, 0.0)
    for k in range(1, len(names)):
        for other in {int(rng.integers(k)), k - 1}:
            count = int(10 ** rng.uniform(0, 4))
            rows = rng.choice([1.0, 0.5, 0.0], count, p=shares[rng.integers(5)])
            games.append(Games(names[k], names[other], rows))
    found = rate(games)
    for g in games:
        half = (found.elo(g.a) - found.elo(g.b)) / ELO / 2
        weights = np.exp([half, -half]) / (2 * math.cosh(half) + found.draw_nu)
        share = weights[0] + (1 - weights.sum()) / 2
        for name, sign in ((g.a, 1), (g.b, -1)):
            points[name] += sign * (g.scores.sum() - len(g.scores) / 2)
            expected[name] += sign * (share - 0.5) * (len(g.scores) + 1)  # the virtual draw
        low, high = found.interval(g.a)
        assert np.isfinite([low, high]).all() and low <= found.elo(g.a) <= high
    for name in names:
        assert expected[name] == pytest.approx(points[name], abs=1e-5)


def test_the_interval_covers_the_truth_as_often_as_it_says():
    rng = np.random.default_rng(11)
    theta = {"rookie": 0.0, "a": 0.6, "b": 1.5, "c": -0.8}
    inside, apart_inside, total = 0, 0, 0
    for _ in range(300):
        games = tournament(rng, theta, 0.3, 50, repeat=0.6)
        # The same games, pairs torn apart: first games beside first games.
        apart = [Games(g.a, g.b, np.append(g.scores[0::2], g.scores[1::2])) for g in games]
        for found, kind in ((rate(games), "pairs"), (rate(apart), "apart")):
            for one, other in (("a", "rookie"), ("b", "rookie"), ("c", "rookie"), ("b", "c")):
                gap, low, high = found.difference(one, other)
                truth = ELO * (theta[one] - theta[other])
                if kind == "pairs":
                    inside, total = inside + (low <= truth <= high), total + 1
                else:
                    apart_inside += low <= truth <= high
    print(f"coverage {inside / total:.3f}, with pairs taken apart {apart_inside / total:.3f}")
    assert 0.92 <= inside / total <= 0.98
    assert apart_inside / total < 0.91  # so the clusters matter


def test_order_of_games_and_players_changes_nothing():
    rng = np.random.default_rng(5)
    theta = {"rookie": 0.0, "a": 0.6, "b": 1.5, "c": -0.8}
    games = tournament(rng, theta, 0.3, 30)
    first = rate(games)
    for _ in range(5):
        mixed = []
        for g in games:
            pairs = np.asarray(g.scores).reshape(-1, 2)[rng.permutation(30)]
            if rng.random() < 0.5:
                pairs = pairs[:, ::-1]
            parts = np.split(pairs, [int(rng.integers(1, 29))])  # two entries of the same pairing
            for part in parts:
                flip = rng.random() < 0.5
                rows = part.reshape(-1)
                mixed.append(Games(g.b, g.a, 1 - rows) if flip else Games(g.a, g.b, rows))
        again = rate([mixed[k] for k in rng.permutation(len(mixed))])
        assert again.as_json() == first.as_json()
        for a, b in itertools.permutations(theta, 2):
            assert again.difference(a, b) == first.difference(a, b)  # bit for bit
    # Other names, so another order inside: the same numbers up to rounding.
    other = {"a": "z", "b": "y", "c": "x", "rookie": "w"}
    renamed = rate([Games(other[g.a], other[g.b], g.scores) for g in games], anchor="w")
    for name in theta:
        assert renamed.elo(other[name]) == pytest.approx(first.elo(name), abs=1e-9)
        assert renamed.interval(other[name]) == pytest.approx(first.interval(name), abs=1e-8)


@pytest.mark.parametrize("count", [1, 2, 7, 40, 1000, 100_000])
def test_a_perfect_record_is_a_bound(count):
    found = rate([Games("hero", "rookie", np.ones(count)), Games("weak", "rookie", [0.0] * count)])
    low, high = found.interval("hero")
    assert found.bound("hero") == ">"
    assert found.bound("weak") == "<"
    assert found.bound("rookie") == ""
    assert found.text("hero") == f"> {low:.0f}"
    assert found.text("weak") == f"< {found.interval('weak')[1]:.0f}"
    assert np.isfinite([low, high]).all()
    # The weak one is the mirror image.
    assert found.elo("weak") - 1000 == pytest.approx(1000 - found.elo("hero"), abs=1e-6)
    # Somebody no better than the bound would hardly have won them all, even if the games of a
    # pair always ended alike; and the bound says more than a coin.
    chance = 1 / (1 + math.exp(-(low - 1000) / ELO))
    if count >= 40:
        assert 0.001 < chance ** (count / 2) < 0.025
    else:
        assert chance < 0.6


def test_a_chain_of_perfect_records_bounds_everybody_above():
    found = rate([Games("a", "rookie", np.ones(50)), Games("b", "a", np.ones(50))])
    assert [found.bound(name) for name in ("rookie", "a", "b")] == ["", ">", ">"]
    # One draw between the two below ties a to the anchor, b stays open upwards.
    found = rate([Games("a", "rookie", [1.0] * 49 + [0.5]), Games("b", "a", np.ones(50))])
    assert [found.bound(name) for name in ("rookie", "a", "b")] == ["", "", ">"]
    # Two that only beat the same third one are not ordered by anything.
    found = rate([Games("rookie", "c", np.ones(9)), Games("d", "c", np.ones(9))])
    assert [found.bound(name) for name in ("c", "d")] == ["<", "?"]


def test_one_game_gives_a_wide_interval():
    found = rate([Games("hero", "rookie", [1.0])])
    # theta = ln 3 out of 1.5 : 0.5; the information is 2 * 3/4 * 1/4.
    assert found.elo("hero") == pytest.approx(1000 + 400 * math.log10(3))
    low, high = found.interval("hero")
    assert high - low == pytest.approx(2 * Z * ELO / math.sqrt(2 * 3 / 16))


def test_few_pairs_are_not_trusted_more_than_independent_games():
    # Three pairs, all 1 : 0: by pairs there is no variance at all.
    low, high = rate([Games("hero", "rookie", [1, 0] * 3)]).interval("hero")
    assert high - low == pytest.approx(2 * Z * ELO / math.sqrt(7 / 4))
    # A hundred such pairs do show that the two are equal.
    many = rate([Games("hero", "rookie", [1, 0] * 100)]).interval("hero")
    assert many[1] - many[0] < 10


def test_huge_counts():
    found = rate([Games("hero", "rookie", np.repeat([1.0, 0.0, 0.5], 2_000_000)[:-1_000_000])])
    assert found.elo("hero") == pytest.approx(1000, abs=1e-3)
    assert 0 < found.interval("hero")[1] - 1000 < 1
    found = rate([Games("hero", "rookie", np.ones(5_000_000))])
    assert found.elo("hero") == pytest.approx(1000 + 400 * math.log10(5_000_000.5 / 0.5), abs=1e-6)


def test_nothing_but_draws():
    found = rate([Games("hero", "rookie", [0.5] * 40)])
    assert found.elo("hero") == pytest.approx(1000, abs=1e-6)
    assert found.draw_nu == pytest.approx(80, rel=1e-6)  # 40 / sqrt(.5 * .5)
    assert found.bound("hero") == ""


def test_rising_means_the_interval_of_the_difference_lies_above_zero():
    rng = np.random.default_rng(2)
    games = [
        Games("old", "rookie", draw_games(rng, 0.5, 0.1, 200)),
        Games("new", "rookie", draw_games(rng, 1.5, 0.1, 200)),
        Games("same", "rookie", draw_games(rng, 0.5, 0.1, 200)),
    ]
    found = rate(games)
    assert found.difference("new", "old")[1] > 0
    assert found.rising("new", "old")
    assert not found.rising("same", "old")
    assert not found.rising("old", "new")
    # Head-to-head games narrow the difference.
    width = np.diff(found.difference("new", "old")[1:])[0]
    more = rate([*games, Games("new", "old", draw_games(rng, 1.0, 0.1, 200))])
    assert np.diff(more.difference("new", "old")[1:])[0] < 0.9 * width


def test_another_anchor_shifts_everybody():
    games = [Games("a", "rookie", scores(7, 1, 3)), Games("b", "a", scores(6, 0, 4))]
    one, two = rate(games), rate(games, anchor="b", anchor_elo=0.0)
    assert one.elo("a") - one.elo("b") == pytest.approx(two.elo("a") - two.elo("b"), abs=1e-8)
    assert two.elo("b") == 0
    for pair in (("a", "b"), ("a", "rookie")):
        assert one.difference(*pair) == pytest.approx(two.difference(*pair), abs=1e-8)


def test_a_large_league_is_rated_in_seconds():
    rng = np.random.default_rng(0)
    names = ["rookie", *(f"p{k}" for k in range(149))]
    theta = {name: 0.02 * k for k, name in enumerate(names)}
    meet = [(names[k], names[k - step]) for step in (1, 2, 5, 20) for k in range(step, 150)]
    found = rate(tournament(rng, theta, 0.2, 100, meet=meet))
    errors = [(found.elo(n) - 1000 - ELO * theta[n]) for n in names[1:]]
    halves = [(found.interval(n)[1] - found.elo(n)) / Z for n in names[1:]]
    assert np.abs(np.array(errors) / halves).max() < 4.5


@pytest.mark.parametrize(
    ("games", "said"),
    [
        ([Games("a", "b", [1.0])], "anchor rookie played no game"),
        ([], "anchor rookie played no game"),
        ([Games("a", "rookie", [1.0]), Games("b", "c", [1.0])], r"no chain .*'b', 'c'"),
        ([Games("a", "rookie", [0.7])], "must be 1, 0.5 or 0; got 0.7"),
        ([Games("a", "rookie", [float("nan")])], "must be 1, 0.5 or 0"),
        ([Games("rookie", "rookie", [1.0])], "against itself"),
    ],
)
def test_games_that_cannot_be_rated_are_refused(games, said):
    with pytest.raises(BadValue, match=said):
        rate(games)


def test_unknown_players_are_refused():
    found = rate([Games("hero", "rookie", [1.0, 0.0])])
    with pytest.raises(UnknownName, match="Did you mean 'hero'"):
        found.elo("heros")


def test_ratings_and_panel_start_without_torch():
    code = (
        "import sys, levelcap.trials.ratings, levelcap.trials.panel, levelcap.trials.gate;"
        " sys.exit('torch' in sys.modules)"
    )
    run = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, timeout=240)
    assert run.returncode == 0, run.stderr
