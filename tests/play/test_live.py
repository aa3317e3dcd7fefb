"""Live matches without a server: the same match as any other, plus what the eyes see between."""

import json

import numpy as np
import pytest

from levelcap.kit.errors import BadValue
from levelcap.lake.read import open_shards
from levelcap.play.live.match import Between, Entrant, Live, replay_messages
from levelcap.play.live.person import FIRE, IDLE_AFTER, KEY_E, LAYOUT, Input, Person, read_input
from levelcap.play.record.diary import Diary
from levelcap.play.roster import find
from levelcap.play.show import frames
from levelcap.play.show.feed import fallen
from levelcap.world.protocols import Decision, Policy
from levelcap.world.replay import load as load_replay
from tests.play.messages import unstack

TEAMS = {"duel": [0, 1], "lms": [0, 1] * 5, "siege": [0] * 5 + [1] * 5, "crown": [0] * 5 + [1] * 5}


def bots(*names):
    return [Entrant(name, "bot", find(name)) for name in names]


def with_person(ruleset="duel", seat=0, seed=5):
    person = Person("person-ann")
    entrants = [Entrant("person-ann", "person", person), *bots("rookie")]
    seats = [0 if p == seat else 1 for p in range(len(TEAMS[ruleset]))]
    return Live(ruleset, entrants, seats, seed=seed), person


def hands(number, held=0, clicked=0, move=(0.0, 0.0), aim=(0.0, 0.0)):
    return Input(number, held, clicked, *move, *aim)


def read_state(message):
    head = np.frombuffer(message, frames.HEAD, 1)[0]
    return head, np.frombuffer(message, frames.PLAYER, head["players"], frames.HEAD.itemsize)


def held_bins(match):
    return match.last["actions"][0, match.person_seat].tolist()


@pytest.mark.parametrize("ruleset", TEAMS)
def test_ticks_between_decisions_are_those_of_the_match(ruleset):
    match = Live(ruleset, bots("master", "veteran"), TEAMS[ruleset], seed=3)
    between = Between(match.world)
    for _ in range(120):
        before = match.world.state.copy()
        match.decide()
        *_, last = between.play(before, match.last["actions"])
        final = match.world.state[0]
        for name in (
            "tick",
            "x",
            "y",
            "hp",
            "shield",
            "ammo",
            "alive",
            "shot_x",
            "num_shots",
            "score",
            "item_kind",
            "creep_hp",
            "tower_hp",
            "wait",
        ):
            assert np.array_equal(last[name], final[name]), name


def test_a_live_match_is_saved_as_a_replay_that_shows_the_same(tmp_path):
    match = Live("crown", bots("veteran", "rookie"), TEAMS["crown"], seed=11, patch="1.1")
    shown = [match.header(), match.now()]
    while not match.over:
        shown += match.decide()
    path = match.recorder.save(tmp_path / "a.lcr")
    replay = load_replay(path)
    assert replay.check() == match.decisions
    again = list(replay_messages(replay))
    # The header of a replay says a little more; everything after it is the same, byte for byte,
    # but for what the first state does not know yet.
    assert json.loads(again[0][1:])["seats"] == json.loads(shown[0][1:])["seats"]
    assert again[2:] == shown[2:]
    assert json.loads(again[-1][1:])["type"] == "result"


def test_a_state_holds_what_the_match_holds():
    match = Live("siege", bots("master", "veteran"), TEAMS["siege"], seed=2)
    for _ in range(300):
        match.decide(every=3)
    message, g = match.now(), match.world.state[0]
    head, players = read_state(message)
    assert head["kind"] == frames.KIND_STATE and head["tick"] == g["tick"]
    assert np.allclose(players["x"], g["x"]) and np.allclose(players["y"], g["y"])
    assert np.allclose(players["hp"] / 10, g["hp"] / 1000, atol=0.1)
    assert ((players["state"] & frames.ALIVE) > 0).tolist() == (g["alive"] == 1).tolist()
    assert head["creeps"] == (g["creep_hp"] > 0).sum() and head["structures"] == 6
    assert (players["intent"] < 5).all() and (players["value"] == frames.NO_VALUE).all()
    counts = (head["shots"], head["items"], head["creeps"], head["structures"])
    kinds = (frames.SHOT, frames.ITEM, frames.CREEP, frames.STRUCTURE)
    rest = sum(int(n) * kind.itemsize for n, kind in zip(counts, kinds, strict=True))
    assert len(message) == frames.HEAD.itemsize + 10 * frames.PLAYER.itemsize + rest


