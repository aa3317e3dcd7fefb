"""A hero's strength over its training: judged checkpoints, the champions among them, the bots."""

from __future__ import annotations

import math
from dataclasses import dataclass

from levelcap.campaign.story.campaigns import Campaign
from levelcap.campaign.story.rows import Row
from levelcap.campaign.story.strength import bot_elos, difference
from levelcap.kit.db import Connection
from levelcap.vault import champion, lookup
from levelcap.vault.evals import evaluations, newest_trial
from levelcap.vault.ledger import Entry

WIDEST = 400.0  # Elo that a band shows at most to either side: after a perfect record it has no end


@dataclass(frozen=True)
class StrengthCurve(Row):
    """Points are core-seconds spent, Elo, and the ends of its 95 % interval."""

    points: list[tuple[float, float, float, float]]
    crowns: list[tuple[float, float]]
    """core-seconds and Elo of those that became champion"""
    bots: dict[str, float]


def strength_curve(connection: Connection, campaign: Campaign, world: str) -> StrengthCurve:
    """The way of a campaign; what it began with is its first point."""
    found = lookup.judged_of(connection, campaign.id, campaign.starting_checkpoint)
    crowned = {line.checkpoint for line in champion.history(connection, campaign.hero_id)}
    # What was spent before this campaign is not on its axis.
    spent_by = {
        row.id: row.cost_core_seconds or 0.0 for row in found if row.campaign == campaign.id
    }
    rows = sorted(((spent_by.get(row.id, 0.0), row) for row in found), key=lambda pair: pair[0])
    return StrengthCurve(
        points=[(spent, *_band(row)) for spent, row in rows],
        crowns=[(spent, row.elo) for spent, row in rows if row.id in crowned and row.elo],
        bots=bot_elos(connection, world),
    )


def win_rates(connection: Connection, checkpoint: str) -> dict[str, dict[str, float]]:
    """Bot -> record of a checkpoint against its sealed cousins, in its newest evaluation."""
    judged = evaluations(connection, checkpoint)
    return dict(judged[-1]["sealed"]) if judged else {}


def why_not_crowned(connection: Connection, entry: Entry) -> str:
    """Why a checkpoint does not reign, in one sentence; "": it does."""
    lines = champion.history(connection, entry.hero)
    if not lines:
        return "Nobody reigns yet; the first judged checkpoint does." if entry.elo is None else ""
    now = lines[0].checkpoint
    if now == entry.id:
        return ""
    if (trial := newest_trial(connection, entry.id, now)) is not None and not trial["passed"]:
        return f"Its trial against {now} refused it: {trial['reason']}"
    later = [line.checkpoint for line in lines]
    if entry.id in later:
        return f"It reigned, until {later[later.index(entry.id) - 1]} took its place."
    if entry.role == "text":
        return "No exam or trial has put it above the champion."
    if entry.elo is None:
        return "It was not judged yet."
    gain = difference(connection, entry.id, now)
    if gain is None:
        return f"It was not judged in the same games as {now}."
    figures = f"{gain[0]:+.0f} Elo ({gain[1]:+.0f} to {gain[2]:+.0f}) over {now}"
    if gain[1] > 0:
        return f"It is certainly stronger, {figures}: its trial decides."
    return f"It is not certainly stronger: {figures}."


def _band(row: Entry) -> tuple[float, float, float]:
    elo = row.elo or 0.0
    low, high = (elo if end is None else end for end in (row.elo_low, row.elo_high))
    ends = (max(low, elo - WIDEST), min(high, elo + WIDEST))
    return (elo, *ends) if all(map(math.isfinite, ends)) else (elo, elo, elo)
