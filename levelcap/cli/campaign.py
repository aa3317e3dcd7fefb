"""`levelcap campaign …`, `levelcap quest …`, `levelcap training …`: steering the wheel by hand."""

from __future__ import annotations

from pathlib import Path
from typing import Annotated

from cyclopts import Parameter
from rich.console import Console
from rich.table import Table

from levelcap.campaign.kinds.heroes import find_hero
from levelcap.campaign.realm import realm
from levelcap.campaign.story import campaigns, quests
from levelcap.campaign.wheel import control, inbox
from levelcap.campaign.work.desk import campaign_for, enter
from levelcap.campaign.work.evaluate import EvaluateRecipe
from levelcap.kit.db import reading, transaction
from levelcap.kit.errors import BadFile, refuse
from levelcap.vault.ask import resolve


def ls() -> None:
    """List campaigns, newest first."""
    with realm() as opened, reading(opened.engine) as connection:
        rows = campaigns.list_all(connection)
    table = Table()
    for name in ("id", "hero", "name", "status", "step", "best Elo"):
        table.add_column(name)
    for row in rows:
        peak = row.peak_metrics.get("elo")
        best = "" if peak is None else f"{peak['value']:.0f} at step {peak['step']}"
        table.add_row(row.id, row.hero_id, row.name, row.status, str(row.current_step), best)
    _console().print(table)


def new(
    name: str,
    /,
    *,
    hero: str = "kestrel",
    from_: Annotated[str | None, Parameter(name="--from")] = None,
) -> None:
    """Start a campaign; the active one of this hero is archived.

    Parameters
    ----------
    from_
        A checkpoint to start from (New Game+); default: from nothing.
    """
    with realm() as opened:
        find_hero(hero)
        entry = None if from_ is None else resolve(opened.engine, from_, hero)
        with transaction(opened.engine) as connection:
            made = campaigns.create(
                connection,
                hero,
                name,
                starting_checkpoint=entry.id if entry else None,
                starting_step=entry.step if entry else 0,
            )
    _console().print(f"{made.id}: {made.name}")


def continue_(campaign: str, /) -> None:
    """Continue an archived campaign."""
    with realm() as opened, transaction(opened.engine) as connection:
        found = campaigns.resume(connection, campaign)
    _console().print(f"{found.id}: {found.name} is active")


def archive(campaign: str, /) -> None:
    """Put a campaign away; its checkpoints stay."""
    with realm() as opened, transaction(opened.engine) as connection:
        found = campaigns.archive(connection, campaign)
    _console().print(f"{found.id}: {found.name} is archived")


def settings(
    campaign: str,
    /,
    *changes: str,
    approve: Annotated[list[str] | None, Parameter(negative=())] = None,
) -> None:
    """Show a campaign's settings, or change them: name=value.

    Parameters
    ----------
    approve
        A locked setting that may change.
    """
    from levelcap.cli.jobs import parse_pairs

    with realm() as opened, transaction(opened.engine) as connection:
        found = campaigns.get(connection, campaign)
        if changes:
            values = parse_pairs(changes)
            found = campaigns.set_overrides(connection, campaign, values, approve or [])
    for name, value in sorted(found.config_overrides.items()):
        _console().print(f"{name}: {value}", markup=False)


def quest_ls(*, status: str | None = None, limit: int = 20) -> None:
    """List quests, newest first.

    Parameters
    ----------
    status
        open, queued, running, done, skipped, failed, dead or cancelled.
    """
    with realm() as opened, reading(opened.engine) as connection:
        rows = quests.list_quests(connection, status=status, limit=limit)
    table = Table()
    for name in ("id", "quest", "status", "priority", "from", "run"):
        table.add_column(name)
    for row in rows:
        table.add_row(row.id, row.title, row.status, row.priority, row.source, row.run or "")
    _console().print(table)


def quest_add(recipe: Path, /) -> None:
    """Queue a recipe (a YAML file; QUICKSTART has examples)."""
    try:
        data = recipe.read_bytes()
    except OSError as error:
        what = f"cannot read the recipe ({error.strerror})"
        raise BadFile(refuse(what, str(recipe), "Give the path of a YAML file")) from error
    with realm() as opened:
        quest = inbox.enter_text(opened.store, data, recipe.name)
    _console().print(f"{quest.id}: {quest.title} ({quest.status})")


def quest_evaluate(checkpoint: str = "latest", /, *, games: int = 400, seed: int = 0) -> None:
    """Queue an evaluation of a checkpoint."""
    with realm() as opened:
        recipe = EvaluateRecipe(quest="evaluate", checkpoint=checkpoint, games=games, seed=seed)
        quest = enter(
            opened.store, campaign_for(opened.store, recipe.hero_kind), recipe, source="person"
        )
    _console().print(f"{quest.id}: {quest.title} ({quest.status})")


def quest_retry(quest: str, /) -> None:
    """Queue a failed quest again."""
    with realm() as opened:
        found = quests.retry(opened.store, quest)
    _console().print(f"{found.id}: {found.status}")


def quest_priority(quest: str, priority: str, /) -> None:
    """Move a waiting quest: critical, high, normal, low or idle."""
    with realm() as opened:
        found = quests.prioritise(opened.store, quest, priority)
    _console().print(f"{found.id}: {found.priority}")


def quest_cancel(quest: str, /) -> None:
    """Take a quest out of the queue, or end it."""
    with realm() as opened:
        found = quests.cancel(opened.store, quest)
    _console().print(f"{found.id}: {found.status}")


def _steer(action: str) -> None:
    with realm() as opened:
        asked = control.control(opened.store, action)
    held = "" if asked.held is None else f", held: {asked.held}"
    _console().print(f"training is {asked.state}{held}")


def pause() -> None:
    """Let training wait, its checkpoint saved."""
    _steer("pause")


def resume() -> None:
    """Let training go on."""
    _steer("resume")


def stop() -> None:
    """End the present run with a checkpoint; its quest goes back to the queue."""
    _steer("stop")


def skip() -> None:
    """End the present quest with a checkpoint and go on with the next."""
    _steer("skip")


def retry() -> None:
    """Try scheduled work again that was stopped because it kept failing."""
    _steer("retry")


def _console() -> Console:
    return Console(highlight=False, soft_wrap=True)
