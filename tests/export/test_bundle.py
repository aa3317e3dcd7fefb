"""Bundles that were cut, changed, forged or made by others are refused in words."""

import json
import random
import shutil
import subprocess
import sys

import numpy as np
import pytest

from levelcap.export.bundle import FILE, bundle_from_json
from levelcap.export.pipe import bench, main, serve
from levelcap.export.runtime import Hero, load, swear
from levelcap.kit.errors import BadFile, BadValue, Conflict, Corrupt, LevelcapError
from levelcap.kit.publish import MANIFEST, publish


def test_the_description_survives_the_file(exported):
    bundle = load(exported.folder).bundle
    assert bundle_from_json(json.loads(json.dumps(bundle.as_json()))) == bundle
    assert list(bundle.heads)[:3] == ["move_x", "move_y", "aim_x"]


def test_a_flipped_or_cut_or_added_byte_is_refused(exported, tmp_path):
    for number, file in enumerate(sorted(p.name for p in exported.folder.iterdir())):
        for how in ("flip", "cut", "gone"):
            place = tmp_path / f"{number}-{how}"
            shutil.copytree(exported.folder, place)
            data = bytearray((place / file).read_bytes())
            data[len(data) // 2] ^= 4
            change = {"flip": data, "cut": data[:-1]}.get(how)
            if change is None:
                (place / file).unlink()
            else:
                (place / file).write_bytes(change)
            with pytest.raises(Corrupt):
                load(place)
    (tmp_path / "1-flip" / "more.onnx").write_bytes(b"x")
    with pytest.raises(Corrupt):
        load(tmp_path / "1-flip")
    with pytest.raises(BadFile, match="no such"):
        load(tmp_path / "nowhere")
    with pytest.raises(BadFile, match="no bundle"):
        load(exported.checkpoint)


def _forged(exported, place, values, graphs=None):
    """A bundle whose hashes are right and whose content is what somebody liked."""
    old = {p.name: p.read_bytes() for p in exported.folder.iterdir() if p.name != MANIFEST}
    new = old | {FILE: json.dumps(values).encode()} | (graphs or {})

    def write(folder):
        for name, data in new.items():
            (folder / name).write_bytes(data)

    publish(place, write, made_by="somebody")
    return place


def test_forged_descriptions_are_refused_with_a_remedy(exported, tmp_path):
    good = load(exported.folder).bundle.as_json()
    graph = good["graphs"][0][1]
    huge = {"dtype": "float32", "shape": [10**9]}
    crafted = {
        "format": good | {"format": 2},
        "kind": good | {"kind": "pickle"},
        "extra": good | {"run": "rm"},
        "short": {k: v for k, v in good.items() if k != "heads"},
        "heads": good | {"heads": good["heads"][:-1]},
        "twice": good | {"heads": [*good["heads"], good["heads"][0]]},
        "views": good | {"views": good["views"][:-1]},
        "path": good | {"graphs": [[good["graphs"][0][0], graph | {"file": "../x.onnx"}]]},
        "absolute": good | {"graphs": [[good["graphs"][0][0], graph | {"file": "/etc/passwd"}]]},
        "huge": good | {"graphs": [[good["graphs"][0][0], graph | {"inputs": {"inputs": huge}}]]},
        "threads": good | {"deploy": good["deploy"] | {"threads": 10**9}},
        "witness": good | {"witness": [[0.0] * len(row) for row in good["witness"]]},
        "nan": good | {"witness": [[float("nan")]]},
        "list": [1, 2],
    }
    for name, values in crafted.items():
        with pytest.raises((BadFile, Conflict)) as caught:
            load(_forged(exported, tmp_path / name, values))
        assert len(str(caught.value)) > 20, name


@pytest.mark.parametrize("count", (60, pytest.param(1_000, marks=pytest.mark.slow)))
def test_mutated_graphs_are_refused_or_decide_the_same(exported, count):
    """Hashes recomputed: what still loads must still say what the original said."""
    bundle = load(exported.folder).bundle
    good = {n: (exported.folder / g.file).read_bytes() for n, g in bundle.graphs.items()}
    rng, refused = random.Random(7), 0
    for _ in range(count):
        name = rng.choice(list(good))
        data = bytearray(good[name])
        for _ in range(rng.choice((1, 1, 8))):
            at = rng.randrange(len(data))
            data[at] ^= 1 << rng.randrange(8)
        if rng.random() < 0.2:
            del data[rng.randrange(len(data)) :]
        try:
            swear(Hero(bundle, good | {name: bytes(data)}))
        except LevelcapError as error:
            refused += 1
            assert "xport" in str(error)
    assert refused > count // 4


def test_a_bundle_of_others_cannot_ask_for_files(exported, tmp_path):
    """A graph whose weights lie in another file: bytes are loaded, so there is no other file."""
    import onnx
    from onnx.external_data_helper import set_external_data

    name, graph = next(iter(load(exported.folder).bundle.graphs.items()))
    model = onnx.load_from_string((exported.folder / graph.file).read_bytes())
    tensor = max(model.graph.initializer, key=lambda t: len(t.raw_data))
    set_external_data(tensor, location="../../../etc/passwd")
    tensor.ClearField("raw_data")
    values = load(exported.folder).bundle.as_json()
    place = _forged(exported, tmp_path / "out", values, {graph.file: model.SerializeToString()})
    with pytest.raises(BadFile, match=name):
        load(place)


def test_the_pipe_answers_and_goes_on_after_nonsense(exported):
    hero = load(exported.folder)
    row = {name: np.zeros((2, *shape)).tolist() for name, shape in hero.bundle.views.items()}
    lines = [json.dumps(row), "nonsense", "[]", json.dumps(row | {"odd": 1}), '{"key": [1]}']
    lines += [json.dumps(row | {"who": [1, 1]}), json.dumps(row | {"who": [0, 10**9]})]
    lines += [json.dumps(row | {"key": [1, 2], "reset": [True, False], "who": [9, 4]}), ""]
    told = []
    serve(hero, iter(lines).__next__, told.append)
    assert [sorted(answer)[0] for answer in told] == [
        *("actions", "error", "error", "error", "error", "error", "error"),
        "actions",
    ]
    assert len(told[0]["actions"]) == 2
    with pytest.raises(BadValue, match="rows"):
        bench(hero, 0)


def test_the_command_needs_numpy_and_onnxruntime_alone(exported, tmp_path):
    """Everything else of the environment is hidden from the process."""
    hidden = "torch numba pydantic scipy pyarrow rich onnx gymnasium structlog yaml transformers"
    words = (
        "import sys\n"
        f"for name in {hidden.split()!r}: sys.modules[name] = None\n"
        "from levelcap.export.pipe import main\n"
        f"sys.exit(main([{str(exported.folder)!r}]))"
    )
    views = load(exported.folder).bundle.views
    row = json.dumps({name: np.zeros((1, *shape)).tolist() for name, shape in views.items()})
    run = subprocess.run(
        [sys.executable, "-c", words], input=row + "\n", capture_output=True, text=True, timeout=60
    )
    assert run.returncode == 0, run.stderr
    assert len(json.loads(run.stdout)["actions"]) == 1
    assert main([str(tmp_path / "none")]) == 2
