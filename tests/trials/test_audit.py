"""Workers that lie are found, honest ones are not; the figures: benchmarks/audit.py."""

from __future__ import annotations

from dataclasses import replace

import numpy as np
import pytest

from levelcap.kit.errors import BadValue
from levelcap.trials.audit import audit, check, odds_of, sample
from levelcap.trials.claims import play_claims
from levelcap.world.spec import arena_spec
from tests.trials.heroes import hero

SPEC = arena_spec("duel")
HASHES = tuple(digit * 64 for digit in "ab")


@pytest.fixture(scope="module")
def heroes(tmp_path_factory):
    return [hero(tmp_path_factory.mktemp("heroes") / "net", seed) for seed in range(3)]


@pytest.fixture(scope="module")
def told(heroes):
    return {net.content_hash: net for net in heroes}


@pytest.fixture(scope="module")
def honest(heroes):
    return play_claims("ann", tuple(heroes[:2]), "duel", 6, seed=7)


def header(claim, **values):
    return replace(claim, replay=replace(claim.replay, header=claim.replay.header | values))


def swapped(claim, of, by):
    """A claim that names another player than the one who played."""
    policies = [
        row | {"sha256": by if row["sha256"] == of else row["sha256"]}
        for row in claim.replay.header["policies"]
    ]
    players = tuple(by if digest == of else digest for digest in claim.players)
    return replace(header(claim, policies=policies), players=players)


def test_an_honest_worker_stays(honest, told):
    found = audit(honest, told, seed=1, share=1.0)
    assert found.kept == found.checked == list(range(6)) and found.accused == []


def test_a_false_score_is_found_and_all_of_the_worker_leaves(honest, told):
    false = [replace(claim, worker="bob") for claim in honest[:2]]
    false[1] = replace(false[1], score=1 - false[1].score if false[1].score != 0.5 else 1.0)
    found = audit([*honest[2:4], *false], told, seed=1, share=1.0)
    assert found.kept == [0, 1]
    (accusation,) = found.accused
    assert accusation.worker == "bob" and accusation.wrong[0][0] == 3
    assert "2 of 2 matches checked; match 3: score" in accusation.text()


@pytest.mark.parametrize(
    ("change", "said"),
    [
        (lambda c: replace(c, seed=c.seed + 1), "another match than duel"),
        (lambda c: replace(c, world="duel-60hz"), "another match than duel-60hz"),
        (lambda c: replace(c, players=HASHES), "not to sit there"),
        (lambda c: replace(c, seats=(1, 0)), "not to sit there"),
        (lambda c: header(c, seats=[0, 0]), "not to sit there"),
        (lambda c: header(c, seats=[]), "not to sit there"),
        (lambda c: header(c, world_version=0), "world version 0"),
        (lambda c: header(c, result={"ended": False, "winner": None, "hash": None}), "winner"),
        (lambda c: replace(header(c, match_seed=1), seed=1), "differ"),
        (lambda c: replace(c, replay=replace(c.replay, actions=c.replay.actions[:0])), "no dec"),
        (lambda c: replace(c, replay=replace(c.replay, actions=c.replay.actions[:9])), "differ"),
        (
            lambda c: replace(c, replay=replace(c.replay, actions=1 - c.replay.actions.clip(0, 1))),
            "differ",
        ),
    ],
)
def test_what_does_not_fit_is_said(honest, told, change, said):
    assert said in check(change(honest[0]), 0, told).problem


def test_a_lie_that_changes_the_recorded_result_too_is_found(honest, told):
    result = honest[0].replay.header["result"]
    lie = header(honest[0], result=result | {"winner": 1 - result["winner"]})
    assert "recorded was" in check(replace(lie, score=1 - lie.score), 0, told).problem


def test_a_swapped_policy_is_found_by_its_odds(heroes, told):
    a, b, c = (net.content_hash for net in heroes)
    played = play_claims("eve", (heroes[0], heroes[2]), "duel", 2, seed=9)
    found = audit([swapped(claim, c, b) for claim in played], told, seed=1, share=1.0)
    (accusation,) = found.accused
    assert set(accusation.unlikely) == {b} and accusation.wrong == ()
    assert accusation.unlikely[b].errors < -4 and "standard errors" in accusation.text()


def test_the_sample_takes_its_share_of_every_worker(honest):
    claims = [replace(honest[0], worker=name) for name in ["ann"] * 100 + ["bob"] * 3]
    drawn = sample(claims, seed=1)
    assert sum(number < 100 for number in drawn) == 5 and sum(n >= 100 for n in drawn) == 1
    assert drawn == sample(claims, seed=1) != sample(claims, seed=2)
    with pytest.raises(BadValue, match="above 0"):
        sample(claims, 1, 0.0)


def test_expectation_and_variance_are_those_of_sampled_actions():
    rng = np.random.default_rng(0)
    logits, mask = rng.normal(size=SPEC.mask_size), np.ones(SPEC.mask_size, np.uint8)
    first, draws = 0, []
    for head in SPEC.heads:
        odds = np.exp(logits[first : first + head.size])
        mask[first + 1 : first + head.size : 2] = rng.random() < 0.5
        odds *= mask[first : first + head.size]
        draws.append(rng.choice(head.size, 20_000, p=odds / odds.sum()))
        first += head.size
    actions = np.stack(draws, 1).astype(np.uint8)
    rows = np.repeat(logits[None], len(actions), 0), np.repeat(mask[None], len(actions), 0)
    single = [odds_of(rows[0][:1], rows[1][:1], row[None], SPEC) for row in actions[:2000]]
    values = np.array([one.log_prob for one in single])
    assert values.var() == pytest.approx(single[0].variance, rel=0.1)
    assert abs(odds_of(*rows, actions, SPEC).errors) < 3


def test_one_player_against_itself_is_refused(heroes):
    with pytest.raises(BadValue, match="two players"):
        play_claims("ann", (heroes[0], heroes[0]), "duel", 2, seed=0)
