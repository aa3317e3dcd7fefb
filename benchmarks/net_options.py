"""Is each claim of the design document true here? One table: claim · measured ± interval · verdict.

    python benchmarks/net_options.py [--seconds 180] [--seeds 3] [--only fused] [--quick]
    python benchmarks/net_options.py --table          # only print what the log holds

An *arm* is a net with its options, taught by the real imitation trainer on one recorded shard
(`master` in siege, recorded once) for so many core-seconds: a calibration turns them into updates,
so that what else the machine does changes nothing. Judged on the same held-out batches: mode
accuracy balanced over intents, target accuracy, aim error, hits on fast targets (the cursor within
a bin of the teacher's, on targets that move faster than most), movement. A row is an arm minus its
control; its interval is over seeds, or over the held-out batches where there is one seed. Finished
arms and probes are appended to benchmarks/log/net_options.jsonl and never run twice; what is
missing there is printed as *not run*. The last line is one JSON object.
"""

from __future__ import annotations

import argparse
import json
import os
import tempfile
from collections.abc import Callable
from dataclasses import dataclass, replace
from pathlib import Path
from typing import Any

import net_probes as probes
import numpy as np
import torch

from levelcap.kit.files import append_jsonl
from levelcap.lake.read import open_shards
from levelcap.learn.engine.stops import Stops
from levelcap.learn.engine.task import Hooks
from levelcap.learn.engine.worlds import spec_of_world
from levelcap.learn.imitation.cloner import make_cloner
from levelcap.learn.imitation.config import ImitationConfig
from levelcap.learn.imitation.run import Request, imitate
from levelcap.nets.checkpoint import load_world_net
from levelcap.nets.family import describe, new_net
from levelcap.nets.hierarchy.shape import VIEWS
from levelcap.nets.net import Net, ViewLayout
from levelcap.play.record.games import record
from levelcap.world.rules.columns import HEAD
from levelcap.world.spec import INTENTS, OBJECT

WORLD, TEACHER, GAMES = "siege", "master", 40
LOG = Path("benchmarks/log/net_options.jsonl")
JUDGED = 8  # held-out batches
LOOKS = 5  # at the accuracy while an arm learns, for steps to accuracy
CALIBRATION = 24  # updates
FAST = 0.15  # sight a second: about the faster half of all targets aimed at
PLAN = {"strategist": "transformer"}  # control of the Strategist's rows
DEED = {"strategist": "lstm", "executor": "ssd1", "state": "64"}  # control of the Executor's
LEARNED = 0.6  # share of cues recalled that is more than chance (one half of 512)
REST = "Perceiver's time"  # the first row after the eight priorities
LONG = "good above 120 Hz; no O(1) step: imitation only"
VX, VY = OBJECT.index("vx"), OBJECT.index("vy")


@dataclass(frozen=True)
class Arm:
    """A net and how it is taught."""

    options: dict[str, str]
    changes: dict[str, float | str]

    @property
    def name(self) -> str:
        both = {**self.options, **self.changes}
        return " ".join(f"{key}={value}" for key, value in sorted(both.items()))


def arm(base: dict[str, str], **both: Any) -> Arm:
    """The base with these options, and with these settings of training (their names are known)."""
    known = ("mode_smoothing", "ema", "schedule")
    changes = {key: value for key, value in both.items() if key in known}
    return Arm({**base, **{k: v for k, v in both.items() if k not in known}}, changes)


@dataclass(frozen=True)
class Row:
    """A claim and what measures it: arms (option, control), or a probe of `net_probes`."""

    name: str
    claim: str
    option: Arm | None
    control: Arm | None
    judge: str
    """the number compared; ratios end with _ratio and are option / control"""
    wanted: float
    """least gain of the claim, in points, or in percent for ratios; 0: any"""
    probe: Callable[[dict[str, Any]], tuple[float, str]] | None = None
    """(probes) -> gain in percent, in words; for rows that no training decides"""


