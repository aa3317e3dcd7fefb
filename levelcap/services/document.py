"""Documents that leave the realm: one HTML file each, that needs nothing else and runs nothing."""

from __future__ import annotations

from datetime import UTC, datetime
from pathlib import Path

from jinja2 import Environment, FileSystemLoader, StrictUndefined

import levelcap


def render(template: str, **values: object) -> str:
    """A template of `documents/` with these values, all of them escaped."""
    made = Environment(
        loader=FileSystemLoader(Path(__file__).parent / "documents"),
        autoescape=True,
        trim_blocks=True,
        undefined=StrictUndefined,
    )
    made.filters["when"] = when
    now = datetime.now(UTC).strftime("%Y-%m-%d %H:%M UTC")
    return made.get_template(template).render(**values, now=now, version=levelcap.__version__)


def when(time: str) -> str:
    """A moment as people read it."""
    return time[:16].replace("T", " ")
