"""Quests: units of training work. A quest is a recipe, and one job carries it out.

Entering one (`work.desk`) writes the quest, its run and its job in one transaction; so does ending
it.
"""

from __future__ import annotations

import json
from collections.abc import Callable, Sequence
from dataclasses import asdict, dataclass
from typing import Any

from levelcap.campaign.story import rows
from levelcap.campaign.story.events import say
from levelcap.campaign.story.rows import Row
from levelcap.jobs.priority import set_priority
from levelcap.jobs.store import Store
from levelcap.kit.db import Connection, reading
from levelcap.kit.errors import Conflict, refuse, unknown_name
from levelcap.kit.prefix import by_prefix
from levelcap.vault.assets import now

OPEN = ("queued", "running")
FINISHED = ("done", "skipped")
ENDED = (*FINISHED, "failed", "dead", "cancelled")


@dataclass(frozen=True)
class Quest(Row):
    """One row; status queued, running, done, skipped, failed, dead or cancelled."""

    id: str
    campaign: str
    kind: str
    title: str
    recipe: dict[str, Any]
    priority: str
    source: str
    status: str
    job: str | None
    run: str | None
    created: str
    ended: str | None
    result: dict[str, Any] | None
    seq: int


@dataclass(frozen=True)
class NewQuest:
    """A quest that is to be entered with its job."""

    id: str
    campaign: str
    kind: str
    title: str
    recipe: str  # JSON
    priority: str
    source: str
    job: str
    run: str | None


def add(connection: Connection, quest: NewQuest) -> Quest:
    """Write a quest that waits for its job."""
    connection.execute(
        "INSERT INTO quests VALUES (:id, :campaign, :kind, :title, :recipe, :priority, :source,"
        " 'queued', :job, :run, :created, NULL, NULL,"
        " (SELECT coalesce(max(seq), 0) + 1 FROM quests))",
        {**asdict(quest), "created": now()},
    )
    said = f"{quest.title} (from {quest.source[:80]})"
    say(connection, "queue.quest_added", said, data={"quest": quest.id, "job": quest.job})
    return get(connection, quest.id)


def _one(
    connection: Connection, where: str, order: str = "seq DESC", **values: Any
) -> Quest | None:
    query = f"SELECT * FROM quests WHERE {where} ORDER BY {order}"
    return rows.first(connection, Quest, query, **values)


def find_id(connection: Connection, given: str) -> str:
    """The id that was typed, whole or its beginning; see `kit.prefix`."""
    return by_prefix(connection, "quest", "quests", given)


def get(connection: Connection, quest_id: str) -> Quest:
    """One quest.

    Raises:
        UnknownName: no such quest.
    """
    found = _one(connection, "id = :i", i=quest_id)
    if found is None:
        recent = connection.execute("SELECT id FROM quests ORDER BY seq DESC LIMIT 20").scalars()
        raise unknown_name("quest", quest_id, recent)
    return found


def list_quests(
    connection: Connection,
    campaign: str | None = None,
    status: str | None = None,
    limit: int = 100,
    before: int | None = None,
    kind: str | None = None,
) -> list[Quest]:
    """Quests, newest first; status "open" = queued or running."""
    where = "(:c IS NULL OR campaign = :c) AND (:b IS NULL OR seq < :b)"
    where += " AND (:k IS NULL OR kind = :k)"
    if status == "open":
        where += " AND status IN ('queued', 'running')"
    elif status is not None:
        where += " AND status = :s"
    query = f"SELECT * FROM quests WHERE {where} ORDER BY seq DESC LIMIT :n"
    values = {"c": campaign, "b": before, "s": status, "k": kind, "n": rows.at_most(limit)}
    return rows.select(connection, Quest, query, **values)


