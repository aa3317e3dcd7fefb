"""Rows as dataclasses: columns are fields, and what is a list or a table in a field is JSON."""

from __future__ import annotations

import json
from dataclasses import Field, asdict, fields
from typing import Any, ClassVar, TypeVar

from levelcap.kit.db import Connection


class Row:
    """Base of frozen dataclasses that are rows, or what a page shows of several."""

    __dataclass_fields__: ClassVar[dict[str, Field[Any]]]

    def as_json(self) -> dict[str, Any]:
        """Plain values, as the API gives them."""
        return asdict(self)


D = TypeVar("D", bound=Row)


def select(connection: Connection, kind: type[D], query: str, /, **values: Any) -> list[D]:
    """What a query finds, as dataclasses."""
    texts = {f.name for f in fields(kind) if str(f.type).startswith(("dict", "list"))}

    def read(name: str, value: Any) -> Any:
        return json.loads(value) if name in texts and value is not None else value

    found = (row._asdict() for row in connection.execute(query, values))
    return [kind(**{name: read(name, value) for name, value in row.items()}) for row in found]


def first(connection: Connection, kind: type[D], query: str, /, **values: Any) -> D | None:
    """The first that a query finds."""
    return next(iter(select(connection, kind, f"{query} LIMIT 1", **values)), None)


def insert(connection: Connection, table: str, values: dict[str, Any], after: str = "") -> int:
    """Write one row, lists and tables in it as JSON; returns how many were written.

    after: what stands behind the values.
    """
    plain = {
        name: json.dumps(value) if isinstance(value, dict | list) else value
        for name, value in values.items()
    }
    columns, slots = ", ".join(plain), ", ".join(f":{name}" for name in plain)
    query = f"INSERT INTO {table} ({columns}) VALUES ({slots}) {after}"
    return int(connection.execute(query, plain).rowcount)


def number(connection: Connection, query: str, /, **values: Any) -> int:
    """The one whole number a query finds."""
    return int(connection.execute(query, values).scalar_one())


def counts(connection: Connection, query: str, /, **values: Any) -> dict[str, int]:
    """Names and their counts."""
    return {name: int(count) for name, count in connection.execute(query, values)}


def at_most(limit: int) -> int:
    """Rows of a page, whatever was asked for."""
    return max(1, min(limit, 1000))
