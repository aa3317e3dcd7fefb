"""Names that were typed: whole, or so much of their beginning that only one thing is meant."""

from collections.abc import Sequence

from levelcap.kit.db import Connection
from levelcap.kit.errors import BadValue, refuse, unknown_name

MIN_CHARS = 4  # fewer would soon mean another thing than yesterday
LISTED = 8


def by_prefix(connection: Connection, kind: str, table: str, given: str, where: str = "1") -> str:
    """The id in a table that begins so, or one of whose parts behind a dash does.

    `job-4f0a1c…` is found by `job-4f0a` and by `4f0a`. Its owner calls this for its table.

    Args:
        kind: what the table holds, for the message.
        given: what was typed.
        where: which rows count.

    Raises:
        UnknownName: nothing begins so. BadValue: several do; the message names them.
    """
    newest = f"FROM {table} WHERE {where} ORDER BY rowid DESC LIMIT 20"
    whole = connection.execute(f"SELECT id FROM {table} WHERE id = :g", {"g": given}).scalar()
    if whole is not None:
        return str(whole)
    query = (
        f"SELECT id FROM {table} WHERE ({where}) AND length(:g) >= {MIN_CHARS}"
        " AND (substr(id, 1, length(:g)) = :g OR instr(id, '-' || :g) > 0)"
        f" ORDER BY id LIMIT {LISTED + 1}"
    )
    found = connection.execute(query, {"g": given}).scalars()
    if not found:
        raise unknown_name(kind, given, connection.execute(f"SELECT id {newest}").scalars())
    return the_only(kind, given, found)


def the_only(kind: str, given: str, found: Sequence[str]) -> str:
    """The one that was found.

    Raises:
        BadValue: there are several.
    """
    if len(found) == 1:
        return found[0]
    listed = ", ".join(found[:LISTED]) + (", …" if len(found) > LISTED else "")
    raise BadValue(refuse(f"more than one {kind} begins so", given, f"Name one of: {listed}"))
