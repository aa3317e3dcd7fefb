"""The desk where quests are entered: recipe -> job, run and quest, in one transaction."""

from __future__ import annotations

import secrets

from levelcap.campaign.kinds.heroes import KINDS, find_hero, kind_of
from levelcap.campaign.story import campaigns, quests
from levelcap.campaign.story.quests import NewQuest, Quest
from levelcap.campaign.work.base import Desk, Recipe
from levelcap.jobs.history import id_of_key
from levelcap.jobs.store import Store
from levelcap.kit.db import transaction
from levelcap.kit.errors import BadValue, Conflict, refuse


def enter(
    store: Store, campaign_id: str, recipe: Recipe, *, source: str, key: str | None = None
) -> Quest:
    """Queue a quest for a campaign.

    Args:
        source: where it came from: "scheduler", "inbox: <file>", "person".
        key: the same key twice is one quest.

    Raises:
        UnknownName: a checkpoint, run or shard that does not exist. BadValue: it does not fit.
        Refused: the queue is full.
    """
    if source != "scheduler":  # the wheel's own orders fail as jobs, and the breaker counts them
        recipe.check()
    number = secrets.token_hex(6)
    desk = Desk(store, campaign_id, number)
    _check_kind(desk, recipe)
    work = recipe.order(desk)
    with transaction(store.engine) as connection:
        known = None if key is None else id_of_key(connection, key)
        if known is not None and (quest := quests.of_job(connection, known)) is not None:
            return quest
        campaign = campaigns.get(connection, campaign_id)
        accepted = store.submit(
            work.type,
            work.model_dump(),
            priority=recipe.priority,
            idempotency_key=key,
            campaign=campaign_id,
            connection=connection,
        )
        work.begin(connection, campaign_id, campaign.current_step)
        return quests.add(
            connection,
            NewQuest(
                id=f"quest-{number}",
                campaign=campaign_id,
                kind=recipe.quest,
                title=recipe.title or recipe.describe(),
                recipe=recipe.model_dump_json(by_alias=True),
                priority=recipe.priority,
                source=source[:200],
                job=accepted.job_id,
                run=work.run_id,
            ),
        )


def _check_kind(desk: Desk, recipe: Recipe) -> None:
    if recipe.hero_kind not in (None, kind_of(desk.hero).name):
        what = f"a quest of {recipe.quest} is for {recipe.hero_kind} heroes, this campaign is not"
        remedy = "Leave the campaign out, or name one of such a hero"
        raise BadValue(refuse(what, desk.campaign, remedy))


def campaign_for(store: Store, kind: str | None) -> str:
    """The campaign that work for a kind of hero (None: any) belongs to.

    That is the chosen hero's, or one that waits for its turn.

    A hero of another kind than the chosen one gets a first campaign when it has none.

    Raises:
        Conflict: the chosen hero has no campaign.
    """
    with transaction(store.engine) as connection:
        chosen = find_hero(campaigns.chosen_hero(connection))
        if kind in (None, chosen.kind):
            found = campaigns.current(connection, chosen.id)
        else:
            other = find_hero(KINDS[str(kind)].first_hero)
            found = campaigns.first_campaign(connection, other)
    if found is None:
        raise Conflict(refuse("no campaign is active", "none", "Start or continue one first"))
    return found.id
