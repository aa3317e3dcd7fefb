"""What are a coach's labels worth? Same matches, same compute, with and without them.

    python benchmarks/coach_value.py [--world siege] [--seconds 180] [--games 400] [--per-intent]

Both heroes are slim hierarchies taught by the real imitation trainer on the same shard, for the
same number of updates (that of so many core-seconds). *With*: the rules coach's labels (intent of
every second; the object aimed at). *Without*: copied clicks. No intent and no target is known, the
mode is one and the same in training and play, and what the goal says comes from the clicks alone.

Elo is of the two heroes against each other, sampled, slow weights, seats exchanged, with the
interval of its win rate; both also play `veteran`. Per labelled minute: that difference over the
minutes of one player's play that the coach labelled. Per intent: how often the mode is right on
held-out matches; with `--per-intent` also the Elo of the labelled hero against twins whose labels
of that one intent are left out (five more runs). The last line is one JSON object.
"""

from __future__ import annotations

import argparse
import json
import math
import tempfile
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import replace
from pathlib import Path
from typing import Any

import torch

from levelcap.coach.rules import label_shard
from levelcap.lake.shard import Shard
from levelcap.learn.engine.stops import Stops
from levelcap.learn.imitation.config import ImitationConfig
from levelcap.learn.imitation.layers import LayeredCloner
from levelcap.learn.imitation.run import Imitated, Request, imitate
from levelcap.nets.checkpoint import load_world_net
from levelcap.nets.hierarchy.shape import VIEWS
from levelcap.play.load import NetPolicy
from levelcap.play.matchup import Result, play_games
from levelcap.play.record.games import record
from levelcap.play.roster import find
from levelcap.world.spec import INTENTS

CALIBRATION = 24  # updates
CERTAIN = 50.0  # logit of the one mode of a hero without labels


@contextmanager
def unlabelled(intents: tuple[int, ...], targets: bool) -> Iterator[None]:
    """Teach as if the labels of these intents, and the targets, were not known."""
    prepare = LayeredCloner.prepare

    def blind(self: LayeredCloner, batch: Any) -> Any:
        stretch = prepare(self, batch)
        hidden = torch.isin(stretch.intents, torch.tensor(intents))
        known = stretch.intents.masked_fill(hidden, -1)
        at = stretch.targets_at.fill_(-1) if targets else stretch.targets_at
        return replace(stretch, intents=known, targets_at=at)

    LayeredCloner.prepare = blind  # type: ignore[method-assign]
    try:
        yield
    finally:
        LayeredCloner.prepare = prepare  # type: ignore[method-assign]


def hero(done: Imitated, one_mode: bool) -> NetPolicy:
    """The slow weights in a seat; one_mode: always in the mode that stood for "not known"."""
    net, meta, digest = load_world_net(done.outcome.snapshot)
    if one_mode:
        bias: Any = net.get_submodule("mode_head")[-1].bias
        with torch.no_grad():
            bias.zero_()[0] = CERTAIN
            net.get_submodule("mode_head")[-1].weight.zero_()
    return NetPolicy(net, meta, digest)


def elo(result: Result) -> tuple[float, float, float]:
    """Elo of a win rate, and its interval; a perfect end of it is cut at half a game."""
    games = len(result.scores)

    def one(share: float) -> float:
        share = min(max(share, 0.5 / games), 1 - 0.5 / games)
        return 400 * math.log10(share / (1 - share))

    return one(result.win_rate), one(result.ci_low), one(result.ci_high)


def main() -> None:
    """Record, label, teach both, let them play."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--world", default="siege")
    parser.add_argument("--teacher", default="master")
    parser.add_argument("--matches", type=int, default=40, help="recorded")
    parser.add_argument("--seconds", type=float, default=180.0, help="core-seconds of each run")
    parser.add_argument("--games", type=int, default=400)
    parser.add_argument("--seed", type=int, default=0)
    parser.add_argument("--per-intent", action="store_true")
    parser.add_argument("--quick", action="store_true", help="duel, 60 matches, 10 s, 100 games")
    options = parser.parse_args()
    if options.quick:
        options.world, options.matches, options.seconds, options.games = "duel", 60, 10.0, 100
    with tempfile.TemporaryDirectory() as place:
        document = measure(options, Path(place))
    print(json.dumps(document))


def measure(options: argparse.Namespace, home: Path) -> dict[str, Any]:
    """The figures of the last line."""
    shard, labels, world = home / "demos", home / "labels", options.world
    bots = [options.teacher, "veteran"]
    record(bots, world, options.matches, options.seed, shard, keep=bots[:1], views=VIEWS)
    windows = label_shard(Shard(shard), labels)
    minutes = windows / 60  # a window a second
    print(f"{options.matches} matches, {windows:,} windows: {minutes:.0f} labelled minutes")
    config = ImitationConfig(validation=0.15)
    request = Request(world, (shard,), home / "try", seed=options.seed, family="hierarchy")
    tried = imitate(request, config, Stops(updates=CALIBRATION)).outcome
    updates = int(options.seconds / tried.core_seconds * tried.progress.update)
    told, every = replace(request, labels=(labels,)), tuple(range(len(INTENTS)))

    def teach(name: str, hidden: tuple[int, ...], targets: bool = False) -> Imitated:
        with unlabelled(hidden, targets):
            done = imitate(replace(told, out=home / name), config, Stops(updates=updates))
        seen = done.validation
        print(
            f"{name}: {done.outcome.core_seconds:.0f} core-s, loss {seen['loss']:.3f}", flush=True
        )
        return done

    taught = teach("with", ())
    with_, without = hero(taught, False), hero(teach("without", every, True), True)
    met = play_games(with_, without, world, options.games, 1)
    bot = find("veteran")
    beside = {
        n: play_games(p, bot, world, options.games, 2)
        for n, p in (("with", with_), ("without", without))
    }
    gain, low, high = elo(met)
    each = gain / minutes
    print(
        f"\n{'with against without':24}{met.win_rate:7.3f} ({met.ci_low:.3f} to {met.ci_high:.3f})"
    )
    for name, result in beside.items():
        print(
            f"{name + ' against veteran':24}{result.win_rate:7.3f} "
            f"({result.ci_low:.3f} to {result.ci_high:.3f})"
        )
    print(f"labels: {gain:+.0f} Elo ({low:+.0f} to {high:+.0f}), {each:+.2f} a labelled minute")
    per_intent: dict[str, dict[str, float]] = {}
    for number, name in enumerate(INTENTS):
        right = taught.validation.get(f"mode_{name}")
        per_intent[name] = {} if right is None else {"mode_accuracy": right}
        if options.per_intent:
            twin = hero(teach(f"without {name}", (number,)), False)
            per_intent[name]["elo"], *_ = elo(play_games(with_, twin, world, options.games, 3))
        print(f"  {name:10}" + "".join(f"{k} {v:.3f}  " for k, v in per_intent[name].items()))
    return {
        "world": world,
        "matches": options.matches,
        "labelled_minutes": minutes,
        "updates": updates,
        "games": options.games,
        "elo_gain": gain,
        "elo_low": low,
        "elo_high": high,
        "elo_per_minute": each,
        "win_rate": met.win_rate,
        "veteran": {name: result.win_rate for name, result in beside.items()},
        "mode_balanced": taught.validation["mode_balanced"],
        "per_intent": per_intent,
    }


if __name__ == "__main__":
    main()
