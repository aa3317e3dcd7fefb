"""Games for the programs we compare with: batches of lanes with one learned seat each.

    lanes = open_lanes(options)
    rows = lanes.reset()                          # float32 [lanes, features]
    rows, rewards, terminated, truncated, last = lanes.step(actions)     # int [lanes, heads]

Numpy in and out, no Python loop over lanes, a finished match restarts in the same step. In `duel`
the learned hero sits on either side in turn (lane 0 left, lane 1 right, ...) and the bot plays the
other seat; it decides in a thread of its own while the caller's net does. `mask` [lanes, bins]
belongs to the rows returned last. Forbidden bins may be chosen: the game treats them as "nothing".

`judge_duel` and `judge_poles` tell how good a policy is; they take a function
act(rows [n, features], mask [n, bins]) -> bins [n, heads].
"""

from __future__ import annotations

from collections.abc import Callable
from concurrent.futures import Future, ThreadPoolExecutor
from typing import Any, NamedTuple

import gymnasium
import numpy as np
from numpy.typing import NDArray

import levelcap.world
from levelcap.kit.seeds import chain
from levelcap.play.roster import Door, find
from levelcap.play.seats import Seats, views_of
from levelcap.world.players.bot_names import SEALED_FROM
from levelcap.world.protocols import ALWAYS, Decision, Policy, PolicyState
from levelcap.world.spec import OBJECT, OBJECT_SLOTS

OPPONENT, NUM_COUSINS = "rookie", 20
READS = {"features": ("features",), "all": ("features", "player", "context", "objects")}
OBJECTS_AT = 19 + 16 + 16  # features, player and context come before them
DX, DY, DISTANCE, ENEMY, VISIBLE, SHOT = (
    OBJECT.index(name) for name in ("dx", "dy", "distance", "is_enemy", "visible", "is_shot")
)
CENTRE = 5  # the aim bin of no offset
Act = Callable[[NDArray[np.float32], NDArray[np.uint8]], NDArray[Any]]


class Step(NamedTuple):
    """What a decision led to, for every lane; `last` are the last rows of the truncated ones."""

    rows: NDArray[np.float32]
    rewards: NDArray[np.float32]
    terminated: NDArray[np.bool_]
    truncated: NDArray[np.bool_]
    last: NDArray[np.float32] | None


class DuelLanes:
    """Duels against the bot, one learned seat each."""

    def __init__(
        self,
        num_lanes: int,
        seed: int,
        reads: str,
        pseudo: float = 0.0,
        threads: int = 2,
        relative: bool = False,
    ) -> None:
        bot = find(OPPONENT, Door.TRAINING)
        self.world = levelcap.world.make(
            "duel",
            num_lanes,
            seed=seed,
            views=("features", *bot.views),
            threads=threads,
            pseudo_reward_scale=pseudo,
        )
        bot.bind(self.world)
        self.num_lanes, self.bot = num_lanes, bot
        self._reads, self._relative = READS[reads], relative
        self._rows = np.zeros((0, 0), np.float32)
        self.num_features = sum(self.world.spec.views[name].size for name in self._reads)
        self.heads = tuple(head.size for head in self.world.spec.heads)
        match, side = np.arange(num_lanes), np.arange(num_lanes) % 2
        self._mine, self._theirs = (match, side), (match, 1 - side)
        self._state = bot.initial_state(num_lanes)
        self._actions = np.zeros((num_lanes, 2, len(self.heads)), np.uint8)
        self._pool = ThreadPoolExecutor(1, thread_name_prefix="bot")
        self._answer: Future[Any] | None = None
        self.mask = np.zeros((num_lanes, sum(self.heads)), np.uint8)

    def reset(self) -> NDArray[np.float32]:
        """Start every match from its first seed."""
        return self._show(self.world.reset())

    def step(self, actions: NDArray[Any]) -> Step:
        """One decision of every lane; the bot's has been on its way since the last one."""
        assert self._answer is not None, "reset() comes before step()"
        self._actions[self._theirs] = self._answer.result()
        if self._relative:
            actions = aim_at_enemy(self._rows, np.asarray(actions))
        self._actions[self._mine] = actions
        views, rewards, terminated, truncated, _ = self.world.step(self._actions)
        mine = self._mine
        return Step(self._show(views), rewards[mine], terminated[mine], truncated[mine], None)

    def _show(self, views: dict[str, NDArray[Any]]) -> NDArray[np.float32]:
        theirs = {name: views[name][self._theirs] for name in (*self.bot.views, *ALWAYS)}
        self._answer = self._pool.submit(self._decide, theirs)
        self.mask = views["mask"][self._mine]
        self._rows = _join({name: views[name][self._mine] for name in self._reads})
        return self._rows

    def _decide(self, views: dict[str, NDArray[Any]]) -> NDArray[Any]:
        decision = self.bot.act(views, self._state)
        self._state = decision.state
        return decision.actions


