"""The mouse learned from bots: loss and report worked by hand, clicks get better with learning."""

import math

import pytest
import torch

from levelcap.learn.imitation.config import ImitationConfig
from levelcap.learn.imitation.layers import LayeredCloner
from levelcap.learn.imitation.mouse import MouseReport, half_turns, mouse_loss
from levelcap.learn.imitation.run import Request, _open
from levelcap.nets.family import describe, new_net
from levelcap.nets.hierarchy.shape import VIEWS
from levelcap.nets.net import ViewLayout
from levelcap.play.record.games import record
from levelcap.world.mouse import MOUSE_SIZES
from levelcap.world.spec import HEADS, arena_spec

torch.set_num_threads(1)  # as imitation does: two threads of so small a net wait for each other
SPEC = arena_spec("duel")
# Fires at (7, 5) while walking to (0, 5): the move is lost. Walks to (10, 10). Stands. Is dead.
TAUGHT = [
    [0, 5, 7, 5, 1, 0, 0],
    [10, 10, 5, 5, 0, 0, 0],
    [5, 5, 5, 5, 0, 0, 0],
    [5] * 4 + [1, 1, 1],
]
ACTIONS = torch.tensor(TAUGHT, dtype=torch.int16)[None]
MASK = torch.ones(1, 4, sum(head.size for head in HEADS), dtype=torch.uint8)
ALIVE = torch.tensor([[1.0, 1.0, 1.0, 0.0]])


def test_the_loss_counts_the_heads_that_a_row_uses():
    even = torch.zeros(1, 4, sum(MOUSE_SIZES))
    pressed = math.log(3) + math.log(15)
    wanted = (2 * (pressed + 2 * math.log(11)) + pressed) / 3
    assert float(mouse_loss(even, ACTIONS, MASK, ALIVE)) == pytest.approx(wanted)
    # Where only none and right are possible, a click is one of two.
    may_not = MASK.clone()
    may_not[0, 1:3, 45] = 0  # fire
    less = wanted - 2 * (math.log(3) - math.log(2)) / 3
    assert float(mouse_loss(even, ACTIONS, may_not, ALIVE)) == pytest.approx(less)


def test_the_report_worked_by_hand():
    logits = torch.zeros(1, 4, sum(MOUSE_SIZES))
    clicks, points = 44, 22
    logits[..., clicks + 1] = 1.0  # always left: right once in three
    logits[..., 0] = logits[..., 11 + 5] = 1.0  # walks straight the other way in x: (0, 5)
    logits[..., points + 7] = logits[..., points + 11 + 5] = 1.0  # points as taught
    report = MouseReport()
    report.add(logits, ACTIONS, MASK, ALIVE)
    found = report.shares()
    assert found["click_accuracy"] == found["click_majority"] == pytest.approx(1 / 3)
    assert found["hotkey_accuracy"] == found["hotkey_majority"] == 1.0
    assert found["mouse_lost"] == pytest.approx(1 / 3)
    # (10, 10) is 45 degrees, (0, 5) is 180: .75 half turns; the other cursor is right.
    assert found["cursor_walk_error"] == pytest.approx(0.75) and found["cursor_point_error"] == 0
    assert half_turns(torch.tensor([[5, 10]]), torch.tensor([[5, 0]])).tolist() == [1.0]


def test_clicks_get_better_with_learning(tmp_path):
    demos = tmp_path / "demos"
    record(["master", "veteran"], "duel", 12, 0, demos, keep=["master"], views=VIEWS)
    meta = describe("hierarchy", SPEC, "dummy", options={"strategist": "lstm", "mouse": "on"})
    config = ImitationConfig(batch_size=600, history=5, gamma=0.99, mouse_coef=1.0)
    cloner = LayeredCloner(new_net(meta, 1), meta, ViewLayout.of(SPEC, meta.views), config)
    shards = _open(Request("duel", (demos,), demos))
    stretch = cloner.prepare(next(cloner.stream(shards, 0, 0)))
    optimizer = torch.optim.Adam(cloner.net.parameters(), 0.02)
    first = cloner.backward(stretch)["mouse_loss"]
    start = cloner.layers([stretch])
    for _ in range(50):
        optimizer.zero_grad()
        last = cloner.backward(stretch)["mouse_loss"]
        optimizer.step()
    end = cloner.layers([stretch])
    assert last < 0.7 * first
    assert end["click_accuracy"] > max(start["click_accuracy"], end["click_majority"]) + 0.05
    assert end["hotkey_accuracy"] >= end["hotkey_majority"] > 0.5
    assert 0 < end["mouse_lost"] == start["mouse_lost"] < 1