def test_stacked_messages_come_apart_again():
    messages = [b"\x01{}", b"\x02" + bytes(70_000), b"\x03[]"]
    assert list(unstack(frames.stack(messages))) == messages


def test_who_fell_is_told_once_each():
    match = Live("lms", bots("master", "rookie"), TEAMS["lms"], seed=8)
    notes = []
    while not match.over:
        found = (m for m in match.decide() if m[0] == frames.KIND_NOTE)
        notes += [json.loads(m[1:]) for m in found]
    fell = [note["victim"] for note in notes if note["type"] == "fallen"]
    dead = np.flatnonzero(match.world.state["alive"][0] == 0).tolist()
    assert sorted(fell) == dead
    by_shot = [note for note in notes if note.get("cause") == "shot"]
    assert by_shot and all(note["killer"] != note["victim"] for note in by_shot)


def test_nobody_falls_while_nothing_happens():
    match = Live("duel", bots("idle"), [0, 0], seed=8)
    before = match.world.state[0].copy()
    match.decide()
    assert fallen(match.world.rules, before, match.world.state[0]) == []


def test_a_missing_input_repeats_the_move_and_releases_the_trigger():
    match, person = with_person()
    person.hear(hands(1, held=FIRE, move=(1.0, 0.0), aim=(0.2, 0.1)))
    match.decide()
    # A shot needs the direction only: the aim goes to the rim.
    assert held_bins(match) == [10, 5, 10, 7, 1, 0, 0]
    match.decide()
    assert held_bins(match)[:2] == [10, 5] and held_bins(match)[4] == 0


def test_two_seconds_of_silence_are_idleness_and_a_word_ends_it():
    match, person = with_person()
    person.hear(hands(1, move=(0.0, -1.0)))
    for _ in range(IDLE_AFTER):
        match.decide()
        assert held_bins(match)[:2] == [5, 0] and not person.idle
    match.decide()
    assert person.idle and held_bins(match)[:2] == [5, 5]
    head, _ = read_state(match.now())
    assert head["flags"] & frames.IDLE
    person.hear(hands(2, move=(0.0, 1.0)))
    match.decide()
    assert held_bins(match)[:2] == [5, 10] and not person.idle


def test_a_click_between_two_samples_counts_once():
    match, person = with_person()
    person.hear(hands(1, held=FIRE, clicked=FIRE, aim=(0.0, 1.0)))
    person.hear(hands(2, aim=(0.0, 1.0)))  # the button is up again before anybody looked
    match.decide()
    assert held_bins(match)[2:5] == [5, 10, 1]
    person.hear(hands(3, aim=(0.0, 1.0)))
    match.decide()
    assert held_bins(match)[4] == 0
    head, _ = read_state(match.now())
    assert head["ack"] == 3


def test_an_older_input_changes_nothing():
    match, person = with_person()
    person.hear(hands(9, move=(1.0, 0.0)))
    person.hear(hands(4, move=(-1.0, 0.0)))
    match.decide()
    assert held_bins(match)[:2] == [10, 5]


def test_on_the_far_side_right_is_still_right():
    for seat in (0, 1):
        match, person = with_person(seat=seat)
        x = float(match.world.state["x"][0, seat])
        person.hear(hands(1, move=(1.0, 0.0)))
        match.decide()
        assert float(match.world.state["x"][0, seat]) > x


