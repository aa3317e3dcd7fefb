"""`/settings`, the Armory: the machine's settings, campaigns, New Game+."""

from __future__ import annotations

from typing import Any, get_args

from nicegui import ui

from levelcap.campaign.story import campaigns
from levelcap.campaign.story.campaigns import Campaign
from levelcap.campaign.wheel import schedule
from levelcap.kit.config import Settings, describe_settings
from levelcap.kit.documents import load_yaml
from levelcap.kit.paths import get_base_dir
from levelcap.services.tavern import lore
from levelcap.services.tavern.fields import form
from levelcap.services.tavern.orders import refuse_aloud
from levelcap.services.tavern.page import Page
from levelcap.services.tavern.pages.memory import MemoryCard
from levelcap.services.tavern.parts import page_heading
from levelcap.services.tavern.tags import Icon, Tag, button, card, div, paragraph, span
from levelcap.vault.ledger import get_ledger
from levelcap.vault.locks import LOCKED

SHOWN = 30  # campaigns
STARTS = {
    "": "from nothing (new game)", "champion": "from the champion (New Game+)",
    "best": "from the strongest checkpoint (New Game+)",
    "latest": "from the newest checkpoint (New Game+)",
}  # fmt: skip


class SettingsPage(Page):
    """One open page."""

    rows: list[dict[str, Any]]
    campaigns: list[Campaign]
    best: dict[str, str]  # campaign -> its highest Elo

    def _read(self) -> None:
        self.rows = describe_settings()
        self.machine = schedule.look(get_base_dir(), 0.0)
        self.campaigns = self.tavern.realm.read(campaigns.list_all, self.hero)[:SHOWN]
        ledger = get_ledger(self.tavern.realm.engine)
        best = {row.id: ledger.get_best("elo", campaign=row.id) for row in self.campaigns}
        self.best = {name: lore.elo_of(row) for name, row in best.items() if row}

    def build(self) -> None:
        """The machine, the campaign's settings, campaigns and a new one."""
        page_heading("Armory", "What the hero may use of this machine, and the campaigns it is on.")
        with div("split"):
            with card("This machine"):
                self._machine = div("form")
            with div("pillar"):
                with card("Task Master"):
                    self._task_master()
                with card("Settings of the campaign"):
                    self._overrides = div("form")
        with card("What a setting takes"):
            MemoryCard().build()
        with card("Campaigns"):
            self._campaigns = div("form")
        with card("Begin again"):
            self._begin()
        self._fill()

    def _fill(self) -> None:
        self._machine.redraw(self.rows, self._draw_machine)
        self._campaigns.redraw((self.campaigns, self.best), self._draw_campaigns)
        self._overrides.redraw(self._active(), self._draw_overrides)

    def _draw_machine(self) -> None:
        fields = {}
        for row in self.rows:
            name, value = row["name"], row["value"]
            outside = row["origin"] not in ("file", "default")
            hint = f"{row['help']}; default {row['default']}"
            hint += f"; set by {row['origin']}" if outside else ""
            kind, options = _kind(name, value)
            shown = value if kind == "switch" else str(value)
            fields[name] = {
                "label": lore.SETTINGS.get(name, name),
                "kind": kind,
                "value": shown,
                "options": options,
                "hint": hint,
                "locked": outside,
            }
        form(fields, "Save", self._save, block="form")
        paragraph(
            "Kept in config/settings.yaml; cores and ports count from the next start.", "quest-sub"
        )

    async def _save(self, given: dict[str, Any]) -> None:
        values: dict[str, Any] = {}
        for row in self.rows:
            value = given[row["name"]]
            value = value if isinstance(row["value"], bool) else _plain(str(value))
            if value != row["value"]:
                values[row["name"]] = value
        if not values:
            ui.notify("Nothing was changed", position="top-right")
            return
        if await self.tavern.orders.ask("POST", "/api/settings", {"values": values}, done="Saved"):
            await self.reload()

    def _task_master(self) -> None:
        machine = self.machine
        lines = (
            ("gears", f"{machine.cores} cores on this machine"),
            ("bolt", "on battery" if machine.on_battery else "on mains power"),
            ("book", f"{machine.free_memory_gb:.1f} GB of memory free"),
            ("chest", f"{machine.free_disk_gb:.1f} GB of disk free"),
        )
        with Tag("ul", "facts"):
            for icon, words in lines:
                with Tag("li", "row"):
                    Icon(icon)
                    span(text=words)
        paragraph(
            "Training waits on battery or when the disk is full, and goes on by itself.",
            "quest-sub",
        )

    def _active(self) -> Campaign | None:
        return next((c for c in self.campaigns if c.status == "active"), None)

    def _draw_overrides(self) -> None:
        active = self._active()
        if active is None:
            paragraph("No campaign is active.", "empty")
            return
        for name, value in sorted(active.config_overrides.items()):
            with div("row between setting-row"):
                with div("row"):
                    if name in LOCKED:
                        Icon("lock")
                    span("mono", name)
                span("mono", str(value))
        if not active.config_overrides:
            paragraph("Nothing differs from the hero's own settings.", "empty")
        fields: dict[str, dict[str, Any]] = {
            "name": {"label": "Setting", "hint": f"locked: {', '.join(sorted(LOCKED))}"},
            "value": {"label": "Value"},
            "approve": {"label": "Approve a locked one", "kind": "switch", "value": False},
        }
        form(fields, "Set it", self._override, look="")

    async def _override(self, given: dict[str, Any]) -> None:
        active, name = self._active(), str(given["name"]).strip()
        if active is None or not name:
            refuse_aloud("a setting needs a name; got ''. Fill in the first field.")
            return
        body = {
            "values": {name: _plain(str(given["value"]))},
            "approve": [name] if given["approve"] else [],
        }
        path = f"/api/campaigns/{active.id}/settings"
        if await self.tavern.orders.ask("POST", path, body, done="Set"):
            await self.reload()

    def _draw_campaigns(self) -> None:
        for row in self.campaigns:
            best = f"best Elo {self.best[row.id]}" if row.id in self.best else "not judged yet"
            kind = "New Game+" if row.starting_checkpoint else "new game"
            with div("row between setting-row", data_campaign=row.id):
                with div("event-words"):
                    span("event-title", row.name)
                    span(
                        "quest-sub",
                        f"{kind} · level {lore.level(row.current_step)} · {best} · "
                        f"begun {lore.ago(row.created_at)}",
                    )
                with div("row"):
                    active = row.status == "active"
                    span(f"chip {'running' if active else 'plain'}", row.status)
                    word, icon = ("Archive", "chest") if active else ("Continue", "play")
                    path = f"/api/campaigns/{row.id}/{word.lower()}"
                    button(word, self.order(path), "small", icon)
        if not self.campaigns:
            paragraph("No campaign yet.", "empty")

    def _begin(self) -> None:
        paragraph(
            "A new campaign archives the present one. Nothing is deleted; an archived one can be "
            "continued.",
            "muted",
        )
        start: dict[str, Any] = {"label": "Start", "kind": "choice", "options": STARTS}
        fields = {"name": {"label": "Name"}, "start": start}
        self._begun = form(fields, "Begin the campaign", self._create, icon="banner")

    async def _create(self, given: dict[str, Any]) -> None:
        body: dict[str, Any] = {"hero": self.hero, "name": str(given["name"]).strip()}
        if given["start"]:
            body["starting_checkpoint"] = given["start"]
        if await self.tavern.orders.ask("POST", "/api/campaigns", body, done="It begins"):
            self._begun["name"].set("")
            await self.reload()


def _kind(name: str, value: Any) -> tuple[str, tuple[str, ...] | None]:
    options = get_args(Settings.model_fields[name].annotation)
    if options and all(isinstance(option, str) for option in options):
        return "choice", options
    if isinstance(value, bool):
        return "switch", None
    return "number", None


def _plain(text: str) -> Any:
    """A number where it is one, else the text itself."""
    try:
        found = load_yaml(text)
    except ValueError:
        return text
    return found if isinstance(found, int | float | bool) else text
