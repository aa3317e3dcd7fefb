"""`/settings`, the Armory: the machine's settings, what they take, campaigns, New Game+."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Annotated, Any, get_args

import psutil
from pydantic import Field

from levelcap.campaign.kinds.heroes import load_text_heroes
from levelcap.campaign.sheet.memory import memory_of
from levelcap.campaign.story import campaigns
from levelcap.campaign.story.campaigns import Campaign
from levelcap.campaign.wheel import schedule
from levelcap.kit.config import Settings, describe_settings
from levelcap.kit.documents import load_yaml
from levelcap.kit.errors import BadValue, LevelcapError, refuse
from levelcap.kit.paths import get_base_dir
from levelcap.nets.text.memory import GIB
from levelcap.services.clients.keeper import KeeperClient
from levelcap.services.tavern import lore
from levelcap.services.tavern.orders import OrderBody, Said, asks
from levelcap.services.tavern.pulse import Moment
from levelcap.services.tavern.view import Asked, View
from levelcap.vault.ledger import get_ledger
from levelcap.vault.locks import LOCKED

SHOWN = 30  # campaigns
PARTS = ("weights", "gradients", "optimizer", "activations")
FORMULA = (
    "weights P·b + gradients P·b + optimizer 8·P + activations batch·length·hidden·b·34"
    " (÷ √layers with checkpointing); b = 4 bytes"
)
Text = Annotated[str, Field(max_length=100)]


class SettingsAsked(Asked):
    """What the memory is asked of; batch_size "": that hero's own."""

    hero: Text = ""
    batch_size: Text = ""
    length: Text = "128"
    saving: bool = False


@dataclass(frozen=True)
class Taken:
    """What training a text hero takes of the machine's memory, or what is wrong with the fields."""

    hero: str
    heroes: dict[str, str]
    batch_size: str
    problem: str = ""
    colour: str = ""
    sentence: str = ""
    formula: str = ""
    parts: tuple[tuple[str, str], ...] = ()


@dataclass(frozen=True)
class Shown:
    """What the template shows."""

    rows: list[dict[str, Any]]  # settings, each with kind and options of its field
    machine: schedule.Machine
    campaigns: list[Campaign]
    best: dict[str, str]  # campaign -> its highest Elo
    taken: Taken
    locked: tuple[str, ...] = tuple(sorted(LOCKED))

    @property
    def active(self) -> Campaign | None:
        """The campaign that goes on."""
        return next((c for c in self.campaigns if c.status == "active"), None)


def _save(keeper: KeeperClient, given: OrderBody) -> Said:
    """Sends what differs from what stands there."""
    values: dict[str, Any] = {}
    for row in describe_settings():
        if (value := given.values.get(row["name"])) is not None:
            value = value if isinstance(value, bool) else _plain(str(value))
            value = None if value == "" else value  # an empty field: what nobody has set
            if value != row["value"]:
                values[row["name"]] = value
    if not values:
        return Said("Nothing was changed", tone="info")
    keeper.call("POST", "/api/settings", {"values": values})
    return Said("Saved")


def _override(keeper: KeeperClient, given: OrderBody) -> Said:
    name = str(given.values.get("name", "")).strip()
    if not name:
        raise BadValue(refuse("a setting needs a name", name, "Fill in the first field"))
    body = {
        "values": {name: _plain(str(given.values.get("value", "")))},
        "approve": [name] if given.values.get("approve") else [],
    }
    keeper.call("POST", f"/api/campaigns/{given.id}/settings", body)
    return Said("Set")


def _begin(keeper: KeeperClient, given: OrderBody) -> Said:
    body = {"hero": given.id, "name": str(given.values.get("name", "")).strip()}
    if start := given.values.get("start"):
        body["starting_checkpoint"] = str(start)
    keeper.call("POST", "/api/campaigns", body)
    return Said("It begins")


class SettingsView(View[SettingsAsked]):
    """The machine, what a setting takes, the campaign's settings, campaigns and a new one."""

    asked = SettingsAsked
    orders = {
        "save": _save,
        "override": _override,
        "begin": _begin,
        "archive": asks("POST", "/api/campaigns/{id}/archive"),
        "continue": asks("POST", "/api/campaigns/{id}/continue"),
    }

    def read(self, moment: Moment, asked: SettingsAsked) -> Shown:
        """Settings, machine, campaigns."""
        rows = [row | _field(row) for row in describe_settings()]
        found = self.tavern.realm.read(campaigns.list_all, moment.hero.id)[:SHOWN]
        ledger = get_ledger(self.tavern.realm.engine)
        best = {row.id: ledger.get_best("elo", campaign=row.id) for row in found}
        known = {name: lore.elo_of(row) for name, row in best.items() if row}
        return Shown(rows, schedule.look(get_base_dir(), 0.0), found, known, _taken(asked))


def _field(row: dict[str, Any]) -> dict[str, Any]:
    """Kind and options of a setting's field."""
    options = get_args(Settings.model_fields[row["name"]].annotation)
    if options and all(isinstance(option, str) for option in options):
        return {"kind": "choice", "options": options}
    return {"kind": "switch" if isinstance(row["value"], bool) else "number", "options": ()}


def _plain(text: str) -> Any:
    """A number where it is one, else the text itself."""
    try:
        found = load_yaml(text)
    except ValueError:
        return text
    return found if isinstance(found, int | float | bool) else text


def _taken(asked: SettingsAsked) -> Taken:
    heroes = load_text_heroes()
    names = {name: f"{hero.name} · {hero.subtitle}" for name, hero in heroes.items()}
    hero = asked.hero if asked.hero in heroes else next(iter(heroes))
    batch = asked.batch_size or str(heroes[hero].batch)
    device = psutil.virtual_memory().total
    try:
        memory = memory_of(hero, _whole(batch), _whole(asked.length), asked.saving)
    except LevelcapError as error:
        return Taken(hero, names, batch, str(error))
    formula = f"{FORMULA}\nraw value: {memory.total:,.0f} bytes of {device:,}"
    parts = tuple((f"{name} {getattr(memory, name) / GIB:.2g} GB", "plain") for name in PARTS)
    return Taken(hero, names, batch, "", memory.colour(device), memory.sentence(), formula, parts)


def _whole(text: str) -> int:
    if not text.isascii() or not text.isdigit() or len(text) > 9:
        raise BadValue(refuse("a whole number is asked for", text, "Correct this field"))
    return int(text)
