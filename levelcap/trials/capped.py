"""The human cap: a hero that is no quicker than people, so that playing it is fair. No torch.

    Capped(policy)                            `levelcap play RUN/snapshots/step-…+human master`

It decides every 0.3 s on what it saw 0.3 s ago, and holds what it decided in between. A decision
has at most four actions (a direction, a jump of the cursor, trigger, a key): 800 a minute, the
constitution's bound for the busiest ten seconds. People answer a sight after 0.2 to 0.3 s.
"""

from __future__ import annotations

from levelcap.learn.adversary.attacks import Attacked
from levelcap.world.protocols import Policy

SUFFIX = "+human"  # of a player's name
EVERY_S = 0.3


class Capped(Attacked):
    """The same player under the cap."""

    def __init__(self, policy: Policy) -> None:
        super().__init__(policy, "late", 1)
        self.name = f"{policy.name}{SUFFIX}"
        self.decision_ticks = round(EVERY_S * self.tick_hz)
