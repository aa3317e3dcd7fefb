"""The three layers as one net: each at its own rate, with everything it remembers in the state.

Shapes: T decisions, B rows, K looks of the Strategist in them, W its width, A bins of all heads.

A row's `clock` counts decisions since its match began; the Strategist is due at every tenth. What
it decided (mode, goal, plan) is held in between. Many decisions at once and one after the other are
the same code, so a batch of thousands of players and a single live one decide alike.
"""

from __future__ import annotations

from collections.abc import Iterable

import torch
from torch import Tensor, nn

from levelcap.nets.hierarchy.attention import ACTIVATIONS
from levelcap.nets.hierarchy.executor import Executor
from levelcap.nets.hierarchy.memory import named, part
from levelcap.nets.hierarchy.shape import GOAL, MODES, SIZES, Shape, hierarchy_meta, shape_of
from levelcap.nets.hierarchy.strategist import make_strategist
from levelcap.nets.hierarchy.tactician import Tactician
from levelcap.nets.meta import Meta
from levelcap.nets.net import Inputs, Net, State, Unrolled, reset_rows
from levelcap.nets.row import Family
from levelcap.world.spec import TEAM

PLAN, DEED = "plan.", "deed."  # prefixes of the Strategist's and the Executor's own memory
HELD = ("goal", "pooled", "mode", "mode_logits", "confidence")


