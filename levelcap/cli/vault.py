"""`levelcap vault …`: the ledger of checkpoints, their champion, and what is kept."""

from __future__ import annotations

import getpass
from pathlib import Path
from typing import Any

from levelcap.campaign.kinds.heroes import find_hero
from levelcap.campaign.realm import Realm, realm
from levelcap.campaign.wheel import curate
from levelcap.campaign.work import retention
from levelcap.cli.options import AsJson, Int
from levelcap.cli.printer import print_table, say, say_json, table
from levelcap.kit.errors import BadValue, UnknownName, refuse
from levelcap.vault import archive, notes, removals
from levelcap.vault.ask import id_of, resolve
from levelcap.vault.assets import verify_asset
from levelcap.vault.evals import evaluations
from levelcap.vault.ledger import Entry, get_ledger


def ls(
    *,
    campaign: str | None = None,
    sort: str = "seq",
    ascending: bool = False,
    offset: Int = 0,
    limit: Int = 20,
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
        say_json([row.as_json() for row in rows])
        return
    columns = ("id", "step", "saved (UTC)", "train loss", "ACC", "Elo", "core-s")
    numbers = ("step", "train loss", "ACC", "Elo", "core-s")
    cells = [
        (
            *(row.id, row.step, row.timestamp[:16].replace("T", " "), _short(row.train_loss)),
            *(_short(row.accuracy), row.elo_text(), _short(row.cost_core_seconds)),
        )
        for row in rows
    ]
    print_table(table(columns, cells, f"{len(rows)} checkpoints", numbers))


def show(checkpoint: str = "latest", /, *, json_: AsJson = False) -> None:
    """Show one checkpoint: its row and its evaluations.

    Parameters
    ----------
    checkpoint
        An id or its beginning, a canonical name, checkpoint_<step>, champion, best, latest, the
        id of a hero, or a folder.
    """
    with realm() as opened:
        entry = resolve(opened.engine, id_of(checkpoint))
        judged = opened.read(evaluations, entry.id)
    if json_:
        say_json({**entry.as_json(), "evals": judged})
        return
    _show(entry)
    for row in judged:
        rates = ", ".join(f"{b} {r['win_rate']:.3f}" for b, r in row["sealed"].items())
        told = f"Elo {row['text']}; sealed {rates}" if rates else row["text"]
        say(f"{row['time'][:16]} {row['kind']}: {told}")


def _show(entry: Entry) -> None:
    values = entry.as_json().items()
    print_table(table((), [row for row in values if row[1] not in (None, [], False)]))


def best(metric: str = "elo", /, *, json_: AsJson = False) -> None:
    """Show the checkpoint with the best value of a metric."""
    with realm() as opened:
        entry = get_ledger(opened.engine).get_best(metric)
    if json_:
        say_json(None if entry is None else entry.as_json())
    elif entry is None:
        say(f"no checkpoint has a value of {metric} yet")
    else:
        _show(entry)


def compare(a: str, b: str, /) -> None:
    """Compare two checkpoints: Elo difference with its interval."""
    with realm() as opened:
        one, other, found = curate.compare(opened.engine, id_of(a), id_of(b))
    if one.world != other.world:
        what = "results of different worlds are never compared"
        worlds = f"{one.id} in {one.world}, {other.id} in {other.world}"
        raise BadValue(refuse(what, worlds, "Name two checkpoints of one world and tick rate"))
    if found is None:
        say("not both were judged in the same world yet: levelcap quest evaluate")
        return
    gap, low, high = found
    say(f"{one.id} minus {other.id}: {gap:+.0f} Elo ({low:+.0f} to {high:+.0f})")


def verify(*checkpoints: str) -> None:
    """Read every byte of checkpoints (default: all) and compare with their manifests."""
    with realm() as opened:
        names = list(checkpoints)
        if not names:
            names = [row.id for row in get_ledger(opened.engine).list(limit=1000)]
        for name in names:
            verify_asset(opened.engine, resolve(opened.engine, id_of(name)).id)
    say(f"{len(names)} checkpoints are whole")


def promote(checkpoint: str, /, *, reason: str = "chosen by a person") -> None:
    """Make a checkpoint the champion of its hero."""
    with realm() as opened:
        made = curate.promote(opened.engine, id_of(checkpoint), reason, getpass.getuser())
    say(f"champion of {made.hero}: {made.checkpoint} (before: {made.previous})")


def rollback(*, hero: str = "kestrel") -> None:
    """Undo the last promotion."""
    with realm() as opened:
        now = curate.roll_back(opened.engine, hero)
    say(f"champion of {hero}: {'nobody' if now is None else now.checkpoint}")


def retain(*, keep: Int = 20, dry_run: bool = False) -> None:
    """Remove checkpoints that need not stay; never champions, the latest, the best, the young.

    Parameters
    ----------
    keep
        Newest checkpoints of each campaign that stay.
    dry_run
        Only say what would go.
    """
    with realm() as opened:
        plan, _ = retention.retain(opened.engine, keep, dry_run)
    word = "would go" if dry_run else "removed"
    size = f"{plan.size_bytes / 1e6:.1f} MB"
    say(f"{len(plan.remove)} checkpoints {word}, {size}; {len(plan.protected)} are protected")


def pin(checkpoint: str, /) -> None:
    """Keep a checkpoint: retention and removal leave it."""
    _set_pin(checkpoint, True)


def unpin(checkpoint: str, /) -> None:
    """Keep a checkpoint no longer than others."""
    _set_pin(checkpoint, False)


def _set_pin(checkpoint: str, pinned: bool) -> None:
    with realm() as opened:
        entry = curate.pin(opened.engine, id_of(checkpoint), pinned)
    say(f"{entry.id} is {'pinned' if pinned else 'not pinned'}")


def rm(checkpoint: str, /, *, delay_s: float = 0) -> None:
    """Remove a checkpoint; champions and pinned ones stay.

    Parameters
    ----------
    delay_s
        Seconds in which `levelcap vault restore` takes it back; the Keeper removes it then.
    """
    with realm() as opened:
        entry = resolve(opened.engine, id_of(checkpoint))
        due = removals.schedule(opened.engine, entry.id, delay_s)
        if delay_s > 0:
            say(f"{entry.id} goes at {due[:19]} UTC")
            return
        for gone, reason in removals.carry_out_due(opened.engine).items():
            say(f"{gone} is removed" if reason is None else f"{gone}: {reason}")


def restore(checkpoint: str, /) -> None:
    """Take back a removal that waits."""
    with realm() as opened:
        entry = resolve(opened.engine, id_of(checkpoint))
        removals.take_back(opened.engine, entry.id)
    say(f"{entry.id} stays")


def note(subject: str, text: str | None = None, /) -> None:
    """Show or write a note beside a checkpoint or a run; "" takes it away.

    Parameters
    ----------
    subject
        A checkpoint, or the id of a run.
    text
        What to write.
    """
    with realm() as opened:
        found = _note(opened, subject, text)
    say(f"{found.subject}: {found.text or 'no note'}")


def tag(subject: str, /, *tags: str, remove: bool = False) -> None:
    """Show the tags of a checkpoint or a run, or add some.

    Parameters
    ----------
    subject
        A checkpoint, or the id of a run.
    tags
        Tags to add.
    remove
        Take these away instead.
    """
    with realm() as opened:
        before = set(_note(opened, subject).tags)
        now = before - set(tags) if remove else before | set(tags)
        found = _note(opened, subject, tags=sorted(now) if tags else None)
    say(f"{found.subject}: {', '.join(found.tags) or 'no tags'}")


def _note(
    opened: Realm, subject: str, text: str | None = None, tags: list[str] | None = None
) -> notes.Note:
    """The note of a run, or of what a checkpoint's name means, after writing."""
    if not opened.read(notes.is_run, subject):
        subject = resolve(opened.engine, subject).id
    if text is None and tags is None:
        return opened.read(notes.notes_of, [subject]).get(subject, notes.Note(subject))
    return opened.write(notes.annotate, subject, text, tags)


def pack(checkpoint: str, target: Path, /) -> None:
    """Write a checkpoint as one .tar."""
    with realm() as opened:
        written = archive.pack(opened.engine, resolve(opened.engine, id_of(checkpoint)).id, target)
    say(f"{written} ({written.stat().st_size / 1e6:.2f} MB)")


def unpack(source: Path, /, *, hero: str = "kestrel") -> None:
    """Take in a checkpoint that `levelcap vault pack` wrote, once its net has worked."""
    reads = find_hero(hero).kind == "text"
    with realm() as opened:
        entry = archive.unpack(opened.engine, source, hero, reads=reads)
    say(f"{entry.id} of {entry.world}, {entry.total_examples_trained:,} steps")


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
