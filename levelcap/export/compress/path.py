"""The path: distillation, int8, pruning, a search around the result; then the choice and its trial.

    <out>/compress.json        every figure so far; a step stands there when it is done
          distil/ prune/ …     run folders of the nets, their checkpoints in snapshots/
          search/<shape>/      one a candidate
          bundles/<step>/      what each step ships
          front.png            Elo over latency of the candidates
          verdict.json         the trial of the choice against the original

Killed at any moment, the same command goes on: nets from their last checkpoint, everything else
from the last row.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import asdict, dataclass, field, replace
from pathlib import Path

from torch import nn

from levelcap.export.bundle import Bundle
from levelcap.export.compress.class_room import observations
from levelcap.export.compress.compressed import Compressed, read_compressed
from levelcap.export.compress.distil import DistilConfig, distil
from levelcap.export.compress.figures import Figures, figures, played, tested
from levelcap.export.compress.int8 import quantised
from levelcap.export.compress.reshape import reshape, reshaped_meta
from levelcap.export.compress.search import chosen_of, draw_front, front, shapes_around
from levelcap.export.exporter import ModelExporter
from levelcap.export.policy import BundlePolicy, load_bundle
from levelcap.export.runtime import Hero
from levelcap.export.targets import Made
from levelcap.kit.errors import BadValue, refuse
from levelcap.kit.files import write_json
from levelcap.kit.publish import MANIFEST, retire, sweep
from levelcap.kit.seeds import chain
from levelcap.learn.engine.config import check_number
from levelcap.learn.engine.folder import RunFolder
from levelcap.learn.engine.stops import Stops
from levelcap.learn.engine.worlds import spec_of_world
from levelcap.nets.checkpoint import load_snapshot, read_meta
from levelcap.nets.flat import FlatNet
from levelcap.nets.meta import Meta
from levelcap.nets.net import count_parameters
from levelcap.play.load import NetPolicy, load_checkpoint
from levelcap.trials.speed import size_of
from levelcap.trials.suite import Entrant, run_trial
from levelcap.trials.suite import Plan as TrialPlan
from levelcap.trials.verdict import Verdict
from levelcap.world.spec import WORLDS

STEPS = ("distil", "int8", "prune", "search")
SHARES = {"distil": 0.4, "prune": 0.15, "candidates": 0.3, "search": 0.15}  # of the minutes
OBSERVATIONS = 2_048
FRONT, VERDICT = "front.png", "verdict.json"
Say = Callable[[str], None]


@dataclass(frozen=True)
class Effort:
    """How much of everything."""

    minutes: float = 12.0
    """of training, all steps together"""
    test_minutes: float = 3.0
    """of each no-regression test at most; then it stays undecided"""
    candidates: int = 24
    """shapes that are searched"""
    games: int = 512
    """of each candidate against the original"""
    unit: int = 512
    """games between two looks of a test"""
    matches: int = TrialPlan.matches
    """in which the constitution is checked"""
    attack_games: int | None = None
    """of the trial, under each attack; None: by the world"""
    seed: int = 0
    lessons: DistilConfig = field(default_factory=DistilConfig)

    def __post_init__(self) -> None:
        for name in ("minutes", "test_minutes"):
            check_number(name, getattr(self, name), low=0.0, open_low=True)
        check_number("candidates", self.candidates, low=1.0, high=50.0)
        check_number("games", self.games, low=2.0)
        if self.games % 2:
            raise BadValue(refuse("games come in pairs", self.games, "Give an even number"))


class Compression:
    """One checkpoint on its path, in one folder."""

    def __init__(self, checkpoint: Path, out: Path, effort: Effort, say: Say) -> None:
        """checkpoint: a snapshot's folder.

        Raises:
            BadValue: no flat net of our own worlds.
        """
        self.checkpoint, self.out, self.effort, self.say = checkpoint, out, effort, say
        net, self.meta, self.digest = load_snapshot(checkpoint)
        if not isinstance(net, FlatNet) or self.meta.world not in WORLDS:
            remedy = "Compress a flat hero of duel, lms, siege or crown; others: levelcap export"
            shown = f"{self.meta.architecture} of {self.meta.world}"
            raise BadValue(refuse("only flat nets of our own worlds are compressed", shown, remedy))
        self.net = net
        self.teacher = NetPolicy(net, self.meta, self.digest)
        self.teacher.fit(spec_of_world(self.meta.world, self.meta.patch))
        self.done = Compressed()
        self._traced: dict[int, bytes] = {}  # a graph by its number of hidden layers

    def run(self) -> Compressed:
        """Every step that is not done yet; returns what `compress.json` holds."""
        with RunFolder(self.out) as folder:
            wanted = {"kind": "compress", "checkpoint": self.digest, "effort": asdict(self.effort)}
            folder.claim(wanted)
            self.done = read_compressed(self.out)
            self.rows = observations(self.teacher, OBSERVATIONS, self.effort.seed)
            place = self.out / "bundles" / "original"
            exporter = ModelExporter(self.checkpoint)
            place.parent.mkdir(exist_ok=True)
            sweep(place.parent)
            if not (place / MANIFEST).exists():
                exporter.export("onnx", place)
            self.rival, self.original = self._shipped("original")
            self._traced[len(self.meta.shape["hidden"])] = self.original
            if not self.done.has("original"):
                made = exporter.made()
                self._note(self._figures("original", self.net, self.meta.size, made, "float32", ""))
            for step in STEPS:
                if not self.done.has(step):
                    self.say(f"{step} …")
                    getattr(self, f"_{step}")()
            if not self.done.finished:
                self._choose()
        return self.done

    def _distil(self) -> None:
        """Half as wide, taught from where the best half of the units stands."""
        hidden = tuple(_even(width / 2) for width in self.meta.shape["hidden"])
        snapshot = self._taught("distil", hidden, self.net, self.meta)
        self._judge("distil", snapshot, self._made(snapshot), "float32")

    def _int8(self) -> None:
        """The distilled net in whole numbers."""
        snapshot = self.out / self.done.row("distil").snapshot
        policy, graph = self._shipped("distil")
        small = quantised(ModelExporter(snapshot), policy.hero.bundle, graph, self.rows)
        self._judge("int8", snapshot, small, "int8")

    def _prune(self) -> None:
        """Half of the units again, by importance; the rest learns what they did."""
        base = self.out / self.done.row("distil").snapshot
        net, meta, _ = load_snapshot(base)
        assert isinstance(net, FlatNet)
        hidden = tuple(_even(width / 2) for width in meta.shape["hidden"])
        self._finish("prune", self._taught("prune", hidden, net, meta))

    def _search(self) -> None:
        """Every shape is taught for as long; the best one is taught on and judged."""
        base = self.out / self.done.row("prune").snapshot
        net, meta, _ = load_snapshot(base)
        assert isinstance(net, FlatNet)
        shapes = shapes_around(meta.shape["hidden"], self.effort.candidates)
        each = SHARES["candidates"] * self.effort.minutes / len(shapes)
        updates = max(1, round(60 * each * self.done.updates_per_s))
        for number, hidden in enumerate(shapes):
            name = "x".join(map(str, hidden))
            if any(row.step == name for row in self.done.candidates):
                continue
            self.say(f"candidate {number + 1} of {len(shapes)}: {name}")
            place = f"search/{name}"
            stops = Stops(updates=updates)
            snapshot = self._taught(place, hidden, net, meta, stops)
            made = self._made(snapshot)
            taught = load_snapshot(snapshot)[0]
            row = self._figures(name, taught, name, made, "float32", self._within(snapshot))
            games = self.effort.games
            elo = played(_policy(made), self.rival, games, chain(self.effort.seed, 5, number))
            self.done.candidates.append(replace(row, elo=elo, games=games))
            self.done.write(self.out)
        rows = self.done.candidates
        draw_front(self.out / FRONT, rows, self.effort.games)
        self.done.front = [row.step for row in front(rows)]
        best = chosen_of(rows, self.done.row("distil").ms["64"]["own"])
        self.say(f"{best.step} is taught on")
        net, meta, _ = load_snapshot(self.out / best.snapshot)
        assert isinstance(net, FlatNet)
        self._finish("search", self._taught("search/best", meta.shape["hidden"], net, meta))

    def _finish(self, step: str, snapshot: Path) -> None:
        """Judge a net in the better form: int8 where that was equal in strength and is quicker."""
        exporter = ModelExporter(snapshot)
        made, form, note = self._made(snapshot), "float32", ""
        if self.done.row("int8").test["verdict"] != "failed":
            assert isinstance(made.bundle, Bundle)
            small = quantised(exporter, made.bundle, made.graphs["policy"], self.rows)
            taught, shape = exporter.net, exporter.meta.size
            both = [
                self._figures(step, taught, shape, one, name, "").ms["64"]["own"]
                for one, name in ((made, "float32"), (small, "int8"))
            ]
            note = f"64 decisions: float32 {1e3 * both[0]:.0f} µs, int8 {1e3 * both[1]:.0f} µs"
            if both[1] < both[0]:
                made, form = small, "int8"
        self._judge(step, snapshot, made, form, note)

    def _taught(
        self,
        place: str,
        hidden: tuple[int, ...],
        net: FlatNet,
        meta: Meta,
        stops: Stops | None = None,
    ) -> Path:
        """A net of these widths that begins as `net` and learns from the original."""
        wanted = reshaped_meta(self.meta, hidden, self.digest)
        seed = chain(self.effort.seed, 7)
        pupil = reshape(net, meta, wanted, self.rows, seed)
        share = SHARES[place.split("/")[0]]
        until = stops or Stops(minutes=share * self.effort.minutes)
        config = self.effort.lessons
        outcome = distil(
            pupil, wanted, self.teacher, self.out / place, until, config=config, seed=seed
        )
        if stops is None:
            self.done.updates_per_s = outcome.progress.update / max(outcome.seconds, 1e-3)
        return outcome.snapshot

    def _judge(self, step: str, snapshot: Path, made: Made, form: str, note: str = "") -> None:
        """Publish a step's bundle, test it against the original, and write its row."""
        place = self.out / "bundles" / step
        if place.exists():  # published, but killed before its row was written
            retire(place)
        exporter = ModelExporter(snapshot)
        exporter.export("onnx", place, made)
        where = self._within(snapshot)
        row = self._figures(step, exporter.net, exporter.meta.size, made, form, where)
        seed = chain(self.effort.seed, 11, STEPS.index(step))
        limits = self.effort.test_minutes, seed, self.say, self.effort.unit
        test = tested(_policy(made), self.rival, *limits)
        row = replace(row, test=test, elo=tuple(test["elo"]), games=test["games"], note=note)
        self._note(row)

    def _choose(self) -> None:
        """The quickest step that lost nothing, and its trial against the original."""
        done = self.done
        fine = [row for name in STEPS if (row := done.row(name)).test["verdict"] == "passed"]
        # int8 that is slower than float on this processor is told, not chosen.
        fine = [row for row in fine if row.step != "int8" or done.int8_time("64") < 1]
        if fine:
            best = min(fine, key=lambda row: row.ms["64"]["own"])
            self.say(f"trial of {best.step} …")
            verdict = self._trial(self.out / best.snapshot)
            done.chosen, done.passed, done.reason = best.step, verdict.passed, verdict.reason
        done.finished = True
        done.write(self.out)

    def _trial(self, snapshot: Path) -> Verdict:
        """The gate's own trial: a saving has to be no weaker, safe, and known under attack.

        Of the checkpoint, which is what can reign; its int8 bundle has the step's test alone.
        """
        effort = self.effort
        one, other = _entrant(snapshot), _entrant(self.checkpoint)
        plan = TrialPlan(
            minutes=effort.test_minutes, matches=effort.matches, games=effort.attack_games
        )
        seed = chain(effort.seed, 13)
        verdict = run_trial(one, other, self.meta.world, plan=plan, seed=seed, tell=self.say)
        write_json(self.out / VERDICT, verdict.as_json())
        return verdict

    def _figures(
        self, step: str, net: nn.Module, shape: str, made: Made, form: str, snapshot: str
    ) -> Figures:
        return figures(
            step,
            made,
            self.original,
            self.rows,
            shape=shape,
            form=form,
            parameters=count_parameters(net),
            snapshot=snapshot,
        )

    def _made(self, snapshot: Path) -> Made:
        """A checkpoint's graph, traced if none as deep was."""
        depth = len(read_meta(snapshot).shape["hidden"])
        made = ModelExporter(snapshot, like=self._traced.get(depth)).made()
        self._traced.setdefault(depth, made.graphs["policy"])
        return made

    def _shipped(self, step: str) -> tuple[BundlePolicy, bytes]:
        """The bundle of a step, and its graph."""
        place = self.out / "bundles" / step
        return load_bundle(place), (place / "policy.onnx").read_bytes()

    def _within(self, snapshot: Path) -> str:
        return str(snapshot.relative_to(self.out))

    def _note(self, row: Figures) -> None:
        self.done.steps.append(row)
        self.done.write(self.out)


def _entrant(folder: Path) -> Entrant:
    policy = load_checkpoint(folder)
    spent = policy.meta.metrics.get("core_seconds", 0.0)
    return Entrant(str(folder), policy, size_of(folder), spent)


def _policy(made: Made) -> BundlePolicy:
    assert isinstance(made.bundle, Bundle)
    return BundlePolicy(Hero(made.bundle, made.graphs))


def _even(width: float) -> int:
    """A multiple of eight."""
    return max(8, 8 * round(width / 8))