class HierarchyNet(Net):
    """See the module."""

    recurrent = True
    num_choices = MODES

    def __init__(self, meta: Meta) -> None:
        super().__init__()
        sizes = meta.shape
        shape = shape_of(meta)
        self.period, self.use_goal = int(sizes["period"]), shape.goal == "on"
        self.goal_size = GOAL if self.use_goal else 0
        self.width = shape.plan
        self.strategist = make_strategist(sizes["summary"], shape)
        self.mode_head = _head(shape.plan, max(8, shape.plan // 2), MODES, shape)
        self.goal_head = _head(shape.plan, shape.plan, GOAL, shape)
        self.mode_goal = nn.Embedding(MODES, GOAL)
        self.confidence = nn.Linear(shape.plan, 1)
        self.tactician = Tactician(sizes["columns"], shape)
        self.executor = Executor(sizes["body"], meta.head_sizes, meta.aim_heads, shape)
        self.critic_views = ("team",) if shape.critic == "team" else ()
        known = shape.plan + sizes["body"] + shape.deed + len(TEAM) * len(self.critic_views)
        self.critic = _head(known, shape.deed, 1, shape)
        self.has_mouse = shape.mouse == "on"

    def initial_state(self, rows: int) -> State:
        """Clock at 0, nothing wanted, nothing remembered."""
        held = {
            "clock": torch.zeros(rows, dtype=torch.int64),
            "goal": torch.zeros(rows, GOAL),
            "pooled": torch.zeros(rows, self.width),
            "mode": torch.zeros(rows, dtype=torch.int64),
            "mode_logits": torch.zeros(rows, MODES),
            "confidence": torch.zeros(rows),
        }
        plan = named(self.strategist.initial_state(rows), PLAN)
        return held | plan | named(self.executor.initial_state(rows), DEED)

    def hidden_matrices(self) -> list[nn.Parameter]:
        """What Muon steps: matrices that neither read inputs nor give outputs."""
        inner = []
        ends = {"encode.0", "objects.0", "2", "mode_goal", "confidence"}
        for name, module in self.named_modules():
            tail = name.split(".", 1)[-1]
            last = name.rsplit(".", 1)[-1]
            if isinstance(module, nn.Linear) and not ({tail, last, name} & ends):
                inner.append(module.weight)
        return inner

    def shared_parameters(self) -> Iterable[nn.Parameter]:
        """Everything but the critic."""
        mine = {id(p) for p in self.critic.parameters()}
        return [p for p in self.parameters() if id(p) not in mine]

    def steadied(self, weights: State, factor: float) -> State:
        """Smaller scales of the Executor's aim, and of its mouse."""
        names = ["executor.head.2.bias", *["executor.mouse.2.bias"] * self.has_mouse]
        return weights | {n: self.executor.narrowed(weights[n], factor) for n in names}

    def unroll(
        self, views: Inputs, state: State, reset: Tensor, choices: Tensor | None = None
    ) -> Unrolled:
        """See `Net.unroll`."""
        body, objects = views["body"], views["objects"]
        steps, rows = body.shape[:2]
        clocks, clock = self._clocks(state["clock"], reset)
        # Once a second, however many decisions a second has.
        due = clocks % (self.period * views.pace) == 0
        held, plan = self._plan(views, state, reset, due, choices)
        goal = held["goal"] if self.use_goal else torch.zeros_like(held["goal"])
        if views.order is not None and self.use_goal:
            goal = goal + views.order  # not into what is held: the hero's own wish stays its own
        seen = self.tactician(objects.flatten(0, 1), goal.flatten(0, 1))
        position, info = (t.view(steps, rows, -1) for t in (seen.position, seen.info))
        deed, hidden, doing = self.executor(body, goal, position, info, part(state, DEED), reset)
        value = self._value(views, held["pooled"], body * self.executor.sighted, hidden)
        after = {name: held[name][-1] for name in HELD}
        after |= {"clock": clock} | named(plan, PLAN) | named(doing, DEED)
        return Unrolled(
            logits=deed,
            values=value,
            state=after,
            choices=held["mode"],
            choice_logits=held["mode_logits"],
            choice_due=due,
            mind={
                "confidence": held["confidence"],
                "goal": goal,
                "attention": seen.attention.view(steps, rows, -1),
                "target_scores": seen.scores.view(steps, rows, -1),
                "target": seen.target.view(steps, rows),
                "approach": seen.approach.view(steps, rows, -1),
            },
            mouse=self.executor.mouse_logits(hidden, position),
        )

    def _value(self, views: Inputs, *felt: Tensor) -> Tensor:
        """What is expected [T, B]; NaN where the critic's own views are not to be had: in play."""
        if not set(self.critic_views) <= set(views.layout.names):
            return torch.full(felt[0].shape[:2], torch.nan)
        known = [views[name] for name in self.critic_views]
        return self.critic(torch.cat((*felt, *known), -1)).squeeze(-1)

    def recall(self, state: State, history: Tensor, valid: Tensor) -> State:
        """The Strategist's memory of the summaries [S, B, 192] before the first decision."""
        if not len(history):
            return state
        # What is not valid comes first: the match begins where it ends.
        before = torch.cat((torch.zeros_like(valid[:1]), valid[:-1]))
        plan = self.strategist.remember(history, part(state, PLAN), valid & ~before)
        some = valid.any(0)
        fresh = self.strategist.initial_state(len(some))
        kept = reset_rows(plan, fresh, ~some)
        return state | named(kept, PLAN)

    def _clocks(self, clock: Tensor, reset: Tensor) -> tuple[Tensor, Tensor]:
        """Decisions since the match began at each step [T, B], and after the last [B]."""
        found = []
        for begins in reset:
            clock = clock.masked_fill(begins, 0)
            found.append(clock)
            clock = clock + 1
        return torch.stack(found), clock

    def _plan(
        self, views: Inputs, state: State, reset: Tensor, due: Tensor, choices: Tensor | None
    ) -> tuple[State, State]:
        """What the Strategist holds at each decision [T, B, ...], and its memory afterwards."""
        held = {name: state[name] for name in HELD}
        memory = part(state, PLAN)
        rows = due.any(0).nonzero().squeeze(1)  # who looks at all
        if not len(rows):
            return {n: t.expand(len(due), *t.shape) for n, t in held.items()}, memory
        mine = due[:, rows]
        # times [K, R]: when each row looks for the k-th time; rows with fewer looks repeat one.
        count = mine.sum(0)
        order = torch.argsort((~mine).to(torch.int8), dim=0, stable=True)[: int(count.max())]
        valid = torch.arange(len(order))[:, None] < count
        summaries = views["summary"][order, rows]
        begins = reset[order, rows] & valid
        every = None if bool(valid.all()) else valid
        kept = {n: t[rows] for n, t in memory.items()}
        pooled, kept = self.strategist(summaries, kept, begins, every)
        logits = self.mode_head(pooled)  # [K, R, 5]
        if choices is not None:
            mode = choices[order, rows]
        elif views.chance is not None:
            mode = _draw(logits, views.chance[order, rows])
        else:
            mode = logits.argmax(-1)
        made = decided(self, pooled, logits, mode)
        memory = {n: t.index_copy(0, rows, kept[n]) for n, t in memory.items()}
        return {n: _hold(held[n], made[n], mine, rows) for n in HELD}, memory


def decided(heads: nn.Module, pooled: Tensor, logits: Tensor, mode: Tensor) -> State:
    """What is held of a look [K, R, ...] in this mode; heads: whoever has the Strategist's."""
    goal = heads.get_submodule("goal_head")(pooled) + heads.get_submodule("mode_goal")(mode)
    sure = torch.sigmoid(heads.get_submodule("confidence")(pooled)).squeeze(-1)
    return {
        "goal": goal,
        "pooled": pooled,
        "mode": mode,
        "mode_logits": logits,
        "confidence": sure,
    }


def _hold(before: Tensor, made: Tensor, due: Tensor, rows: Tensor) -> Tensor:
    """What is held at each decision [T, B, ...]: the newest of `made` [K, R, ...], or `before`."""
    # Entry 0 is what came in with the state; the k-th look is entry k.
    number = due.cumsum(0)  # [T, R]
    table = torch.cat((before[rows][None], made))
    mine = table[number, torch.arange(len(rows))]
    if len(rows) == len(before):
        return mine
    whole = before.expand(len(due), *before.shape)
    return whole.index_copy(1, rows, mine)


def _draw(logits: Tensor, chance: Tensor) -> Tensor:
    """A mode [K, R] from its log-odds [K, R, 5] by a number in [0, 1)."""
    below = logits.softmax(-1).cumsum(-1)
    return (chance[..., None] >= below[..., :-1]).sum(-1)


def _head(inputs: int, hidden: int, out: int, shape: Shape) -> nn.Sequential:
    return nn.Sequential(
        nn.Linear(inputs, hidden), ACTIVATIONS[shape.activation](), nn.Linear(hidden, out)
    )


FAMILY = Family("hierarchy", tuple(SIZES), HierarchyNet, hierarchy_meta)
