"""Recording: fair pairs, every decision once, the same match stored or computed again."""

from collections import Counter

import numpy as np
import pyarrow.parquet as pq
import pytest

import levelcap.world
from levelcap.kit.errors import BadValue, Conflict, UnknownName
from levelcap.kit.seeds import chain
from levelcap.lake.check import check_shard
from levelcap.lake.read import open_shards
from levelcap.play.matchup import play_games
from levelcap.play.record.games import record
from levelcap.play.record.plan import BATCH, BATCH_BYTES, lay_out, make_plan, row_width
from levelcap.play.roster import find
from levelcap.play.seats import Seats
from levelcap.world.players.scripted import Uniform
from levelcap.world.protocols import Decision
from levelcap.world.rules.patches import load_patch


def episodes_of(folder):
    return pq.read_table(folder / "episodes.parquet").to_pylist()


def test_pairs_share_a_seed_and_exchange_seats():
    for ruleset in ("duel", "siege", "lms"):
        layout = lay_out(ruleset, 2, 12, seed=4)
        assert (layout.seats[0::2] + layout.seats[1::2] == 1).all()
        assert (layout.seeds[0::2] == layout.seeds[1::2]).all()
        assert len(set(layout.seeds.tolist())) == 6
        assert (layout.seats.sum(1) == layout.seats.shape[1] // 2).all()


def test_more_policies_share_the_games_evenly_by_pairs():
    layout = lay_out("duel", 4, 24, seed=0)
    met = Counter(tuple(sorted(row)) for row in layout.seats.tolist())
    assert met == {pair: 4 for pair in [(0, 1), (0, 2), (0, 3), (1, 2), (1, 3), (2, 3)]}
    assert (layout.seats[0::2] == layout.seats[1::2, ::-1]).all()


def test_one_policy_plays_no_match_twice():
    layout = lay_out("duel", 1, 10, seed=0)
    assert (layout.seats == 0).all()
    assert len(set(layout.seeds.tolist())) == 10


def test_the_results_are_those_of_the_match_up(tmp_path):
    summary = record(["veteran", "rookie"], "duel", 20, 3, tmp_path / "s")
    result = play_games(find("veteran"), find("rookie"), "duel", 20, seed=3)
    row = summary.results[0]
    assert (row["a"], row["b"]) == ("veteran", "rookie")
    assert [row[k] for k in ("wins", "draws", "losses", "games")] == [
        result.wins,
        result.draws,
        result.losses,
        20,
    ]
    found = episodes_of(tmp_path / "s")
    assert summary.episodes == len(found) == 40
    assert [e["match_seed"] for e in found] == [chain(3, m // 2) for m in range(20) for _ in "ab"]
    assert [e["seat"] for e in found] == [0, 1] * 20
    won = [e["policy"] for e in found if e["outcome"] == 1]
    assert won.count("veteran") == result.wins and won.count("rookie") == result.losses
    assert all(e["champion"] == "base" and e["policy_hash"] for e in found)
    lengths = np.array([e["length"] for e in found])[::2]
    assert (np.ceil(result.lengths / 3) == lengths).all()
    assert summary.steps == 2 * lengths.sum()


def test_what_is_stored_is_what_was_seen_and_done(tmp_path):
    record(["veteran", "rookie"], "duel", 2, 5, tmp_path / "s", views=("features", "objects"))
    found = list(open_shards([tmp_path / "s"]).episodes())
    bots = [find("veteran"), find("rookie")]
    views = ("features", "player", "objects", "context")
    world = levelcap.world.make(
        "duel", 2, views=views, match_seeds=[chain(5, 0)] * 2, auto_reset=False
    )
    table = Seats(world, bots, np.array([[0, 1], [1, 0]]))
    seen, t = world.reset(), 0
    while not world.state["over"].all():
        running = world.state["over"] == 0
        mask, features = seen["mask"].copy(), seen["features"].copy()
        objects = seen["objects"].reshape(2, 2, -1).copy()
        actions = table.act(seen).copy()
        seen, rewards, terminated, _, _ = world.step(actions)
        for match in np.flatnonzero(running):
            for seat in (0, 1):
                episode = found[2 * match + seat]
                assert (episode.obs[t, :19] == features[match, seat]).all()
                assert (episode.obs[t, 19:] == objects[match, seat]).all()
                done = [column[t] for column in episode.actions.values()]
                assert done == actions[match, seat].tolist()
                assert (episode.extras["mask"][t] == mask[match, seat]).all()
                assert episode.rewards[t] == rewards[match, seat]
                assert episode.dones[t] == terminated[match, seat]
        t += 1
    assert max(map(len, found)) == t
    for episode in found:
        assert episode.dones.tolist() == [False] * (len(episode) - 1) + [True]
        assert episode.rewards[-1] == episode.extras["terminal_outcome"]
        assert episode.behavior_logp is None
        assert set(episode.extras["intents"].tolist()) <= {0, 1, 2, 3, 4}
        assert len(set(episode.extras["intents"].tolist())) > 1


def hasty():
    """Patch 1.0 with matches of 25 seconds: long enough to die and to come back."""
    patch = load_patch("1.0")
    for ruleset in patch["rulesets"].values():
        ruleset["time_s"] = 25
    return patch | {"name": "hasty"}


@pytest.mark.parametrize(
    ("world", "policies", "games", "keep"),
    [
        ("duel", ["master", "rookie"], 6, None),
        ("duel", ["master", "rookie"], 6, ["rookie"]),
        ("lms", ["veteran", "rookie"], 2, None),
        ("lms", ["veteran", "wanderer"], 2, ["wanderer"]),
        ("siege", ["master", "rookie"], 2, ["rookie"]),
        ("crown", ["veteran"], 1, None),
    ],
)
def test_lazy_shards_come_back_bit_for_bit(tmp_path, world, policies, games, keep):
    shards = []
    for lazy in (False, True):
        folder = tmp_path / f"lazy-{lazy}"
        record(policies, world, games, 2, folder, keep=keep, lazy=lazy, patch=hasty())
        shards.append(open_shards([folder], world=world))
        report = check_shard(folder)[1]
        assert report["actions_forbidden"] == 0
    assert shards[0].num_steps == shards[1].num_steps > 100
    assert shards[0].policies == shards[1].policies == tuple(keep or policies)
    deaths = 0
    for one, two in zip(*(s.episodes() for s in shards), strict=True):
        assert one.obs.tobytes() == two.obs.tobytes()
        assert one.rewards.tobytes() == two.rewards.tobytes()
        assert (one.dones == two.dones).all()
        for head in one.actions:
            assert (one.actions[head] == two.actions[head]).all()
        for name in ("mask", "alive", "intents"):
            assert (one.extras[name] == two.extras[name]).all()
        assert one.extras["terminal_outcome"] == two.extras["terminal_outcome"]
        deaths += int((~one.extras["alive"]).sum())
    # Who is out for good has no rows; who waits for the respawn has.
    assert (deaths > 0) == (world in ("siege", "crown"))
    files = [tmp_path / f"lazy-{lazy}" / "steps-00000.parquet" for lazy in (False, True)]
    assert files[1].stat().st_size < files[0].stat().st_size / 1.5


def test_lazy_shards_remember_an_edited_patch_and_champions(tmp_path):
    patch = hasty()
    patch["shot"]["damage"] = 17.0
    options = {"patch": patch, "champions": "random", "keep": ["veteran"]}
    for lazy in (False, True):
        record(["veteran", "rookie"], "duel", 4, 9, tmp_path / f"{lazy}", lazy=lazy, **options)
    stored, lazy = (open_shards([tmp_path / str(z)]) for z in (False, True))
    for one, two in zip(stored.episodes(), lazy.episodes(), strict=True):
        assert one.obs.tobytes() == two.obs.tobytes()
    assert lazy.header.patch["content"]["shot"]["damage"] == 17.0
    assert {e["champion"] for e in episodes_of(tmp_path / "True")} != {"base"}
    plain = record(["veteran", "rookie"], "duel", 4, 9, tmp_path / "plain", keep=["veteran"])
    with pytest.raises(Conflict, match="another patch"):
        open_shards([tmp_path / "True", plain.folder])


def test_seers_keep_their_own_matches_in_sight_when_others_are_over(tmp_path):
    record(["seer-2", "wanderer"], "duel", 6, 0, tmp_path / "s", keep=["seer-2"])
    result = play_games(find("seer-2"), find("wanderer"), "duel", 6, seed=0)
    lengths = [e["length"] for e in episodes_of(tmp_path / "s")]
    assert len(set(lengths)) > 2  # so the table did shrink
    assert (np.ceil(result.lengths / 3) == lengths).all()


def test_keep_stores_the_seats_of_one_policy(tmp_path):
    names = ["master", "rookie", "idle"]
    whole = record(names, "duel", 12, 0, tmp_path / "all")
    kept = record(names, "duel", 12, 0, tmp_path / "kept", keep=["master"])
    found = episodes_of(tmp_path / "kept")
    assert {e["policy"] for e in found} == {"master"}
    assert len(found) == 8  # four games in each of two pairings
    only = open_shards([tmp_path / "all"]).filtered(policies=["master"])
    assert (only.num_steps, only.num_episodes) == (kept.steps, 8)
    for one, two in zip(only.episodes(), open_shards([kept.folder]).episodes(), strict=True):
        assert one.obs.tobytes() == two.obs.tobytes()
    assert whole.results == kept.results
    assert [(r["a"], r["b"], r["games"]) for r in whole.results] == [
        ("master", "rookie", 4),
        ("master", "idle", 4),
        ("rookie", "idle", 4),
    ]


class Chancy(Uniform):
    """Uniform that says how likely its actions were: a policy with log-probabilities."""

    name = "chancy"

    knows_log_probs = True

    def act(self, views, state):
        actions = super().act(views, state).actions
        chance, start = np.zeros(len(actions)), 0
        for size in self._sizes:
            chance -= np.log(views["mask"][:, start : start + size].sum(1))
            start += size
        return Decision(actions, log_probs=chance, values=np.zeros(len(actions)))


def test_log_probabilities_are_stored_where_a_policy_knows_them(tmp_path):
    record([Chancy(), "rookie"], "duel", 4, 0, tmp_path / "s")
    with pytest.raises(Conflict, match="'rookie'"):
        open_shards([tmp_path / "s"], need_log_probs=True)
    shards = open_shards([tmp_path / "s"], policies=["chancy"], need_log_probs=True)
    sizes = [head.size for head in shards.heads]
    for episode in shards.episodes():
        heads = np.split(episode.extras["mask"], np.cumsum(sizes)[:-1], axis=1)
        expected = -sum(np.log(head.sum(1)) for head in heads)
        np.testing.assert_allclose(episode.behavior_logp, expected, rtol=1e-6)
        assert (episode.extras["intents"] == -1).all()
    greedy = Chancy()
    greedy.knows_log_probs = False  # always its best action: no sample, so no log-probability
    record([greedy], "duel", 2, 0, tmp_path / "greedy")
    with pytest.raises(Conflict, match="log-probabilities"):
        open_shards([tmp_path / "greedy"], need_log_probs=True)


def test_the_shard_does_not_depend_on_the_batch(tmp_path, monkeypatch):
    record(["veteran", "rookie"], "duel", 10, 1, tmp_path / "whole")
    monkeypatch.setattr("levelcap.play.record.plan.BATCH", 4)
    told = []
    record(
        ["veteran", "rookie"],
        "duel",
        10,
        1,
        tmp_path / "parts",
        on_progress=lambda *numbers: told.append(numbers),
    )
    assert told == [(4, 10), (8, 10), (10, 10)]
    for name in ("steps-00000.parquet", "episodes.parquet"):
        one, two = (pq.read_table(tmp_path / f / name) for f in ("whole", "parts"))
        assert one.equals(two)


def test_long_matches_and_wide_rows_come_in_smaller_batches():
    def plan(world, **options):
        chosen = {"names": None, "keep": None, "views": None, "patch": "1.0", "champions": None}
        return make_plan(["idle"], world, 4, 0, **(chosen | {"lazy": False} | options))

    narrow, wide = plan("duel", views=("features",)), plan("duel", views=("features", "frame"))
    assert wide.batch < narrow.batch
    assert plan("siege").batch < plan("siege", lazy=True).batch
    rows = 4 * 2 * 600  # four duels of full length
    full = wide.next_batch(4, rows) * rows / 4 * row_width(wide.header)
    assert 0.8 * BATCH_BYTES < full <= BATCH_BYTES
    assert wide.next_batch(4, rows // 10) > 5 * wide.next_batch(4, rows)
    assert narrow.next_batch(4, 8) == BATCH


def test_an_outside_game(tmp_path):
    summary = record(["uniform"], "gym:CartPole-v1", 100, 0, tmp_path / "s")
    found = episodes_of(tmp_path / "s")
    assert len(found) == 100
    assert all(e["reward_sum"] == e["length"] for e in found)  # one point a step
    assert len({e["match_seed"] for e in found}) == 100
    shards = open_shards([tmp_path / "s"], world="gym:CartPole-v1")
    assert shards.num_steps == summary.steps
    episode = next(shards.episodes())
    assert episode.obs.shape[1] == 4 and list(episode.actions) == ["action"]
    assert (np.abs(episode.obs[0]) <= 0.05).all() and episode.dones[-1]
    assert check_shard(tmp_path / "s")[1]["steps"] == summary.steps


def test_players_of_an_outside_game_are_episodes_of_their_own(tmp_path):
    summary = record(["uniform"], "zoo:mpe2.simple_spread_v3", 3, 0, tmp_path / "s")
    found = episodes_of(tmp_path / "s")
    assert [e["seat"] for e in found] == [0, 1, 2] * 3
    assert {e["length"] for e in found} == {25}
    assert summary.steps == 225
    ends = [e.extras["truncated"] for e in open_shards([tmp_path / "s"]).episodes()]
    assert ends == [True] * 9


def test_the_default_place_follows_from_what_is_played(home):
    one = record(["rookie", "idle"], "duel", 2, 0)
    assert one.folder.parent == home / "lake" / "trajectories"
    assert one.folder.name.startswith("shard-")
    with pytest.raises(Conflict, match="never replaced"):
        record(["rookie", "idle"], "duel", 2, 0)
    assert record(["rookie", "idle"], "duel", 2, 1).folder != one.folder


def test_bad_requests_are_refused_before_anything_is_played(tmp_path):
    out = tmp_path / "lake" / "s"

    def refused(error, said, *arguments, **options):
        with pytest.raises(error, match=said):
            record(*arguments, out=out, **options)
        assert not out.parent.exists()

    refused(BadValue, "at least 1", ["rookie"], "duel", 0)
    refused(BadValue, "nobody to record", [], "duel", 2)
    refused(UnknownName, "Did you mean 'duel'", ["rookie"], "duell", 2)
    refused(UnknownName, "Did you mean 'rookie'", ["rooky"], "duel", 2)
    refused(UnknownName, "policy to keep", ["rookie"], "duel", 2, keep=["master"])
    refused(UnknownName, "view", ["rookie"], "duel", 2, views=("featurs",))
    refused(UnknownName, "patch", ["rookie"], "duel", 2, patch="9.9")
    refused(UnknownName, "champion", ["rookie"], "duel", 2, champions="Rangr")
    refused(BadValue, "two policies of one name", ["rookie", "rookie"], "duel", 2)
    refused(BadValue, "takes one policy", ["uniform", "idle"], "gym:CartPole-v1", 2)
    refused(BadValue, "cannot be replayed", ["uniform"], "gym:CartPole-v1", 2, lazy=True)
    refused(BadValue, "seed must be in", ["rookie"], "duel", 2, -1)


def test_a_seer_keeps_its_own_matches_while_others_end(tmp_path):
    summary = record(["seer-16", "master"], "duel", 60, 0, tmp_path / "seen", keep=["seer-16"])
    result = summary.results[0]
    assert result["wins"] / result["games"] > 0.8  # looking at other matches it won 62 %


def test_sixty_ticks_a_second_are_recorded_and_kept_apart(tmp_path):
    for name in ("duel", "duel-60hz"):
        record(["veteran", "rookie"], name, 2, 5, tmp_path / name, views=("body",))
        record(
            ["veteran", "rookie"], name, 2, 5, tmp_path / f"{name}-lazy", views=("body",), lazy=True
        )
    fast = open_shards([tmp_path / "duel-60hz"])
    assert (fast.world, fast.header.tick_hz, fast.header.decision_ticks) == ("duel-60hz", 60, 6)
    stored, lazy = (
        next(open_shards([tmp_path / name]).batches(64, 0, views=("body",)))
        for name in ("duel-60hz", "duel-60hz-lazy")
    )
    np.testing.assert_array_equal(stored.views["body"], lazy.views["body"])
    with pytest.raises(Conflict, match="another world"):
        open_shards([tmp_path / "duel", tmp_path / "duel-60hz"])
    with pytest.raises(Conflict, match="another world"):
        open_shards([tmp_path / "duel-60hz"], world="duel")


def test_policies_of_different_rates_are_not_recorded_together(tmp_path):
    quick = Uniform()
    quick.decision_ticks = 1
    with pytest.raises(BadValue, match=r"different rates.*\[1, 3\]"):
        record([quick, find("rookie")], "duel", 2, 0, tmp_path / "s")
