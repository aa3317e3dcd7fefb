"""The coach of rules: labels worked by hand, published, joined, compared."""

import json

import numpy as np
import pytest

from levelcap.coach.agree import agree
from levelcap.coach.label import FIELDS, Label, read_label
from levelcap.coach.rules import aimed_at, in_words, label_shard
from levelcap.coach.windows import Window, majority, windows_of
from levelcap.kit.errors import BadValue, Conflict, UnknownName
from levelcap.lake.labels import open_labels, write_labels
from levelcap.lake.read import open_shards
from levelcap.lake.shard import Shard
from levelcap.play.record.games import record
from levelcap.world.spec import INTENTS, OBJECT
from tests.cli.calling import levelcap

GOOD = {"health": 40, "tactic": "poke", "description": "x", "intent": "FLEE", "target": 3}
GOOD |= {"confidence": 0.5}


@pytest.fixture(scope="module")
def shard(tmp_path_factory):
    place = tmp_path_factory.mktemp("lake") / "demos"
    record(["master", "veteran"], "duel", 6, 0, place, views=("body", "objects", "summary"))
    return Shard(place)


def test_processes_label_the_same(shard, crew, tmp_path):
    counts = label_shard(shard, tmp_path / "a"), label_shard(shard, tmp_path / "b", crew)
    assert counts[0] == counts[1] > 0
    files = sorted(path.name for path in (tmp_path / "a").iterdir() if path.name != "manifest.json")
    for name in files:
        assert (tmp_path / "a" / name).read_bytes() == (tmp_path / "b" / name).read_bytes()


def test_the_objectaimed_at_is_the_enemy_under_the_cursor():
    objects = np.zeros((1, 1, 16, len(OBJECT)), np.float32)
    for slot, (dx, dy, enemy) in enumerate([(0.5, 0.0, 1), (0.4, 0.1, 0), (-0.6, 0.2, 1)]):
        objects[0, 0, slot, :2] = dx, dy
        objects[0, 0, slot, OBJECT.index("is_enemy")] = enemy
    used, unused = np.array([[True]]), np.array([[False]])
    assert aimed_at(objects, np.array([[[0.4, 0.2]]]), used) == 0  # the nearer one is no enemy
    assert aimed_at(objects, np.array([[[-0.6, 0.0]]]), used) == 2
    assert aimed_at(objects, np.array([[[0.0, -1.0]]]), used) == -1  # far from everybody
    assert aimed_at(objects, np.array([[[0.4, 0.2]]]), unused) == -1


def test_windows_end_where_the_strategist_looks():
    assert windows_of(25) == [Window(0, 0), Window(0, 10), Window(1, 20)]
    assert Window(1, 20).frames == (1, 6, 10, 15, 20)
    assert windows_of(0) == []


def test_the_majority_wins_and_ties_go_to_the_first():
    assert majority(np.array([1, 1, 2, -1], np.int8), 5) == (1, 0.5)
    assert majority(np.array([2, 0, 2, 0], np.int8), 5) == (0, 0.5)
    assert majority(np.array([-1, -1], np.int8), 5) == (-1, 0.0)


def test_an_answer_is_strict():
    assert read_label(GOOD) == Label(40, "poke", "x", "FLEE", 3, 0.5)
    assert read_label(GOOD | {"target": None}).target is None
    with pytest.raises(UnknownName, match="FLEE"):
        read_label(GOOD | {"intent": "FLE"})
    for name, value in (
        *(("health", 101), ("health", True), ("health", float("nan")), ("confidence", -0.1)),
        *(("target", 16), ("target", 1.0), ("tactic", ""), ("tactic", 3)),
        *(("description", "x" * 501), ("description", None)),
    ):
        with pytest.raises(BadValue):
            read_label(GOOD | {name: value})
    for name in FIELDS:
        with pytest.raises(BadValue, match=name):
            read_label({k: v for k, v in GOOD.items() if k != name})
    with pytest.raises(BadValue):
        read_label([GOOD])


def test_labels_are_the_teachers_own_intents(shard, tmp_path):
    count = label_shard(shard, tmp_path / "labels")
    labels = open_labels([tmp_path / "labels"], [shard])
    shards = open_shards([shard.folder])
    stream = shards.segments(4, 0, length=40, burn_in=0, views=("objects",), labels=labels)
    batch = next(stream)
    spoken = batch.labels["intent"] >= 0
    assert count > 100 and spoken.any()
    # One a second, at the decisions of the Strategist.
    assert not spoken[np.arange(40) % 10 != 0].any()
    stated = batch.intents[0][spoken[0]]
    assert (batch.labels["intent"][0][spoken[0]] == stated).mean() > 0.5
    health, share = batch.labels["health"][spoken], batch.labels["confidence"][spoken]
    assert ((health >= 0) & (health <= 100)).all() and ((share > 0) & (share <= 1)).all()
    word = in_words(0, 2, 55.0, 0.8, 1)
    assert word.tactic == "poke" and "aiming at the enemy in slot 2" in word.description


def test_a_coach_agrees_with_itself_and_not_with_chance(shard, tmp_path, capsys):
    label_shard(shard, tmp_path / "a")
    same = agree(tmp_path / "a", tmp_path / "a")
    assert same.accuracy == 1.0 and same.targets == 1.0 and same.kappa == 1.0
    table = open_labels([tmp_path / "a"], [shard])
    rng = np.random.default_rng(0)
    columns = {"episode": [], "t": []}
    for episode, length in enumerate(shard.length.tolist()):
        columns["episode"] += [episode] * len(windows_of(length))
        columns["t"] += [window.last for window in windows_of(length)]
    rows = {name: np.array(values, np.int32) for name, values in columns.items()}
    guess = rng.integers(len(INTENTS), size=len(rows["t"])).astype(np.int8)
    write_labels(tmp_path / "b", shard, rows | {"intent": guess, "target": guess}, made_by="chance")
    chance = agree(tmp_path / "a", tmp_path / "b")
    assert abs(chance.kappa) < 0.15 and chance.windows > 100
    code, out, _ = levelcap(
        capsys, "coach", "agree", str(tmp_path / "a"), str(tmp_path / "b"), "--json"
    )
    assert code == 0 and json.loads(out.splitlines()[-1])["windows"] == chance.windows
    assert table.columns["intent"] == "int8"


def test_other_shards_and_views_are_refused(shard, tmp_path):
    record(["rookie"], "duel", 2, 1, tmp_path / "other", views=("features",))
    with pytest.raises(BadValue, match="must see the player"):
        label_shard(Shard(tmp_path / "other"), tmp_path / "nothing")
    record(["rookie"], "duel", 2, 1, tmp_path / "third", views=("body", "objects"))
    label_shard(shard, tmp_path / "a")
    label_shard(Shard(tmp_path / "third"), tmp_path / "b")
    with pytest.raises(Conflict, match="different shards"):
        agree(tmp_path / "a", tmp_path / "b")