def newest(
    connection: Connection,
    campaign: str,
    kind: str,
    statuses: Sequence[str] = (),
    source: str | None = None,
) -> Quest | None:
    """The newest quest of a kind, among those with one of the statuses and this source."""
    where = "campaign = :c AND kind = :k AND (:s IS NULL OR source = :s)"
    if statuses:
        where += f" AND status IN ({', '.join(repr(status) for status in statuses)})"
    return _one(connection, where, c=campaign, k=kind, s=source)


def newest_base(connection: Connection, campaign: str) -> Quest | None:
    """The newest finished work that rounds start from: the wheel's own imitation or season, or an
    imitation that is said to be the base."""
    where = (
        "campaign = :c AND status IN ('done', 'skipped') AND (kind IN ('imitate', 'league')"
        " AND source = 'scheduler' OR kind = 'imitate' AND json_extract(recipe, '$.base'))"
    )
    return _one(connection, where, c=campaign)


def of_run(connection: Connection, run: str) -> Quest | None:
    """The newest quest of a run."""
    return _one(connection, "run = :r", r=run)


def of_job(connection: Connection, job_id: str) -> Quest | None:
    """The quest a job carries out, if any."""
    return _one(connection, "job = :j", j=job_id)


def oldest_running(connection: Connection) -> Quest | None:
    """The quest that has been running for longest."""
    return _one(connection, "status = 'running'", "seq")


def running_runs(connection: Connection, paused: bool) -> list[str]:
    """Runs of quests that are running; paused: only those of paused campaigns."""
    query = "SELECT run FROM quests WHERE status = 'running' AND run IS NOT NULL"
    if paused:
        query += " AND campaign IN (SELECT id FROM campaigns WHERE status = 'paused')"
    return list(connection.execute(query).scalars())


def recorded_shards(connection: Connection, campaign: str, limit: int) -> list[str]:
    """Shards of the newest finished recordings of a campaign."""
    query = (
        "SELECT json_extract(result, '$.shard') FROM quests WHERE campaign = :c"
        " AND kind = 'record' AND status = 'done' ORDER BY seq DESC LIMIT :n"
    )
    return [str(s) for s in connection.execute(query, {"c": campaign, "n": limit}).scalars()]


@dataclass(frozen=True)
class Ended(Row):
    """How a scheduled quest ended."""

    kind: str
    status: str
    ended: str
    code: str
    error: str


def ended_scheduled(
    connection: Connection, after: int, limit: int, campaign: str | None = None
) -> list[Ended]:
    """Scheduled quests that have ended, after a number, newest first; cancelled ones left out.

    campaign: of this one; None: failures of all.
    """
    which = "('failed', 'dead')" if campaign is None else "('done', 'skipped', 'failed', 'dead')"
    query = (
        "SELECT kind, status, ended, coalesce(json_extract(result, '$.code'), '') AS code,"
        " coalesce(json_extract(result, '$.error'), '') AS error"
        " FROM quests WHERE source = 'scheduler' AND seq > :a"
        f" AND status IN {which} AND (:c IS NULL OR campaign = :c) ORDER BY seq DESC LIMIT :n"
    )
    return rows.select(connection, Ended, query, a=after, c=campaign, n=limit)


def last_seq(connection: Connection) -> int:
    """Number of the newest quest; 0 when there is none."""
    return rows.number(connection, "SELECT coalesce(max(seq), 0) FROM quests")


def count_done(connection: Connection, hero: str) -> dict[str, int]:
    """Kind -> finished quests of all campaigns of a hero."""
    query = (
        "SELECT kind, count(*) FROM quests JOIN campaigns c ON c.id = campaign"
        " WHERE c.hero_id = :h AND quests.status = 'done' GROUP BY kind"
    )
    return rows.counts(connection, query, h=hero)


def count_skill_rounds(connection: Connection, campaign: str) -> dict[str, int]:
    """Skill (or preset) -> finished rounds of study that the scheduler asked for."""
    query = (
        "SELECT json_extract(recipe, '$.skill'), count(*) FROM quests WHERE campaign = :c AND"
        " kind = 'study' AND source = 'scheduler' AND status IN ('done', 'skipped') GROUP BY 1"
    )
    return rows.counts(connection, query, c=campaign)


