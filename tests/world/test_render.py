"""Frames for nets keep fog and viewer's frame; pictures for people tell the story."""

import numpy as np
import pytest

import levelcap.world
from levelcap.kit.errors import BadValue
from levelcap.world.draw.canvas import Canvas, text_width
from levelcap.world.draw.picture import draw
from levelcap.world.draw.render import write_frames
from levelcap.world.draw.scoreboard import read_scoreboard
from levelcap.world.spec import RULESETS

STAND = (5, 5, 5, 5, 0, 0, 0)
CHARGE = (10, 5, 10, 5, 1, 0, 0)


def make(ruleset, **options):
    world = levelcap.world.make(ruleset, 1, seed=3, views=("features",), threads=1, **options)
    world.reset()
    return world


def play(world, decisions, action=CHARGE):
    actions = np.tile(np.array(action, np.uint8), (1, world.spec.num_players, 1))
    for _ in range(decisions):
        world.step(actions)
    return world


def fight(ruleset):
    """Everybody near the centre, shooting across it."""
    world = make(ruleset)
    seats = np.arange(world.rules.num_players)
    side = np.where(seats < world.rules.num_players / 2, -1, 1)
    world.state["x"] = side * 5.0
    world.state["y"] = side * (seats % max(1, world.rules.team_size) - 2) * 0.7
    return play(world, 2)


