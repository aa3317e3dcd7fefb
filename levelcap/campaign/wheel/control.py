"""Pause, resume, stop, skip: within one training step, and nothing is lost.

The wish is written in the database (what may be claimed from now on) and as a file in the folder of
every run that is going on (which the training loop looks at in every iteration).

paused   runs wait with their checkpoint saved; nothing new begins
stopped  runs end with a checkpoint and their jobs go back to the queue; nothing new begins
skip     runs end with a checkpoint and their quests count as skipped; the next one begins
held     like paused, by the machine: on battery, disk full; ends by itself
switch   another hero trains; runs of the others end like stopped ones and wait for their hero
retry    scheduled work that the breaker has stopped is tried again
"""

from __future__ import annotations

from dataclasses import dataclass
from pathlib import Path
from typing import Any

from levelcap.campaign.kinds.heroes import find_hero
from levelcap.campaign.sheet.on_trial import on_trial
from levelcap.campaign.story import campaigns, quests, runs
from levelcap.campaign.story.events import say
from levelcap.campaign.story.runs import SKIP
from levelcap.campaign.story.values import get_value, set_value
from levelcap.campaign.wheel import breaker
from levelcap.campaign.work.table import TRAINING
from levelcap.jobs.rows import find, job_of
from levelcap.jobs.store import Store
from levelcap.kit.db import Connection, reading, transaction
from levelcap.kit.errors import Conflict, refuse, unknown_name

ACTIONS = ("pause", "resume", "stop", "skip", "retry")
PAUSE, STOP = "pause", "stop"


@dataclass(frozen=True)
class DesiredState:
    """What was asked for: running, paused or stopped; and why the machine holds it, if it does."""

    state: str
    held: str | None

    @property
    def may_train(self) -> bool:
        """May a training job begin?"""
        return self.state == "running" and self.held is None


def wish(connection: Connection) -> DesiredState:
    """The present state."""
    return DesiredState(get_value(connection, "training", "running"), get_value(connection, "held"))


def control(store: Store, action: str) -> DesiredState:
    """Carry out one of `ACTIONS`.

    Raises:
        UnknownName: no such action.
    """
    if action not in ACTIONS:
        raise unknown_name("action", action, ACTIONS)
    with transaction(store.engine) as connection:
        before = wish(connection)
        state = {"pause": "paused", "resume": "running", "stop": "stopped"}.get(action)
        if state is not None and state != before.state:
            set_value(connection, "training", None if state == "running" else state)
            kinds = {"paused": "paused", "running": "resumed", "stopped": "stopped"}
            say(connection, f"training.{kinds[state]}", f"training {kinds[state]} by request")
        if action == "skip":
            say(connection, "training.skipped", "the present quest is skipped by request")
        if action == "retry":
            breaker.try_again(connection)
            say(connection, "training.resumed", "what failed is tried again by request")
        after = wish(connection)
        going = running_folders(connection)
    apply_wish(after, going, skip=action == "skip")
    return after


def hold(store: Store, reason: str | None) -> DesiredState:
    """Hold training back for a reason of the machine's, or let it go again (None)."""
    with transaction(store.engine) as connection:
        before = wish(connection)
        if before.held != reason:
            set_value(connection, "held", reason)
            if reason is None:
                say(connection, "training.resumed", f"training goes on: {before.held} is over")
            else:
                say(connection, "training.paused", f"training waits: {reason}", severity="warning")
        after = wish(connection)
        going = running_folders(connection)
    apply_wish(after, going)
    return after


def switch(store: Store, hero_id: str) -> campaigns.Campaign:
    """Let another hero train, from the next training step on.

    Raises:
        UnknownName: no such hero. Conflict: the realm cannot train it.
    """
    hero = find_hero(hero_id)
    if (reason := hero.why_not()) is not None:
        remedy = "Choose dio-tiny, which needs none"
        raise Conflict(refuse(f"{hero.name} cannot train here: {reason}", hero_id, remedy))
    with transaction(store.engine) as connection:
        found = campaigns.active(connection, hero_id)
        if found is None or campaigns.chosen_hero(connection) != hero_id:
            found = campaigns.choose(connection, hero)
        going = running_folders(connection, paused=True)
    for place in going:
        place.mkdir(parents=True, exist_ok=True)
        (place / STOP).touch()
    return found


def running_folders(connection: Connection, paused: bool = False) -> list[Path]:
    """Folders of the runs that are going on; paused: only those of paused campaigns."""
    return [runs.run_folder(run) for run in quests.running_runs(connection, paused)]


def apply_wish(asked: DesiredState, going: list[Path], skip: bool = False) -> None:
    """Put the files that say so into the folders of running runs, or take them away."""
    waits = asked.state == "paused" or asked.held is not None
    for place in going:
        place.mkdir(parents=True, exist_ok=True)
        if skip:
            (place / SKIP).touch()
        if skip or asked.state == "stopped":
            (place / STOP).touch()
        if waits:
            (place / PAUSE).touch()
        else:
            (place / PAUSE).unlink(missing_ok=True)


def claimable(store: Store, types: list[str]) -> list[str]:
    """Of these job types, those that may begin now."""
    with reading(store.engine) as connection:
        free = wish(connection).may_train
    return [name for name in types if free or name not in TRAINING]


def halt_of(connection: Connection) -> breaker.Halt | None:
    """Why the chosen hero's scheduled work stands still, if it does."""
    campaign = campaigns.active(connection, campaigns.chosen_hero(connection))
    return None if campaign is None else breaker.look(connection, campaign.id)


def status(connection: Connection) -> dict[str, Any]:
    """What is going on, for people: state, reasons, the running quest with its progress, and who is
    on trial."""
    asked, halt = wish(connection), halt_of(connection)
    quest = quests.oldest_running(connection)
    told = None
    if quest is not None and quest.job is not None:
        job = job_of(find(connection, quest.job))
        told = {name: getattr(quest, name) for name in ("id", "title", "kind", "run")}
        told |= {name: getattr(job, name) for name in ("progress", "message", "type", "worker")}
    halted = None if halt is None else halt.as_json()
    judged = [row.as_json() for row in on_trial(connection)]
    state = {"state": asked.state, "held": asked.held, "halt": halted, "quest": told}
    return state | {"trials": judged}
