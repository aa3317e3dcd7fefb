"""`levelcap-play BUNDLE`: a hero over a pipe, with numpy and onnxruntime alone.

    levelcap-play exports/kestrel < requests.jsonl > answers.jsonl
    levelcap-play exports/kestrel --bench

A request is one line of JSON: the bundle's views by name, rows first, and optionally `mask`,
`reset`, `key` (drawn actions instead of the likeliest) and `who` (a number for each row: whose
memory it is; without it rows are numbered as they come). An array is a list or, for many rows,
{"b64": …, "dtype": "float32", "shape": […]}. An answer is one line: `actions`, `values`, and
`modes` where the hero states an intent; or `error`, and the next line is read.
"""

from __future__ import annotations

import argparse
import base64
import json
import sys
import time
from collections.abc import Callable
from typing import Any

import numpy as np
from numpy.typing import NDArray

from levelcap.export.runtime import Hero, load
from levelcap.export.session import Arrays
from levelcap.kit.errors import BadValue, LevelcapError, refuse

KINDS: dict[str, Any] = {"mask": np.uint8, "reset": np.bool_, "key": np.uint64}
WIRE = ("float32", "uint8", "bool", "uint64", "int64")
MOST_PLAYERS = 1 << 16
BENCH_S = 3.0


def main(argv: list[str] | None = None) -> int:
    """The command."""
    parser = argparse.ArgumentParser("levelcap-play", description=__doc__.split("\n\n")[0])
    parser.add_argument("bundle", help="a folder that levelcap export made")
    parser.add_argument("--bench", action="store_true", help="time decisions and print one line")
    parser.add_argument("--rows", type=int, default=1, help="players of a --bench decision")
    asked = parser.parse_args(argv)
    try:
        hero = load(asked.bundle)
        if asked.bench:
            _tell(bench(hero, asked.rows))
        else:
            serve(hero, sys.stdin.readline, _tell)
    except LevelcapError as error:
        sys.stderr.write(f"levelcap-play: {error}\n")
        return 2
    return 0


class Memory:
    """What each player remembers, by number."""

    def __init__(self, hero: Hero) -> None:
        self._all = hero.initial_state(0)

    def of(self, who: NDArray[np.int64]) -> Arrays:
        """The memory of these players; of one who was never seen, a start."""
        if len(who) and not (who.min() >= 0 and who.max() < MOST_PLAYERS):
            what = f"players have numbers from 0 to {MOST_PLAYERS - 1}"
            raise BadValue(refuse(what, (int(who.min()), int(who.max())), "Number them anew"))
        size = int(who.max(initial=-1)) + 1
        for name, rows in self._all.items():
            if len(rows) < size:
                more = np.zeros((size - len(rows), *rows.shape[1:]), rows.dtype)
                self._all[name] = np.concatenate((rows, more))
        return {name: rows[who] for name, rows in self._all.items()}

    def keep(self, who: NDArray[np.int64], state: Arrays) -> None:
        """Remember."""
        for name, rows in state.items():
            self._all[name][who] = rows


def serve(hero: Hero, read: Callable[[], str], tell: Callable[[dict[str, Any]], None]) -> None:
    """Answer line by line until there are none."""
    memory = Memory(hero)
    while line := read():
        try:
            answer = decide(hero, json.loads(line), memory)
        except (LevelcapError, ValueError, KeyError, TypeError) as error:
            answer = {"error": str(error)}
        tell(answer)


def decide(hero: Hero, asked: Any, memory: Memory) -> dict[str, Any]:
    """One request."""
    if not isinstance(asked, dict):
        raise BadValue(refuse("a request is a table", type(asked).__name__, "Name the views in it"))
    known = {*hero.bundle.views, *KINDS, "who"}
    if odd := sorted(set(asked) - known):
        raise BadValue(
            refuse("unknown key of a request", odd[0], f"Give {', '.join(sorted(known))}")
        )
    views = {n: _array(n, asked[n], np.float32) for n in hero.bundle.views if n in asked}
    rows = len(next(iter(views.values()))) if views else 0
    who = _array("who", asked["who"], np.int64) if "who" in asked else np.arange(rows)
    if who.shape != (rows,) or len(np.unique(who)) != rows:
        raise BadValue(refuse("who is one number a row, none twice", who.shape, "Correct it"))
    more = {n: _array(n, asked[n], kind) for n, kind in KINDS.items() if n in asked}
    mask, reset, key = (more.get(name) for name in KINDS)
    out = hero.act(views, memory.of(who), mask=mask, reset=reset, key=key)
    memory.keep(who, out.state)
    answer: dict[str, Any] = {"actions": out.actions.tolist()}
    answer["values"] = [None if np.isnan(v) else round(float(v), 6) for v in out.values]
    if out.modes is not None:
        answer["modes"] = [hero.bundle.modes[mode] for mode in out.modes]
    return answer


def bench(hero: Hero, rows: int) -> dict[str, Any]:
    """p50 and p99 of decisions one after the other, in milliseconds."""
    if not 1 <= rows <= 4096:
        raise BadValue(refuse("--rows is 1 to 4096", rows, "Give another number"))
    rng = np.random.default_rng(0)
    shapes = hero.bundle.views.items()
    views = {n: rng.standard_normal((rows, *s)).astype(np.float32) for n, s in shapes}
    state, times = hero.initial_state(rows), []
    began = time.perf_counter()
    while time.perf_counter() - began < BENCH_S:
        start = time.perf_counter()
        state = hero.act(views, state).state
        times.append(1e3 * (time.perf_counter() - start))
    p50, p99 = (round(float(np.quantile(times[10:], share)), 4) for share in (0.5, 0.99))
    modules = sorted({"torch", "numba"} & set(sys.modules))
    return {"rows": rows, "decisions": len(times), "p50_ms": p50, "p99_ms": p99, "loaded": modules}


def _array(name: str, given: Any, kind: Any) -> NDArray[Any]:
    if isinstance(given, dict):
        if set(given) != {"b64", "dtype", "shape"} or given["dtype"] not in WIRE:
            what = f"{name} as bytes needs b64, dtype ({', '.join(WIRE)}) and shape"
            raise BadValue(refuse(what, sorted(given), "Correct it"))
        flat = np.frombuffer(base64.b64decode(given["b64"], validate=True), given["dtype"])
        return flat.reshape(given["shape"]).astype(kind)
    return np.asarray(given, kind)


def _tell(answer: dict[str, Any]) -> None:
    sys.stdout.write(json.dumps(answer) + "\n")
    sys.stdout.flush()


if __name__ == "__main__":
    sys.exit(main())