def _rows() -> list[Row]:
    plan, deed, post = arm(PLAN), arm(DEED), arm(PLAN, norm="post")
    mamba, experts = arm({"strategist": "ssd"}), arm({"strategist": "experts"})
    mode, aim, speed = "mode_balanced", "fast_hits", "core_ms_ratio"
    table = [
        Row("pre-LN", "5-10 % faster convergence", plan, post, "steps_ratio", 5),
        Row("pre-LN gradients", "steadier gradients", plan, post, "spread_ratio", 0),
        Row("label smoothing .1", "+2-3 % accuracy", plan, arm(PLAN, mode_smoothing=0.0), mode, 2),
        probe("fused attention", "2-4 times faster", 100, "attention plain fused ms_full"),
        probe("fused memory", "less memory", 0, "attention plain fused mb_full"),
        probe("nested tensors", "less memory, half filled", 0, "attention fused nested mb_half"),
        probe("nested's time", "faster, half filled", 0, "attention fused nested ms_half"),
        Row("fused training", "20-30 % faster", plan, arm(PLAN, attention="plain"), speed, 20),
        Row("two Mamba layers", "+5-10 % fast targets", arm(DEED, executor="ssd2"), deed, aim, 5),
        Row("d_state 128", "+3-5 % on movement", arm(DEED, state="128"), deed, "movement", 3),
        Row("EMA .999", "+2-5 % validation", arm(PLAN, ema=0.999), arm(PLAN, ema=0.0), mode, 2),
        Row("Mamba Strategist's time", "10-20 % faster", mamba, plan, speed, 10),
        Row("Mamba Strategist", "same accuracy", mamba, plan, mode, -2),
        Row("Mamba linear in T", "linear in T", None, None, "", 0, linear("ssd")),
        Row("mixture of experts", "+10-15 % mode accuracy", experts, plan, mode, 10),
        # The rest.
        probe(REST, "30-50 % faster at T = 1,024", 30, "strategists transformer perceiver ms_1024"),
        Row("Perceiver", "(same accuracy)", arm({"strategist": "perceiver"}), plan, mode, -2),
        probe("long convolution's step", "20-30 % faster", 20, "executors ssd1 longconv step_ms"),
        Row("long convolution", LONG, arm(DEED, executor="longconv"), deed, aim, 0),
        Row("cosine to 1 %", "+3-5 %", plan, arm(PLAN, schedule="constant"), mode, 3),
        Row("GELU over ReLU", "most accurate", plan, arm(PLAN, activation="relu"), mode, 0),
        Row("GELU over SiLU", "most accurate", plan, arm(PLAN, activation="silu"), mode, 0),
        Row("GELU over Mish", "most accurate", plan, arm(PLAN, activation="mish"), mode, 0),
        Row("GELU's time", "medium, over ReLU", plan, arm(PLAN, activation="relu"), speed, 0),
        Row("LayerNorm", "better than BatchNorm", plan, arm(PLAN, layer_norm="batch"), mode, 0),
        Row("Mamba over LSTM", "fast targets", deed, arm(DEED, executor="lstm"), aim, 0),
        probe("Mamba's step", "faster than LSTM", 0, "executors lstm ssd1 step_ms"),
        probe("Mamba's state", "less memory than LSTM", 0, "executors lstm ssd1 state_numbers"),
        Row("Mamba remembers", "longer than LSTM", None, None, "", 0, recall("ssd", "lstm")),
        Row("cross-attention", "over concat", deed, arm(DEED, targeting="concat"), "target", 0),
        Row("cross or pointer", "-", deed, arm(DEED, targeting="pointer"), "target", 0),
        Row("objects' self-attention", "-", arm(DEED, tactician="self"), deed, "target", 0),
        Row("three Mamba layers", "-", arm(DEED, executor="ssd3"), deed, aim, 0),
        Row("d_state 16", "-", arm(DEED, state="16"), deed, "movement", 0),
        Row("EMA .95", "-", arm(PLAN, ema=0.95), arm(PLAN, ema=0.0), mode, 0),
        Row("residual aim", "aims untrained; training adds", deed, None, aim, 0),
        Row("sizes", "1.6 M, 73 times under GPT-2", None, None, "", 0, size_of("seed")),
    ]
    return table


