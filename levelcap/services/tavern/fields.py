"""Fields a person fills in: each is one labelled control of `static/field.js`."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from typing import Any

from nicegui.element import Element

from levelcap.services.tavern.tags import STATIC, button, div, put

OnChange = Callable[[Any], Any]
MAX_CHARS = 64 << 10


class Field(Element, component=STATIC / "field.js"):
    """One control; `value` is what the browser last said.

    kind: text, number, area, choice or switch. options: of a choice, value -> label.
    """

    def __init__(
        self,
        label: str,
        kind: str = "text",
        value: Any = "",
        *,
        options: Mapping[str, str] | Sequence[str] | None = None,
        hint: str = "",
        on_change: OnChange | None = None,
        locked: bool = False,
        classes: str = "",
    ) -> None:
        super().__init__()
        self.value = value
        self._told = on_change
        named = dict(options) if isinstance(options, Mapping) else {o: o for o in options or ()}
        self._options = set(named)
        self._kind = kind
        pairs = [{"value": key, "label": name} for key, name in named.items()]
        self._props.update(
            label=label, kind=kind, value=value, options=pairs, hint=hint, locked=locked
        )
        self.classes(f"field {classes}")
        self.on("changed", self._changed)

    async def _changed(self, event: Any) -> None:
        given = event.args
        if self._kind == "switch":
            given = bool(given)
        elif not isinstance(given, str) or len(given) > MAX_CHARS:
            return
        if self._kind == "choice" and given not in self._options:
            return
        self.value = given
        with self._props.suspend_updates():  # the browser shows it already
            self._props["value"] = given
        if self._told is not None:
            answer = self._told(given)
            if answer is not None:
                await answer

    def set(self, value: Any) -> None:
        """Show another value."""
        self.value = value
        put(self, value=value)


def form(
    fields: Mapping[str, dict[str, Any]],
    word: str,
    send: Callable[[dict[str, Any]], Any],
    *,
    icon: str = "check",
    look: str = "primary",
    block: str = "thirds",
) -> dict[str, Field]:
    """The one form of all pages: labelled fields, then the button that sends what stands in them.

    fields: name -> what `Field` takes. send: gets name -> value.
    """
    with div(block):
        made = {name: Field(**given) for name, given in fields.items()}

    async def press() -> None:
        await send({name: field.value for name, field in made.items()})

    button(word, press, look, icon)
    return made


class Drop(Element, component=STATIC / "drop.js"):
    """A place to drop a file on; tells its name and text, at most 64 KiB."""

    def __init__(self, label: str, on_file: Callable[[str, str], Any]) -> None:
        super().__init__()
        self._props.update(label=label, limit=MAX_CHARS)
        self._told = on_file
        self.on("file", self._file)

    async def _file(self, event: Any) -> None:
        given = event.args
        if not isinstance(given, dict):
            return
        name, text = given.get("name"), given.get("text")
        if isinstance(name, str) and isinstance(text, str) and len(text) <= MAX_CHARS:
            answer = self._told(name[:200], text)
            if answer is not None:
                await answer
