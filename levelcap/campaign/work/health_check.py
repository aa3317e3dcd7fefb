"""`health_check`: does a worker answer?"""

from __future__ import annotations

from typing import ClassVar

from levelcap.campaign.work.base import Bench, Limits, Result, Work


class HealthCheck(Work):
    """One decision of one match: the world and this worker work."""

    type: ClassVar[str] = "health_check"
    limits: ClassVar[Limits] = Limits(60, 1, 10, 5, "allow", ("eval_worker", "trainer"))

    def perform(self, bench: Bench) -> Result:
        """Play two games."""
        from levelcap.play.matchup import play_games
        from levelcap.play.roster import find

        return {"games": play_games(find("rookie"), find("idle"), "duel", 2).games}
