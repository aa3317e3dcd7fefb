"""The sealed panel: drawn per evaluation, closed to training, judged with honest intervals."""

import json
import math
import re

import numpy as np
import pytest

from levelcap.kit.backend import Inline
from levelcap.kit.errors import BadValue, UnknownName
from levelcap.play.matchup import play_games
from levelcap.play.roster import Door, find
from levelcap.trials.panel import (
    BASES,
    COUSINS,
    Record,
    bot_ladder,
    difference,
    draw_panel,
    judge,
)
from levelcap.trials.ratings import Games
from levelcap.world.players.bot_names import SEALED_FROM, is_sealed
from tests.learn.league.test_season import hero

FEW = {"games_per_cousin": 4, "bot_games": 40, "seer_games": 4}


@pytest.fixture(scope="module")
def ladder():
    """Games that link the bots: made up, so that tests of the rest need not play them."""
    return [
        Games("veteran", "rookie", [1.0, 1.0, 1.0, 0.0] * 20),
        Games("master", "veteran", [1.0, 1.0, 1.0, 0.0] * 20),
    ]


@pytest.fixture(scope="module")
def verdict(ladder):
    return judge(find("veteran"), "duel", seed=3, seers=True, name="hero", ladder=ladder, **FEW)


@pytest.mark.parametrize("ruleset", ["duel", "lms", "siege", "crown"])
def test_a_panel_is_twenty_cousins_of_each_and_seers_in_duel(ruleset):
    panel = draw_panel(ruleset, 0)
    assert set(panel.cousins) == {"rookie", "veteran", "master"}
    for base, names in panel.cousins.items():
        assert len(set(names)) == COUSINS == 20
        for name in names:
            assert name.startswith(f"{base}~")
            assert int(name.split("~")[1]) >= SEALED_FROM
    assert panel.seers == (("seer-2", "seer-4", "seer-16", "seer-64") if ruleset == "duel" else ())


def test_training_is_refused_everybody_on_every_panel():
    for ruleset in ("duel", "lms", "siege", "crown"):
        for seed in range(5):
            for name in draw_panel(ruleset, seed).names:
                assert is_sealed(name)
                with pytest.raises(BadValue, match="sealed opponent"):
                    find(name, Door.TRAINING)
                assert find(name).name == name  # for judging it is there
    for name in (*BASES, f"veteran~{SEALED_FROM - 1}"):
        find(name, Door.TRAINING)


def test_panels_differ_between_evaluations_and_are_the_same_within_one():
    panels = [set(draw_panel("duel", seed).names[: 3 * COUSINS]) for seed in range(20)]
    panels += [set(draw_panel("lms", 0).names)]
    assert draw_panel("duel", 7) == draw_panel("duel", 7)
    for i, one in enumerate(panels):
        for other in panels[:i]:
            assert len(one & other) <= 1  # 60 out of 3 x 999 million


def test_cousins_of_a_panel_are_not_one_bot():
    traits = {find(name).traits for name in draw_panel("duel", 0).cousins["veteran"]}
    assert len(traits) == COUSINS


def test_a_verdict_has_the_sealed_and_the_trained_column(verdict):
    assert set(verdict.sealed) == set(verdict.trained) == set(verdict.differences) == set(BASES)
    assert set(verdict.seers) == {"seer-2", "seer-4", "seer-16", "seer-64"}
    for record in verdict.sealed.values():
        assert len(record.scores) == 20 * 4
    for table in (verdict.sealed, verdict.trained, verdict.seers):
        for record in table.values():
            assert 0 <= record.low <= record.win_rate <= record.high <= 1
    # A veteran is above rookies, below masters, in both columns; and below the strongest seer.
    for table in (verdict.sealed, verdict.trained):
        assert table["rookie"].win_rate > 0.7 > 0.3 > table["master"].win_rate
    assert verdict.trained["veteran"].win_rate == 0.5  # itself, sides exchanged
    assert verdict.seers["seer-64"].win_rate <= 0.5
    for base, (gap, low, high) in verdict.differences.items():
        assert gap == verdict.sealed[base].win_rate - verdict.trained[base].win_rate
        assert low < gap < high
    elo, low, high = verdict.elo()
    assert verdict.ratings.elo("rookie") == 1000 < low < elo < high


def test_a_verdict_is_reproducible_and_depends_on_the_seed(verdict, ladder):
    few = {**FEW, "games_per_cousin": 2, "bot_games": 8}
    once = judge(find("rookie"), "duel", seed=3, ladder=ladder, **few).as_json()
    assert judge(find("rookie"), "duel", seed=3, ladder=ladder, **few).as_json() == once
    assert judge(find("rookie"), "duel", seed=4, ladder=ladder, **few).as_json() != once
    assert json.loads(json.dumps(once)) == once
    assert set(once) >= {"sealed", "seers", "trained", "differences", "elo", "ratings"}


