"""Strategies share the training out."""

import pytest

from levelcap.guild.curriculum import PRESETS, Curriculum, Standing, get_curriculum, shares, weakest
from levelcap.kit.errors import BadValue, UnknownName

BOTH = [Standing("bin", 6, 30, 0.7), Standing("sy", 2, 20, 0.9)]
SKILLS = ("bin", "sy")


@pytest.mark.parametrize(
    ("curriculum", "expected"),
    [
        (Curriculum("equal", SKILLS), {"bin": 0.5, "sy": 0.5}),
        (Curriculum("focus", SKILLS, focus="sy"), {"bin": 0.2, "sy": 0.8}),
        (Curriculum("weighted", SKILLS, weights={"bin": 3, "sy": 1}), {"bin": 0.75, "sy": 0.25}),
        (Curriculum("lowest_first", SKILLS), {"bin": 0, "sy": 1}),
        (Curriculum("catch_up", SKILLS), {"bin": 1 / 6, "sy": 5 / 6}),
        (Curriculum("focus", ("bin",), focus="bin"), {"bin": 1}),
    ],
)
def test_shares_follow_the_strategy(curriculum, expected):
    assert shares(curriculum, BOTH) == pytest.approx(expected)


@pytest.mark.parametrize("preset", PRESETS)
def test_every_preset_shares_everything_out(preset):
    assert sum(shares(get_curriculum(preset), BOTH).values()) == pytest.approx(1)


def test_presets_are_what_their_names_say():
    assert set(PRESETS) == {"balanced", "bin_focus", "sy_focus", "bin_add"}
    assert shares(PRESETS["bin_focus"], BOTH)["bin"] == pytest.approx(0.8)
    assert PRESETS["bin_add"].preset == "bin_add" and PRESETS["bin_add"].skills == ("bin",)


def test_the_weakest_is_the_one_furthest_from_its_last_level():
    assert weakest(BOTH).skill == "sy"
    even = [Standing("bin", 3, 30, 0.7), Standing("sy", 2, 20, 0.6)]
    assert weakest(even).skill == "sy"


def test_what_cannot_be_shared_is_refused():
    with pytest.raises(UnknownName, match="lowest_first"):
        Curriculum("lowest", SKILLS)
    with pytest.raises(UnknownName, match="focus"):
        Curriculum("focus", SKILLS, focus="chess")
    for weights in ({"bin": -1.0}, {"chess": 1.0}, {}, {"bin": float("nan")}):
        with pytest.raises(BadValue, match="weights"):
            Curriculum("weighted", SKILLS, weights=weights)
    with pytest.raises(BadValue, match="no standing"):
        shares(PRESETS["balanced"], [Standing("chess", 1, 2)])
    with pytest.raises(UnknownName, match="bin_add"):
        get_curriculum("bin_ad")
