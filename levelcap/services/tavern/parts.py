"""Small pieces of pages: chips, bars, meters, figures, lines of a list."""

from __future__ import annotations

from collections.abc import Iterable

from levelcap.services.tavern.tags import Icon, Tag, div, heading, paragraph, span, tip


def page_heading(title: str, text: str) -> None:
    """The heading of a page and what it is for."""
    with div("page-head"):
        heading(title, 1)
        paragraph(text)


def chips(rows: Iterable[tuple[str, str]]) -> None:
    """A row of short facts: words and look of each."""
    with Tag("ul", "chips"):
        for said, look in rows:
            Tag("li", f"chip {look}", said)


def bar(share: float, label: str, look: str = "", most: float = 1) -> Tag:
    """How far something is; label: what a screen reader says."""
    value = round(share, 4)
    return Tag("progress", look, max=str(most), value=str(value), aria_label=label)


def meter(name: str, said: str, formula: str, share: float, label: str, most: float = 1) -> None:
    """A share with its name, its words and its formula."""
    with div("meter"):
        with div("meter-head"):
            span("quest-sub", name)
            tip(said, formula)
        bar(share, label, most=most)


def figures(rows: Iterable[tuple[str, str, str]]) -> list[Tag]:
    """Numbers side by side: name, value, formula; returns the values, to change them."""
    shown = []
    with div("figures"):
        for name, value, formula in rows:
            with div("figure"):
                span("figure-name", name)
                shown.append(tip(value, formula, "figure-value"))
    return shown


def words(title: str, text: str, look: str = "") -> Tag:
    """A title with a line below it."""
    made = div("event-words")
    with made:
        span(f"event-title {look}", title)
        span("event-text", text)
    return made


def line(title: str, text: str, time: str, icon: str = "", look: str = "") -> Tag:
    """One row of a list of what happened; returns its time, to change it."""
    with Tag("li", "event"):
        if icon:
            Icon(icon)
        words(title, text, look)
        return span("event-time", time)


def rung(icon: str, title: str, done: bool) -> Tag:
    """One step of a ladder; what stands at its end is put into it."""
    made = Tag("li", "rung done" if done else "rung")
    with made:
        Icon(icon)
        span("rung-title", title)
    return made