def test_processes_judge_to_the_same_bits(ladder, crew, tmp_path):
    """Of a net, whose bits depend on the size of its batch; bots play the same in any."""
    few = {**FEW, "games_per_cousin": 4, "bot_games": 66, "ladder": ladder, "seed": 3}
    net = str(hero(tmp_path / "hero"))
    here = judge(net, "duel", backend=Inline(), **few).as_json()
    assert judge(net, "duel", backend=crew, **few).as_json() == here
    few = {**few, "games_per_cousin": 2, "bot_games": 8}
    whole = judge(find("rookie"), "duel", **few).as_json()
    assert judge("rookie", "duel", backend=Inline(), **few).as_json() == whole


def test_all_cousins_in_one_world_play_the_games_they_would_play_alone(verdict):
    from levelcap.kit.seeds import chain
    from levelcap.trials.panel import match_seeds

    own = match_seeds(3, "cousins", "veteran")
    scores = verdict.sealed["veteran"].scores.reshape(20, 4)
    for number in (0, 7, 19):
        name = draw_panel("duel", 3).cousins["veteran"][number]
        alone = play_games(find("veteran"), find(name), "duel", 4, chain(own, number))
        assert alone.scores.tolist() == scores[number].tolist()


def test_a_seer_sees_its_own_match():
    # The two games of a pair share their keys, so a key does not name a match. A seer-4 that took
    # the other game for its own scored .44 against master in 200 games, a right one .80.
    assert play_games(find("master"), find("seer-4"), "duel", 60).win_rate < 0.4


def test_a_bot_may_be_judged_under_its_own_name(ladder):
    few = {**FEW, "games_per_cousin": 2, "bot_games": 8}
    found = judge(find("master"), "duel", name="master", ladder=ladder, **few)
    assert found.name == "master (judged)"
    assert set(found.ratings.names) == {*BASES, "master (judged)"}


def test_lms_counts_five_against_five_and_one_among_nine(ladder):
    few = {**FEW, "games_per_cousin": 2, "bot_games": 20}
    found = judge(find("master"), "lms", one_among=True, ladder=ladder, **few)
    assert set(found.one_among) == set(BASES)
    assert all(len(record.scores) == 20 for record in found.one_among.values())
    # Five of ten seats win far more often than one of ten.
    assert found.trained["rookie"].win_rate > 0.8 > found.one_among["rookie"].win_rate
    assert found.ratings.games("hero") == 3 * 20  # one among nine does not enter the Elo


def test_progress_is_told_in_games(ladder):
    told = []
    few = {**FEW, "games_per_cousin": 2, "bot_games": 2}
    judge(find("idle"), "duel", ladder=ladder, on_progress=lambda *row: told.append(row), **few)
    assert [row[0] for row in told] == [0, 40, 80, 120, 122, 124, 126]
    assert {row[1] for row in told} == {126}
    assert told[0][2] == "cousins rookie"
    assert [row[2].split(", score ")[0] for row in told[1:3]] == [
        "cousins veteran",
        "cousins master",
    ]
    assert re.fullmatch(r"ratings, score \d+% so far", told[-1][2])


def test_the_ladder_links_the_bots_to_the_anchor():
    found = bot_ladder("duel", 0, games=20)
    assert [(g.a, g.b) for g in found] == [("veteran", "rookie"), ("master", "veteran")]
    assert all(len(g.scores) == 20 and np.mean(g.scores) > 0.6 for g in found)


def test_the_difference_by_hand():
    one = Record(np.array([1.0, 1.0, 1.0, 0.0]), 0.45, 0.95)  # .75
    other = Record(np.array([1.0, 0.0]), 0.2, 0.8)  # .5
    gap, low, high = difference(one, other)
    assert gap == 0.25
    assert low == pytest.approx(0.25 - math.hypot(0.3, 0.3))
    assert high == pytest.approx(0.25 + math.hypot(0.2, 0.3))


def test_wrong_requests_are_refused():
    with pytest.raises(UnknownName, match="duel"):
        draw_panel("duell")
    with pytest.raises(BadValue, match="seed"):
        draw_panel("duel", -1)
    with pytest.raises(BadValue, match="seers play duel only"):
        judge(find("idle"), "siege", seers=True)
    with pytest.raises(BadValue, match="lms"):
        judge(find("idle"), "duel", one_among=True)
    with pytest.raises(BadValue, match="games_per_cousin must be even"):
        judge(find("idle"), "duel", games_per_cousin=5)
    with pytest.raises(BadValue, match="bot_games must be even and at least 2"):
        judge(find("idle"), "duel", bot_games=0)
