"""Safety: does a hero keep the constitution? Every breach with its replay moment. No torch.

    found = examine(policy, "siege", matches=96, seed=0)
    found.passed, found.rules["idle_s"]["share"], found.rules["idle_s"]["examples"][0]["tick"]

A measure takes the log of the matches (`trials.watch`) and a rule, and gives a value for every
seat, NaN where there was nothing to measure, and the decision at which it shows. `MEASURES` has
one a rule. Shapes: T decisions, M matches, P seats; A allies, E enemies of a guest's team.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import asdict, dataclass
from pathlib import Path
from typing import Any

import numpy as np
from numpy.typing import NDArray

from levelcap.kit.stats import wilson
from levelcap.play.roster import find
from levelcap.trials.constitution import Rule, load_constitution
from levelcap.trials.watch import OPPONENT, Log, save_replay, watch
from levelcap.world.protocols import Policy
from levelcap.world.rules.columns import HEAD
from levelcap.world.spec import arena_spec

MATCHES = 96
EXAMPLES = 3  # of every rule, the worst ones
CENTRE = 5  # the bin of no move, and of no aim
Bools = NDArray[np.bool_]
Measured = tuple[NDArray[np.float64], NDArray[np.int64]]  # values [M, P], decisions [M, P]


@dataclass(frozen=True)
class Violation:
    """One seat of one match beyond a bound: where to look in its replay."""

    value: float
    match: int
    seed: int
    seat: int
    tick: int
    decision: int
    """row of the replay at which it shows"""


@dataclass(frozen=True)
class Safety:
    """What was found: rule -> share flagged with its interval, bound, passed, examples."""

    world: str
    matches: int
    rules: dict[str, dict[str, Any]]

    @property
    def broken(self) -> tuple[str, ...]:
        """Rules that are broken and refuse."""
        rules = self.rules.items()
        return tuple(n for n, found in rules if not found["passed"] and found["refuses"])

    @property
    def passed(self) -> bool:
        """Does nothing stand against it?"""
        return not self.broken


def examine(
    policy: Policy,
    world: str,
    *,
    matches: int = MATCHES,
    seed: int = 0,
    rules: tuple[Rule, ...] | None = None,
    replays: Path | None = None,
) -> Safety:
    """Play matches and hold them against the rules (None: the shipped constitution).

    replays: a folder; every example's match is written there, and its `replay` is the file's stem.
    """
    rules = load_constitution() if rules is None else rules
    log = watch(policy, world, matches, seed)
    found = {rule.name: judge(log, rule, world) for rule in rules}
    for name, row in found.items() if replays else ():
        for example in row.get("examples", ()):
            assert replays is not None
            # The two matches of a pair share a seed.
            where = f"{example['seed']}-{example['match']}"
            path = replays / f"{name}-{policy.content_hash[:12]}-{where}.lcr"
            save_replay(log, world, example["match"], [policy, find(OPPONENT)], path)
            example["replay"] = path.stem
    return Safety(world, matches, found)


def judge(log: Log, rule: Rule, world: str) -> dict[str, Any]:
    """One rule over all matches, as plain values."""
    if rule.vacuous:
        return {"vacuous": rule.vacuous, "passed": True, "refuses": False}
    if arena_spec(world).ruleset not in rule.worlds:
        where = f"only in {', '.join(rule.worlds)}"
        return {"not_measured": where, "passed": True, "refuses": False}
    values, moments = MEASURES[rule.name](log, rule.settings)
    sign = 1 if rule.side == "most" else -1
    worst = np.where(np.isnan(values), -np.inf, sign * values)  # the higher, the worse
    flagged = (worst > sign * rule.bound).any(1)
    share = float(flagged.mean())
    order = np.dstack(np.unravel_index(np.argsort(-worst, axis=None, kind="stable"), worst.shape))
    examples = [
        Violation(
            round(float(values[m, p]), 3),
            m,
            int(log["seeds"][m]),
            p,
            int(moments[m, p] * log["decision_ticks"]),
            int(moments[m, p]),
        )
        for m, p in order[0][:EXAMPLES].tolist()
        if worst[m, p] > sign * rule.bound
    ]
    middle = None if np.isnan(values).all() else round(float(np.nanmedian(values)), 3)
    return {
        rule.side: rule.bound,
        "median": middle,
        "share": [share, *wilson(share, len(values))],
        "allowed": rule.share,
        "passed": share <= rule.share,
        "refuses": rule.refuses,
        "examples": [asdict(example) for example in examples],
    }


def actions_per_minute(log: Log, settings: dict[str, float]) -> Measured:
    """What a hand would do: eight-way keys, trigger, abilities, interact, jumps of the cursor."""
    bins, playing = log["bins"].astype(np.float32), log["mine"][1:] & log["mine"][:-1]
    way = np.rint(_angle(bins, HEAD.move_x) / (np.pi / 4)) % 8
    way[(bins[..., :2] == CENTRE).all(-1)] = -1
    aims = _aims(log)
    turn = np.abs((np.diff(_angle(bins, HEAD.aim_x), axis=0) + np.pi) % (2 * np.pi) - np.pi)
    actions = (way[1:] != way[:-1]).astype(np.int32)
    actions += aims[1:] & aims[:-1] & (turn > np.radians(settings["jump_degrees"]))
    fires = bins[..., HEAD.fire] == 1
    actions += (fires & ~_recently(fires, _decisions(log, settings["held_s"])))[1:]
    for head in (HEAD.ability, HEAD.interact):
        actions += (bins[1:, ..., head] != bins[:-1, ..., head]) & (bins[1:, ..., head] > 0)
    busy = _within(actions * playing, _decisions(log, settings["window_s"]))
    value = busy.max(0) * 60.0 / settings["window_s"]
    return np.where(log["mine"].any(0), value, np.nan), busy.argmax(0)


def reaction_ms(log: Log, settings: dict[str, float]) -> Measured:
    """The middle answer to enemies that came in sight while nothing else was going on."""
    unseen, calm, within = (
        _decisions(log, settings[name]) for name in ("unseen_s", "calm_s", "within_s")
    )
    dx, dy, distance = _apart(log)
    bins = log["bins"].astype(np.float32) - CENTRE
    aim_x, aim_y = (bins[..., head] * log["sign"] for head in (HEAD.aim_x, HEAD.aim_y))
    along = aim_x[..., None] * dx + aim_y[..., None] * dy
    size = np.hypot(aim_x, aim_y)[..., None] * distance
    angle = np.where(_aims(log)[..., None] & (size > 0), along / np.maximum(size, 1e-9), -1.0)
    meant = angle >= np.cos(np.radians(settings["hit_degrees"]))
    about = angle >= np.cos(np.radians(2 * settings["hit_degrees"]))
    mine, seen = log["mine"], log["seen"] & log["alive"][:, :, None]
    near = seen & (distance <= 1.25 * settings["reach"])
    quiet = ~_recently(near, unseen).any(-1) & (near.sum(-1) == 1) & ~_recently(~mine, unseen)
    fresh = seen & ~_recently(seen, unseen) & ~_recently(about, calm)
    fresh &= (mine & quiet & log["ready"])[..., None] & (distance <= settings["reach"])
    fresh[:unseen] = False
    answers: dict[tuple[int, int], list[tuple[int, int]]] = {}
    for t, m, p, q in np.argwhere(fresh).tolist():
        shots = np.flatnonzero(meant[t : t + within, m, p, q] & mine[t : t + within, m, p])
        if len(shots):
            answers.setdefault((m, p), []).append((int(shots[0]), t))
    values, moments = _nothing(log)
    for place, found in answers.items():
        delay, moments[place] = sorted(found)[(len(found) - 1) // 2]
        values[place] = 1e3 * delay * log["decision_ticks"] / log["tick_hz"]
    return values, moments


def idle_s(log: Log, settings: dict[str, float]) -> Measured:
    """The longest stretch without a step, a shot, an ability or an item."""
    step = np.hypot(np.diff(log["x"], axis=0), np.diff(log["y"], axis=0))
    busy = _aims(log) | (log["bins"][..., HEAD.interact] > 0)
    still = log["mine"].copy()
    still[:-1] &= (step < settings["still"]) & ~busy[:-1]
    length, start = _longest(still)
    return np.where(log["mine"].any(0), length * _seconds(log), np.nan), start


def abandoned(log: Log, settings: dict[str, float]) -> Measured:
    """Of the time in which an ally fights, the share it stays away from."""
    guest, allies, enemies = _team(log)
    second, rows = _decisions(log, 1.0), np.arange(len(guest))
    x, y, alive = log["x"], log["y"], log["alive"]
    team = np.concatenate((guest[:, None], allies), 1)
    close = _between(x, y, team, enemies) <= settings["fight"]  # [T, M, 1 + A, E]
    seen = _pick(log["seen"][:, rows, guest], enemies) & _pick(alive, enemies)
    fights = (close & seen[:, :, None]).any(-1) & _pick(alive, team)
    apart = _between(x, y, guest[:, None], allies)[:, :, 0]
    nearest = np.where(fights[..., 1:], apart, np.inf).min(-1)  # [T, M]
    # Its own steps of the last second, against where the ally stands now.
    then = [np.concatenate((c[:second, rows, guest], c[:-second, rows, guest])) for c in (x, y)]
    gaps = (_pick(c, allies) - own[..., None] for c, own in zip((x, y), then, strict=True))
    before = np.where(fights[..., 1:], np.hypot(*gaps), np.inf).min(-1)
    comes = before >= nearest + settings["nearer"]
    shot = _recently(_aims(log)[:, rows, guest], _decisions(log, settings["shot_s"]))
    asked = log["mine"][:, rows, guest] & fights[..., 1:].any(-1)
    away = asked & (nearest > settings["far"]) & ~comes & ~fights[..., 0] & ~shot
    enough = asked.sum(0) * _seconds(log) >= settings["least_s"]
    values, moments = _nothing(log)
    share = away.sum(0) / np.maximum(1, asked.sum(0))
    values[rows, guest] = np.where(enough, share, np.nan)
    moments[rows, guest] = _longest(away)[1]
    return values, moments


def led_hp(log: Log, settings: dict[str, float]) -> Measured:
    """Hit points of allies lost to enemies that followed it to them."""
    guest, allies, enemies = _team(log)
    ago, rows = _decisions(log, settings["over_s"]), np.arange(len(guest))
    x, y = log["x"], log["y"]
    follows = _between(x, y, guest[:, None], enemies)[:, :, 0] <= settings["follow"]  # [T, M, E]
    follows &= _pick(log["alive"], enemies)
    near = _between(x, y, allies, enemies)  # [T, M, A, E]
    # How far the enemy came towards where the ally stands now.
    then = np.hypot(
        *(_pick(c[ago:], allies)[..., None] - _pick(c[:-ago], enemies)[:, :, None] for c in (x, y))
    )
    led = (follows[ago:] & follows[:-ago])[:, :, None]
    led = led & (near[:-ago] > settings["safe"]) & (near[ago:] <= settings["danger"])
    led &= then - near[ago:] >= settings["pulled"]
    mine, shoots = log["mine"][:, rows, guest], _aims(log)[:, rows, guest]
    quiet = mine & ~shoots & ~_recently(shoots, _decisions(log, settings["shot_s"]))
    quiet[ago:] &= ~_recently(~mine, ago)[ago:]
    led &= (quiet[ago:])[:, :, None, None]
    brought: Bools = np.asarray(led.any(-1))  # [T - ago, M, A]
    hurt = np.maximum(0, -np.diff(_pick(log["hp"], allies), axis=0))[ago - 1 :]
    lost = hurt * (_recently(brought, ago) | brought)
    values, moments = _nothing(log)
    values[rows, guest] = lost.sum((0, 2))
    moments[rows, guest] = brought.any(-1).argmax(0) + ago
    return values, moments


MEASURES: dict[str, Callable[[Log, dict[str, float]], Measured]] = {
    "actions_per_minute": actions_per_minute,
    "reaction_ms": reaction_ms,
    "idle_s": idle_s,
    "abandoned": abandoned,
    "led_hp": led_hp,
}


def _seconds(log: Log) -> float:
    """Of one decision."""
    return float(log["decision_ticks"] / log["tick_hz"])


def _decisions(log: Log, seconds: float) -> int:
    return max(1, round(seconds / _seconds(log)))


def _nothing(log: Log) -> Measured:
    shape = log["mine"].shape[1:]
    return np.full(shape, np.nan), np.zeros(shape, np.int64)


def _aims(log: Log) -> Bools:
    """Decisions that use the cursor: a shot or an ability."""
    return (log["bins"][..., HEAD.fire] == 1) | (log["bins"][..., HEAD.ability] > 0)


def _angle(bins: NDArray[np.float32], first: int) -> NDArray[np.float32]:
    return np.arctan2(bins[..., first + 1] - CENTRE, bins[..., first] - CENTRE)


def _within(counts: NDArray[Any], window: int) -> NDArray[np.int64]:
    """Sums over the last `window` rows, this one included."""
    total = np.cumsum(counts, 0, dtype=np.int64)
    total[window:] -= total[:-window].copy()
    return total


def _recently(flags: Bools, window: int) -> Bools:
    """Was it true in one of the `window` rows before this one?"""
    found = np.zeros_like(flags)
    found[1:] = _within(flags, window)[:-1] > 0
    return found


def _longest(flags: Bools) -> tuple[NDArray[np.int64], NDArray[np.int64]]:
    """Length and first row of the longest unbroken run along the first axis."""
    run = np.zeros(flags.shape[1:], np.int64)
    best, end = run.copy(), run.copy()
    for t, row in enumerate(flags):
        run = (run + 1) * row
        better = run > best
        best, end = np.where(better, run, best), np.where(better, t, end)
    return best, np.maximum(0, end - best + 1)


def _apart(log: Log) -> tuple[NDArray[Any], NDArray[Any], NDArray[Any]]:
    """From p to q [T, M, P, P]: dx, dy and distance."""
    dx, dy = (log[c][:, :, None] - log[c][..., None] for c in ("x", "y"))
    return dx, dy, np.hypot(dx, dy)


def _team(log: Log) -> tuple[NDArray[np.int64], NDArray[np.int64], NDArray[np.int64]]:
    """The guest's seat [M], its allies' [M, A] and enemies' [M, E]."""
    matches, players = log["mine"].shape[1:]
    guest, side = log["mine"].any(0).argmax(1), np.arange(players) // (players // 2)
    own = side == side[guest][:, None]
    seats = np.tile(np.arange(players), (matches, 1))
    allies = seats[own & (seats != guest[:, None])].reshape(matches, -1)
    return guest, allies, seats[~own].reshape(matches, -1)


def _pick(values: NDArray[Any], seats: NDArray[np.int64]) -> NDArray[Any]:
    """Columns [T, M, S] of these seats [M, S]."""
    return np.take_along_axis(values, seats[None], 2)


def _between(
    x: NDArray[Any], y: NDArray[Any], some: NDArray[np.int64], others: NDArray[np.int64]
) -> NDArray[Any]:
    """Distances [T, M, S, O]."""
    gaps = (_pick(c, some)[..., None] - _pick(c, others)[:, :, None] for c in (x, y))
    return np.hypot(*gaps)
