"""`levelcap imitate` and `levelcap reinforce`: the two halves of training a hero."""

from __future__ import annotations

from dataclasses import asdict
from pathlib import Path
from typing import Annotated, Any

from cyclopts import Parameter
from rich.console import Console
from rich.table import Table

from levelcap.cli.lake import find_shard
from levelcap.cli.options import AsJson, Files, From, Int, NetOptions, Overrides, Several, World
from levelcap.cli.policies import import_world
from levelcap.cli.printer import print_table, say_json, table
from levelcap.cli.progress import Report
from levelcap.cli.worlds import TickHz, at_rate
from levelcap.kit.errors import BadValue, refuse
from levelcap.kit.ids import run_name
from levelcap.kit.paths import folder
from levelcap.learn.engine.loop import Outcome
from levelcap.learn.engine.overrides import apply
from levelcap.learn.engine.stops import Stops
from levelcap.learn.engine.task import Hooks
from levelcap.learn.imitation.config import for_family
from levelcap.learn.imitation.run import Imitated
from levelcap.learn.imitation.run import Request as ImitationRequest
from levelcap.learn.imitation.run import imitate as run_imitation
from levelcap.learn.rl.config import for_world, from_scratch, taught_by
from levelcap.learn.rl.run import Request as RlRequest
from levelcap.learn.rl.run import reinforce as run_reinforcement
from levelcap.nets.checkpoint import read_meta
from levelcap.nets.family import DEFAULT
from levelcap.play.load import NetPolicy, load_checkpoint
from levelcap.play.matchup import play_games
from levelcap.play.roster import find
from levelcap.vault.ask import find_folder
from levelcap.world.spec import RECORDED

BOTS = ("rookie", "veteran", "master")


def imitate(
    *,
    shards: Annotated[list[str], Parameter(consume_multiple=True)],
    world: World = "duel",
    tick_hz: TickHz = None,
    out: Path | None = None,
    policies: Several = None,
    labels: Files = None,
    minutes: float | None = None,
    updates: Int | None = None,
    family: str = DEFAULT,
    net: NetOptions = None,
    size: str = "slim",
    views: Several = None,
    seed: Int = 0,
    games: Int = 200,
    set_: Overrides = None,
    json_: AsJson = False,
) -> None:
    """Clone recorded play into a new policy, pi_sup.

    Parameters
    ----------
    shards
        Names or folders that `levelcap record` wrote.
    world
        The world the shards must be of.
    out
        The run's folder; the same command again continues it.
    policies
        Imitate only these players of the shards (default: all).
    labels
        What a coach said of these shards (`levelcap coach label`); nets with layers only.
    minutes
        Training time; half a minute if neither minutes nor updates are given.
    updates
        Or: number of updates.
    family
        Kind of net: flat or hierarchy.
    net
        A part of the net chosen by name, e.g. --net aim=residual.
    size
        dummy, slim or full.
    views
        What the net reads, if not the usual, e.g. --views features.
    seed
        Of the weights and of the order of the data.
    games
        Games against each bot afterwards; 0 = none.
    set_
        Any knob, e.g. --set smoothing=.05 --set engine.lr=1e-3.
    json_
        Print one JSON object as the last line.
    """
    console = Console(highlight=False)
    world = at_rate(world, tick_hz)
    import_world(world)
    if minutes is None and updates is None:
        minutes = 0.5
    place = out or folder("runs") / run_name("imitate")
    request = ImitationRequest(
        world,
        tuple(find_shard(shard) for shard in shards),
        place,
        tuple(policies or ()),
        size,
        seed,
        tuple(views or ()),
        family,
        tuple(net or ()),
        tuple(labels or ()),
    )
    config = apply(for_family(family), set_ or [])
    with Report(console, "imitate", minutes) as report:
        stops = Stops(updates=updates, minutes=minutes)
        done = run_imitation(request, config, stops, Hooks(on_report=report))
    print_table(accuracy_table(done))
    rates = _against_bots(console, done.outcome, world, games, seed)
    _say_where(console, done.outcome)
    if json_:
        judged = {"training": done.training, "validation": done.validation, "win_rates": rates}
        say_json({**_numbers(done.outcome), **judged})


