"""A hero that imitates a recording of others: real matches in their format, imported."""

import numpy as np
import pytest

from levelcap.lake.intake import import_folder
from levelcap.lake.read import open_shards
from levelcap.learn.engine.config import EngineConfig
from levelcap.learn.engine.stops import Stops
from levelcap.learn.imitation.config import ImitationConfig
from levelcap.learn.imitation.run import Request, imitate
from levelcap.nets.family import describe, new_net
from levelcap.play.load import NetPolicy, load_checkpoint
from levelcap.play.matchup import play_games
from levelcap.play.record.games import record
from levelcap.world.actions import decode
from levelcap.world.spec import HEADS, arena_spec
from tests.lake import formats


def brought(tmp_path, games):
    """What a bot did in real matches, as somebody else would have written it; then imported."""
    shard = tmp_path / "recorded"
    record(["master", "rookie"], "duel", games, 0, shard, keep=["master"], views=["features"])
    played = list(open_shards([shard]).episodes())
    for number, one in enumerate(played):
        bins = np.stack([one.actions[head.name] for head in HEADS], 1)
        did = decode(bins)
        rows = np.stack([np.asarray(v, float) for v in vars(did).values()], 1)
        last = len(one) - 1
        lines = [
            formats.tick(3 * t, one.obs[t], rows[t], one.rewards[t], t == last)
            for t in range(len(one))
        ]
        formats.ticks(tmp_path / "in", lines, f"match{number:04d}", "stranger")
    return played, import_folder(tmp_path / "in")


def learned(tmp_path, done, updates):
    config = ImitationConfig(
        batch_size=512, validation=0.0, engine=EngineConfig(lr=3e-3, ema=0.95, snapshot_s=3600.0)
    )
    request = Request("duel", (done.shard,), tmp_path / "run", ("stranger",), views=("features",))
    trained = load_checkpoint(imitate(request, config, Stops(updates=updates)).outcome.snapshot)
    meta = describe("flat", arena_spec("duel"), "slim", views=("features",))
    return trained, NetPolicy(new_net(meta, 0), meta, "untrained")


def test_a_recording_of_others_says_what_was_played_and_teaches_it(tmp_path):
    # 10 games (600 steps) are too few: .2 to .5 whatever the updates; from 24 on it is above .9.
    played, done = brought(tmp_path, 24)
    imported = list(open_shards([done.shard]).episodes())
    assert done.report.rejects == [] and len(imported) == len(played)
    for theirs, ours in zip(imported, played, strict=True):
        np.testing.assert_allclose(theirs.obs, ours.obs, atol=1e-4)
        for head in HEADS:
            np.testing.assert_array_equal(theirs.actions[head.name], ours.actions[head.name])
        np.testing.assert_allclose(theirs.rewards, ours.rewards)
        assert theirs.extras["terminal_outcome"] == ours.extras["terminal_outcome"]
    trained, untrained = learned(tmp_path, done, 120)
    result = play_games(trained, untrained, "duel", 40, 5)
    print(f"imitated from an import, against the untrained: {result.win_rate:.3f} of 40 games")
    assert result.win_rate > 0.7


@pytest.mark.slow
def test_a_hero_of_imported_matches_beats_the_untrained_one_in_100_games(tmp_path):
    _, done = brought(tmp_path, 400)
    trained, untrained = learned(tmp_path, done, 1500)
    result = play_games(trained, untrained, "duel", 100, 5)
    print(f"win rate {result.win_rate:.3f}, {result.ci_low:.3f} to {result.ci_high:.3f}, 100 games")
    assert result.ci_low > 0.7