def test_what_is_not_allowed_is_not_recorded():
    match, person = with_person()  # the base champion has no abilities
    person.hear(hands(1, held=KEY_E, aim=(0.5, 0.5)))
    match.decide()
    assert held_bins(match)[5] == 0


@pytest.mark.parametrize(
    "data",
    [
        b"",
        bytes(23),
        bytes(25),
        bytes(24),
        LAYOUT.pack(1, 64, 0, 0, 1, 0, 0, 0, 0),
        LAYOUT.pack(1, 0, 0, 9, 1, 0, 0, 0, 0),
        LAYOUT.pack(1, 0, 0, 0, 1, float("nan"), 0, 0, 0),
        LAYOUT.pack(1, 0, 0, 0, 1, 0, float("inf"), 0, 0),
        LAYOUT.pack(1, 0, 0, 0, 1, 0, 0, 1.01, 0),
        LAYOUT.pack(2, 0, 0, 0, 1, 0, 0, 0, 0),
    ],
)
def test_bytes_that_are_no_input_are_refused(data):
    with pytest.raises(BadValue):
        read_input(data)


def test_an_input_survives_the_way():
    given = hands(77, held=5, clicked=16, move=(0.5, -1.0), aim=(0.25, 1.0))
    assert read_input(given.pack()) == given


def test_a_person_becomes_a_shard_with_unknown_probabilities(tmp_path):
    match, person = with_person("siege", seat=7)
    diary = Diary(match)
    number = 0
    while match.decisions < 150:
        number += 1
        held = FIRE if number % 3 == 0 else 0
        person.hear(hands(number, held=held, move=(-1.0, 0.3), aim=(-1.0, 0.0)))
        diary.look()
        match.decide(every=3)
        diary.note()
    header = diary.write(tmp_path / "shard")
    assert header.num_steps == 150 and header.num_episodes == 1 and header.source == "person"
    shards = open_shards((tmp_path / "shard",), world="siege").filtered(policies=("person-ann",))
    assert shards.num_steps == 150
    assert header.quality["actions_forbidden"] == 0


def test_two_people_or_an_empty_seat_are_refused():
    entrants = [Entrant("person-a", "person", Person("person-a")), *bots("idle")]
    with pytest.raises(BadValue, match="one person"):
        Live("duel", entrants, [0, 0])
    with pytest.raises(BadValue, match="2 seats"):
        Live("duel", entrants, [0])


class Steady(Policy):
    """Stands, and counts how often it is asked."""

    views = ("features",)

    def __init__(self, decision_ticks):
        self.decision_ticks, self.asked = decision_ticks, 0

    def act(self, views, state):
        self.asked += 1
        return Decision(np.full((len(views["key"]), 7), [5, 5, 5, 5, 0, 0, 0]))


def test_everybody_is_asked_at_their_own_rate_in_a_live_match(tmp_path):
    quick, slow = Steady(1), Steady(6)
    entrants = [Entrant("quick", "net", quick), Entrant("slow", "bot", slow)]
    match = Live("duel", entrants, [0, 1], seed=3)
    assert match.world.decision_ticks == 1 and match.world.seat_ticks.tolist() == [1, 6]
    while not match.over:
        match.decide()
    ticks = int(match.world.state["tick"][0])
    assert quick.asked == ticks and slow.asked == -(-ticks // 6)
    assert load_replay(match.recorder.save(tmp_path / "m.lcr")).check() == ticks


def test_a_live_match_at_sixty_ticks_takes_as_many_decisions():
    lengths = []
    for name in ("duel", "duel-60hz"):
        match = Live(name, bots("master", "idle"), [0, 1], seed=3)
        while not match.over:
            match.decide()
        header = json.loads(match.header()[1:])
        assert header["ticks_per_s"] == match.world.spec.tick_hz
        lengths.append(match.decisions)
    assert abs(lengths[0] - lengths[1]) < 60
