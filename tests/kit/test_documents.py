"""YAML that people write: plain, no key twice, no anchors."""

import pytest

from levelcap.kit.documents import load_yaml


def test_plain_values():
    assert load_yaml("a: 1\nb: [x, 2.5]\n") == {"a": 1, "b": ["x", 2.5]}
    assert load_yaml("c: {d: null}\n") == {"c": {"d": None}}
    assert load_yaml("") is None


@pytest.mark.parametrize(
    "text, reason",
    [
        ("a: 1\na: 2\n", "'a' occurs twice"),
        ("a:\n  b: 1\n  c: 2\n  b: 1\n", "'b' occurs twice"),
        ("- {x: 1, x: 1}\n", "'x' occurs twice"),
        ("a: &x [1]\nb: *x\n", "alias"),
        ("a: [", "expected"),
        ("!!python/object/apply:os.system ['true']", "could not determine a constructor"),
        ("[" * 20_000, "nested too deeply"),
    ],
)
def test_what_is_refused(text, reason):
    with pytest.raises(ValueError, match=reason) as refused:
        load_yaml(text)
    assert "\n" not in str(refused.value)