def mirrored(world):
    """The same match seen from the other side: places negated, teams exchanged."""
    twin = make(world.ruleset)
    state, size = world.snapshot(), world.rules.team_size
    for name in state.dtype.names:
        kind = name.split("_")[-1]
        if kind in ("x", "y", "vx", "vy"):
            state[name] = -state[name]
    for name in state.dtype.names:
        row = state[name]
        if name.startswith("seen_"):
            teams = row[:, :2, : 2 * size]
            row[:, :2, : 2 * size] = np.roll(np.roll(teams, 1, axis=1), size, axis=2)
        elif name.startswith(("creep_", "tower_")):
            state[name] = np.roll(row, row.shape[1] // 2, axis=1)
        elif name == "shot_owner":
            state[name] = (row + size) % (2 * size)
        elif name == "zone":
            row[:, :2] = -row[:, :2]
        elif row.ndim > 1 and row.shape[1] == 2 * size and not name.startswith("shot_"):
            state[name] = np.roll(row, size, axis=1)
    # Shots may lie in any order: the twin's are turned round.
    live = int(state["num_shots"][0])
    for name in ("x", "y", "vx", "vy", "life", "owner", "damage"):
        state[f"shot_{name}"][:, :live] = state[f"shot_{name}"][:, :live][:, ::-1]
    twin.restore(state)
    return twin


@pytest.mark.parametrize("ruleset", RULESETS)
def test_frames_are_one_picture_a_player_and_follow_the_state(ruleset):
    world = make(ruleset)
    first = write_frames(world).copy()
    assert first.shape == (1, world.rules.num_players, 64, 64, 3)
    assert first.dtype == np.uint8
    play(world, 5)
    second = write_frames(world)
    assert all((first[0, p] != second[0, p]).any() for p in range(world.rules.num_players))


def test_frames_come_through_the_views_in_one_reused_array():
    world = levelcap.world.make("duel", 2, seed=1, views=("frame",))
    frames = world.reset()["frame"]
    assert frames.shape == (2, 2, 64, 64, 3)
    assert world.observe()["frame"] is frames


def test_an_enemy_out_of_sight_is_not_drawn():
    world = make("duel")

    def frame_with_enemy_at(x, y):
        world.state["x"], world.state["y"] = [[-17.0, x]], [[-17.0, y]]
        play(world, 1, STAND)
        return write_frames(world)[0, 0].copy()

    hidden = frame_with_enemy_at(0.0, 0.0)
    start = world.snapshot()
    world.state["x"][0, 1], world.state["y"][0, 1] = 1.0, -1.0
    np.testing.assert_array_equal(write_frames(world)[0, 0], hidden)
    world.restore(start)
    world.state["seen_now"][0, 0, 1] = 1
    assert (write_frames(world)[0, 0] != hidden).any()


def test_shots_and_items_out_of_sight_are_not_drawn():
    world = make("duel")
    world.state["x"], world.state["y"] = [[-17.0, 17.0]], [[-17.0, 17.0]]
    bare = write_frames(world)[0, 0].copy()
    world.state["num_shots"], world.state["shot_owner"][0, 0] = 1, 1
    world.state["item_kind"][0, 0] = 1
    np.testing.assert_array_equal(write_frames(world)[0, 0], bare)
    world.state["shot_x"][0, 0] = world.state["shot_y"][0, 0] = -14.0
    world.state["item_x"][0, 0] = world.state["item_y"][0, 0] = -15.0
    frame = write_frames(world)[0, 0]
    assert (frame != bare).any(axis=-1).sum() >= 2


def test_the_dead_see_black_and_the_clock():
    world = make("lms")
    world.state["alive"][0, 4] = 0
    frame = write_frames(world)[0, 4]
    assert not frame[6:].any() and not frame[:4].any()
    assert frame[4:6].all()


def test_bars_show_hp_ammo_and_time_left():
    world = make("duel")
    world.state["hp"][0, 0] = 50_000
    world.state["ammo"][0, 0] = 15
    world.state["tick"] = world.rules.time_limit * 3 // 4
    bars = write_frames(world)[0, 0, :6].any(axis=-1).sum(axis=1)
    assert bars.tolist() == [32, 32, 32, 32, 16, 16]


@pytest.mark.parametrize("ruleset", ["duel", "siege", "crown"])
def test_side_1_sees_what_side_0_sees_of_the_mirrored_match(ruleset):
    world = fight(ruleset)
    assert world.state["num_shots"][0] > 0 and world.state["seen_now"][0, 0].any()
    size = world.rules.team_size
    frames = write_frames(world)[0]
    twins = write_frames(mirrored(world))[0]
    np.testing.assert_array_equal(twins[size:], frames[:size])
    np.testing.assert_array_equal(twins[:size], frames[size:])


@pytest.mark.parametrize("ruleset", RULESETS)
def test_a_picture_is_deterministic_and_follows_the_state(ruleset):
    world = fight(ruleset)
    picture = draw(world, size=240)
    assert picture.dtype == np.uint8 and picture.shape == (279, 240, 3)
    np.testing.assert_array_equal(draw(world, size=240), picture)
    play(world, 3)
    assert (draw(world, size=240) != picture).any()


def test_a_picture_of_an_impossible_size_is_refused():
    with pytest.raises(BadValue, match="size of a picture out of range; got 20. Give pixels"):
        draw(make("duel"), size=20)


def test_names_and_banner_change_the_picture():
    world = make("crown")
    plain = draw(world, size=240)
    assert (draw(world, size=240, names=("master", "veteran"))[:39] != plain[:39]).any()
    assert (draw(world, size=240, banner="HALF TIME")[39:] != plain[39:]).any()
    np.testing.assert_array_equal(draw(world, size=240, banner=""), plain)


def test_the_result_says_who_won_and_why():
    world = make("siege")
    world.state["tower_hp"][0, 5], world.state["over"], world.state["winner"] = 0, 1, 0
    board = read_scoreboard(world, 0, ("master", "veteran"))
    assert (board.headline, board.reason) == ("BLUE WINS", "CORE DESTROYED")
    assert board.sides[1].name == "RED veteran"
    silent = draw(world, size=240, banner="")
    assert (draw(world, size=240) != silent).any()


@pytest.mark.parametrize(
    ("ruleset", "change", "headline", "reason"),
    [
        ("siege", {"winner": 1}, "RED WINS", "TIME: MORE STRUCTURE HP"),
        ("siege", {"winner": -1}, "DRAW", "TIME: EQUAL STRUCTURE HP"),
        ("crown", {"winner": 0, "score": (100_000, 4_000)}, "BLUE WINS", "100 POINTS"),
        ("crown", {"winner": 1}, "RED WINS", "TIME: MORE POINTS"),
        ("duel", {"winner": 1, "alive": (0, 1)}, "RED WINS", "OPPONENT DEFEATED"),
        ("duel", {"winner": -1, "alive": (0, 0)}, "DRAW", "NOBODY LEFT STANDING"),
        ("duel", {"winner": 0}, "BLUE WINS", "TIME: MORE HP"),
        (
            "lms",
            {"winner": 3, "alive": (0, 0, 0, 1, *[0] * 6)},
            "PLAYER 3 WINS",
            "LAST ONE STANDING",
        ),
    ],
)
def test_every_ending_has_its_words(ruleset, change, headline, reason):
    world = make(ruleset)
    world.state["over"] = 1
    for name, value in change.items():
        world.state[name] = value
    board = read_scoreboard(world)
    assert (board.headline, board.reason) == (headline, reason)


def test_the_clock_counts_down_to_zero():
    world = make("duel")
    clocks = []
    for tick in (0, 1, 30, 1799, 1800):
        world.state["tick"] = tick
        clocks.append(read_scoreboard(world).clock)
    assert clocks == ["01:00", "01:00", "00:59", "00:01", "00:00"]


WHITE, BLACK = (255, 255, 255), (0, 0, 0)


def test_text_is_drawn_where_asked_and_cut_at_the_edge():
    canvas = Canvas(120, 40, BLACK)
    canvas.text("I1", 10, 20, 2, WHITE, align="left")
    ink = canvas.shrunk()[:, :, 0] > 0
    right = 5 + round(text_width("I1", 2) / 2)
    assert ink[6:14, 5:right].any() and not ink[:, right + 1 :].any() and not ink[:6].any()
    canvas.text("OFF THE EDGE", 110, 20, 4, WHITE, align="left")
    assert (canvas.shrunk()[:, 55:] > 0).any()


def test_an_empty_box_draws_nothing_and_half_an_alpha_half():
    canvas = Canvas(8, 8, BLACK)
    canvas.box(2, 2, 2, 6, WHITE)
    assert not canvas.shrunk().any()
    canvas.box(0, 0, 4, 8, WHITE, 0.5)
    assert canvas.shrunk()[:, :, 0].tolist() == [[128, 128, 0, 0]] * 4


def test_a_long_banner_is_written_smaller_and_not_cut():
    words = "A VERY LONG BANNER ABOUT THE HALF TIME OF THIS MATCH"
    row = draw(make("duel"), size=240, banner=words)[39 + 48]  # the middle of the banner
    assert row.max() > 128 and max(row[:2].max(), row[-2:].max()) < 32
