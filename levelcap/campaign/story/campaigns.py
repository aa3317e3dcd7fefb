"""Campaigns: one attempt each to take a hero as far as it can go.

A hero has one that is current. One hero is chosen: its campaign is active, those of the others are
paused, and nothing of a paused campaign is begun. A new game starts from nothing; New Game+ starts
from an old checkpoint; an archived one can be continued. Nothing is deleted.
"""

from __future__ import annotations

import json
from dataclasses import dataclass
from typing import Any, Protocol

from levelcap.campaign.story import rows
from levelcap.campaign.story.events import say
from levelcap.campaign.story.rows import Row
from levelcap.campaign.story.values import get_value, set_value
from levelcap.kit.db import Connection
from levelcap.kit.errors import BadValue, Conflict, refuse, unknown_name
from levelcap.kit.ids import check_words, run_name
from levelcap.kit.prefix import by_prefix
from levelcap.vault.assets import now
from levelcap.vault.locks import check_change

FIRST_HERO = "kestrel"  # chosen until a person chooses


class Named(Protocol):
    """A hero, as far as its story needs to know it."""

    @property
    def id(self) -> str: ...
    @property
    def name(self) -> str: ...


@dataclass(frozen=True)
class Campaign(Row):
    """One row; its fields are a format (ARCHITECTURE, Files)."""

    id: str
    hero_id: str
    name: str
    created_at: str
    status: str
    starting_checkpoint: str | None
    starting_step: int
    current_step: int
    skills_focus: list[str]
    config_overrides: dict[str, Any]
    description: str
    milestones: list[dict[str, Any]]
    peak_skill_levels: dict[str, int]
    peak_metrics: dict[str, dict[str, float]]
    archived_at: str | None

    @property
    def seed(self) -> int:
        """The seed its scheduled work is given."""
        return int(self.config_overrides.get("seed", 0))

    @property
    def knobs(self) -> dict[str, str]:
        """Overrides of training settings for its scheduled work, as text."""
        given = self.config_overrides.get("knobs", {})
        return {str(name): str(value) for name, value in given.items()}


def create(
    connection: Connection,
    hero_id: str,
    name: str,
    *,
    starting_checkpoint: str | None = None,
    starting_step: int = 0,
    description: str = "",
    config_overrides: dict[str, Any] | None = None,
) -> Campaign:
    """Start a new campaign of a hero; its current one is archived.

    Raises:
        BadValue: a name that is empty or too long.
    """
    check_words(name)
    if not 0 < len(name.strip()) <= 80:
        raise BadValue(refuse("a campaign's name has 1 to 80 characters", name, "Shorten it"))
    if (old := current(connection, hero_id)) is not None:
        archive(connection, old.id)
    made = Campaign(
        id=run_name("campaign"),
        hero_id=hero_id,
        name=name.strip(),
        created_at=now(),
        status=_status(connection, hero_id),
        starting_checkpoint=starting_checkpoint,
        starting_step=starting_step,
        current_step=starting_step,
        skills_focus=[],
        config_overrides=config_overrides or {},
        description=description[:500],
        milestones=[],
        peak_skill_levels={},
        peak_metrics={},
        archived_at=None,
    )
    rows.insert(connection, "campaigns", made.as_json())
    kind = "New Game+" if starting_checkpoint else "new game"
    said, data = f"{made.name}: {kind} of {hero_id} begins", {"campaign": made.id, "hero": hero_id}
    say(connection, "hero.stat_change", said, data=data)
    return made


def find_id(connection: Connection, given: str) -> str:
    """The id that was typed, whole or its beginning; see `kit.prefix`."""
    return by_prefix(connection, "campaign", "campaigns", given)


def get(connection: Connection, campaign_id: str) -> Campaign:
    """One campaign.

    Raises:
        UnknownName: no such campaign.
    """
    found = rows.first(connection, Campaign, "SELECT * FROM campaigns WHERE id = :i", i=campaign_id)
    if found is None:
        raise unknown_name("campaign", campaign_id, [c.id for c in list_all(connection)])
    return found


def list_all(connection: Connection, hero_id: str | None = None) -> list[Campaign]:
    """All campaigns, newest first."""
    query = "SELECT * FROM campaigns WHERE :h IS NULL OR hero_id = :h ORDER BY created_at DESC"
    return rows.select(connection, Campaign, query, h=hero_id)


def chosen_hero(connection: Connection) -> str:
    """The hero that trains."""
    return str(get_value(connection, "hero", FIRST_HERO))


def _status(connection: Connection, hero_id: str) -> str:
    return "active" if hero_id == chosen_hero(connection) else "paused"