def probe(name: str, claim: str, wanted: float, where: str) -> Row:
    """A row that no training decides; where: table, control, option and number of a probe."""
    return Row(name, claim, None, None, "", wanted, probes_gain(*where.split()))


def probes_gain(table: str, control: str, option: str, key: str) -> Any:
    """How much less of `key` the option takes, in percent of what it takes itself."""

    def found(all_probes: dict[str, Any]) -> tuple[float, str]:
        a, b = (all_probes[table][name][key] for name in (control, option))
        return 100 * (a / b - 1), f"{control} {a:,.2f}, {option} {b:,.2f} ({key})"

    return found


def linear(name: str) -> Any:
    """Time at 1,024 seconds over time at 240, against the 4.27 of a straight line (within 25 %)."""

    def found(all_probes: dict[str, Any]) -> tuple[float, str]:
        row = all_probes["strategists"][name]
        grown = row["ms_1024"] / row["ms_240"]
        return 100 * (1.25 * 1024 / 240 / grown - 1), f"T x 4.27, time x {grown:.2f}"

    return found


def recall(one: str, other: str) -> Any:
    """Points of recall at the longest delay that either has learned at all; none: not decided."""

    def found(all_probes: dict[str, Any]) -> tuple[float, str]:
        table, told = all_probes["cue"], []
        for delay in reversed(probes.DELAYS):
            a, b = (table[name][f"accuracy_{delay}"] for name in (one, other))
            told.append(f"{delay}: {a:.2f}, {b:.2f}")
            if max(a, b) > LEARNED:
                return 100 * (a - b), f"{one}, {other} at {told[-1]}, chance .50"
        return float("nan"), f"{one}, {other} at " + "; ".join(told)

    return found


def size_of(size: str) -> Any:
    """Parameters against the claim."""

    def found(all_probes: dict[str, Any]) -> tuple[float, str]:
        row = all_probes["sizes"][size]
        return row["gpt2_times"] - 73, f"{row['parameters']:,}, {row['gpt2_times']:.0f} times"

    return found


def demos(place: Path) -> Path:
    """The shard, recorded once."""
    if not place.exists():
        place.parent.mkdir(parents=True, exist_ok=True)
        record([TEACHER, "veteran"], WORLD, GAMES, 0, place, keep=[TEACHER], views=VIEWS)
    return place


def judge(net: Net, meta: Any, batches: list[Any], config: ImitationConfig) -> dict[str, Any]:
    """Lists by number, one entry a held-out batch."""
    cloner = make_cloner(net, meta, ViewLayout.of(spec_of_world(WORLD), meta.views), config)
    found: dict[str, list[float]] = {}
    kind: Any = type(cloner)
    for stretch in batches:
        with torch.no_grad():
            seen = kind._unroll(cloner, stretch)
        # Three reports of one pass.
        cloner._unroll = lambda _: seen  # type: ignore[method-assign]  # noqa: B023
        layers, heads = cloner.layers([stretch]), cloner.judge(stretch)
        share = heads.right / np.maximum(heads.used, 1)
        row = {
            "mode_balanced": layers["mode_balanced"],
            "mode_accuracy": layers["mode_accuracy"],
            "target": layers["target_accuracy"],
            "aim_error": layers["aim_error"],
            "movement": float(share[[HEAD.move_x, HEAD.move_y]].mean()),
            "loss": heads.loss,
            "fast_hits": fast_hits(cloner, stretch),
        }
        for name, value in row.items():
            found.setdefault(name, []).append(value)
    return found


