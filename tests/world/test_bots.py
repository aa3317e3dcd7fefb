"""Bots: same seed same play in any batch, no hidden information, each skill has a switch."""

import numpy as np
import pytest

import levelcap.world
from levelcap.kit.errors import BadValue, UnknownName
from levelcap.play.matchup import play_games
from levelcap.play.roster import Door, find
from levelcap.play.seats import Seats
from levelcap.world.players.bot_names import BOTS, SEALED_FROM, SKILLS, is_sealed
from levelcap.world.players.bots import bot_traits, cousin_traits
from levelcap.world.players.scripted import Uniform
from levelcap.world.spec import INTENTS, RULESETS

VIEWS = ("player", "objects", "context")


def run(ruleset, names, matches, decisions, seed=5):
    """State hashes of all matches after some decisions, and the intents seen."""
    world = levelcap.world.make(ruleset, matches, seed=seed, views=VIEWS)
    players = world.spec.num_players
    seats = np.tile(np.arange(players) // (players // 2), (matches, 1))
    policies = [find(name) for name in names]
    table, views, intents = Seats(world, policies, seats), world.reset(), set()
    for _ in range(decisions):
        views = world.step(table.act(views))[0]
        intents |= set(table.decisions[0].intents.tolist())
    return [world.match_hash(m) for m in range(matches)], intents


@pytest.mark.parametrize("ruleset", RULESETS)
def test_a_bot_plays_the_same_in_any_batch(ruleset):
    small, _ = run(ruleset, ("master", "veteran"), 2, 150)
    large, intents = run(ruleset, ("master", "veteran"), 40, 150)
    assert small == large[:2]
    assert intents <= set(range(len(INTENTS)))
    assert len(intents) >= 2  # it does not do one thing only


def test_bots_read_only_the_views_they_name():
    world = levelcap.world.make("duel", 8, seed=3, views=VIEWS)
    bot = find("master")
    bot.bind(world)
    views = world.reset()
    rows = {name: array.reshape(-1, *array.shape[2:]) for name, array in views.items()}
    first = bot.act(rows, bot.initial_state(16)).actions
    world.state["hp"][:] = 1  # the truth changes, what is seen does not
    world.state["x"][:] = 0
    second = bot.act(rows, bot.initial_state(16)).actions
    assert (first == second).all()


def test_a_decision_takes_effect_after_the_reaction_time():
    world = levelcap.world.make("duel", 1, seed=3, views=VIEWS)
    quick, slow = find("master"), find("rookie")
    for bot, wait in ((quick, 1), (slow, 6)):
        bot.bind(world)
        views, state, moved_at = world.reset(), bot.initial_state(2), None
        for decision in range(12):
            rows = {n: a.reshape(-1, *a.shape[2:]) for n, a in views.items()}
            decision_now = bot.act(rows, state)
            state = decision_now.state
            if moved_at is None and (decision_now.actions[:, :2] != 5).any():
                moved_at = decision
            views = world.step(np.tile([5, 5, 5, 5, 0, 0, 0], (1, 2, 1)))[0]
        assert moved_at == wait


def test_the_ladder_holds_in_duels():
    for below, bot in zip(BOTS, BOTS[1:], strict=False):
        assert play_games(find(bot), find(below), "duel", 60, seed=9).win_rate > 0.65


def test_a_cousin_is_another_bot_and_always_the_same_one():
    assert cousin_traits("veteran", 17) == cousin_traits("veteran", 17)
    assert cousin_traits("veteran", 17) != cousin_traits("veteran", 18)
    assert cousin_traits("veteran", 17) != bot_traits("veteran")
    assert find("veteran~17").content_hash != find("veteran~18").content_hash


def test_sealed_opponents_are_never_handed_to_training():
    sealed = (f"veteran~{SEALED_FROM}", f"rookie~{SEALED_FROM + 5}", "seer-16")
    for name in sealed:
        assert is_sealed(name)
        with pytest.raises(BadValue, match="sealed"):
            find(name, Door.TRAINING)
    find(f"veteran~{SEALED_FROM - 1}", Door.TRAINING)


def test_switching_a_skill_off_changes_only_that_skill():
    whole = bot_traits("master")
    for skill in SKILLS:
        part = find(f"master-no-{skill}").traits
        assert getattr(part, skill) == 0.0 != getattr(whole, skill)
        assert part._replace(**{skill: getattr(whole, skill)}) == whole


def test_wrong_names_get_a_suggestion():
    with pytest.raises(UnknownName, match="master"):
        find("mastr")
    with pytest.raises(UnknownName, match="seer-16"):
        find("seer-17")


def test_outside_code_is_refused_unless_allowed():
    with pytest.raises(BadValue, match="refused"):
        find("levelcap.world.players.scripted:Uniform")
    found = find("levelcap.world.players.scripted:Uniform", Door.LOCAL)
    assert isinstance(found, Uniform)
    with pytest.raises(UnknownName):
        find("levelcap.world.players.scripted:Nobody", Door.LOCAL)
    with pytest.raises(ValueError, match="not a policy"):
        find("levelcap.world.players.scripted:check_bot", Door.LOCAL)


def test_uniform_draws_only_allowed_bins():
    world = levelcap.world.make("siege", 4, seed=1, views=())
    table = Seats(world, [Uniform()], np.zeros((4, 10), np.int64))
    views = world.reset()
    offsets = world.spec.head_offsets
    for _ in range(60):
        actions = table.act(views)
        for h, offset in enumerate(offsets):
            chosen = np.take_along_axis(views["mask"], actions[..., h : h + 1] + offset, 2)
            assert (chosen == 1).all()
        views = world.step(actions)[0]


def test_a_seer_sees_the_future_and_beats_a_weak_bot_only_in_duel():
    result = play_games(find("seer-4"), find("rookie"), "duel", 12, seed=2)
    assert result.win_rate > 0.5
    with pytest.raises(ValueError, match="duel only"):
        play_games(find("seer-4"), find("rookie"), "crown", 2)


def test_a_seer_does_not_disturb_the_match_it_looks_at():
    world = levelcap.world.make("duel", 4, seed=8, views=VIEWS)
    table = Seats(world, [find("seer-4"), find("master")], np.tile([0, 1], (4, 1)))
    views = world.reset()
    for _ in range(20):
        before = world.snapshot()
        actions = table.act(views)
        assert (world.state == before).all()
        views = world.step(actions)[0]


@pytest.mark.parametrize(
    ("name", "start"),
    [
        ("master", "6000438e5503fee5"),
        ("veteran~17", "16fa4c982912d694"),
        ("seer-16", "dcda5f698a7b5c43"),
        ("uniform", "a6a03a638a496012"),
    ],
)
def test_a_bot_is_known_by_the_hash_it_had_in_the_first_shards(name, start):
    """It stands in shards and replays: it follows from the bot's numbers, not from its folder."""
    assert find(name).content_hash.startswith(start)
