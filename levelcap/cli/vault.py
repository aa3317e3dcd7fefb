"""`levelcap vault …`: the ledger of checkpoints, their champion, and what is kept."""

from __future__ import annotations

import getpass
import json
from pathlib import Path
from typing import Annotated, Any

from cyclopts import Parameter
from rich.console import Console
from rich.table import Table

from levelcap.campaign.kinds.heroes import find_hero
from levelcap.campaign.realm import realm
from levelcap.campaign.story.events import say
from levelcap.campaign.story.strength import difference
from levelcap.kit.db import reading, transaction
from levelcap.kit.errors import UnknownName, refuse
from levelcap.trials.verdict import Override
from levelcap.vault import archive, removals
from levelcap.vault import champion as champions
from levelcap.vault.ask import resolve
from levelcap.vault.assets import verify_asset
from levelcap.vault.backups import back_up
from levelcap.vault.evals import evaluations
from levelcap.vault.ledger import Entry, amend, get_ledger
from levelcap.vault.retention import carry_out, plan_retention

AsJson = Annotated[bool, Parameter(name="--json")]


def ls(
    *,
    campaign: str | None = None,
    sort: str = "seq",
    ascending: bool = False,
    offset: int = 0,
    limit: int = 20,
    json_: AsJson = False,
) -> None:
    """List checkpoints, newest first.

    Parameters
    ----------
    campaign
        Only those of this campaign.
    sort
        seq (the order they were saved in), step, elo, train_loss, accuracy, size_bytes or
        cost_core_seconds.
    ascending
        Smallest first.
    offset
        How many to leave out at the beginning.
    limit
        How many.
    """
    with realm() as opened:
        rows = get_ledger(opened.engine).page(
            sort, descending=not ascending, offset=offset, limit=limit, campaign=campaign
        )
    if json_:
        _console().print(json.dumps([row.as_json() for row in rows]), soft_wrap=True)
        return
    table = Table(title=f"{len(rows)} checkpoints", title_justify="left")
    for name in ("id", "step", "saved (UTC)", "train loss", "ACC", "Elo", "core-s"):
        table.add_column(name, justify="left" if name in ("id", "saved (UTC)") else "right")
    for row in rows:
        table.add_row(
            row.id,
            str(row.step),
            row.timestamp[:16].replace("T", " "),
            _short(row.train_loss),
            _short(row.accuracy),
            row.elo_text(),
            _short(row.cost_core_seconds),
        )
    _console().print(table)


def show(checkpoint: str = "latest", /, *, json_: AsJson = False) -> None:
    """Show one checkpoint: its row and its evaluations.

    Parameters
    ----------
    checkpoint
        An id, a canonical name, checkpoint_<step>, champion, best or latest.
    """
    with realm() as opened:
        entry = resolve(opened.engine, checkpoint)
        with reading(opened.engine) as connection:
            judged = evaluations(connection, entry.id)
    if json_:
        _console().print(json.dumps({**entry.as_json(), "evals": judged}), soft_wrap=True)
        return
    _show(entry)
    for row in judged:
        rates = ", ".join(f"{b} {r['win_rate']:.3f}" for b, r in row["sealed"].items())
        told = f"Elo {row['text']}; sealed {rates}" if rates else row["text"]
        _console().print(f"{row['time'][:16]} {row['kind']}: {told}")


def _show(entry: Entry) -> None:
    table = Table(show_header=False)
    for name, value in entry.as_json().items():
        if value not in (None, [], False):
            table.add_row(name, str(value))
    _console().print(table)


def best(metric: str = "elo", /, *, json_: AsJson = False) -> None:
    """Show the checkpoint with the best value of a metric."""
    with realm() as opened:
        entry = get_ledger(opened.engine).get_best(metric)
    if json_:
        _console().print(json.dumps(None if entry is None else entry.as_json()), soft_wrap=True)
    elif entry is None:
        _console().print(f"no checkpoint has a value of {metric} yet")
    else:
        _show(entry)


def compare(a: str, b: str, /) -> None:
    """Compare two checkpoints: Elo difference with its interval."""
    with realm() as opened:
        one, other = resolve(opened.engine, a), resolve(opened.engine, b)
        with reading(opened.engine) as connection:
            found = difference(connection, one.id, other.id)
    if found is None:
        _console().print("not both were judged in the same world yet: levelcap quest evaluate")
        return
    _console().print(
        f"{one.id} minus {other.id}: {found[0]:+.0f} Elo ({found[1]:+.0f} to {found[2]:+.0f})"
    )