class PoleLanes:
    """CartPole-v1 through our batched outside world (Gymnasium 1.x)."""

    def __init__(self, num_lanes: int, seed: int) -> None:
        self.world = levelcap.world.make("gym:CartPole-v1", num_lanes, seed=seed)
        self.num_lanes, self.num_features, self.heads = num_lanes, 4, (2,)
        self.mask = np.ones((num_lanes, 2), np.uint8)

    def reset(self) -> NDArray[np.float32]:
        """Start every match from its first seed."""
        return self.world.reset()["features"][:, 0].copy()

    def step(self, actions: NDArray[Any]) -> Step:
        """One decision of every lane."""
        actions = np.asarray(actions).reshape(self.num_lanes, 1, 1)
        views, rewards, terminated, truncated, info = self.world.step(actions)
        last = info["final"]["features"] if truncated.any() else None
        shown = (views["features"], rewards, terminated, truncated)
        return Step(*(array[:, 0].copy() for array in shown), last)


Lanes = DuelLanes | PoleLanes


def open_lanes(options: Any) -> Lanes:
    """The game of a command line: `game`, `lanes`, `seed`, and of a duel `reads` (see `READS`),
    `pseudo` (scales the world's own pseudo-rewards), `world_threads` and `aim` (`aim_at_enemy`)."""
    if options.game == "cartpole":
        return PoleLanes(options.lanes, options.seed)
    threads = options.world_threads
    relative = options.aim == "relative"
    return DuelLanes(options.lanes, options.seed, options.reads, options.pseudo, threads, relative)


def aim_at_enemy(rows: NDArray[np.float32], actions: NDArray[Any]) -> NDArray[Any]:
    """Aim bins as offsets from the nearest visible enemy's: what `aim=residual` gives our net.

    rows [n, D] of all views. Without an enemy in sight they mean what they always do.
    """
    objects = rows[:, OBJECTS_AT:].reshape(len(rows), OBJECT_SLOTS, len(OBJECT))
    seen = (objects[..., ENEMY] > 0) & (objects[..., VISIBLE] > 0) & (objects[..., SHOT] == 0)
    slot = np.where(seen, objects[..., DISTANCE], np.inf).argmin(1)
    offset = objects[np.arange(len(rows)), slot][:, [DX, DY]] * seen.any(1, keepdims=True)
    moved = actions.copy()
    aimed = CENTRE + np.rint(CENTRE * offset).astype(np.int64) + actions[:, 2:4] - CENTRE
    moved[:, 2:4] = aimed.clip(0, 2 * CENTRE)
    return moved


def _join(views: dict[str, NDArray[Any]]) -> NDArray[np.float32]:
    """Views [n, ...] side by side, float32 [n, D]."""
    parts = [view.reshape(len(view), -1) for view in views.values()]
    return parts[0] if len(parts) == 1 else np.concatenate(parts, axis=1)


class _Learner(Policy):
    """A function as a policy in a seat."""

    def __init__(self, act: Act, views: tuple[str, ...], relative: bool) -> None:
        self._act, self.views, self._relative = act, views, relative

    def act(self, views: dict[str, NDArray[Any]], state: PolicyState) -> Decision:
        rows = _join({name: views[name] for name in self.views})
        actions = self._act(rows, views["mask"])
        return Decision(aim_at_enemy(rows, np.asarray(actions)) if self._relative else actions)


def judge_duel(
    act: Act, reads: str = "features", games: int = 200, seed: int = 0, relative: bool = False
) -> float:
    """Win rate against sealed cousins of the bot, a draw counting half.

    Games 2k and 2k+1 have the same seed and cousin (k % 20) and the sides exchanged. All are laid
    out beforehand and played to their end.
    """
    cousins = [find(f"{OPPONENT}~{SEALED_FROM + i}") for i in range(NUM_COUSINS)]
    policies = [_Learner(act, READS[reads], relative), *cousins]
    game = np.arange(games)
    side, pair = game % 2, game // 2
    seats = np.zeros((games, 2), np.int64)
    seats[game, 1 - side] = 1 + pair % NUM_COUSINS
    seeds = np.array([chain(seed, int(p)) for p in pair], np.uint64)
    world = levelcap.world.make(
        "duel", games, views=views_of(policies), match_seeds=seeds, auto_reset=False
    )
    table = Seats(world, policies, seats)
    views = world.reset()
    while not world.state["over"].all():
        views = world.step(table.act(views))[0]
    winner = world.state["winner"]
    return float(np.where(winner < 0, 0.5, winner == side).mean())


def judge_poles(act: Act, episodes: int = 100, seed: int = 0) -> float:
    """Mean return of whole episodes of CartPole-v1, in plain environments of Gymnasium."""
    games = [gymnasium.make("CartPole-v1", disable_env_checker=True) for _ in range(episodes)]
    rows = np.stack([env.reset(seed=chain(seed, i) % 2**31)[0] for i, env in enumerate(games)])
    mask = np.ones((episodes, 2), np.uint8)
    going, total = np.ones(episodes, np.bool_), 0.0
    while going.any():
        bins = np.asarray(act(rows, mask)).reshape(episodes)
        for i in np.flatnonzero(going):
            rows[i], reward, terminated, truncated, _ = games[i].step(int(bins[i]))
            total += float(reward)
            going[i] = not (terminated or truncated)
    return total / episodes
