"""From a snapshot's folder to its row in the ledger, its event and its evaluation."""

from __future__ import annotations

from pathlib import Path
from typing import Any

from levelcap.campaign.kinds.heroes import KINDS, find_hero, kind_of_meta, kind_of_role
from levelcap.campaign.story import campaigns, quests, runs
from levelcap.campaign.story.events import say
from levelcap.jobs.job import Refused
from levelcap.jobs.store import Store
from levelcap.kit.db import Connection, reading, transaction
from levelcap.kit.errors import LevelcapError
from levelcap.kit.files import read_json
from levelcap.nets.meta import Meta, meta_from_json
from levelcap.vault.assets import content_id
from levelcap.vault.ledger import Entry, Facts, adopt_orphans, amend, row_of, save, write_beside
from levelcap.vault.lookup import newest_of_run
from levelcap.vault.zones import load_zones

QUICK_GAMES = 400


def meta_of(place: Path) -> Meta:
    """What a snapshot says of itself, read without torch."""
    return meta_from_json(read_json(place / "meta.json"), str(place / "meta.json"))


def describe(connection: Connection, run: runs.Run | None, place: Path) -> Facts:
    """What the ledger should say of a snapshot of this run."""
    meta = meta_of(place)
    kind, metrics = kind_of_meta(meta), meta.metrics
    hero, before, quest = kind.first_hero, 0.0, None
    if run is not None and run.campaign is not None:
        hero = campaigns.get(connection, run.campaign).hero_id
        before = runs.cost_before(connection, run)
    if run is not None:
        quest = quests.of_run(connection, run.id)
    return Facts(
        step=int(metrics.get("updates", 0)) + (run.base_step if run else 0),
        hero=hero,
        role=kind.role,
        campaign=run.campaign if run else None,
        quest=None if quest is None else quest.id,
        run=run.id if run else None,
        world=meta.world,
        train_loss=metrics.get("loss", metrics.get("value_loss")),
        learning_rate=metrics.get("lr"),
        epoch=metrics.get("epochs"),
        total_examples_trained=meta.steps,
        has_optimizer=False,
        cost_core_seconds=before + metrics.get("core_seconds", 0.0),
        **kind.facts(run, metrics),
    )


def enter_snapshot(connection: Connection, store: Store, run_id: str, place: Path) -> Entry:
    """Write the row, the event and the evaluation job of a snapshot; again is harmless."""
    run = runs.get(connection, run_id)
    facts = describe(connection, run, place)
    known = row_of(connection, content_id("checkpoint", place)[0])
    entry = known or save(connection, place, facts, load_zones()["hot"])
    if run.campaign is not None:
        losses = {} if facts.train_loss is None else {f"{run.kind}_loss": facts.train_loss}
        campaigns.advance(connection, run.campaign, facts.step, losses)
    if known is None:
        data = {"checkpoint": entry.id, "run": run.id}
        say(connection, "vault.checkpoint_saved", f"{entry.canonical_name} of {run.id}", data=data)
    take_notes(connection, run)
    order = {"checkpoint": entry.id, "games": QUICK_GAMES, "seed": 0}
    _judge(connection, store, entry, order | kind_of_role(facts.role).questions(entry), "quick")
    return entry


def take_notes(connection: Connection, run: runs.Run) -> None:
    """Take in what a run of a campaign has written about itself since the last time."""
    if run.campaign is not None:
        hero = find_hero(campaigns.get(connection, run.campaign).hero_id)
        KINDS[hero.kind].take_notes(connection, run, hero)


def judge_passives(connection: Connection, store: Store, run_id: str) -> None:
    """School is over: its last checkpoint is the base that drift is measured from."""
    entry = newest_of_run(connection, run_id)
    if entry is not None:
        amend(connection, entry.id, base=1)
        _judge(connection, store, entry, {"checkpoint": entry.id, "passives": "full"}, "full")


def _judge(
    connection: Connection, store: Store, entry: Entry, order: dict[str, Any], kind: str
) -> None:
    try:
        store.submit(
            "eval",
            order,
            priority="high",
            idempotency_key=f"eval-{entry.id}-{kind}",
            campaign=entry.campaign,
            connection=connection,
        )
    except Refused:
        said, data = "an evaluation was left out: its queue is full", {"checkpoint": entry.id}
        say(connection, "queue.full", said, severity="warning", data=data)


def publish_row(store: Store, run_id: str, place: Path) -> Entry:
    """What a local trainer calls when a snapshot is on disk."""
    with transaction(store.engine) as connection:
        entry = enter_snapshot(connection, store, run_id, place)
    write_beside(place, entry)
    return entry


def adopt(store: Store) -> list[str]:
    """At a start: rows for snapshots whose writer was killed, or that were trained elsewhere."""

    def facts_of(place: Path) -> Facts | None:
        try:
            with reading(store.engine) as connection:
                return describe(connection, runs.find(connection, place.parent.parent.name), place)
        except LevelcapError:
            return None  # not one of ours, or of another version: left where it is

    adopted = adopt_orphans(store.engine, runs.snapshot_folders(), facts_of)
    for checkpoint in adopted:
        data = {"checkpoint": checkpoint, "adopted": True}
        say(store.engine, "vault.checkpoint_saved", f"adopted {checkpoint}", data=data)
    return adopted
