"""Runs a bundle with numpy and onnxruntime alone: no torch, no numba, nothing to compile.

    from levelcap.export.runtime import load
    hero = load("exports/kestrel")
    state = hero.initial_state(1)                    # of one player at the start of a match
    out = hero.act({"features": row[None]}, state)   # the likeliest action; with key= a drawn one
    out.actions[0], out.state

`act` takes any number of players at once, rows first, and gives their memory back: keep it for the
next decision. `reset` marks rows whose match begins. See `levelcap-play --help` for the same over a
pipe.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import numpy as np
from numpy.typing import NDArray

from levelcap.export.bundle import Bundle, GraphFile, read_bundle
from levelcap.export.draw import Draw, draw_mode, uniform
from levelcap.export.session import AGAIN, Arrays, Session
from levelcap.kit.errors import BadFile, BadValue, refuse

HELD = ("goal", "pooled", "mode", "mode_logits", "confidence")  # of the Strategist, in between
CLOCK = "clock"
WITNESSES, DECISIONS = (
    2,
    12,
)  # rows and decisions of `bear_witness`: a second look of a Strategist too
TOLERANCE = 1e-2  # of its logits: other processors round otherwise; another weight says more


@dataclass(frozen=True)
class Out:
    """What was decided for n rows."""

    actions: NDArray[np.int16]
    """bins [n, H]"""
    state: Arrays
    """what to hand to the next `act`; empty: it remembers nothing"""
    logits: NDArray[np.float32]
    values: NDArray[np.float32]
    """expected outcome [n]; NaN: unknown"""
    modes: NDArray[np.int64] | None = None
    """intent [n], numbers of `bundle.modes`; None: it states none"""
    mind: Arrays | None = None


class Hero:
    """A loaded bundle."""

    def __init__(self, bundle: Bundle, graphs: Mapping[str, bytes]) -> None:
        """graphs: the bytes of each graph by its name."""
        self.bundle = bundle
        threads = bundle.deploy.threads
        self._run = {name: _Graph(graphs[name], bundle.graphs[name], threads) for name in graphs}
        self._draw = Draw(tuple(bundle.heads.values()))
        self._bins = sum(bundle.heads.values())
        self._start = self.initial_state(0)

    def initial_state(self, rows: int) -> Arrays:
        """Memory of players at the start of their matches."""
        state: Arrays = {}
        for graph in self.bundle.graphs.values():
            for name in graph.memory:
                port = graph.inputs[name]
                state[name] = np.zeros((rows, *port.shape), port.dtype)
        if self.bundle.kind == "hierarchy":
            plan, deed = self.bundle.graphs["strategist"], self.bundle.graphs["executor"]
            ports = plan.outputs | {"goal": deed.inputs["goal"]}
            names = (n for n in HELD if n != "mode")
            state |= {n: np.zeros((rows, *ports[n].shape), np.float32) for n in names}
            state |= {n: np.zeros(rows, np.int64) for n in ("mode", CLOCK)}
        return state

    def act(
        self,
        views: Mapping[str, NDArray[Any]],
        state: Arrays | None = None,
        *,
        mask: NDArray[Any] | None = None,
        reset: NDArray[np.bool_] | None = None,
        key: NDArray[np.uint64] | None = None,
        pace: int = 1,
        order: NDArray[np.float32] | None = None,
    ) -> Out:
        """Decide for n rows.

        Args:
            views: what the bundle's `views` name, [n, …] each.
            state: from `initial_state` or the last call; None: everybody's match begins.
            mask: [n, A], 0 where a bin is forbidden; None: everything is allowed.
            reset: [n], True where a match begins and the memory is to be forgotten.
            key: uint64 [n], what actions are drawn with; None: the likeliest ones.
            pace: decisions in the time of one it was trained with.
            order: [n, G], added to what a hierarchy wants.

        Raises:
            BadValue: views, mask or memory of another shape, or numbers that are not finite.
        """
        parts = self._checked(views)
        rows = len(next(iter(parts.values())))
        allowed = np.ones((rows, self._bins), np.uint8) if mask is None else mask
        if allowed.shape != (rows, self._bins):
            remedy = f"Give [{rows}, {self._bins}], 0 where a bin is forbidden"
            raise BadValue(refuse("the mask has another shape", allowed.shape, remedy))
        memory = self._remembered(rows, state, reset)
        if self.bundle.kind == "flat":
            packed = np.concatenate([part.reshape(rows, -1) for part in parts.values()], axis=1)
            made = self._run["policy"](inputs=packed)
            actions = self._draw(made["logits"], allowed, key)
            return Out(actions, {}, made["logits"], made["value"])
        return self._layers(parts, memory, allowed, key, pace, order)

    def _layers(
        self,
        views: Arrays,
        memory: Arrays,
        mask: NDArray[Any],
        key: NDArray[np.uint64] | None,
        pace: int,
        order: NDArray[np.float32] | None,
    ) -> Out:
        """Strategist where it is due, Tactician and Executor for everybody."""
        due = np.flatnonzero(memory[CLOCK] % (self.bundle.period * pace) == 0)
        if len(due):
            self._plan(views["summary"][due], due, memory, None if key is None else key[due])
        goal = memory["goal"] if order is None else memory["goal"] + order
        seen = self._run["tactician"](objects=views["objects"], goal=goal)
        told = {n: seen[n] for n in ("position", "info")} | {"pooled": memory["pooled"]}
        names = self.bundle.graphs["executor"].memory
        mine = {name: memory[name] for name in names}
        made = self._run["executor"](body=views["body"], goal=goal, **told, **mine)
        memory |= {name: made[f"next_{name}"] for name in names}
        memory[CLOCK] = memory[CLOCK] + 1
        actions = self._draw(made["logits"], mask, key)
        mind = {n: seen[n] for n in ("attention", "target", "approach")} | {"goal": goal}
        mind["confidence"] = memory["confidence"]
        return Out(actions, memory, made["logits"], made["value"], memory["mode"].copy(), mind)

    def _plan(
        self,
        summary: NDArray[Any],
        due: NDArray[np.int64],
        memory: Arrays,
        key: NDArray[np.uint64] | None,
    ) -> None:
        """A new plan for the rows that are due, written into the memory (arrays of our own)."""
        names = self.bundle.graphs["strategist"].memory
        made = self._run["strategist"](summary=summary, **{n: memory[n][due] for n in names})
        mode = draw_mode(made["mode_logits"], key)
        new = {n: made[n] for n in HELD if n in made} | {n: made[f"next_{n}"] for n in names}
        new |= {"mode": mode, "goal": made["goals"][np.arange(len(due)), mode]}
        for name, rows in new.items():
            memory[name][due] = rows

    def _checked(self, views: Mapping[str, NDArray[Any]]) -> Arrays:
        """The views as float32, whole and finite."""
        parts: Arrays = {}
        for name, shape in self.bundle.views.items():
            if name not in views:
                remedy = f"Give {', '.join(self.bundle.views)}"
                raise BadValue(refuse("a view is missing", name, remedy))
            part = np.ascontiguousarray(views[name], np.float32)
            if part.shape[1:] != shape or not len(part):
                raise BadValue(
                    refuse(f"view {name} is [n, …] of {shape}", part.shape, "Reshape it")
                )
            if not np.isfinite(part).all():
                raise BadValue(refuse("a view holds numbers that are not finite", name, "Mend it"))
            parts[name] = part
        if len({len(part) for part in parts.values()}) != 1:
            told = {name: len(part) for name, part in parts.items()}
            raise BadValue(refuse("views of unlike numbers of rows", told, "Give as many of each"))
        return parts

    def _remembered(
        self, rows: int, state: Arrays | None, reset: NDArray[np.bool_] | None
    ) -> Arrays:
        """A copy of the memory with forgotten rows at zero: a start is all zeros."""
        if not self._start:
            return {}
        fresh, wanted = (self.initial_state(rows) if state is None else state), self._start
        told = {n: a.shape[1:] for n, a in fresh.items() if n in wanted}
        if told != {n: a.shape[1:] for n, a in wanted.items()} or any(
            len(fresh[n]) != rows for n in wanted
        ):
            remedy = "Hand back the state of the last act, or initial_state(rows)"
            raise BadValue(refuse("the memory does not fit the rows", rows, remedy))
        kept = {name: fresh[name].copy() for name in wanted}
        if reset is not None and reset.any():
            for array in kept.values():
                array[reset] = 0
        return kept


class _Graph:
    """A graph with the ports its description promises."""

    def __init__(self, data: bytes, graph: GraphFile, threads: int) -> None:
        self._session = Session(data, graph.file, threads)
        self._shapes = {name: port.shape for name, port in graph.outputs.items()}
        kinds = {"tensor(float)": "float32", "tensor(int64)": "int64"}
        session = self._session.session
        for side, ports in (
            (session.get_inputs(), graph.inputs),
            (session.get_outputs(), graph.outputs),
        ):
            found = {p.name: (kinds.get(p.type, p.type), tuple(p.shape[1:])) for p in side}
            wanted = {name: (port.dtype, port.shape) for name, port in ports.items()}
            free = all(p.shape and not isinstance(p.shape[0], int) for p in side)
            if found != wanted or not free:
                odd = sorted(n for n in {*found, *wanted} if found.get(n) != wanted.get(n))
                raise BadFile(refuse(f"{graph.file} has other inputs or outputs", odd, AGAIN))

    def __call__(self, **inputs: NDArray[Any]) -> Arrays:
        """What comes out, by name."""
        out = self._session.run(**inputs)
        # What a graph declares and what it computes may differ; the first is only a promise.
        if odd := [name for name, rows in out.items() if rows.shape[1:] != self._shapes[name]]:
            raise BadFile(refuse(f"{self._session.file} gives other shapes", odd, AGAIN))
        return out


def load(folder: str | Path) -> Hero:
    """A bundle, every byte of it verified, ready to decide.

    Raises:
        BadFile, Corrupt, Conflict: no bundle, a damaged one, or of another version; and why.
        MissingPackage: onnxruntime is not installed.
    """
    place = Path(folder)
    bundle = read_bundle(place)
    hero = Hero(bundle, {n: (place / g.file).read_bytes() for n, g in bundle.graphs.items()})
    swear(hero)
    return hero


def bear_witness(hero: Hero) -> NDArray[np.float32]:
    """Logits [2, A] after twelve decisions on views that everybody can compute."""
    state: Arrays | None = None
    rows = np.arange(WITNESSES, dtype=np.uint64)
    for decision in range(DECISIONS):
        views = {
            name: np.stack([uniform(rows, at + 1) for at in range(first, first + size)], 1)
            for name, first, size in _places(hero.bundle, decision)
        }
        shaped = {n: (2 * v - 1).reshape(-1, *hero.bundle.views[n]) for n, v in views.items()}
        out = hero.act(shaped, state)
        state = out.state
    return out.logits


def swear(hero: Hero) -> None:
    """Refuse a bundle that decides otherwise here than where it was exported.

    Raises:
        BadFile: its weights were changed, or this machine computes otherwise.
    """
    found, wanted = bear_witness(hero), np.array(hero.bundle.witness, np.float32)
    if found.shape != wanted.shape or not np.abs(found - wanted).max() < TOLERANCE:
        gap = found.shape if found.shape != wanted.shape else float(np.abs(found - wanted).max())
        raise BadFile(refuse("the bundle decides otherwise than when it was made", gap, AGAIN))


def _places(bundle: Bundle, decision: int) -> list[tuple[str, int, int]]:
    """Where the numbers of each view begin in one endless row of them."""
    sizes = {name: int(np.prod(shape)) for name, shape in bundle.views.items()}
    first = decision * sum(sizes.values())
    found = []
    for name, size in sizes.items():
        found.append((name, first, size))
        first += size
    return found
