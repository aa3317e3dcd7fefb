"""Minds: what a live match shows and keeps of them, the same in its replay, and orders."""

import numpy as np
import pytest
import torch

from levelcap.coach.orders import ORDERS
from levelcap.kit.errors import BadValue, UnknownName
from levelcap.nets.family import describe, new_net
from levelcap.play.live.command import Command, read_command
from levelcap.play.live.match import Entrant, Live, replay_messages
from levelcap.play.live.pace import Pace
from levelcap.play.load import NetPolicy
from levelcap.play.roster import find
from levelcap.play.show import frames
from levelcap.play.show.mind import UNKNOWN, MindReader, mind_records, spots
from levelcap.world.replay import load
from levelcap.world.rules.columns import OBJ
from levelcap.world.spec import OBJECT, OBJECT_SLOTS, arena_spec
from tests.play.messages import minds_of


def hero(family="hierarchy", world="duel"):
    meta = describe(family, arena_spec(world), "dummy")
    torch.manual_seed(1)
    return NetPolicy(new_net(meta, 1), meta, "0" * 64)


def duel(policy, other="rookie", seat=0):
    entrants = [Entrant("hero", "net", policy), Entrant(other, "bot", find(other))]
    return Live("duel", entrants, [0, 1] if seat == 0 else [1, 0], seed=4)


def states(messages):
    return [m for m in messages if m[0] == frames.KIND_STATE]


@pytest.mark.parametrize("seat", [0, 1])
def test_a_hierarchy_shows_where_it_looks_in_places_of_the_map(seat):
    match = duel(hero(), "master", seat)
    met = 0
    while not match.over and met < 4:
        state = match.world.state[0]
        there = np.array([state["x"][1 - seat], state["y"][1 - seat]])
        rows = minds_of(states(match.decide())[-1])
        assert (rows["seat"] == seat).all() and (rows["flags"] & frames.HAS_PLAN).all()
        assert (rows["confidence"] < UNKNOWN).all()
        for row in rows[rows["enemies"] == 1]:
            # The untrained hero looks at the enemy it sees, where that one stood as it decided.
            look = row["looks"][0]
            assert frames.SPOTS[look["kind"]] == "enemy" and look["weight"] > 0
            assert np.hypot(*(np.array([look["x"], look["y"]]) / 100 - there)) < 0.02
            met += 1
    assert met == 4


def test_a_replay_shows_what_was_shown_live(tmp_path):
    match = duel(hero())
    live = []
    while not match.over:
        live += states(match.decide())
    kept = load(match.recorder.save(tmp_path / "a.lcr"))
    again = states(replay_messages(kept))[1:]  # a replay begins with the state of the start
    assert len(live) == len(again)
    for one, other in zip(live, again, strict=True):
        assert minds_of(one).tobytes() == minds_of(other).tobytes()


def test_a_replay_without_a_mind_channel_still_opens(tmp_path):
    match = duel(find("master"))
    for _ in range(20):
        match.decide()
    replay = load(match.recorder.save(tmp_path / "a.lcr"))
    assert set(replay.mind) == {"value", "intent"}
    assert all(len(minds_of(message)) == 0 for message in states(replay_messages(replay)))


def test_a_flat_hero_shows_the_odds_of_its_aim_and_no_plan():
    match = duel(hero("flat"))
    row = minds_of(states(match.decide())[-1])[0]
    assert row["flags"] == 0 and row["confidence"] == UNKNOWN
    assert 0 < row["odds"] < UNKNOWN
    assert (row["looks"]["weight"] == 0).all()


def test_a_goal_that_turns_is_marked_once():
    class Table:
        minds, intents = {}, np.zeros((1, 2), np.int8)

    table = Table()
    reader = MindReader(table)
    goals = [[1.0, 0.0], [1.0, 0.1], [0.0, 1.0], [0.0, 1.0]]
    marks = []
    for goal in goals:
        table.minds = {"goal": np.array([[goal, [np.nan, np.nan]]], np.float32)}
        marks.append(reader.read()["changed"].tolist())
    assert marks == [[0, 0], [0, 0], [1, 0], [0, 0]]


def test_spots_are_told_apart():
    seen = np.zeros((10, len(OBJECT)), np.float32)
    marks = (
        ("is_player", "is_enemy", "visible"),
        ("is_player", "is_enemy"),
        ("is_player", "is_ally"),
        ("is_structure", "is_enemy"),
        ("is_structure", "is_ally"),
        ("is_creep", "is_enemy"),
        ("is_loot", "detail"),
        ("is_loot",),
        ("is_shot", "is_enemy"),
    )
    for slot, names in enumerate(marks, start=1):
        for name in names:
            seen[slot, getattr(OBJ, name)] = 1
    assert spots(seen).tolist() == list(range(10))


def test_the_dead_and_those_without_a_net_have_no_mind():
    match = duel(hero())
    match.decide()
    g, objects = match.world.state[0].copy(), np.zeros((2, OBJECT_SLOTS, len(OBJECT)), np.float32)
    kept = match.recorder.replay().mind
    kept = {name: rows[-1] for name, rows in kept.items()}
    assert mind_records(kept, objects, match.world.rules, g)["seat"].tolist() == [0]
    g["alive"][0] = 0
    assert len(mind_records(kept, objects, match.world.rules, g)) == 0


def ordered():
    policy = hero()
    policy.take_vectors({"flee": np.full(64, 3.0, np.float32)})
    return policy


def test_an_order_enters_the_goal_counts_five_seconds_and_is_renewed():
    free, told = duel(ordered()), duel(ordered())
    told.order(0, "flee")

    def goals(match, count):
        found = []
        for _ in range(count):
            match.decide()
            found.append(match._table.minds["goal"][0, 0].copy())
        return np.array(found)

    one, other = goals(free, 1), goals(told, 1)
    assert np.allclose(other - one, 3.0, atol=1e-5)
    state = told._table.states[0]
    assert state["order_left"].tolist() == [49]
    goals(told, 49)
    assert state is not told._table.states[0] and told._table.states[0]["order_left"][0] == 0
    goals(told, 1)
    assert told._table.states[0]["order_left"].tolist() == [49]  # given again
    assert (
        told.recorder.replay().mind["order"][:, 0].tolist() == [1 + list(ORDERS).index("flee")] * 51
    )
    told.order(0, None)
    assert not told._table.states[0]["order"].any()


def test_orders_that_cannot_be_given_are_refused():
    match = duel(ordered())
    with pytest.raises(BadValue, match="no such seat"):
        match.order(2, "flee")
    with pytest.raises(BadValue, match="It knows flee"):
        match.order(0, "loot")
    with pytest.raises(BadValue, match="learn them with levelcap orders"):
        match.order(1, "flee")
    with pytest.raises(UnknownName):
        match.entrants[0].policy.order({}, 0, "loot", 5.0)


def test_commands_are_read_with_suspicion():
    assert read_command('{"seat": 3, "order": "flee"}') == Command(3, "flee")
    assert read_command('{"seat": 0, "order": null}') == Command(0, None)
    assert read_command('{"speed": 2}') == Pace(2.0, None)
    for text in (
        '{"order": "flee"}',
        '{"seat": true, "order": "flee"}',
        '{"seat": -1, "order": null}',
        '{"seat": 0, "order": 1}',
        '["order"]',
        '{"order"',
        '{"seat": 0, "order": "flee", "x": 1}',
    ):
        with pytest.raises(BadValue):
            read_command(text)
    with pytest.raises(UnknownName, match="flee"):
        read_command('{"seat": 0, "order": "fleee"}')
