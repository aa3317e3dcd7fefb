"""Replay files: what was recorded plays again bit for bit, and damage is found and named."""

import json
import os
import subprocess
import sys
import zlib

import numpy as np
import pytest

import levelcap.world
from levelcap.kit.errors import BadFile, BadValue, Corrupt
from levelcap.kit.files import dump_line
from levelcap.world import replay_file
from levelcap.world.replay import Recorder, Replay, load
from levelcap.world.rules.patches import load_patch, random_patch
from levelcap.world.spec import RULESETS
from tests.world.plays import noisy_chaser

POLICIES = [("chaser", "a" * 64), ("noise", "b" * 64)]


def record(ruleset="duel", seed=3, decisions=10_000, matches=2, match=1, mind=None, **options):
    """Play until the match of interest ends; its recorder."""
    world = levelcap.world.make(ruleset, matches, seed=seed, **options)
    views = world.reset()
    policies = POLICIES if ruleset == "duel" else POLICIES[:1]
    recorder = Recorder(world, match, policies=policies)
    rng = np.random.default_rng(seed)
    for _ in range(decisions):
        views, *_, info = world.step(noisy_chaser(rng, views))
        if not recorder.record(info, mind(views) if mind else None):
            break
    return recorder


@pytest.fixture(scope="module")
def duel():
    """A duel of more than 300 decisions."""
    for seed in range(100):
        replay = record(seed=seed).replay()
        if 300 < len(replay.actions) and replay.header["result"]["winner"] >= 0:
            return replay
    raise AssertionError("no duel was long enough")


@pytest.mark.parametrize("ruleset", RULESETS)
def test_a_saved_match_plays_again_as_it_was(ruleset, tmp_path):
    recorder = record(ruleset, decisions=500, champions="random")
    path = recorder.save(tmp_path / "match.lcr")
    replay = load(path)
    assert np.array_equal(replay.actions, recorder.replay().actions)
    assert replay.check() == len(replay.actions)
    assert list(tmp_path.iterdir()) == [path]  # nothing temporary is left


def test_playing_yields_the_start_and_every_decision(duel):
    ticks = [int(world.state["decision"][0]) for world in duel.play()]
    assert ticks == list(range(len(duel.actions) + 1))


def test_the_header_says_everything_about_the_match(duel):
    header = duel.header
    assert header["ruleset"] == "duel" and header["decisions"] == len(duel.actions)
    assert header["champions"] == ["base", "base"]
    assert header["policies"] == [{"name": n, "sha256": h} for n, h in POLICIES]
    assert header["seats"] == [0, 1]
    assert header["patch"]["name"] == "1.0" and header["patch"]["content"] is None
    assert len(header["hashes"]) == (len(duel.actions) - 1) // 100 + 1
    assert header["result"]["ended"] and header["result"]["winner"] in (0, 1)


def test_the_first_line_of_the_file_is_json_and_the_rest_is_zlib(duel, tmp_path):
    data = duel.save(tmp_path / "m.lcr").read_bytes()
    line, body = data.split(b"\n", 1)
    assert json.loads(line)["match_seed"] == duel.header["match_seed"]
    assert zlib.decompress(body) == duel.actions.tobytes()


@pytest.mark.parametrize("ruleset", ["lms", "siege"])
def test_a_drawn_line_up_is_written_down(ruleset):
    header = record(ruleset, decisions=3, champions="random").replay().header
    assert len(header["champions"]) == 10 and "base" not in header["champions"]


def test_an_edited_patch_travels_with_the_replay(tmp_path):
    for patch in (
        random_patch(5),
        {**load_patch("1.0"), "shot": {**load_patch("1.0")["shot"], "damage": 13}},
    ):
        replay = load(record(patch=patch).save(tmp_path / "m.lcr"))
        assert replay.header["patch"]["content"] == patch
        replay.check()


def test_a_shipped_later_patch_goes_by_name(tmp_path):
    replay = load(record(patch="1.1").save(tmp_path / "m.lcr"))
    assert replay.header["patch"]["content"] is None
    replay.check()