def first_campaign(connection: Connection, hero: Named) -> Campaign:
    """The current campaign of a hero; a first one is made when it has none."""
    found = current(connection, hero.id)
    return found or create(connection, hero.id, f"{hero.name}'s first campaign")


def choose(connection: Connection, hero: Named) -> Campaign:
    """Let a hero train: its campaign (a first one, if it has none) is active, others are paused."""
    set_value(connection, "hero", hero.id)
    connection.execute("UPDATE campaigns SET status = 'paused' WHERE status = 'active'")
    found = first_campaign(connection, hero)
    _update(connection, found.id, status="active")
    data = {"hero": hero.id, "campaign": found.id}
    say(connection, "hero.stat_change", f"{hero.name} trains now", data=data)
    return get(connection, found.id)


def waiting(connection: Connection) -> list[str]:
    """Ids of paused campaigns, of which nothing is begun."""
    query = "SELECT id FROM campaigns WHERE status = 'paused'"
    return connection.execute(query).scalars()


def current(connection: Connection, hero_id: str) -> Campaign | None:
    """The campaign of a hero that goes on, now or when the hero is chosen."""
    query = "SELECT * FROM campaigns WHERE hero_id = :h AND status IN ('active', 'paused')"
    return rows.first(connection, Campaign, query, h=hero_id)


def active(connection: Connection, hero_id: str) -> Campaign | None:
    """The campaign of a hero that goes on now."""
    query = "SELECT * FROM campaigns WHERE hero_id = :h AND status = 'active'"
    return rows.first(connection, Campaign, query, h=hero_id)


def count_again(connection: Connection, hero_id: str) -> int:
    """Campaigns of a hero that began with an old checkpoint (New Game+)."""
    query = "SELECT count(*) FROM campaigns WHERE hero_id = :h AND starting_checkpoint NOTNULL"
    return rows.number(connection, query, h=hero_id)


def archive(connection: Connection, campaign_id: str) -> Campaign:
    """Put a campaign away; its checkpoints stay."""
    found = get(connection, campaign_id)
    if found.status == "archived":
        remedy = "Continue it, or start a new one"
        raise Conflict(refuse("this campaign is archived already", campaign_id, remedy))
    _update(connection, campaign_id, status="archived", archived_at=now())
    say(connection, "hero.stat_change", f"{found.name}: archived", data={"campaign": campaign_id})
    return get(connection, campaign_id)


def resume(connection: Connection, campaign_id: str) -> Campaign:
    """Continue a campaign that was put away; the current one of its hero is archived."""
    found = get(connection, campaign_id)
    old = current(connection, found.hero_id)
    if old is not None and old.id == campaign_id:
        remedy = "Leave it, or choose its hero"
        raise Conflict(refuse(f"this campaign is {old.status} already", campaign_id, remedy))
    if old is not None:
        archive(connection, old.id)
    status = _status(connection, found.hero_id)
    _update(connection, campaign_id, status=status, archived_at=None)
    say(connection, "hero.stat_change", f"{found.name}: continued", data={"campaign": campaign_id})
    return get(connection, campaign_id)


def set_overrides(
    connection: Connection, campaign_id: str, overrides: dict[str, Any], approved: list[str]
) -> Campaign:
    """Change the settings of a campaign; locked ones need an approval by name."""
    found = get(connection, campaign_id)
    after = found.config_overrides | overrides
    check_change(found.config_overrides, after, approved)
    _update(connection, campaign_id, config_overrides=json.dumps(after))
    return get(connection, campaign_id)


def advance(connection: Connection, campaign_id: str, step: int, metrics: dict[str, float]) -> None:
    """Note how far a campaign has come; keeps the best value of each metric with its step."""
    found = get(connection, campaign_id)
    peaks = dict(found.peak_metrics)
    for name, value in metrics.items():
        lower = name.endswith("loss")
        best = peaks.get(name)
        if best is None or (value < best["value"] if lower else value > best["value"]):
            peaks[name] = {"value": value, "step": step}
    reached = max(step, found.current_step)
    _update(connection, campaign_id, current_step=reached, peak_metrics=json.dumps(peaks))


def note_level(connection: Connection, campaign_id: str, skill: str, level: int) -> None:
    """Write down the highest level of a skill."""
    peaks = {**get(connection, campaign_id).peak_skill_levels, skill: level}
    _update(connection, campaign_id, peak_skill_levels=json.dumps(peaks))


def _update(connection: Connection, campaign_id: str, **values: Any) -> None:
    changes = ", ".join(f"{column} = :{column}" for column in values)
    query = f"UPDATE campaigns SET {changes} WHERE id = :id"
    connection.execute(query, {**values, "id": campaign_id})
