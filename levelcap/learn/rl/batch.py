"""What acting hands to learning: T decisions of all lanes, and the results of matches that ended.

Shapes: K minibatches of n lanes each, T decisions, D packed view numbers, A bins of all heads, H
heads. Everything a learner needs is in here and nothing else is shared, so a batch may as well come
from another process.
"""

from __future__ import annotations

from dataclasses import dataclass, field, replace
from typing import Any

import numpy as np
from numpy.typing import NDArray

from levelcap.learn.engine.state import State
from levelcap.nets.meta import Meta

ALWAYS = (
    "inputs",
    "mask",
    "actions",
    "log_probs",
    "rewards",
    "terminated",
    "truncated",
    "alive",
    "active",
)
# What a teacher says, behind the bins of its action: the slot it looks at (16 none, -1 unknown),
# the intent it acts with, and its own (another one in a drill).
TOLD = 3
TARGET, MODE, INTENT = -3, -2, -1
SOMETIMES = ("choices", "reference_choices", "taught", "anchors", "clear")  # None: there are none

Rows = dict[str, NDArray[np.float32]]


@dataclass(frozen=True)
class MatchResult:
    """One finished match of the learner against an opponent of its pool."""

    opponent: str
    score: float  # 1 won, .5 drawn, 0 lost


@dataclass(frozen=True)
class Truncation:
    """Where a match was cut off: its value goes on from the last views (and state) there."""

    minibatch: int
    t: int
    lane: int
    inputs: NDArray[np.float32]  # [D]
    state: Rows  # [...] by name; empty: the net remembers nothing