def verify(*checkpoints: str) -> None:
    """Read every byte of checkpoints (default: all) and compare with their manifests."""
    with realm() as opened:
        names = list(checkpoints)
        if not names:
            names = [row.id for row in get_ledger(opened.engine).list(limit=1000)]
        for name in names:
            verify_asset(opened.engine, resolve(opened.engine, name).id)
    _console().print(f"{len(names)} checkpoints are whole")


def promote(checkpoint: str, /, *, reason: str = "chosen by a person") -> None:
    """Make a checkpoint the champion of its hero."""
    with realm() as opened:
        override = Override(reason, getpass.getuser())
        made = champions.promote(opened.engine, resolve(opened.engine, checkpoint).id, override)
        say(
            opened.engine,
            "vault.champion_promoted",
            f"{made.checkpoint}: {reason}",
            severity="success",
        )
    _console().print(f"champion of {made.hero}: {made.checkpoint} (before: {made.previous})")


def rollback(*, hero: str = "kestrel") -> None:
    """Undo the last promotion."""
    find_hero(hero)
    with realm() as opened:
        now = champions.roll_back(opened.engine, hero)
        after = "nobody" if now is None else now.checkpoint
        say(
            opened.engine,
            "vault.champion_rolled_back",
            f"the champion is {after} again",
            severity="warning",
        )
    _console().print(f"champion of {hero}: {after}")


def retain(*, keep: int = 20, dry_run: bool = False) -> None:
    """Remove checkpoints that need not stay; never champions, the latest, the best, the young.

    Parameters
    ----------
    keep
        Newest checkpoints of each campaign that stay.
    dry_run
        Only say what would go.
    """
    with realm() as opened:
        plan = plan_retention(opened.engine, keep)
        if not dry_run and plan.remove:
            back_up(opened.engine, "retention")
            carry_out(opened.engine, plan)
    word = "would go" if dry_run else "removed"
    _console().print(
        f"{len(plan.remove)} checkpoints {word}, {plan.size_bytes / 1e6:.1f} MB; "
        f"{len(plan.protected)} are protected"
    )


def pin(checkpoint: str, /) -> None:
    """Keep a checkpoint: retention and removal leave it."""
    _set_pin(checkpoint, True)


def unpin(checkpoint: str, /) -> None:
    """Keep a checkpoint no longer than others."""
    _set_pin(checkpoint, False)


def _set_pin(checkpoint: str, pinned: bool) -> None:
    with realm() as opened:
        entry = resolve(opened.engine, checkpoint)
        with transaction(opened.engine) as connection:
            amend(connection, entry.id, pinned=int(pinned))
    _console().print(f"{entry.id} is {'pinned' if pinned else 'not pinned'}")


def rm(checkpoint: str, /, *, delay_s: float = 0) -> None:
    """Remove a checkpoint; champions and pinned ones stay.

    Parameters
    ----------
    delay_s
        Seconds in which `levelcap vault restore` takes it back; the Keeper removes it then.
    """
    with realm() as opened:
        entry = resolve(opened.engine, checkpoint)
        due = removals.schedule(opened.engine, entry.id, delay_s)
        if delay_s > 0:
            _console().print(f"{entry.id} goes at {due[:19]} UTC")
            return
        for gone, reason in removals.carry_out_due(opened.engine).items():
            _console().print(f"{gone} is removed" if reason is None else f"{gone}: {reason}")


def restore(checkpoint: str, /) -> None:
    """Take back a removal that waits."""
    with realm() as opened:
        removals.take_back(opened.engine, resolve(opened.engine, checkpoint).id)
    _console().print(f"{checkpoint} stays")


def pack(checkpoint: str, target: Path, /) -> None:
    """Write a checkpoint as one .tar."""
    with realm() as opened:
        written = archive.pack(opened.engine, resolve(opened.engine, checkpoint).id, target)
    _console().print(f"{written} ({written.stat().st_size / 1e6:.2f} MB)", soft_wrap=True)


def unpack(source: Path, /, *, hero: str = "kestrel") -> None:
    """Take in a checkpoint that `levelcap vault pack` wrote, once its net has worked."""
    reads = find_hero(hero).kind == "text"
    with realm() as opened:
        entry = archive.unpack(opened.engine, source, hero, reads=reads)
    _console().print(f"{entry.id} of {entry.world}, {entry.total_examples_trained:,} steps")


def export(*_: str) -> None:
    """The old word for `pack`."""
    raise _renamed("export", "pack")


def import_(*_: str) -> None:
    """The old word for `unpack`."""
    raise _renamed("import", "unpack")


def _renamed(old: str, new: str) -> UnknownName:
    return UnknownName(refuse(f"vault {old} has another name", old, f"Use levelcap vault {new}"))


def _short(value: Any) -> str:
    return "" if value is None else f"{value:.4g}"


def _console() -> Console:
    return Console(highlight=False)
