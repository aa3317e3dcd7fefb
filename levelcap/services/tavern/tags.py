"""Elements of a page: native tags, and small ones with a module of their own in `static/`.

Text is always text: it is handed to the browser as a text node or an attribute, never as HTML.
Components have render functions, so that the page needs no compiler and no unsafe-eval.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping
from pathlib import Path
from typing import Any, TypeVar

from nicegui.element import Element
from nicegui.elements.mixins.text_element import TextElement

STATIC = Path(__file__).parent / "static"
Handler = Callable[..., Any]
R = TypeVar("R")
_NONE = object()


class Tag(TextElement):
    """A native element with classes, text and attributes.

    What may be pressed is never replaced by its equal (`redraw`, `fill`): a press on an element
    that has gone meanwhile is lost.
    """

    _shown: Any = _NONE
    body: Tag  # of a place with a table

    def __init__(self, name: str, classes: str = "", text: str | None = None, **props: Any) -> None:
        super().__init__(tag=name, text=text)  # type: ignore[arg-type]
        if classes:
            self.classes(classes)
        for key, value in props.items():
            self._props[key.rstrip("_").replace("_", "-")] = value

    def say(self, text: str) -> None:
        """Change the text, if it differs."""
        if self.text != text:
            self.text = text

    def redraw(self, shown: Any, draw: Callable[[], object]) -> None:
        """Draw what is inside anew if `shown`, which says what that is, has changed."""
        if self._shown is _NONE or self._shown != shown:
            self._shown = shown
            self.clear()
            with self:
                draw()

    def fill(self, rows: Mapping[str, R], draw: Callable[[R], Tag], nothing: str = "") -> None:
        """Draw the rows that are new or differ, by name; the others stay the elements they are.

        nothing: what is said when there are no rows.
        """
        before: dict[str, tuple[Any, Tag]] = {} if self._shown is _NONE else self._shown
        wanted: Mapping[str, Any] = rows if rows or not nothing else {"": nothing}
        kept = {
            name: known
            for name, known in before.items()
            if name in wanted and known[0] == wanted[name]
        }
        for name in before.keys() - kept.keys():
            before[name][1].delete()
        for place, (name, shown) in enumerate(wanted.items()):
            if name not in kept:
                with self:
                    made = draw(shown) if rows else paragraph(nothing, "empty")
                kept[name] = shown, made
            if self.default_slot.children[place] is not kept[name][1]:
                kept[name][1].move(target_index=place)
        self._shown = kept

    def put(self, **props: Any) -> None:
        """Change attributes, those that differ."""
        put(self, **props)

    def only(self, classes: str) -> None:
        """Replace the classes, if they differ."""
        if self.classes != classes.split():
            self.classes(replace=classes)


def put(element: Element, **props: Any) -> None:
    """Change attributes of an element, those that differ; one message whatever their number."""
    changed = {key.rstrip("_").replace("_", "-"): value for key, value in props.items()}
    changed = {k: v for k, v in changed.items() if element._props.get(k, _NONE) != v}
    if changed:
        element._props.update(changed)
        element.update()


def div(classes: str = "", text: str | None = None, **props: Any) -> Tag:
    """A block."""
    return Tag("div", classes, text, **props)


def span(classes: str = "", text: str | None = None, **props: Any) -> Tag:
    """A run of text."""
    return Tag("span", classes, text, **props)


def heading(text: str, size: int = 2, classes: str = "") -> Tag:
    """A heading."""
    return Tag(f"h{size}", classes, text)


def paragraph(text: str, classes: str = "") -> Tag:
    """A paragraph."""
    return Tag("p", classes, text)


def link(text: str, href: str, classes: str = "", **props: Any) -> Tag:
    """A link within the Tavern."""
    return Tag("a", classes, text, href=href, **props)


def button(
    label: str,
    on_click: Handler | None = None,
    classes: str = "",
    icon: str | None = None,
    **props: Any,
) -> Tag:
    """A button; `label` is read out also when only the icon is seen (class `bare`)."""
    made = Tag("button", f"btn {classes}", type="button", aria_label=label, **props)
    with made:
        if icon is not None:
            Icon(icon)
        if "bare" not in classes.split():
            span(text=label)
    if on_click is not None:
        made.on("click", on_click, args=[])
    return made


def tip(text: str, tip_text: str, classes: str = "") -> Tag:
    """Text that explains itself when it is pointed at or focused."""
    return span(
        f"tip {classes}", text, data_tip=tip_text, tabindex="0", aria_label=f"{text}. {tip_text}"
    )


def card(title: str | None = None, classes: str = "", **props: Any) -> Tag:
    """A panel with a heading."""
    made = Tag("section", f"card {classes}", **props)
    if title is not None:
        with made:
            heading(title)
    return made


class Icon(Element, component=STATIC / "icon.js"):
    """One of our icons, drawn in `static/icon.js`."""

    def __init__(self, name: str, classes: str = "") -> None:
        super().__init__()
        self._props["name"] = name
        self.classes(f"icon {classes}")


class Portrait(Element, component=STATIC / "portrait.js"):
    """The hero, drawn by what it has reached; `bird` is one of those in `static/portrait.js`."""

    def __init__(self, bird: str, label: str) -> None:
        super().__init__()
        self._props.update(bird=bird, label=label, level=0, champion=False, resting=False)


class Battle(Element, component=STATIC / "battle.js"):
    """Floating numbers over the live battle; `hits` is a list of {id, damage, xp}."""

    def __init__(self) -> None:
        super().__init__()
        self._props.update(hits=[], resting=True)


class Modal(Element, component=STATIC / "modal.js"):
    """A dialogue window with what is put into it; closed by Escape as well."""

    def __init__(self, title: str, shown: bool = False) -> None:
        super().__init__()
        self._props.update(title=title, shown=shown)
        self.on("close", lambda: put(self, shown=False), args=[])

    def open(self) -> None:
        """Show it."""
        put(self, shown=True)

    def close(self) -> None:
        """Hide it."""
        put(self, shown=False)


class Copy(Element, component=STATIC / "copy.js"):
    """Text that one click copies."""

    def __init__(self, text: str) -> None:
        super().__init__()
        self._props["text"] = text


class Feed(Element, component=STATIC / "feed.js"):
    """A list of events in one element, newest first."""

    def __init__(self, label: str, lines: list[dict[str, Any]], most: int) -> None:
        super().__init__()
        self._most = most
        self._props.update(label=label, lines=lines[:most])

    def add(self, lines: list[dict[str, Any]]) -> None:
        """Put newer lines on top; the oldest ones go."""
        if lines:
            put(self, lines=[*lines, *self._props["lines"]][: self._most])


class Acts(Element, component=STATIC / "acts.js"):
    """The buttons of one row in one element; `on_act` is told the name of the pressed one."""

    def __init__(self, acts: list[dict[str, Any]], on_act: Handler) -> None:
        super().__init__()
        names = {act["name"] for act in acts}
        self._props["acts"] = acts

        async def pressed(event: Any) -> None:
            if event.args in names:
                answer = on_act(event.args)
                if answer is not None:
                    await answer

        self.on("act", pressed)

    def pick(self, name: str, picked: bool) -> None:
        """Show whether this one is chosen."""
        acts = self._props["acts"]
        put(self, acts=[a | {"picked": picked} if a["name"] == name else a for a in acts])
