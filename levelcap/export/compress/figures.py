"""What a compressed hero weighs, takes and is worth: always beside the original.

Milliseconds are those of the graph alone in onnxruntime, one thread, on real observations; the
original and an empty graph (what a call costs before it computes anything) are timed turn about
with it, so that whatever else the machine does hits all of them.
"""

from __future__ import annotations

import time
from collections.abc import Callable, Mapping
from dataclasses import dataclass, field
from typing import Any

import numpy as np
import onnx
from numpy.typing import NDArray

from levelcap.export.policy import BundlePolicy
from levelcap.export.session import Session
from levelcap.export.targets import Made
from levelcap.export.to_onnx import OPSET
from levelcap.kit.seeds import chain
from levelcap.play.matchup import play_games
from levelcap.trials.sprt import SequentialTest, elo_figure, pair_counts, preset_of, run

BATCHES = (1, 64)
ROUNDS, WARM = 20, 10
CALLS = {1: 100, 64: 30}  # of a round
UNIT = 512  # games between two looks: many at once are played quicker
ORIGINAL, EMPTY = "original", "empty"


@dataclass(frozen=True)
class Figures:
    """One row of the table; everything but the test is measured in seconds."""

    step: str
    shape: str
    form: str
    """float32 or int8"""
    parameters: int
    bytes: int
    """of the graph's file"""
    ms: dict[str, dict[str, float]]
    """p50 by batch: `own`, `original`, `empty`"""
    energy_mj: float | None
    energy_source: str
    agreement: float
    """with its own float checkpoint: share of rows with the same likeliest action in every head"""
    snapshot: str
    """folder of its checkpoint, within the run's"""
    elo: tuple[float, float, float] = (0.0, 0.0, 0.0)
    """against the original, with its 95 % interval"""
    games: int = 0
    test: dict[str, Any] = field(default_factory=dict)
    """the no-regression test; empty: only so many games were played"""
    note: str = ""

    @property
    def faster(self) -> float:
        """Times as fast as the original, 64 decisions at once."""
        return self.ms["64"][ORIGINAL] / self.ms["64"]["own"]


def empty_graph(inputs: int) -> bytes:
    """A graph that hands its rows back."""
    shape = ["rows", inputs]
    ends = [
        onnx.helper.make_tensor_value_info(name, onnx.TensorProto.FLOAT, shape)
        for name in ("inputs", "logits")
    ]
    node = onnx.helper.make_node("Identity", ["inputs"], ["logits"])
    graph = onnx.helper.make_graph([node], EMPTY, ends[:1], ends[1:])
    versions = [onnx.helper.make_opsetid("", OPSET)]
    # The format of the day may be newer than what the runtime reads.
    model = onnx.helper.make_model(graph, opset_imports=versions, ir_version=10)
    data: bytes = model.SerializeToString()
    return data


def latency(graphs: Mapping[str, bytes], rows: NDArray[np.float32]) -> dict[str, dict[str, float]]:
    """p50 in ms of each graph by batch, turn about."""
    graphs = {**graphs, EMPTY: empty_graph(rows.shape[1])}
    sessions = {name: Session(data, name, 1) for name, data in graphs.items()}
    found: dict[str, dict[str, float]] = {}
    for batch in BATCHES:
        times: dict[str, list[float]] = {name: [] for name in sessions}
        some = np.ascontiguousarray(rows[np.arange(batch) % len(rows)])
        for number in range(ROUNDS + 1):
            for name, session in sessions.items():
                for _ in range(WARM if number == 0 else CALLS[batch]):
                    began = time.perf_counter()
                    session.run(inputs=some)
                    if number:
                        times[name].append(1e3 * (time.perf_counter() - began))
        found[str(batch)] = {name: round(float(np.median(t)), 5) for name, t in times.items()}
    return found


def figures(
    step: str,
    made: Made,
    original: bytes,
    rows: NDArray[np.float32],
    *,
    shape: str,
    form: str,
    parameters: int,
    snapshot: str,
) -> Figures:
    """Everything but strength."""
    data = made.graphs["policy"]
    seen = made.report.latency
    return Figures(
        step=step,
        shape=shape,
        form=form,
        parameters=parameters,
        bytes=len(data),
        ms=latency({"own": data, ORIGINAL: original}, rows),
        energy_mj=seen.energy_mj,
        energy_source=seen.energy_source,
        agreement=made.report.parity.action_agreement,
        snapshot=snapshot,
    )


def tested(
    one: BundlePolicy,
    original: BundlePolicy,
    minutes: float,
    seed: int,
    tell: Callable[[str], None] = lambda what: None,
    unit: int = UNIT,
) -> dict[str, Any]:
    """The no-regression test against the original; its plain values."""
    world = original.hero.bundle.world
    test = SequentialTest(preset_of("no-regression", world))

    def scores(number: int) -> NDArray[np.float64]:
        return play_games(one, original, world, unit, chain(seed, number)).scores

    run(test, scores, minutes=minutes, on_unit=lambda: tell(test.line()))
    return test.as_json()


def played(
    one: BundlePolicy, original: BundlePolicy, games: int, seed: int
) -> tuple[float, float, float]:
    """Elo over so many games with its interval."""
    world = original.hero.bundle.world
    return elo_figure(pair_counts(play_games(one, original, world, games, seed).scores))
