"""YAML that people write: plain values, no key twice, no anchors.

A key that occurs twice says two things and YAML keeps the last without a word; a few lines of
anchors can stand for gigabytes. Both are refused. One loader for recipes, heroes, skills, titles
and settings.
"""

from typing import Any

import yaml


def load_yaml(text: str) -> Any:
    """The plain values of a YAML text.

    Raises:
        ValueError: not YAML, a key twice, an alias, or nested too deeply; in one line.
    """
    try:
        return _Strict(text).get_single_data()
    except yaml.YAMLError as error:
        raise ValueError(" ".join(str(error).split())) from error
    except RecursionError as error:
        raise ValueError("nested too deeply") from error


class _Strict(yaml.SafeLoader):
    def compose_node(self, parent: Any, index: Any) -> Any:
        if self.check_event(yaml.events.AliasEvent):
            event = self.peek_event()  # type: ignore[no-untyped-call]
            raise yaml.YAMLError(f"an alias (*{event.anchor}) is not allowed")
        return super().compose_node(parent, index)

    def construct_mapping(self, node: Any, deep: bool = False) -> Any:
        seen: set[Any] = set()
        for key, _ in node.value:
            name = getattr(key, "value", None)
            if isinstance(name, str):
                if name in seen:
                    line = key.start_mark.line + 1
                    raise yaml.YAMLError(f"the key {name!r} occurs twice (line {line})")
                seen.add(name)
        return super().construct_mapping(node, deep)