@torch.no_grad()
def fast_hits(cloner: Any, stretch: Any) -> float:
    """Share of shots at fast targets whose cursor is within one bin of the teacher's."""
    out, after = cloner._unroll(stretch), slice(stretch.burn_in, None)
    aimed, actions = stretch.targets_at[after], stretch.actions[after].long()
    first = cloner.layout.offsets[cloner.layout.names.index("objects")]
    objects = stretch.inputs[after, :, first : first + 320].unflatten(-1, (16, 20))
    at = objects.gather(2, aimed.clamp(min=0)[..., None, None].expand(-1, -1, 1, 20))[:, :, 0]
    fast = (aimed >= 0) & (stretch.alive[after] > 0) & (at[..., [VX, VY]].norm(dim=-1) > FAST)
    sizes, near = cloner.meta.head_sizes, torch.ones_like(fast)
    for head in (HEAD.aim_x, HEAD.aim_y):
        begin = sum(sizes[:head])
        cursor = out.logits[..., begin : begin + sizes[head]].argmax(-1)
        near &= (cursor - actions[..., head]).abs() <= 1
    return float(near[fast].float().mean()) if bool(fast.any()) else float("nan")


def teach(one: Arm, shard: Path, seed: int, seconds: float) -> dict[str, Any]:
    """Train an arm for so many core-seconds and judge it."""
    config = ImitationConfig(validation=0.15)
    engine = replace(
        config.engine, **{k: v for k, v in one.changes.items() if k in ("ema", "schedule")}
    )
    rest = {k: v for k, v in one.changes.items() if k == "mode_smoothing"}
    config = replace(config, engine=engine, **rest)
    shards = open_shards((shard,), world=WORLD)
    spec = spec_of_world(WORLD, shards.patch)
    config = replace(config, gamma=spec.gamma)
    meta = describe("hierarchy", spec, "slim", options=one.options)
    fresh = new_net(meta, seed)
    cloner = make_cloner(fresh, meta, ViewLayout.of(spec, meta.views), config)
    stream = cloner.stream(shards.split(config.validation)[1], 1, 0)
    batches = [cloner.prepare(next(stream)) for _ in range(JUDGED)]
    curve: list[tuple[int, float]] = []

    def look(weights: Any, described: Any) -> float:
        fresh.load_state_dict(weights)
        fresh.eval()
        accuracy = float(np.mean(judge(fresh, meta, batches[:2], config)["mode_balanced"]))
        curve.append((described.steps, accuracy))
        return accuracy

    fresh.eval()
    before = judge(fresh, meta, batches, config)
    with tempfile.TemporaryDirectory() as home:
        options = tuple(f"{k}={v}" for k, v in one.options.items())
        request = Request(
            WORLD, (shard,), Path(home) / "a", seed=seed, family="hierarchy", options=options
        )
        tried = imitate(request, config, Stops(updates=CALIBRATION)).outcome
        # The first updates wait for caches; what is left of them makes the arm a little short.
        updates = max(CALIBRATION, int(seconds / tried.core_seconds * tried.progress.update))
        request = replace(request, out=Path(home) / "b")
        hooks = Hooks(evaluate=look, evaluate_s=seconds / LOOKS)
        done = imitate(request, config, Stops(updates=updates), hooks).outcome
        if done.reason == "interrupted":  # half an arm is none
            raise SystemExit(130)
        net, meta, _ = load_world_net(done.snapshot)
        text = (request.out / "metrics.jsonl").read_text().splitlines()
        norms = np.array([json.loads(line)["grad_norm"] for line in text])[len(text) // 5 :]
        after = judge(net, meta, batches, config)
        more = router(net, meta, batches, config) if "experts" in one.options.values() else {}
    steps, core = done.progress.steps, done.core_seconds
    return {
        "before": before,
        "after": after,
        "curve": curve,
        "updates": updates,
        "steps": steps,
        "core_seconds": core,
        "core_ms": 1e6 * core / steps,  # a thousand decisions
        "spread": float(norms.std() / norms.mean()),
        **more,
    }


@torch.no_grad()
def router(net: Any, meta: Any, batches: list[Any], config: ImitationConfig) -> dict[str, Any]:
    """Share of each expert by the teacher's intent, and mode accuracy of each expert alone."""
    gate, seen = net.strategist.mixer.router, []
    cloner = make_cloner(net, meta, ViewLayout.of(spec_of_world(WORLD), meta.views), config)
    shares = np.zeros((len(INTENTS), gate.out_features))
    handle = gate.register_forward_hook(lambda m, i, out: seen.append(out.softmax(-1)))
    for stretch in batches[:6]:
        seen.clear()
        out = cloner._unroll(stretch)
        # The last call is the stretch's own; looks are in order of time, rows beside each other.
        due = torch.cat((torch.zeros(stretch.burn_in, *out.choice_due.shape[1:]), out.choice_due))
        mine = seen[-1].unflatten(0, (-1, due.shape[1]))[-int(out.choice_due[:, 0].sum()) :]
        intents = stretch.intents[stretch.burn_in :][out.choice_due[:, 0]]
        for intent in range(len(INTENTS)):
            shares[intent] += mine[intents == intent].sum(0).numpy()
    handle.remove()
    alone = []
    for expert in range(gate.out_features):
        only = torch.full((gate.out_features,), -50.0).index_fill(0, torch.tensor(expert), 50.0)
        handle = gate.register_forward_hook(lambda m, i, out: only.expand_as(out))  # noqa: B023
        alone.append(float(np.mean(judge(net, meta, batches[:2], config)["mode_balanced"])))
        handle.remove()
    total = shares.sum(1, keepdims=True)
    by = {
        name: (shares[i] / total[i]).round(3).tolist() for i, name in enumerate(INTENTS) if total[i]
    }
    return {"router_share": by, "expert_accuracy": alone}


def read_log(seconds: float) -> tuple[dict[str, dict[int, Any]], dict[str, Any]]:
    """Arms by name and seed, and probes, of runs with this budget."""
    arms: dict[str, dict[int, Any]] = {}
    found: dict[str, Any] = {}
    lines = LOG.read_text().splitlines() if LOG.exists() else []
    for row in map(json.loads, lines):
        if row["kind"] == "probe":
            found[row["name"]] = row["found"]
        elif row["seconds"] == seconds:
            arms.setdefault(row["arm"], {})[row["seed"]] = row["found"]
    return arms, found


def gains(row: Row, arms: dict[str, dict[int, Any]]) -> np.ndarray | None:
    """Gains of a row in points or percent: one a seed, or one a held-out batch of a single seed."""
    assert row.option is not None
    control = row.control or row.option
    seeds = sorted(set(arms.get(row.option.name, {})) & set(arms.get(control.name, {})))
    if not seeds:
        return None
    found = []
    for seed in seeds:
        a, b = arms[row.option.name][seed], arms[control.name][seed]
        if row.judge == "steps_ratio":
            found.append([100 * (_steps_to(b, a) / _steps_to(a, b) - 1)])
        elif row.judge.endswith("_ratio"):
            key = row.judge.removesuffix("_ratio")
            found.append([100 * (b[key] / a[key] - 1)])
        else:
            old = b["after"] if row.control else b["before"]
            found.append(100 * (np.array(a["after"][row.judge]) - np.array(old[row.judge])))
    return np.array([np.nanmean(one) for one in found]) if len(seeds) > 1 else np.array(found[0])


def _steps_to(one: dict[str, Any], other: dict[str, Any]) -> float:
    """Steps until nine tenths of what the weaker of the two reached."""
    wanted = 0.9 * min(max(a for _, a in found["curve"]) for found in (one, other))
    return next(float(steps) for steps, a in one["curve"] if a >= wanted)


def verdict(row: Row, arms: dict[str, dict[int, Any]], found: dict[str, Any]) -> tuple[str, str]:
    """(measured ± interval, verdict)."""
    if row.probe is not None:
        needed = {"sizes", "strategists", "attention", "executors", "cue"} - set(found)
        if needed:
            return "", "not run"
        gain, words = row.probe(found)
        if np.isnan(gain):
            return words, "undecided: both at chance"
        return f"{gain:+.1f}: {words}", "holds" if gain >= row.wanted else "does not hold"
    values = gains(row, arms)
    if values is None:
        return "", "not run"
    values = values[~np.isnan(values)]
    middle = float(values.mean())
    if len(values) == 1:
        return f"{middle:+.1f}", ("as claimed" if middle >= row.wanted else "less") + ", one seed"
    from scipy.stats import t as student

    half = float(student.ppf(0.975, len(values) - 1) * values.std(ddof=1) / len(values) ** 0.5)
    told = f"{middle:+.1f} ± {half:.1f}"
    if middle - half >= row.wanted:
        return told, "holds"
    if middle + half < row.wanted:
        return told, "does not hold" if middle + half >= 0 or row.wanted <= 0 else "the opposite"
    return told, "undecided"


def table(rows: list[Row], seconds: float) -> dict[str, Any]:
    """Print all rows; the document of the last line."""
    arms, found = read_log(seconds)
    print(f"\n{'option':28}{'claim':46}{'measured ± interval':64}verdict")
    document: dict[str, Any] = {}
    for row in rows:
        measured, said = verdict(row, arms, found)
        document[row.name] = {"claim": row.claim, "measured": measured, "verdict": said}
        print(f"{row.name:28}{row.claim[:44]:46}{measured[:62]:64}{said}")
    print(f"\n{'arm':58}{'seeds':>6}" + "".join(f"{n:>14}" for n in SHOWN))
    for name, by_seed in arms.items():
        numbers = [
            np.nanmean([np.nanmean(f["after"][n]) for f in by_seed.values()]) for n in SHOWN[:5]
        ]
        numbers += [np.mean([f[n] for f in by_seed.values()]) for n in SHOWN[5:]]
        print(f"{name:58}{len(by_seed):6}" + "".join(f"{n:14,.3f}" for n in numbers))
    for title, one in found.items():
        probes.show(title, one)
    return document


SHOWN = ("mode_balanced", "target", "aim_error", "fast_hits", "movement", "spread", "core_ms")


def run_probes(quick: bool, cue_s: float) -> None:
    """Those the log lacks."""
    times = 3 if quick else 15
    makers = {
        "sizes": probes.sizes,
        "strategists": lambda: probes.strategist_costs(times),
        "attention": lambda: probes.attention_costs(times),
        "executors": lambda: probes.executor_steps(100 * times),
        "cue": lambda: probes.cue_table(cue_s),
    }
    done = read_log(0)[1]
    for name, make in makers.items():
        if name not in done:
            append_jsonl(LOG, [{"kind": "probe", "name": name, "found": make()}])
            print(f"probe {name}", flush=True)


def main() -> None:
    """Run what is missing, then print."""
    global LOG
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--seconds", type=float, default=180.0, help="core-seconds an arm")
    parser.add_argument("--seeds", type=int, default=3, help="of the priorities; the rest has one")
    parser.add_argument("--cue-seconds", type=float, default=30.0)
    parser.add_argument("--only", default="", help="rows whose name contains this")
    parser.add_argument("--demos", type=Path, default=Path("out/net_options/demos"))
    parser.add_argument("--table", action="store_true", help="run nothing")
    parser.add_argument("--quick", action="store_true", help="two rows, 5 core-seconds, no log")
    options = parser.parse_args()
    os.environ.setdefault("OMP_NUM_THREADS", "1")
    rows = [row for row in _rows() if options.only in row.name]
    names = [row.name for row in _rows()]
    if options.quick:
        options.seconds, options.seeds, options.cue_seconds = 5.0, 1, 0.5
        rows, LOG = rows[:2], Path(tempfile.mkdtemp()) / "log.jsonl"
    if not options.table:
        torch.set_num_threads(1)
        shard = demos(options.demos)
        run_probes(options.quick, options.cue_seconds)
        for row in rows:
            seeds = options.seeds if names.index(row.name) < names.index(REST) else 1
            for seed in range(seeds):
                for one in (row.option, row.control):
                    if one is None or seed in read_log(options.seconds)[0].get(one.name, {}):
                        continue
                    found = teach(one, shard, seed, options.seconds)
                    kept = {
                        "kind": "arm",
                        "arm": one.name,
                        "seed": seed,
                        "seconds": options.seconds,
                    }
                    append_jsonl(LOG, [{**kept, "found": found}])
                    print(f"{row.name}: {one.name}, seed {seed}", flush=True)
    print(json.dumps({"seconds": options.seconds, "rows": table(rows, options.seconds)}))


if __name__ == "__main__":
    main()
