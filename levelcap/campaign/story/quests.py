"""Quests: units of training work. A quest is a recipe, and one job carries it out.

Entering one (`work.desk`) writes the quest, its run and its job in one transaction; so does ending
it.
"""

from __future__ import annotations

import json
from collections.abc import Sequence
from dataclasses import asdict, dataclass
from typing import Any

from levelcap.campaign.story.events import say
from levelcap.jobs.priority import set_priority
from levelcap.jobs.store import Store
from levelcap.kit.db import Connection, reading
from levelcap.kit.errors import Conflict, refuse, unknown_name
from levelcap.vault.assets import now

OPEN = ("queued", "running")
FINISHED = ("done", "skipped")


@dataclass(frozen=True)
class Quest:
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

    def as_json(self) -> dict[str, Any]:
        """Plain values."""
        return dict(self.__dict__)


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


def _quest(row: Any) -> Quest:
    values = row._asdict()
    values["recipe"] = json.loads(values["recipe"])
    values["result"] = None if values["result"] is None else json.loads(values["result"])
    return Quest(**values)


def _one(
    connection: Connection, where: str, order: str = "seq DESC", **values: Any
) -> Quest | None:
    row = connection.execute(f"SELECT * FROM quests WHERE {where} ORDER BY {order} LIMIT 1", values)
    found = row.first()
    return None if found is None else _quest(found)


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
) -> list[Quest]:
    """Quests, newest first; status "open" = queued or running."""
    where = ["(:c IS NULL OR campaign = :c)", "(:b IS NULL OR seq < :b)"]
    if status == "open":
        where.append("status IN ('queued', 'running')")
    elif status is not None:
        where.append("status = :s")
    query = f"SELECT * FROM quests WHERE {' AND '.join(where)} ORDER BY seq DESC LIMIT :n"
    values: dict[str, Any] = {"c": campaign, "b": before, "n": max(1, min(limit, 1000))}
    if status not in (None, "open"):
        values["s"] = status
    return [_quest(row) for row in connection.execute(query, values)]


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
    """The newest finished imitation that rounds start from: the wheel's own, or one said to be."""
    where = (
        "campaign = :c AND kind = 'imitate' AND status IN ('done', 'skipped')"
        " AND (source = 'scheduler' OR json_extract(recipe, '$.base'))"
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
class Ended:
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
        "SELECT kind, status, ended, json_extract(result, '$.code'),"
        " json_extract(result, '$.error') FROM quests WHERE source = 'scheduler' AND seq > :a"
        f" AND status IN {which} AND (:c IS NULL OR campaign = :c) ORDER BY seq DESC LIMIT :n"
    )
    values = {"a": after, "c": campaign, "n": limit}
    return [
        Ended(kind, status, ended, str(code or ""), str(error or ""))
        for kind, status, ended, code, error in connection.execute(query, values)
    ]


def last_seq(connection: Connection) -> int:
    """Number of the newest quest; 0 when there is none."""
    return int(connection.execute("SELECT coalesce(max(seq), 0) FROM quests").scalar_one())


def count_done(connection: Connection, hero: str) -> dict[str, int]:
    """Kind -> finished quests of all campaigns of a hero."""
    query = (
        "SELECT kind, count(*) FROM quests JOIN campaigns c ON c.id = campaign"
        " WHERE c.hero_id = :h AND quests.status = 'done' GROUP BY kind"
    )
    return {kind: int(n) for kind, n in connection.execute(query, {"h": hero})}


def count_skill_rounds(connection: Connection, campaign: str) -> dict[str, int]:
    """Skill (or preset) -> finished rounds of study that the scheduler asked for."""
    query = (
        "SELECT json_extract(recipe, '$.skill'), count(*) FROM quests WHERE campaign = :c AND"
        " kind = 'study' AND source = 'scheduler' AND status IN ('done', 'skipped') GROUP BY 1"
    )
    return {name: int(n) for name, n in connection.execute(query, {"c": campaign})}


def count_of_skill(connection: Connection, campaign: str, kind: str, skill: str) -> int:
    """Quests of a kind in a skill, whatever became of them."""
    query = (
        "SELECT count(*) FROM quests WHERE campaign = :c AND kind = :k"
        " AND json_extract(recipe, '$.skill') = :s"
    )
    values = {"c": campaign, "k": kind, "s": skill}
    return int(connection.execute(query, values).scalar_one())


def is_taught(connection: Connection, campaign: str, lessons: str) -> bool:
    """Was a quest of study ever made of these lessons?"""
    query = (
        "SELECT EXISTS (SELECT 1 FROM quests WHERE campaign = :c AND kind = 'study'"
        " AND json_extract(recipe, '$.lessons') LIKE '%' || :a || '%')"
    )
    return bool(connection.execute(query, {"c": campaign, "a": lessons}).scalar_one())


def count_all(connection: Connection, campaign: str) -> int:
    """Quests of a campaign."""
    query = "SELECT count(*) FROM quests WHERE campaign = :c"
    return int(connection.execute(query, {"c": campaign}).scalar_one())


def count(connection: Connection, campaign: str | None = None) -> dict[str, int]:
    """Quests by status."""
    query = "SELECT status, count(*) FROM quests WHERE :c IS NULL OR campaign = :c GROUP BY status"
    return {status: n for status, n in connection.execute(query, {"c": campaign})}


def count_rounds(connection: Connection, campaign: str) -> int:
    """Finished rounds of reinforcement that the scheduler asked for."""
    query = (
        "SELECT count(*) FROM quests WHERE campaign = :c AND kind = 'reinforce'"
        " AND source = 'scheduler' AND status IN ('done', 'skipped')"
    )
    return int(connection.execute(query, {"c": campaign}).scalar_one())


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
    with reading(store.engine) as connection:
        quest = get(connection, quest_id)
    if quest.job is None or quest.status in OPEN:
        raise Conflict(refuse(f"this quest is {quest.status}", quest_id, "Wait for its end"))
    store.retry(quest.job)
    with reading(store.engine) as connection:
        return get(connection, quest_id)


def prioritise(store: Store, quest_id: str, priority: str) -> Quest:
    """Move a waiting quest forward or back."""
    with reading(store.engine) as connection:
        quest = get(connection, quest_id)
    if quest.job is None:
        raise Conflict(refuse("this quest has no job", quest_id, "Leave it"))
    set_priority(store, quest.job, priority)
    with reading(store.engine) as connection:
        return get(connection, quest_id)


def cancel(store: Store, quest_id: str) -> Quest:
    """Take a quest out of the queue, or end it while it runs."""
    with reading(store.engine) as connection:
        quest = get(connection, quest_id)
    if quest.job is None or quest.status not in OPEN:
        raise Conflict(refuse(f"this quest is {quest.status}", quest_id, "Leave it"))
    store.cancel(quest.job)
    with reading(store.engine) as connection:
        return get(connection, quest_id)
