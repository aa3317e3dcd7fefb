"""Quests: units of training work. A quest is a recipe, and one job carries it out.

Entering one writes the quest, its run and its job in one transaction; so does ending it.
"""

from __future__ import annotations

import json
import secrets
from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any

from levelcap.campaign.story import campaigns, runs
from levelcap.campaign.story.events import say
from levelcap.campaign.story.skills import track
from levelcap.campaign.work import lessons
from levelcap.campaign.work.demos import check_demos
from levelcap.campaign.work.recipes import (
    TEXT_QUESTS,
    EvaluateRecipe,
    ImitateRecipe,
    RecordRecipe,
    SchoolRecipe,
    SparRecipe,
    StudyRecipe,
    check_contents,
)
from levelcap.campaign.work.snapshots import asked
from levelcap.jobs.priority import set_priority
from levelcap.jobs.store import Store
from levelcap.kit.db import Connection, reading, transaction
from levelcap.kit.errors import BadValue, Conflict, refuse, unknown_name
from levelcap.vault.ask import resolve
from levelcap.vault.assets import now

JOB_OF = {
    "record": "record", "imitate": "imitate", "reinforce": "reinforce", "evaluate": "eval",
    "school": "study", "study": "study", "spar": "sparring",
}  # fmt: skip
RUNS = ("imitate", "reinforce", "school", "study")  # quests with a run of their own
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


def enter(
    store: Store, campaign_id: str, recipe: Any, *, source: str, key: str | None = None
) -> Quest:
    """Queue a quest for a campaign.

    Args:
        recipe: from `recipes.read_recipe`.
        source: where it came from: "scheduler", "inbox: <file>", "person".
        key: the same key twice is one quest.

    Raises:
        UnknownName: a checkpoint, run or shard that does not exist. Refused: the queue is full.
        BadValue: what no trainer would do; the scheduler's own orders fail as jobs and are counted.
    """
    if source != "scheduler":
        check_contents(recipe)
    payload = _payload(store, campaign_id, recipe)
    kind = str(recipe.quest)
    quest_id = f"quest-{secrets.token_hex(6)}"
    if kind in RUNS and payload.get("run") is None:
        payload["run"] = f"{kind}-{quest_id.removeprefix('quest-')}"
    if kind == "spar":
        payload["lessons"] = f"spar-{quest_id.removeprefix('quest-')}"
    if kind == "record":
        payload["shard"] = f"demos-{quest_id.removeprefix('quest-')}"
    with transaction(store.engine) as connection:
        if key is not None and (known := _by_key(connection, key)) is not None:
            return known
        campaign = campaigns.get(connection, campaign_id)
        accepted = store.submit(
            JOB_OF[kind], payload, priority=recipe.priority, idempotency_key=key,
            campaign=campaign_id, connection=connection,
        )  # fmt: skip
        if kind in RUNS:
            runs.begin(connection, JOB_OF[kind], payload, campaign_id, campaign.current_step)
        last = connection.execute("SELECT coalesce(max(seq), 0) FROM quests").scalar_one()
        title = recipe.title or _title(recipe)
        connection.execute(
            "INSERT INTO quests VALUES (:id, :campaign, :kind, :title, :recipe, :priority,"
                " :source, 'queued', :job, :run, :created, NULL, NULL, :seq)",
            {
                "id": quest_id, "campaign": campaign_id, "kind": kind, "title": title,
                "recipe": recipe.model_dump_json(by_alias=True), "priority": recipe.priority,
                "source": source[:200], "job": accepted.job_id, "run": payload.get("run"),
                "created": now(), "seq": int(last) + 1,
            },
        )  # fmt: skip
        say(connection, "queue.quest_added", f"{title} (from {source[:80]})",
            data={"quest": quest_id, "job": accepted.job_id})  # fmt: skip
        return get(connection, quest_id)


def _payload(store: Store, campaign_id: str, recipe: Any) -> dict[str, Any]:
    """The job's payload, names resolved to ids; what does not exist is refused here."""
    if isinstance(recipe, TEXT_QUESTS):
        return lessons.payload(store, campaign_id, recipe)
    values = recipe.model_dump(exclude={"quest", "title", "priority", "base"})
    if isinstance(recipe, EvaluateRecipe):
        return _judged(store, recipe)
    if isinstance(recipe, RecordRecipe):
        return {**values, "shard": "unnamed"}
    if isinstance(recipe, ImitateRecipe):
        check_demos(recipe.shards, recipe.world, recipe.policies)
        return {**values, "run": None}
    if recipe.run is not None:
        with reading(store.engine) as connection:
            known = runs.get(connection, recipe.run)
        if known.kind != "reinforce" or known.world != recipe.world:
            remedy = "Name a run of reinforcement in this world, or leave run out"
            raise BadValue(refuse(f"this run is {known.kind} in {known.world}", known.id, remedy))
    start = None if recipe.start is None else resolve(store.engine, recipe.start).id
    return {**values, "start": start}


