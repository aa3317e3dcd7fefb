"""`retention`: remove checkpoints that need not stay."""

from __future__ import annotations

from typing import Annotated, ClassVar, Literal

from pydantic import Field

from levelcap.campaign.story.events import say
from levelcap.campaign.work.base import Bench, Limits, Result, Work
from levelcap.jobs.job import Job
from levelcap.jobs.store import Store
from levelcap.kit.db import Connection, Database
from levelcap.vault.backups import back_up
from levelcap.vault.retention import Plan, carry_out, plan_retention


def retain(engine: Database, keep: int, dry_run: bool) -> tuple[Plan, list[str]]:
    """What may go, and the ids of what went; nothing goes without a backup before."""
    plan = plan_retention(engine, keep)
    if dry_run or not plan.remove:
        return plan, []
    back_up(engine, "retention")
    return plan, carry_out(engine, plan)


class Retention(Work):
    """Remove what need not stay, after a backup of the database."""

    type: ClassVar[str] = "retention"
    limits: ClassVar[Limits] = Limits(600, 1, 3, 1, "reject", ("vault_worker",))

    zone: Literal["hot"] = "hot"
    keep: Annotated[int, Field(ge=1, le=100_000)] = 20

    def perform(self, bench: Bench) -> Result:
        """Plan, back up, remove."""
        from levelcap.campaign.realm import realm

        with realm() as opened:
            plan, removed = retain(opened.engine, self.keep, dry_run=False)
        return {"removed": removed, "size_bytes": plan.size_bytes}

    def effect(self, connection: Connection, store: Store, job: Job, result: Result) -> None:
        """Say so."""
        said = f"{len(result['removed'])} checkpoints removed"
        say(connection, "vault.retention", said, data=result)
