"""Playing with the mouse: what is played is what the mouse said, and nets without one say so."""

import numpy as np
import pytest
import torch

from levelcap.kit.errors import BadValue
from levelcap.nets.checkpoint import save_snapshot, weights_of
from levelcap.nets.family import describe, new_net
from levelcap.play.load import NetPolicy, load_checkpoint, use_mouse
from levelcap.play.matchup import play_games
from levelcap.play.roster import find
from levelcap.world import make
from levelcap.world.actions import from_mouse, to_mouse
from levelcap.world.spec import arena_spec
from tests.cli.calling import levelcap

SPEC = arena_spec("duel")


def _policy(options, greedy=False, family="hierarchy"):
    meta = describe(family, SPEC, "dummy", options=options)
    net = new_net(meta, 1)
    with torch.no_grad():  # away from the first weights, where every button is alike
        for parameter in net.parameters():
            parameter += torch.randn(parameter.shape) * 0.3
    return NetPolicy(net, meta, "0" * 64, greedy)


@pytest.mark.parametrize("greedy", [False, True])
def test_what_is_played_is_what_the_mouse_said(greedy):
    torch.manual_seed(0)
    policy = use_mouse(_policy({"mouse": "on"}, greedy))
    world = make("duel", 64, views=policy.views, seed=3)
    policy.bind(world)
    state = policy.initial_state(128)
    views, fired = world.reset(), 0
    for _ in range(6):
        flat = {name: rows.reshape(128, *rows.shape[2:]) for name, rows in views.items()}
        said = policy.draw_mouse(policy.think(flat, state), flat)
        decision = policy.act(flat, state)
        np.testing.assert_array_equal(decision.actions, from_mouse(said))
        assert to_mouse(decision.actions)[1] == 0  # nothing that a mouse cannot say
        # Neither is anything pressed that the player may not press.
        first = np.cumsum([0, *(head.size for head in SPEC.heads[:-1])])
        assert np.take_along_axis(flat["mask"], decision.actions + first, 1).all()
        assert decision.log_probs is None and not policy.knows_log_probs
        state = decision.state
        fired += int(decision.actions[:, 4].sum())
        views = world.step(decision.actions.reshape(64, 2, 7))[0]
    assert greedy or fired > 0


def test_a_match_by_mouse_can_be_played_again():
    torch.manual_seed(0)
    policy = use_mouse(_policy({"mouse": "on"}))
    first, again = (play_games(policy, find("rookie"), "duel", 4, 1).lengths for _ in range(2))
    np.testing.assert_array_equal(first, again)


def test_players_without_a_mouse_are_refused(tmp_path, capsys):
    for policy in (find("master"), _policy({"mouse": "off"}), _policy({}, family="flat")):
        with pytest.raises(BadValue, match=r"no heads for the mouse.*--net mouse=on"):
            use_mouse(policy)
    for name in ("on", "off"):
        meta = describe("hierarchy", SPEC, "dummy", options={"mouse": name})
        save_snapshot(tmp_path / name, weights_of(new_net(meta, 1)), meta, "test")
    assert use_mouse(load_checkpoint(tmp_path / "on")).by_mouse
    words = ("rookie", "--games", "2", "--control", "mouse")
    code, said, error = levelcap(capsys, "play", str(tmp_path / "on"), *words)
    assert code == 0 and "win rate" in said, error
    code, _, error = levelcap(capsys, "play", str(tmp_path / "off"), *words)
    assert code == 2 and "no heads for the mouse" in error
