"""Named values of the realm: small facts that survive a restart, kept in the database."""

from __future__ import annotations

import json
from typing import Any

from levelcap.kit.db import Connection


def get_value(connection: Connection, name: str, default: Any = None) -> Any:
    """The value stored under `name`, or the default."""
    found = connection.execute("SELECT value FROM realm WHERE name = :n", {"n": name}).scalar()
    return default if found is None else json.loads(found)


def set_value(connection: Connection, name: str, value: Any) -> None:
    """Store a value; None removes it."""
    if value is None:
        connection.execute("DELETE FROM realm WHERE name = :n", {"n": name})
        return
    connection.execute(
        "INSERT INTO realm VALUES (:n, :v) ON CONFLICT (name) DO UPDATE SET value = excluded.value",
        {"n": name, "v": json.dumps(value, sort_keys=True)},
    )