def test_seats_with_rates_of_their_own_are_replayed(tmp_path):
    recorder = record("crown", decisions=150, decision_ticks=3, seat_ticks=[3, 6, 9, 12, 15] * 2)
    replay = load(recorder.save(tmp_path / "m.lcr"))
    assert replay.header["seat_ticks"] == [3, 6, 9, 12, 15] * 2
    held = replay.actions[:12:3, 2]  # the third seat is asked every third decision
    assert all((replay.actions[3 * i : 3 * i + 3, 2] == held[i]).all() for i in range(4))
    replay.check()


def test_a_match_after_a_restart_can_be_recorded():
    world = levelcap.world.make("duel", 1, seed=1)
    views, rng = world.reset(), np.random.default_rng(0)
    while True:
        views, *_, info = world.step(noisy_chaser(rng, views))
        if info["ended"][0]:
            break
    recorder = Recorder(world, 0)
    while recorder.record(world.step(noisy_chaser(rng, views))[4]):
        pass
    assert recorder.done and recorder.record({}) is False
    recorder.replay().check()


def test_a_match_cut_off_by_the_caller_is_a_replay_without_a_winner(tmp_path):
    replay = load(record(max_decisions=40).save(tmp_path / "m.lcr"))
    assert replay.header["result"] == {"ended": False, "winner": None, "hash": None}
    assert replay.check() == 40


def test_the_mind_channel_is_kept_beside_the_actions(tmp_path):
    def mind(views):
        hp = views["features"][1, :, 4]
        return {"intent": (hp > 0.5).astype(np.uint8), "value": hp.astype(np.float16)}

    replay = load(record(mind=mind).save(tmp_path / "m.lcr"))
    assert replay.mind["intent"].shape == (len(replay.actions), 2)
    assert replay.mind["value"].dtype == np.float16 and replay.mind["value"].max() <= 1
    replay.check()


def test_a_recording_has_to_start_with_the_match():
    world = levelcap.world.make("duel", 1)
    world.reset()
    recorder = Recorder(world)
    _, _, _, _, info = world.step(np.full((1, 2, 7), 0))
    _, _, _, _, info = world.step(np.full((1, 2, 7), 0))
    with pytest.raises(BadValue, match="after every step"):
        recorder.record(info)
    with pytest.raises(BadValue, match="starts with the match"):
        Recorder(world)
    with pytest.raises(BadValue, match="policies do not fit"):
        world.reset()
        Recorder(world, policies=POLICIES * 2)


def test_a_changed_action_is_found_in_its_block_of_decisions(duel):
    actions = duel.actions.copy()
    actions[149, 0, 0] = 10 if actions[149, 0, 0] < 5 else 0
    with pytest.raises(Corrupt, match="differs from decision 101–200"):
        Replay(duel.header, actions).check()


def test_a_changed_seed_is_found_at_the_start(duel):
    header = {**duel.header, "match_seed": duel.header["match_seed"] ^ 1}
    with pytest.raises(Corrupt, match="starts differently"):
        Replay(header, duel.actions).check()


def test_a_wrong_winner_is_found_at_the_end(duel):
    result = {**duel.header["result"], "winner": 1 - duel.header["result"]["winner"]}
    with pytest.raises(Corrupt, match="ends with winner"):
        Replay({**duel.header, "result": result}, duel.actions).check()


def test_actions_after_the_end_are_found(duel):
    longer = np.concatenate([duel.actions, duel.actions[-1:]])
    with pytest.raises(Corrupt, match=f"ends after {len(duel.actions)} of"):
        Replay({**duel.header, "decisions": len(longer)}, longer).check()


def repacked(replay, body=None, **changes):
    """The file with a changed header and, for once, a checksum that fits."""
    header = {**replay.header, **changes}
    if body is None:
        return replay_file.pack(header, replay.actions, replay.mind)
    header = {key: header[key] for key in replay_file.HEADER}
    header["checksum"] = replay_file._checksum(header, body)
    return dump_line(header) + body


