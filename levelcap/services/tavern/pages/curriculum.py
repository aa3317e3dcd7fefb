"""Controls of a text hero's curriculum: which skills, and who gets how much."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

from levelcap.campaign.sheet.guild import GuildSheet
from levelcap.services.tavern import lore
from levelcap.services.tavern.fields import form
from levelcap.services.tavern.frame import Tavern
from levelcap.services.tavern.tags import Tag, card, paragraph


class Controls:
    """Two choices and a button; the Keeper writes them into the campaign's settings."""

    def __init__(self, tavern: Tavern) -> None:
        self.tavern = tavern

    def build(self, sheet: GuildSheet) -> None:
        """The card; `sheet` is that of the guild."""
        self._campaign, self._hero = sheet.campaign, sheet.hero
        with card("Curriculum"):
            taught = sheet.curriculum
            if taught is None:
                paragraph("It can be chosen when this hero has a campaign.", "empty")
                return
            own = sheet.chosen
            fields = {
                "curriculum": {
                    "label": "Preset",
                    "hint": "Which skills the wheel studies",
                    "options": _options(lore.CURRICULA, sheet.presets),
                },
                "strategy": {
                    "label": "Strategy",
                    "hint": "How rounds are shared; needs a preset",
                    "options": _options(lore.STRATEGIES, sheet.strategies),
                },
            }
            for name, field in fields.items():
                field |= {"kind": "choice", "value": own[name] or ""}
            form(fields, "Use from the next round on", self._apply, block="split")
            self._now = Tag("p", "muted", _words(**vars(taught)))

    async def _apply(self, given: dict[str, Any]) -> None:
        values = {name: value or None for name, value in given.items()}
        path = f"/api/campaigns/{self._campaign}/settings"
        said = await self.tavern.orders.ask("POST", path, {"values": values}, done="Taken over")
        if said is None:
            return
        sheet = await self.tavern.orders.ask("GET", f"/api/guild/{self._hero}")
        if sheet is not None and sheet["curriculum"] is not None:
            self._now.say(_words(**sheet["curriculum"]))


def _options(words: dict[str, str], known: list[str]) -> dict[str, str]:
    return {name: words.get(name, name) for name in ("", *known)}


def _words(
    strategy: str, skills: Sequence[str], preset: str | None, focus: str | None, **_more: Any
) -> str:
    """What is studied now."""
    names = " and ".join(name.upper() for name in skills)
    extra = f", only {preset}" if preset else ""
    most = f" on {focus.upper()}" if strategy == "focus" and focus else ""
    return f"Now: {names}{extra}, strategy {strategy.replace('_', ' ')}{most}."
