"""`retention`: remove checkpoints that need not stay."""

from __future__ import annotations

from typing import Annotated, ClassVar, Literal

from pydantic import Field

from levelcap.campaign.story.events import say
from levelcap.campaign.work.base import Bench, Limits, Result, Work
from levelcap.jobs.job import Job
from levelcap.jobs.store import Store
from levelcap.kit.db import Connection


class Retention(Work):
    """Remove what need not stay, after a backup of the database."""

    type: ClassVar[str] = "retention"
    limits: ClassVar[Limits] = Limits(600, 1, 3, 1, "reject", ("vault_worker",))

    zone: Literal["hot"] = "hot"
    keep: Annotated[int, Field(ge=1, le=100_000)] = 20

    def perform(self, bench: Bench) -> Result:
        """Plan, back up, remove."""
        from levelcap.campaign.realm import realm
        from levelcap.vault.backups import back_up
        from levelcap.vault.retention import carry_out, plan_retention

        with realm() as opened:
            plan = plan_retention(opened.engine, self.keep)
            if plan.remove:
                back_up(opened.engine, "retention")
            removed = carry_out(opened.engine, plan)
        return {"removed": removed, "size_bytes": plan.size_bytes}

    def effect(self, connection: Connection, store: Store, job: Job, result: Result) -> None:
        """Say so."""
        said = f"{len(result['removed'])} checkpoints removed"
        say(connection, "vault.retention", said, data=result)
