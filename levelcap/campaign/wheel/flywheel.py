"""The wheel: what should run next, and was it worth it. One turn is `turn`; it never waits.

What a hero does next, what its runs were worth and which checkpoint should be champion is said by
its kind (`campaign.kinds`); the wheel asks, enters the quest, and promotes. Only the chosen hero's
wheel turns.
"""

from __future__ import annotations

from typing import Any

from levelcap.campaign.kinds.heroes import KINDS, find_hero, kind_of_role
from levelcap.campaign.story import campaigns, quests
from levelcap.campaign.story.events import say
from levelcap.campaign.story.values import get_value, set_value
from levelcap.campaign.wheel import breaker
from levelcap.campaign.work.desk import enter
from levelcap.campaign.work.recipes import read_recipe
from levelcap.jobs.job import OPEN, Status
from levelcap.jobs.store import Store
from levelcap.kit.db import reading, transaction
from levelcap.kit.errors import BadFile, Conflict, Corrupt, UserError
from levelcap.trials.verdict import TRIAL_VERSION, Verdict
from levelcap.vault.champion import champion_of, promote
from levelcap.vault.evals import TRIAL, store_eval
from levelcap.vault.ledger import row_of

FRESH = 1 << 40  # seeds from here on draw confirmation games
_HALTED = "halted"  # the reason that was told last


def turn(store: Store) -> list[str]:
    """One turn for the chosen hero; returns the ids of quests that were added."""
    with reading(store.engine) as connection:
        hero = find_hero(campaigns.chosen_hero(connection))
        campaign = campaigns.active(connection, hero.id)
    if campaign is None:
        return []
    kind = KINDS[hero.kind]
    kind.settle(store, campaign)
    with reading(store.engine) as connection:
        verdict = kind.judge_best(connection, hero.id)
        passed = verdict is not None and verdict.passed
        trial = kind.trial_of(connection, verdict) if verdict is not None and passed else None
    if trial is not None:
        _try(store, campaign.id, trial)
    elif verdict is not None and passed:
        _promote(store, hero.id, verdict)
    _confirm(store, hero.id, campaign.id)
    with reading(store.engine) as connection:
        halt = breaker.look(connection, campaign.id)
        told = get_value(connection, _HALTED)
        stopped = (lambda quest: False) if halt is None else halt.stops
        recipe = kind.next_recipe(connection, hero, campaign, stopped)
        number = quests.count_all(connection, campaign.id)
    if told != (reason := None if halt is None else halt.reason):
        with transaction(store.engine) as connection:
            set_value(connection, _HALTED, reason)
            if halt is not None:
                said = f"{halt.reason}. {halt.remedy}"
                say(connection, "training.halted", said, severity="error")
    if recipe is None or stopped(recipe["quest"]):
        return []
    try:
        key = f"next-{campaign.id}-{number}"
        quest = enter(store, campaign.id, read_recipe(recipe), source="scheduler", key=key)
    except UserError as error:
        with transaction(store.engine) as connection:
            breaker.note_refusal(connection, campaign.id, str(error))
        return []
    return [quest.id]


def begin(store: Store) -> None:
    """A realm whose chosen hero never had a campaign starts one."""
    with transaction(store.engine) as connection:
        hero = find_hero(campaigns.chosen_hero(connection))
        if not campaigns.list_all(connection, hero.id):
            campaigns.first_campaign(connection, hero)


def _try(store: Store, campaign: str, order: dict[str, Any]) -> None:
    """Ask for a trial, once; whose trial ended without a verdict makes way as if refused."""
    who, champion = order["checkpoint"], order["champion"]
    key = f"trial-{who}-{champion}"
    job = store.submit("trial", order, priority="high", idempotency_key=key, campaign=campaign)
    if job.status in OPEN or job.status is Status.DONE:
        return
    reason = f"its trial ended without a verdict: {job.job_id} is {job.status}"
    verdict = Verdict(who, champion, "trial", False, reason, version=TRIAL_VERSION)
    with transaction(store.engine) as connection:
        lost = f"{job.job_id} without a verdict"
        store_eval(connection, who, TRIAL, lost, order["seed"], verdict.as_json())
        data = {"checkpoint": who, "job": job.job_id}
        said = f"{who}: {reason}"
        say(connection, "vault.promotion_refused", said, severity="warning", data=data)


def _confirm(store: Store, hero: str, campaign: str) -> None:
    """Let a new champion, whoever crowned it, play fresh games: gating inflates its Elo."""
    name = f"confirmed {hero}"
    with reading(store.engine) as connection:
        now = champion_of(connection, hero)
        if now is None or now.previous is None or get_value(connection, name) == now.seq:
            return
        entry = row_of(connection, now.checkpoint)
    assert entry is not None  # champions stay in the ledger
    order = kind_of_role(entry.role).questions(entry) | {"checkpoint": entry.id}
    # Of the panel, and so of no evaluation before.
    order |= {"against": now.previous, "seed": FRESH + now.seq}
    key = f"confirm-{entry.id}-{now.seq}"  # the same again is one job
    store.submit("eval", order, priority="high", idempotency_key=key, campaign=campaign)
    with transaction(store.engine) as connection:
        set_value(connection, name, now.seq)


def _promote(store: Store, hero: str, verdict: Verdict) -> None:
    """Promote; a checkpoint that is refused is not tried again, and that is said once."""
    refused, checkpoint = f"promotion refused {hero}", verdict.candidate
    with reading(store.engine) as connection:
        if get_value(connection, refused) == checkpoint:
            return
    try:
        promote(store.engine, checkpoint, verdict)
    except Conflict:
        return  # somebody was promoted meanwhile: the next turn judges again
    except (BadFile, Corrupt) as error:
        with transaction(store.engine) as connection:
            set_value(connection, refused, checkpoint)
            say(connection, "vault.promotion_refused", str(error), severity="warning")
        return
    data = {"checkpoint": checkpoint, "hero": hero}
    said = f"{checkpoint}: {verdict.reason}"
    say(store.engine, "vault.champion_promoted", said, severity="success", data=data)
