"""Seats: rows picked and put back, memory that follows its seat, rates, and what is refused."""

import numpy as np
import pytest

import levelcap.world
from levelcap.kit.errors import BadValue
from levelcap.play.matchup import play_games
from levelcap.play.roster import find
from levelcap.play.seats import NOBODY, Seats, ask_every_tick
from levelcap.world import Decision, Policy


class Counter(Policy):
    """Counts the decisions of each of its seats; its memory is an array or a dictionary of two."""

    views = ("features",)

    def __init__(self, decision_ticks=3, as_dict=False):
        self.decision_ticks, self.as_dict = decision_ticks, as_dict
        self.sat = []

    def sit(self, matches, seats):
        self.sat = list(zip(matches.tolist(), seats.tolist(), strict=True))

    def initial_state(self, num_rows):
        count = np.zeros(num_rows, np.int64)
        return {"count": count, "twice": 2.0 * count} if self.as_dict else count

    def act(self, views, state):
        assert sorted(views) == ["alive", "features", "key", "mask", "reset"]
        count = (state["count"] if self.as_dict else state) + 1
        actions = np.zeros((len(count), 7), np.int64)
        actions[:, :4] = 5
        kept = {"count": count, "twice": 2.0 * count} if self.as_dict else count
        return Decision(actions, kept, values=count.astype(np.float32))


def counts(seats, index):
    state = seats.states[index]
    return (state["count"] if isinstance(state, dict) else state).tolist()


@pytest.mark.parametrize("as_dict", [False, True])
def test_a_seat_that_keeps_its_player_keeps_the_memory(as_dict):
    world = levelcap.world.make("duel", 3, seed=0)
    one, two = Counter(as_dict=as_dict), Counter(as_dict=as_dict)
    seats = Seats(world, [one, two], np.array([[0, 1], [0, 1], [0, 1]]))
    views = world.reset()
    for _ in range(4):
        views = world.step(seats.act(views))[0]
    assert one.sat == [(0, 0), (1, 0), (2, 0)] and counts(seats, 0) == [4, 4, 4]
    seats.reseat(np.array([[0, 1], [1, 0], [0, NOBODY]]))
    assert one.sat == [(0, 0), (1, 1), (2, 0)] and counts(seats, 0) == [4, 0, 4]
    assert two.sat == [(0, 1), (1, 0)] and counts(seats, 1) == [4, 0]
    seats.act(views)
    assert counts(seats, 0) == [5, 1, 5]
    np.testing.assert_array_equal(seats.values, [[5, 5], [1, 1], [5, 4]])  # nobody: the last one
    seats.drop(np.array([True, False, False]))
    assert one.sat == [(1, 1), (2, 0)] and counts(seats, 0) == [1, 5]


@pytest.mark.parametrize("as_dict", [False, True])
def test_memory_is_saved_for_all_seats_and_taken_back(as_dict):
    world = levelcap.world.make("duel", 2, seed=0)
    seats = Seats(world, [Counter(as_dict=as_dict), Counter()], np.array([[0, 1], [1, 0]]))
    views = world.reset()
    seats.act(views)
    whole = seats.memory(0)
    flat = whole["count"] if as_dict else whole
    assert flat.tolist() == [1, 0, 0, 1]
    seats.act(views)
    seats.remember(0, whole)
    assert counts(seats, 0) == [1, 1]


def test_who_is_not_due_is_not_asked_and_remembers_nothing_new():
    quick, slow = Counter(3), Counter(6)
    world = levelcap.world.make("duel", 2, seed=0, decision_ticks=3, seat_ticks=[3, 6])
    seats = Seats(world, [quick, slow], np.array([[0, 1], [0, 1]]))
    views, due = world.reset(), None
    for _ in range(6):
        views, *_, info = world.step(seats.act(views, due))
        due = info["due"]
    assert counts(seats, 0) == [6, 6] and counts(seats, 1) == [3, 3]


def test_a_policy_may_join_and_another_take_its_place():
    world = levelcap.world.make("duel", 2, seed=0)
    seats = Seats(world, [Counter()], np.zeros((2, 2), int), threads=False)
    views = world.reset()
    seats.act(views)
    assert seats.add(Counter()) == 1 and len(seats.rows[1]) == 0
    seats.reseat(np.array([[0, 1], [0, 1]]))
    seats.act(views)
    assert counts(seats, 0) == [2, 2] and counts(seats, 1) == [1, 1]
    seats.replace(1, Counter())
    assert counts(seats, 1) == [0, 0]
    seats.keep_first(1)
    assert len(seats.policies) == len(seats.rows) == len(seats.states) == 1


def test_seats_and_views_that_do_not_fit_are_refused():
    world = levelcap.world.make("duel", 2, views=("player",))
    with pytest.raises(BadValue, match="seats"):
        Seats(world, [Counter()], np.zeros((2, 3), int))
    with pytest.raises(BadValue, match="features"):
        Seats(world, [Counter()], np.zeros((2, 2), int))
    with pytest.raises(BadValue, match="below 0"):
        Seats(world, [], np.zeros((2, 2), int))


def test_a_policy_that_reads_what_only_a_critic_may_see_is_refused():
    world = levelcap.world.make("duel", 2, views=("features", "team"))
    cheat = Counter()
    cheat.views = ("features", "team")
    with pytest.raises(BadValue, match=r"critic.*team"):
        Seats(world, [cheat], np.zeros((2, 2), int))


def test_in_a_match_up_everybody_is_asked_at_their_own_rate():
    states = {}

    class Noting(Counter):
        def act(self, views, state):
            decision = super().act(views, state)
            states[self.name] = max(states.get(self.name, 0), int(decision.state.max()))
            return decision

    quick, slow = Noting(), Noting()
    quick.name, slow.name = "quick", "slow"
    ask_every_tick(quick, 30)
    result = play_games(quick, slow, "duel", 4, seed=1)
    ticks = int(result.lengths.max())
    assert states["quick"] == ticks and states["slow"] == -(-ticks // 3)
    with pytest.raises(BadValue, match="reaction"):
        ask_every_tick(find("master"), 30)
