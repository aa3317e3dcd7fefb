"""Why a quest waits, in words that a person can act on."""

from __future__ import annotations

from levelcap.campaign.story import campaigns
from levelcap.campaign.story.quests import Quest
from levelcap.jobs.history import position_of
from levelcap.jobs.job import PRIORITIES, Status
from levelcap.jobs.rows import find
from levelcap.kit.db import Connection


def why_waits(
    connection: Connection, quest: Quest, *, state: str, held: str | None, trains: bool
) -> str:
    """The reason; "": it does not wait.

    state, held: of training. trains: is it work that pausing holds back?
    """
    if quest.job is None or (job := find(connection, quest.job)).status != Status.QUEUED:
        return ""
    if trains and held is not None:
        return f"waits for the machine: {held}"
    if trains and state != "running":
        return f"waits: training is {state}; press Resume"
    hero = campaigns.get(connection, quest.campaign).hero_id
    if trains and hero != campaigns.chosen_hero(connection):
        return f"waits until {hero} trains again; choose it at the top"
    ahead = position_of(connection, PRIORITIES.index(quest.priority), job.seq) - 1
    return f"waits for a core: {ahead} ahead" if ahead else "waits for a core: it is the next"
