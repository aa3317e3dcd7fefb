"""Text heroes as files: what is shipped, what a realm adds, what is refused."""

import pytest

from levelcap.campaign.kinds.heroes import all_heroes, find_hero, get_text_hero, load_text_heroes
from levelcap.kit.errors import BadFile, UnknownName


def test_dio_and_flo_are_shipped_and_are_no_arena_heroes():
    assert set(load_text_heroes()) == {"dio-tiny", "dio", "flo"}
    assert {n for n, hero in all_heroes().items() if hero.kind == "arena"} == {"kestrel", "merlin"}
    assert get_text_hero("dio-tiny").folder() is None
    with pytest.raises(UnknownName):
        find_hero("dio-huge")
    with pytest.raises(UnknownName):
        get_text_hero("kestrel")


def test_published_heroes_have_the_size_in_their_name(home):
    dio, flo = get_text_hero("dio"), get_text_hero("flo")
    assert dio.shape.parameters == pytest.approx(0.6e9, rel=0.01)
    assert flo.shape.parameters == pytest.approx(4.0e9, rel=0.01)
    assert dio.folder() == home / "models" / "Qwen3-0.6B"


def test_a_file_of_the_realm_wins_and_nonsense_is_refused(home):
    own = home / "config" / "heroes"
    own.mkdir(parents=True)
    (own / "a.yaml").write_text("{id: dio-tiny, name: Mine, kind: text, size: dummy}")
    assert get_text_hero("dio-tiny").name == "Mine"
    for text in (
        "{id: dio-x, name: X, kind: text}",
        "{id: dio-x, name: X, kind: text, size: tiny, model: Qwen3-4B}",
        "{id: dio-x, name: X, kind: text, model: ../../etc, shape: {}}",
        "{id: dio-x, name: X, kind: bard, size: tiny}",
        "{id: dio-x, name: X, kind: text, size: tiny, colour: red}",
    ):
        (own / "b.yaml").write_text(text)
        with pytest.raises(BadFile):
            load_text_heroes()
