"""A run's folder: what a run was begun with stays, whatever the defaults are by now."""

from dataclasses import asdict, replace

import pytest

from levelcap.kit.errors import Conflict
from levelcap.kit.files import write_json
from levelcap.learn.engine.folder import RunFolder, as_begun
from levelcap.learn.engine.overrides import apply
from levelcap.learn.imitation.config import for_family
from levelcap.learn.rl.config import for_world


def test_a_run_goes_on_as_it_was_begun(tmp_path):
    now = for_world("siege", "hierarchy")
    assert as_begun(tmp_path, now) == now  # a new run
    engine = replace(now.engine, lr=0.5)
    then = replace(now, kl_coef=0.9, opponents=("rookie",), engine=engine, minibatches=1)
    saved = asdict(then)
    del saved["teacher"], saved["replay"]  # written before these existed
    saved["parts"] = saved.pop("minibatches")  # and under an old name
    write_json(tmp_path / "config.json", {"config": saved})
    assert as_begun(tmp_path, now) == then
    # What was asked for with this round still counts, and is still compared.
    changed = apply(as_begun(tmp_path, now), ["kl_coef=.2"])
    assert (changed.kl_coef, changed.engine.lr) == (0.2, 0.5)
    with RunFolder(tmp_path) as folder:
        assert folder.claim({"config": asdict(then)})
        with pytest.raises(Conflict, match="kl_coef = 0.9"):
            folder.claim({"config": asdict(changed)})


def test_imitation_too(tmp_path):
    now = for_family("hierarchy")
    then = replace(now, gamma=0.99, batch_size=64)
    write_json(tmp_path / "config.json", {"config": asdict(then)})
    assert as_begun(tmp_path, now) == then
