"""Who is on trial: checkpoints that are being judged now, with what their workers tell."""

from __future__ import annotations

from dataclasses import dataclass

from levelcap.campaign.story.rows import Row
from levelcap.jobs import history
from levelcap.jobs.job import Job, Status
from levelcap.kit.db import Connection
from levelcap.trials.sprt import preset_of, read_line
from levelcap.vault.ledger import row_of

JUDGING = ("trial", "test", "eval", "hunt")  # types of jobs, the weightiest first
MOST = 50  # running jobs that are looked at; a machine has fewer


@dataclass(frozen=True)
class OnTrial(Row):
    """One checkpoint (or bot) that is judged."""

    job: str
    type: str
    checkpoint: str
    against: str
    """an id, a bot, or words: the sealed panel"""
    opponent: str
    """who can be watched against it: an id or a bot; "": nobody, it is a text hero"""
    progress: float
    words: str
    """games or problems done, and the score so far"""


def on_trial(connection: Connection) -> list[OnTrial]:
    """Everybody who is judged at the moment, trials first."""
    running = history.page(connection, Status.RUNNING, None, MOST, None)
    found = [_judged(connection, job) for job in running[::-1] if job.type in JUDGING]
    return sorted(found, key=lambda row: JUDGING.index(row.type))


def _judged(connection: Connection, job: Job) -> OnTrial:
    asked, words = job.payload, job.message or "it begins"
    who = str(asked.get("checkpoint") or asked.get("a"))
    against = opponent = str(asked.get("champion") or asked.get("b") or "master")
    if job.type == "eval":
        entry = row_of(connection, who)
        is_text = entry is not None and entry.role == "text"
        against = "the questions of an exam" if is_text else "the sealed panel"
        opponent = "" if is_text else opponent
    elif job.type == "hunt":
        against = "an exploiter"
    elif job.type == "test":
        won, drawn, lost = read_line(words, preset_of(asked["preset"], asked["world"])).results
        if won + drawn + lost:
            words = f"{won + drawn + lost:,} games, {won} won {drawn} drawn {lost} lost"
    elif asked.get("subject"):
        opponent = ""
    return OnTrial(job.id, job.type, who, against, opponent, job.progress, words)