def test_any_single_flipped_byte_is_found(duel, tmp_path):
    data = replay_file.pack(duel.header, duel.actions, {})
    path = tmp_path / "m.lcr"
    rng = np.random.default_rng(0)
    places = np.unique(np.concatenate([rng.integers(0, len(data), 300), np.arange(0, 60)]))
    for place in places:
        for flip in (1, 32, 128):
            path.write_bytes(data[:place] + bytes([data[place] ^ flip]) + data[place + 1 :])
            with pytest.raises((BadFile, Corrupt)):
                load(path)


def test_every_shortened_file_is_found(duel, tmp_path):
    data = replay_file.pack(duel.header, duel.actions, {})
    path = tmp_path / "m.lcr"
    for size in [*range(0, len(data), 97), len(data) - 1]:
        path.write_bytes(data[:size])
        with pytest.raises((BadFile, Corrupt)) as caught:
            load(path)
        assert str(path) in str(caught.value)


def test_a_bomb_is_not_unpacked(duel, tmp_path):
    path = tmp_path / "m.lcr"
    path.write_bytes(repacked(duel, body=zlib.compress(bytes(50_000_000), 9)))
    with pytest.raises(Corrupt, match="more than the header's"):
        load(path)


@pytest.mark.parametrize(
    "changes, words",
    [
        ({"world_version": 2}, "world version"),
        ({"format": 9}, "format"),
        ({"patch": {"name": "7.7", "sha256": "0" * 64, "content": None}}, "patch .* unknown"),
        ({"patch": {"name": "1.0", "sha256": "0" * 64, "content": None}}, "is not the one"),
        ({"patch": {"name": "x", "sha256": "0" * 64, "content": {"name": "x"}}}, "cannot be used"),
        ({"ruleset": "chess"}, "ruleset"),
        ({"players": 3}, "players"),
        ({"heads": 8}, "heads"),
        ({"decisions": -1}, "decisions"),
        ({"decisions": 10**9}, "decisions"),
        ({"decisions": True}, "decisions"),
        ({"match_seed": 2**64}, "match_seed"),
        ({"seat_ticks": [3]}, "seat_ticks"),
        ({"champions": [1, 2]}, "champions"),
        ({"seats": [0, 5]}, "seats"),
        ({"mind": [{"name": "a", "dtype": "object", "shape": []}]}, "mind"),
        ({"mind": [{"name": "a", "dtype": "uint8", "shape": [2**30]}]}, "mind channel"),
        ({"mind": [{"name": "a", "dtype": "uint8", "shape": []}]}, "mind channel"),
    ],
)
def test_a_header_that_makes_no_sense_is_refused(duel, tmp_path, changes, words):
    path = tmp_path / "m.lcr"
    path.write_bytes(repacked(duel, **changes))
    with pytest.raises((BadFile, Corrupt), match=words):
        load(path)


def test_actions_out_of_range_and_bytes_behind_the_end_are_refused(duel, tmp_path):
    path = tmp_path / "m.lcr"
    wrong = np.full_like(duel.actions, 99)
    path.write_bytes(repacked(Replay(duel.header, wrong)))
    with pytest.raises(BadFile, match="out of range; got 99"):
        load(path)
    path.write_bytes(repacked(duel, body=zlib.compress(duel.actions.tobytes()) + b"more"))
    with pytest.raises(Corrupt, match="4 bytes follow"):
        load(path)


def test_what_is_no_replay_is_refused(tmp_path):
    path = tmp_path / "m.lcr"
    for data in (b"", b"\n", b"[1]\n", b'{"format":1}\n', b"\x00\xff\n", b"x" * 100):
        path.write_bytes(data)
        with pytest.raises((BadFile, Corrupt)):
            load(path)
    with pytest.raises(BadFile, match="Check the file's name"):
        load(tmp_path / "missing.lcr")


def test_another_process_plays_the_same_match(duel, tmp_path):
    path = duel.save(tmp_path / "m.lcr")
    code = (
        "import sys; from pathlib import Path; from levelcap.world.replay import load\n"
        "for world in load(Path(sys.argv[1])).play(): pass\n"
        "sys.stdout.write(world.match_hash(0))"
    )
    command = [sys.executable, "-c", code, str(path)]
    found = subprocess.run(command, capture_output=True, text=True, check=True, env=os.environ)
    *_, last = duel.play()
    assert found.stdout == last.match_hash(0)