@dataclass
class Batch:
    """T decisions of all lanes. `alive` counts for the policy, `active` for the value.

    inputs and reset have one row more than the rest: the moment after the last decision.
    """

    inputs: NDArray[np.float32]  # [K, T + 1, n, D] all views side by side (`ViewLayout`)
    mask: NDArray[np.uint8]  # [K, T, n, A]
    actions: NDArray[np.int16]  # [K, T, n, H]
    log_probs: NDArray[np.float32]  # [K, T, n], of the policy that acted
    rewards: NDArray[np.float32]
    terminated: NDArray[np.bool_]
    truncated: NDArray[np.bool_]
    alive: NDArray[np.bool_]
    active: NDArray[np.bool_]
    reset: NDArray[np.bool_]  # [K, T + 1, n] the row's match begins here
    reference: NDArray[np.float32]  # [K, T, n, A] log-probabilities of pi_sup, or [K, 0, ...]
    choices: NDArray[np.int64] | None = None  # [K, T, n] sampled latents; None: there are none
    reference_choices: NDArray[np.float32] | None = None  # [K, T, n, C] log-probabilities of pi_sup
    taught: NDArray[np.int16] | None = None  # [K, T, n, H + TOLD] what a teacher would do, and why
    anchors: NDArray[np.float32] | None = None  # [K, T, n] log pi(a) when it was begun, for `clip`
    clear: NDArray[np.float32] | None = None  # as inputs: what is there, where another is shown
    state0: Rows = field(default_factory=dict)  # [K, n, ...] of the policy that acted
    reference_state0: Rows = field(default_factory=dict)  # [K, n, ...] of pi_sup
    referenced: list[bool] = field(default_factory=list)  # minibatches that have their reference
    version: int = 0  # update count of the weights that acted
    truncations: list[Truncation] = field(default_factory=list)
    results: list[MatchResult] = field(default_factory=list)

    @classmethod
    def empty(
        cls,
        minibatches: int,
        length: int,
        lanes: int,
        meta: Meta,
        size: int,
        reference: bool,
        num_choices: int = 0,
        taught: bool = False,
        clear: bool = False,
    ) -> Batch:
        """Room for one batch. size: D; num_choices: options of a sampled latent."""
        rows = (minibatches, length, lanes)
        chosen = np.zeros(rows, np.int64) if num_choices else None
        by_reference = np.zeros((*rows, num_choices), np.float32) if num_choices else None
        bins = sum(meta.head_sizes)
        return cls(
            inputs=np.zeros((minibatches, length + 1, lanes, size), np.float32),
            mask=np.zeros((*rows, bins), np.uint8),
            actions=np.zeros((*rows, len(meta.head_sizes)), np.int16),
            log_probs=np.zeros(rows, np.float32),
            rewards=np.zeros(rows, np.float32),
            terminated=np.zeros(rows, np.bool_),
            truncated=np.zeros(rows, np.bool_),
            alive=np.zeros(rows, np.bool_),
            active=np.zeros(rows, np.bool_),
            reset=np.zeros((minibatches, length + 1, lanes), np.bool_),
            reference=np.zeros((minibatches, length if reference else 0, lanes, bins), np.float32),
            choices=chosen,
            reference_choices=by_reference,
            taught=np.zeros((*rows, len(meta.head_sizes) + TOLD), np.int16) if taught else None,
            clear=np.zeros((minibatches, length + 1, lanes, size), np.float32) if clear else None,
        )

    @property
    def steps(self) -> int:
        """Decisions that count."""
        return int(self.active.sum())

    @property
    def nbytes(self) -> int:
        """Bytes it takes."""
        arrays = [getattr(self, name) for name in (*ALWAYS, "reset", "reference", *SOMETIMES)]
        arrays += [*self.state0.values(), *self.reference_state0.values()]
        return sum(array.nbytes for array in arrays if array is not None)

    def stretch(self, minibatch: int, first: int, last: int, state0: Rows | None = None) -> Batch:
        """Decisions [first, last) of one minibatch as a batch of its own; shares the memory.

        state0 [n, ...]: the state at its first decision; None: what this batch began with.
        """
        one = slice(minibatch, minibatch + 1)
        rows: dict[str, Any] = {}
        for name in (*ALWAYS, "reset", "reference", *SOMETIMES):
            array = getattr(self, name)
            # Where there is one row more than decisions, so there is here.
            more = name in ("inputs", "reset", "clear")
            rows[name] = None if array is None else array[one, first : last + more]
        cuts = [
            replace(cut, minibatch=0, t=cut.t - first)
            for cut in self.truncations
            if cut.minibatch == minibatch and first <= cut.t < last
        ]
        begins = state0 or {name: array[minibatch] for name, array in self.state0.items()}
        begins = {name: array[None] for name, array in begins.items()}
        return replace(self, **rows, state0=begins, truncations=cuts, referenced=[True], results=[])

    def state(self) -> State:
        """For a checkpoint; the reference is computed again. The keys are a format."""
        state = State({name: getattr(self, name) for name in ALWAYS})
        state.values["version"] = self.version
        state.values["cuts"] = [[cut.minibatch, cut.t, cut.lane] for cut in self.truncations]
        if self.truncations:
            state.arrays["cut_inputs"] = np.stack([cut.inputs for cut in self.truncations])
        if self.state0:
            state.arrays["reset"] = self.reset
            state.put("state0", State(dict(self.state0)))
            state.put("reference_state0", State(dict(self.reference_state0)))
            for name in self.state0 if self.truncations else ():
                rows = np.stack([cut.state[name] for cut in self.truncations])
                state.arrays[f"cut_state/{name}"] = rows
        if self.choices is not None:
            state.arrays["choices"] = self.choices
        if self.taught is not None:
            state.arrays["taught"] = self.taught
        if self.anchors is not None:
            state.arrays["anchors"] = self.anchors
        if self.clear is not None:
            state.arrays["clear"] = self.clear
        return state

    def restore(self, state: State) -> None:
        """Take it back; nothing has its reference yet."""
        arrays = state.arrays
        for name in ALWAYS:
            getattr(self, name)[...] = arrays[name]
        self.version = state.values["version"]
        self.reset[...] = arrays.get("reset", False)
        if self.choices is not None:
            self.choices[...] = arrays["choices"]
        if self.taught is not None:
            saved = arrays["taught"]
            if saved.shape[-1] < self.taught.shape[-1]:
                # Before drills a teacher told its bins and its intent.
                unknown = np.full((*saved.shape[:-1], 1), -1, np.int16)
                saved = np.concatenate((saved[..., :-1], unknown, *[saved[..., -1:]] * 2), -1)
            self.taught[...] = saved
        self.anchors = arrays.get("anchors")
        if self.clear is not None:
            self.clear[...] = arrays["clear"]
        self.state0 = dict(state.get("state0").arrays)
        self.reference_state0 = dict(state.get("reference_state0").arrays)
        self.results.clear()  # counted before the checkpoint was written
        self.truncations.clear()
        for index, (minibatch, t, lane) in enumerate(state.values["cuts"]):
            kept = {name: arrays[f"cut_state/{name}"][index] for name in self.state0}
            cut = Truncation(minibatch, t, lane, arrays["cut_inputs"][index], kept)
            self.truncations.append(cut)