def reinforce(
    *,
    from_: From = None,
    world: World = "duel",
    tick_hz: TickHz = None,
    out: Path | None = None,
    minutes: float | None = None,
    steps: Int | None = None,
    updates: Int | None = None,
    until_elo: float | None = None,
    teacher: str | None = None,
    family: str = DEFAULT,
    net: NetOptions = None,
    size: str = "slim",
    views: Several = None,
    seed: Int = 0,
    games: Int = 200,
    set_: Overrides = None,
    json_: AsJson = False,
) -> None:
    """Let a policy play and learn from the results: pi_sup becomes pi_rl.

    Parameters
    ----------
    from_
        The checkpoint to start from: an id, champion, best, latest or a folder (default: untrained
        weights, and no pull towards pi_sup).
    world
        duel, lms, siege, crown, gym:<id> or zoo:<module>.
    out
        The run's folder; the same command again continues it.
    minutes
        Training time; 5 if no end is given.
    steps
        Or: decisions of learned seats.
    updates
        Or: number of updates.
    until_elo
        Stop when the slow weights are this strong (measured every minute, outside the clock).
    teacher
        Follow what this bot would do in the learner's seats, not the results: imitation where the
        learner itself goes (DAgger). The snapshot is one to reinforce from.
    family
        Kind of net: flat or hierarchy; only without --from.
    net
        A part of the net chosen by name, e.g. --net aim=residual; with --from only critic=own or
        critic=team, whose value begins anew.
    size
        dummy, slim or full; only without --from.
    views
        What the net reads, if not the usual; only without --from.
    seed
        Of the weights, the matches and the opponents.
    games
        Games against each bot afterwards; 0 = none.
    set_
        Any knob, e.g. --set kl_coef=.05 --set engine.lr=1e-3 --set opponents=rookie,veteran.
    json_
        Print one JSON object as the last line.
    """
    console = Console(highlight=False)
    world = at_rate(world, tick_hz)
    import_world(world)
    if minutes is None and steps is None and updates is None:
        minutes = 5.0
    if until_elo is not None and ":" in world:
        raise BadValue(refuse("outside games have no Elo", world, "Leave --until-elo out"))
    place = out or folder("runs") / run_name("reinforce")
    start = None if from_ is None else find_folder(from_, reads=False)
    request = RlRequest(
        world,
        place,
        start,
        size,
        seed,
        views=tuple(views or ()),
        family=family,
        options=tuple(net or ()),
    )
    if start is not None:
        family = read_meta(start).architecture
    if teacher is not None:
        config = taught_by(teacher, world, family)
    else:
        config = from_scratch(world, family) if start is None else for_world(world, family)
    config = apply(config, set_ or [])
    stops = Stops(updates=updates, steps=steps, minutes=minutes, goal=until_elo)
    evaluate = None if until_elo is None else (lambda weights, meta: _elo(weights, meta, world))
    with Report(console, "reinforce", minutes) as report:
        hooks = Hooks(on_report=report, evaluate=evaluate)
        outcome = run_reinforcement(request, config, stops, hooks)
    rates = _against_bots(console, outcome, world, games, seed)
    _say_where(console, outcome)
    if json_:
        say_json({**_numbers(outcome), "win_rates": rates})


def accuracy_table(done: Imitated) -> Table:
    """Share of right bins per head, in matches learned from and in unseen ones."""
    rows = []
    for name, value in done.training.items():
        other = f"{done.validation[name]:.3f}" if name in done.validation else "–"
        rows.append((name.removeprefix("accuracy_"), f"{value:.3f}", other))
    return table(("", "learned from", "unseen matches"), rows, "Accuracy per head", right=True)


def _against_bots(
    console: Console, outcome: Outcome, world: str, games: int, seed: int
) -> dict[str, float]:
    """Win rate of the snapshot against each bot, or its mean return in an outside game."""
    if games < 1 or world in RECORDED:  # a recording is no game
        return {}
    policy = load_checkpoint(outcome.snapshot)
    if ":" in world:
        from levelcap.play.returns import play_episodes

        found = play_episodes(policy, world, games, seed)
        console.print(
            f"mean return {found.mean:.2f} "
            f"({found.ci_low:.2f} to {found.ci_high:.2f}) over {games} episodes"
        )
        return {"mean_return": found.mean}
    rates, rows = {}, []
    for bot in BOTS:
        result = play_games(policy, find(bot), world, games, seed)
        rates[bot] = result.win_rate
        rows.append((bot, f"{result.win_rate:.3f}", f"{result.ci_low:.3f} – {result.ci_high:.3f}"))
    title = f"{games} games each, sampled actions, EMA weights"
    print_table(table(("opponent", "win rate", "95 % interval"), rows, title, right=True))
    return rates


def _elo(weights: dict[str, Any], meta: Any, world: str) -> float:
    """Elo from 200 games against each bot and the bots among themselves."""
    from levelcap.nets.family import build, world_net
    from levelcap.trials.panel import bot_ladder
    from levelcap.trials.ratings import Games, rate

    net = world_net(build(meta), meta)
    net.load_state_dict(weights)
    net.eval()
    policy = NetPolicy(net, meta, "hero")
    own = [Games("hero", bot, play_games(policy, find(bot), world, 200).scores) for bot in BOTS]
    return rate([*own, *bot_ladder(world, 0, 200)]).elo("hero")


def _numbers(outcome: Outcome) -> dict[str, Any]:
    return {
        "snapshot": str(outcome.snapshot),
        "reason": outcome.reason,
        **asdict(outcome.progress),
        "seconds": round(outcome.seconds, 2),
        "core_seconds": round(outcome.core_seconds, 2),
        "steps_per_s": round(outcome.progress.steps / max(outcome.seconds, 1e-9), 1),
    }


def _say_where(console: Console, outcome: Outcome) -> None:
    progress = outcome.progress
    console.print(
        f"stopped: {outcome.reason} · {progress.steps:,} steps in {outcome.seconds:.0f} s "
        f"({progress.steps / max(outcome.seconds, 1e-9):,.0f} a second) · "
        f"{progress.update:,} updates"
    )
    if progress.skipped:
        console.print(f"{progress.skipped} updates were not finite and were skipped")
    console.print(f"snapshot: {outcome.snapshot}", soft_wrap=True)
