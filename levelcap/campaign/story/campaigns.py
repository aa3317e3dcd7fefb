"""Campaigns: one attempt each to take a hero as far as it can go.

A hero has one that is current. One hero is chosen: its campaign is active, those of the others are
paused, and nothing of a paused campaign is begun. A new game starts from nothing; New Game+ starts
from an old checkpoint; an archived one can be continued. Nothing is deleted.
"""

from __future__ import annotations

import json
from dataclasses import asdict, dataclass
from typing import Any, Protocol

from levelcap.campaign.story.events import say
from levelcap.campaign.story.values import get_value, set_value
from levelcap.kit.db import Connection
from levelcap.kit.errors import BadValue, Conflict, refuse, unknown_name
from levelcap.kit.ids import check_words, run_name
from levelcap.vault.assets import now
from levelcap.vault.locks import check_change

FIRST_HERO = "kestrel"  # chosen until a person chooses
STATUSES = ("active", "paused", "archived", "completed")
_JSON = (*("skills_focus", "config_overrides", "milestones", "peak_skill_levels", "peak_metrics"),)


class Named(Protocol):
    """A hero, as far as its story needs to know it."""

    @property
    def id(self) -> str: ...
    @property
    def name(self) -> str: ...


@dataclass(frozen=True)
class Campaign:
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

    def as_json(self) -> dict[str, Any]:
        """Plain values."""
        return asdict(self)


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
    values = {
        "id": run_name("campaign"),
        "hero_id": hero_id,
        "name": name.strip(),
        "created_at": now(),
        "status": _status(connection, hero_id),
        "starting_checkpoint": starting_checkpoint,
        "starting_step": starting_step,
        "current_step": starting_step,
        "skills_focus": "[]",
        "config_overrides": json.dumps(config_overrides or {}),
        "description": description[:500],
        "milestones": "[]",
        "peak_skill_levels": "{}",
        "peak_metrics": "{}",
        "archived_at": None,
    }
    columns, slots = ", ".join(values), ", ".join(f":{column}" for column in values)
    connection.execute(f"INSERT INTO campaigns ({columns}) VALUES ({slots})", values)
    kind = "New Game+" if starting_checkpoint else "new game"
    say(
        connection,
        "hero.stat_change",
        f"{name.strip()}: {kind} of {hero_id} begins",
        data={"campaign": values["id"], "hero": hero_id},
    )
    return get(connection, str(values["id"]))


def get(connection: Connection, campaign_id: str) -> Campaign:
    """One campaign.

    Raises:
        UnknownName: no such campaign.
    """
    query = "SELECT * FROM campaigns WHERE id = :i"
    row = connection.execute(query, {"i": campaign_id}).first()
    if row is None:
        raise unknown_name("campaign", campaign_id, [c.id for c in list_all(connection)])
    return _campaign(row)


def _campaign(row: Any) -> Campaign:
    values = row._asdict()
    return Campaign(**{k: json.loads(v) if k in _JSON else v for k, v in values.items()})


def list_all(connection: Connection, hero_id: str | None = None) -> list[Campaign]:
    """All campaigns, newest first."""
    query = "SELECT * FROM campaigns WHERE :h IS NULL OR hero_id = :h ORDER BY created_at DESC"
    return [_campaign(row) for row in connection.execute(query, {"h": hero_id})]


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
    connection.execute("UPDATE campaigns SET status = 'active' WHERE id = :i", {"i": found.id})
    say(
        connection,
        "hero.stat_change",
        f"{hero.name} trains now",
        data={"hero": hero.id, "campaign": found.id},
    )
    return get(connection, found.id)


def waiting(connection: Connection) -> list[str]:
    """Ids of paused campaigns, of which nothing is begun."""
    query = "SELECT id FROM campaigns WHERE status = 'paused'"
    return connection.execute(query).scalars()


def current(connection: Connection, hero_id: str) -> Campaign | None:
    """The campaign of a hero that goes on, now or when the hero is chosen."""
    query = "SELECT * FROM campaigns WHERE hero_id = :h AND status IN ('active', 'paused')"
    row = connection.execute(query, {"h": hero_id}).first()
    return None if row is None else _campaign(row)


def active(connection: Connection, hero_id: str) -> Campaign | None:
    """The campaign of a hero that goes on now."""
    query = "SELECT * FROM campaigns WHERE hero_id = :h AND status = 'active'"
    row = connection.execute(query, {"h": hero_id}).first()
    return None if row is None else _campaign(row)


def count_again(connection: Connection, hero_id: str) -> int:
    """Campaigns of a hero that began with an old checkpoint (New Game+)."""
    query = "SELECT count(*) FROM campaigns WHERE hero_id = :h AND starting_checkpoint NOTNULL"
    return int(connection.execute(query, {"h": hero_id}).scalar_one())


def archive(connection: Connection, campaign_id: str) -> Campaign:
    """Put a campaign away; its checkpoints stay."""
    found = get(connection, campaign_id)
    if found.status == "archived":
        remedy = "Continue it, or start a new one"
        raise Conflict(refuse("this campaign is archived already", campaign_id, remedy))
    connection.execute(
        "UPDATE campaigns SET status = 'archived', archived_at = :t WHERE id = :i",
        {"t": now(), "i": campaign_id},
    )
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
    connection.execute(
        "UPDATE campaigns SET status = :s, archived_at = NULL WHERE id = :i",
        {"s": _status(connection, found.hero_id), "i": campaign_id},
    )
    say(connection, "hero.stat_change", f"{found.name}: continued", data={"campaign": campaign_id})
    return get(connection, campaign_id)


def set_overrides(
    connection: Connection, campaign_id: str, overrides: dict[str, Any], approved: list[str]
) -> Campaign:
    """Change the settings of a campaign; locked ones need an approval by name."""
    found = get(connection, campaign_id)
    after = found.config_overrides | overrides
    check_change(found.config_overrides, after, approved)
    connection.execute(
        "UPDATE campaigns SET config_overrides = :c WHERE id = :i",
        {"c": json.dumps(after), "i": campaign_id},
    )
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
    connection.execute(
        "UPDATE campaigns SET current_step = :s, peak_metrics = :p WHERE id = :i",
        {"s": max(step, found.current_step), "p": json.dumps(peaks), "i": campaign_id},
    )


def note_level(connection: Connection, campaign_id: str, skill: str, level: int) -> None:
    """Write down the highest level of a skill."""
    peaks = {**get(connection, campaign_id).peak_skill_levels, skill: level}
    connection.execute(
        "UPDATE campaigns SET peak_skill_levels = :p WHERE id = :i",
        {"p": json.dumps(peaks), "i": campaign_id},
    )
