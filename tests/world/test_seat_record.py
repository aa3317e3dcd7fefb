"""What a seat saw and did, taken from a replay, is what its player was shown and chose."""

import numpy as np
import pytest

from levelcap.kit.errors import BadValue, UnknownName
from levelcap.world import seat_record
from levelcap.world.match import ArenaWorld
from levelcap.world.replay import Recorder
from levelcap.world.seat_record import record_seat
from tests.world.seats import arrays_of

VIEWS = ("features", "summary", "objects", "body")


@pytest.fixture(scope="module")
def played():
    """A duel of random actions, seat 1 at a third of the rate; what both were shown."""
    world = ArenaWorld(
        "duel",
        views=VIEWS,
        decision_ticks=1,
        seat_ticks=[1, 3],
        auto_reset=False,
        match_seeds=[11],
        threads=1,
    )
    views, rng = world.reset(), np.random.default_rng(1)
    recorder, shown = Recorder(world, policies=[("a", "f" * 64), ("b", "e" * 64)]), []
    sizes = [head.size for head in world.spec.heads]
    for _ in range(90):
        names = (*VIEWS, "mask", "key", "alive")
        shown.append({name: views[name][0].copy() for name in names})
        views, *_, info = world.step(rng.integers(0, sizes, (1, 2, 7)))
        recorder.record(info)
    return recorder.replay(), shown


@pytest.mark.parametrize(("seat", "rate"), [(0, 1), (1, 3)])
def test_rows_are_what_the_player_saw_when_it_was_asked(played, seat, rate):
    replay, shown = played
    told, found = arrays_of(record_seat(replay, seat, VIEWS))
    assert found["at"].tolist() == list(range(0, 90, rate))
    assert (told["world"], told["seat"], told["seat_ticks"]) == ("duel", seat, rate)
    assert told["player"] == {"name": "ab"[seat], "sha256": "fe"[seat] * 64}
    for row, at in enumerate(found["at"]):
        for name in (*VIEWS, "mask", "key", "alive"):
            assert np.array_equal(found[name][row], shown[at][name][seat]), (name, at)
        assert np.array_equal(found["actions"][row], replay.actions[at, seat])


def test_what_no_player_may_see_is_refused_and_size_has_a_bound(played, monkeypatch):
    replay, _ = played
    for seat in (-1, 2):
        with pytest.raises(BadValue, match="no such seat"):
            record_seat(replay, seat, VIEWS)
    secret = next(n for n, view in replay.world().spec.views.items() if view.critic_only)
    for name in (secret, "../x", ""):
        with pytest.raises(UnknownName):
            record_seat(replay, 0, [name])
    monkeypatch.setattr(seat_record, "MOST_BYTES", 4 * 19 * 10)
    assert len(arrays_of(record_seat(replay, 0, ["features"]))[1]["at"]) == 10
