"""`levelcap campaign …`, `levelcap quest …`, `levelcap training …`: steering the wheel by hand."""

from __future__ import annotations

from pathlib import Path
from typing import Annotated, Any

from cyclopts import Parameter

from levelcap.campaign.realm import realm
from levelcap.campaign.story import campaigns, quests
from levelcap.campaign.wheel import control, inbox
from levelcap.campaign.wheel.curate import begin_campaign
from levelcap.campaign.work.desk import campaign_for, enter
from levelcap.campaign.work.recipes import read_recipe
from levelcap.cli.options import Int
from levelcap.cli.printer import print_table, say, table
from levelcap.kit.errors import BadFile, refuse
from levelcap.vault.ask import id_of


def ls() -> None:
    """List campaigns, newest first."""
    with realm() as opened:
        rows = opened.read(campaigns.list_all)
    columns = ("id", "hero", "name", "status", "step", "best Elo")
    print_table(table(columns, [_cells(row) for row in rows]))


def _cells(row: campaigns.Campaign) -> tuple[Any, ...]:
    peak = row.peak_metrics.get("elo")
    best = None if peak is None else f"{peak['value']:.0f} at step {peak['step']}"
    return row.id, row.hero_id, row.name, row.status, row.current_step, best


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
        A checkpoint to start from (New Game+): an id, champion, best, latest or a folder; default:
        from nothing.
    """
    with realm() as opened:
        made = begin_campaign(opened.engine, hero, name, from_ and id_of(from_))
    say(f"{made.id}: {made.name}")


def continue_(campaign: str, /) -> None:
    """Continue an archived campaign."""
    with realm() as opened:
        found = opened.write(campaigns.resume, opened.read(campaigns.find_id, campaign))
    say(f"{found.id}: {found.name} is active")


def archive(campaign: str, /) -> None:
    """Put a campaign away; its checkpoints stay."""
    with realm() as opened:
        found = opened.write(campaigns.archive, opened.read(campaigns.find_id, campaign))
    say(f"{found.id}: {found.name} is archived")


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

    values = parse_pairs(changes)
    with realm() as opened:
        known = opened.read(campaigns.find_id, campaign)
        found = opened.read(campaigns.get, known)
        if values:
            found = opened.write(campaigns.set_overrides, known, values, approve or [])
    for name, value in sorted(found.config_overrides.items()):
        say(f"{name}: {value}")


def quest_ls(*, status: str | None = None, limit: Int = 20) -> None:
    """List quests, newest first.

    Parameters
    ----------
    status
        open, queued, running, done, skipped, failed, dead or cancelled.
    """
    with realm() as opened:
        rows = opened.read(quests.list_quests, status=status, limit=limit)
    columns = ("id", "quest", "status", "priority", "from", "run")
    cells = [(row.id, row.title, row.status, row.priority, row.source, row.run) for row in rows]
    print_table(table(columns, cells))


def quest_add(recipe: Path, /) -> None:
    """Queue a recipe (a YAML file; QUICKSTART has examples)."""
    try:
        data = recipe.read_bytes()
    except OSError as error:
        what = f"cannot read the recipe ({error.strerror})"
        raise BadFile(refuse(what, str(recipe), "Give the path of a YAML file")) from error
    with realm() as opened:
        quest = inbox.enter_text(opened.store, data, recipe.name)
    say(f"{quest.id}: {quest.title} ({quest.status})")


def quest_evaluate(checkpoint: str = "latest", /, *, games: Int = 400, seed: Int = 0) -> None:
    """Queue an evaluation of a checkpoint."""
    add({"quest": "evaluate", "checkpoint": id_of(checkpoint), "games": games, "seed": seed})


def add(values: dict[str, Any]) -> quests.Quest:
    """Queue a recipe of plain values for a hero of its kind, and say so."""
    recipe = read_recipe(values)
    with realm() as opened:
        campaign = campaign_for(opened.store, recipe.hero_kind)
        quest = enter(opened.store, campaign, recipe, source="person")
    say(f"{quest.id}: {quest.title} ({quest.status})")
    return quest


def quest_retry(quest: str, /) -> None:
    """Queue a failed quest again."""
    with realm() as opened:
        found = quests.retry(opened.store, opened.read(quests.find_id, quest))
    say(f"{found.id}: {found.status}")


def quest_priority(quest: str, priority: str, /) -> None:
    """Move a waiting quest: critical, high, normal, low or idle."""
    with realm() as opened:
        found = quests.prioritise(opened.store, opened.read(quests.find_id, quest), priority)
    say(f"{found.id}: {found.priority}")


def quest_cancel(quest: str, /) -> None:
    """Take a quest out of the queue, or end it."""
    with realm() as opened:
        found = quests.cancel(opened.store, opened.read(quests.find_id, quest))
    say(f"{found.id}: {found.status}")


def _steer(action: str) -> None:
    with realm() as opened:
        asked = control.control(opened.store, action)
    held = "" if asked.held is None else f", held: {asked.held}"
    say(f"training is {asked.state}{held}")


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
