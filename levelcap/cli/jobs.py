"""`levelcap job …`: the queue by hand. `levelcap settings …`: the machine's settings."""

from __future__ import annotations

import json

import psutil

from levelcap.campaign.realm import realm
from levelcap.campaign.sheet.memory import memory_of
from levelcap.cli.options import Int
from levelcap.cli.printer import print_table, say, table
from levelcap.jobs.priority import set_priority
from levelcap.jobs.rows import find_id
from levelcap.kit.config import describe_settings, save_settings
from levelcap.kit.documents import load_yaml
from levelcap.kit.errors import BadValue, refuse
from levelcap.nets.text.memory import GIB


def ls(*, status: str | None = None, type: str | None = None, limit: Int = 20) -> None:
    """List jobs, newest first."""
    with realm() as opened:
        rows = opened.store.list(status, type, limit)
    columns = ("id", "type", "status", "priority", "tries", "worker", "created", "error")
    cells = [
        (
            *(row.id, row.type, row.status.value, row.priority),
            *(f"{row.attempts}/{row.max_attempts}", row.worker, row.created[:19]),
            (row.error or "")[:60],
        )
        for row in rows
    ]
    print_table(table(columns, cells))


def show(job: str, /) -> None:
    """Show one job and what happened to it."""
    with realm() as opened:
        known = opened.read(find_id, job)
        found, events = opened.store.get(known), opened.store.events(known)
    say(json.dumps({**found.as_json(), "events": events}, indent=1))


def retry(job: str, /) -> None:
    """Queue a failed, dead or cancelled job again."""
    with realm() as opened:
        found = opened.store.retry(opened.read(find_id, job))
    say(f"{found.id}: {found.status.value}")


def cancel(job: str, /) -> None:
    """End an open job."""
    with realm() as opened:
        found = opened.store.cancel(opened.read(find_id, job))
    say(f"{found.id}: {found.status.value}")


def priority(job: str, priority: str, /) -> None:
    """Move a waiting job: critical, high, normal, low or idle."""
    with realm() as opened:
        found = set_priority(opened.store, opened.read(find_id, job), priority)
    say(f"{found.id}: {found.priority}")


def settings_show() -> None:
    """List every setting, its value and where the value comes from."""
    keys = ("name", "value", "origin", "default", "help")
    columns = ("setting", "value", "from", "default", "what it is")
    print_table(table(columns, [[row[key] for key in keys] for row in describe_settings()]))


def settings_set(*changes: str) -> None:
    """Write settings, each as name=value; name= takes one back to its default."""
    save_settings(parse_pairs(changes))
    settings_show()


def parse_pairs(pairs: tuple[str, ...]) -> dict[str, object]:
    """`name=value` pairs, values read as YAML scalars."""
    made: dict[str, object] = {}
    for pair in pairs:
        name, equals, value = pair.partition("=")
        if not equals or not name:
            raise BadValue(refuse("a change is name=value", pair, "Write e.g. cores=2"))
        made[name] = _scalar(pair, value) if value else None
    return made


def _scalar(pair: str, text: str) -> object:
    try:
        return load_yaml(text)
    except ValueError as error:
        raise BadValue(refuse(f"not a value ({error})", pair, "Write e.g. cores=2")) from error


def settings_memory(
    hero: str, /, *, batch: Int | None = None, length: Int = 128, checkpointing: bool = False
) -> None:
    """State what training a text hero takes of this machine's memory.

    Parameters
    ----------
    batch
        Texts of an update; without it the hero's own number.
    length
        Tokens of a text.
    checkpointing
        Compute activations twice to hold fewer of them.
    """
    found = memory_of(hero, batch, length, checkpointing)
    device = psutil.virtual_memory().total
    shown = f"{found.sentence()}, {100 * found.total / device:.0f} % of {device / GIB:.0f} GB"
    say(f"{shown} ({found.colour(device)})")