def _judged(store: Store, recipe: EvaluateRecipe) -> dict[str, Any]:
    entry = resolve(store.engine, recipe.checkpoint)
    values: dict[str, Any] = {
        "checkpoint": entry.id, "games": recipe.games, "seed": recipe.seed, **asked(entry),
        "passives": recipe.passives,
    }  # fmt: skip
    if recipe.level is not None:
        values["level"] = recipe.level
    if recipe.skill is not None:
        skill, preset = track(recipe.skill)
        skill.check(recipe.level or 1, preset)
        values |= {"skill_id": skill.id, "preset": preset}
    return values


def _title(recipe: Any) -> str:
    if isinstance(recipe, SchoolRecipe):
        return f"School: {recipe.minutes:g} minutes of primitives"
    if isinstance(recipe, StudyRecipe):
        return f"Study {recipe.skill} up to {recipe.minutes:g} minutes"
    if isinstance(recipe, SparRecipe):
        return f"Spar: {recipe.count} problems of {recipe.skill}"
    if isinstance(recipe, RecordRecipe):
        return f"Record {recipe.games} games of {recipe.teacher} in {recipe.world}"
    if isinstance(recipe, ImitateRecipe):
        return f"Imitate {', '.join(recipe.policies) or 'everybody'} in {recipe.world}"
    if isinstance(recipe, EvaluateRecipe):
        return f"Evaluate {recipe.checkpoint}"
    return f"Reinforce in {recipe.world} up to {recipe.minutes:g} minutes"


def _by_key(connection: Connection, key: str) -> Quest | None:
    query = (
        "SELECT quests.* FROM quests JOIN jobs ON jobs.id = quests.job"
        " WHERE jobs.idempotency_key = :k"
    )
    row = connection.execute(query, {"k": key}).first()
    return None if row is None else _quest(row)


def _quest(row: Any) -> Quest:
    values = row._asdict()
    values["recipe"] = json.loads(values["recipe"])
    values["result"] = None if values["result"] is None else json.loads(values["result"])
    return Quest(**values)


def get(connection: Connection, quest_id: str) -> Quest:
    """One quest.

    Raises:
        UnknownName: no such quest.
    """
    row = connection.execute("SELECT * FROM quests WHERE id = :i", {"i": quest_id}).first()
    if row is None:
        recent = connection.execute("SELECT id FROM quests ORDER BY seq DESC LIMIT 20")
        raise unknown_name("quest", quest_id, recent.scalars())
    return _quest(row)


def list_quests(
    connection: Connection, campaign: str | None = None, status: str | None = None,
    limit: int = 100, before: int | None = None,
) -> list[Quest]:  # fmt: skip
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
    connection: Connection, campaign: str, kind: str, statuses: Sequence[str] = (),
    source: str | None = None,
) -> Quest | None:  # fmt: skip
    """The newest quest of a kind, among those with one of the statuses and this source."""
    where = ["campaign = :c", "kind = :k", "(:s IS NULL OR source = :s)"]
    values = {"c": campaign, "k": kind, "s": source}
    if statuses:
        where.append(f"status IN ({', '.join(f':s{i}' for i in range(len(statuses)))})")
        values |= {f"s{i}": status for i, status in enumerate(statuses)}
    query = f"SELECT * FROM quests WHERE {' AND '.join(where)} ORDER BY seq DESC LIMIT 1"
    row = connection.execute(query, values).first()
    return None if row is None else _quest(row)


def newest_base(connection: Connection, campaign: str) -> Quest | None:
    """The newest finished imitation that rounds start from: the wheel's own, or one said to be."""
    query = (
        "SELECT * FROM quests WHERE campaign = :c AND kind = 'imitate'"
        " AND status IN ('done', 'skipped')"
        " AND (source = 'scheduler' OR json_extract(recipe, '$.base')) ORDER BY seq DESC LIMIT 1"
    )
    row = connection.execute(query, {"c": campaign}).first()
    return None if row is None else _quest(row)


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
