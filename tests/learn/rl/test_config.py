"""The knobs: what is refused, and what a run from untrained weights changes."""

from dataclasses import asdict

import pytest

from levelcap.kit.errors import BadValue
from levelcap.learn.engine.folder import RunFolder
from levelcap.learn.rl.config import RlConfig, for_world, from_scratch


@pytest.mark.parametrize(
    "knob", [{"clip": -0.1}, {"clip": 1.0}, {"epochs": 0}, {"entropy_final": 1.5}]
)
def test_knobs_out_of_range_are_refused(knob):
    with pytest.raises(BadValue, match=next(iter(knob))):
        RlConfig(**knob)


def test_from_scratch_clips_and_has_no_teacher():
    config = from_scratch("duel")
    assert config.clip > 0 and config.epochs > 1
    assert config.kl_coef == 0 and config.value_warmup == 0
    assert config.gamma == for_world("duel").gamma
    assert for_world("duel").clip == 0  # from pi_sup the KL does the holding back


def test_a_run_from_before_a_setting_existed_can_be_continued(tmp_path):
    new = asdict(RlConfig())
    added = ("replay", "replay_updates", "burn_in", "teacher", "teacher_coef", "steady_aim")
    with RunFolder(tmp_path / "run") as folder:
        folder.claim({"config": {name: new[name] for name in new if name not in added}})
        assert folder.claim({"config": new})