def count_of_skill(connection: Connection, campaign: str, kind: str, skill: str) -> int:
    """Quests of a kind in a skill, whatever became of them."""
    query = (
        "SELECT count(*) FROM quests WHERE campaign = :c AND kind = :k"
        " AND json_extract(recipe, '$.skill') = :s"
    )
    return rows.number(connection, query, c=campaign, k=kind, s=skill)


def is_taught(connection: Connection, campaign: str, lessons: str) -> bool:
    """Was a quest of study ever made of these lessons?"""
    query = (
        "SELECT EXISTS (SELECT 1 FROM quests WHERE campaign = :c AND kind = 'study'"
        " AND json_extract(recipe, '$.lessons') LIKE '%' || :a || '%')"
    )
    return bool(rows.number(connection, query, c=campaign, a=lessons))


def count_all(connection: Connection, campaign: str) -> int:
    """Quests of a campaign."""
    query = "SELECT count(*) FROM quests WHERE campaign = :c"
    return rows.number(connection, query, c=campaign)


def count(connection: Connection, campaign: str | None = None) -> dict[str, int]:
    """Quests by status."""
    query = "SELECT status, count(*) FROM quests WHERE :c IS NULL OR campaign = :c GROUP BY status"
    return rows.counts(connection, query, c=campaign)


def count_rounds(connection: Connection, campaign: str, after: int = -1) -> int:
    """Finished rounds of reinforcement that the scheduler asked for, after this quest's number."""
    query = (
        "SELECT count(*) FROM quests WHERE campaign = :c AND kind = 'reinforce'"
        " AND source = 'scheduler' AND status IN ('done', 'skipped') AND seq > :s"
    )
    return rows.number(connection, query, c=campaign, s=after)


def set_status(connection: Connection, job_id: str, status: str) -> None:
    """The quest of a job waits or runs."""
    connection.execute(
        "UPDATE quests SET status = :s, ended = NULL, result = NULL WHERE job = :j",
        {"s": status, "j": job_id},
    )


def note_priority(connection: Connection, job_id: str, priority: str) -> None:
    """The quest of a job moves with it."""
    query = "UPDATE quests SET priority = :p WHERE job = :j"
    connection.execute(query, {"p": priority, "j": job_id})


def end(connection: Connection, job_id: str, status: str, result: dict[str, Any]) -> None:
    """A quest is over."""
    connection.execute(
        "UPDATE quests SET status = :s, ended = :t, result = :r WHERE job = :j",
        {"s": status, "t": now(), "r": json.dumps(result), "j": job_id},
    )


def retry(store: Store, quest_id: str) -> Quest:
    """Queue the job of a failed quest again."""
    return _with_job(store, quest_id, store.retry, ENDED, "Wait for its end")


def prioritise(store: Store, quest_id: str, priority: str) -> Quest:
    """Move a waiting quest forward or back."""
    return _with_job(store, quest_id, lambda job: set_priority(store, job, priority))


def cancel(store: Store, quest_id: str) -> Quest:
    """Take a quest out of the queue, or end it while it runs."""
    return _with_job(store, quest_id, store.cancel, OPEN)


def _with_job(
    store: Store,
    quest_id: str,
    act: Callable[[str], object],
    statuses: Sequence[str] = (*OPEN, *ENDED),
    remedy: str = "Leave it",
) -> Quest:
    """Do something to the job of a quest that is in one of the statuses; the quest afterwards."""
    with reading(store.engine) as connection:
        quest = get(connection, quest_id)
    if quest.job is None or quest.status not in statuses:
        raise Conflict(refuse(f"this quest is {quest.status}", quest_id, remedy))
    act(quest.job)
    with reading(store.engine) as connection:
        return get(connection, quest_id)
