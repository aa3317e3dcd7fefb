"""Controls of a text hero's curriculum: which skills, and who gets how much."""

from __future__ import annotations

from typing import Any

from levelcap.services.tavern import lore
from levelcap.services.tavern.fields import Field
from levelcap.services.tavern.frame import Tavern
from levelcap.services.tavern.tags import Tag, button, card, div, paragraph


class Controls:
    """Two choices and a button; the Keeper writes them into the campaign's settings."""

    def __init__(self, tavern: Tavern, campaign: dict[str, Any] | None) -> None:
        self.tavern, self.campaign = tavern, campaign

    def build(self, sheet: dict[str, Any]) -> None:
        """The card; `sheet` is that of the guild."""
        with card("Curriculum"):
            if self.campaign is None or sheet["curriculum"] is None:
                paragraph("It can be chosen when this hero has a campaign.", "empty")
                return
            own = self.campaign["config_overrides"]
            with div("split"):
                self._preset = Field("Preset", "choice", own.get("curriculum") or "",
                                     options=_options(lore.CURRICULA, sheet["presets"]),
                                     hint="Which skills the wheel studies")  # fmt: skip
                self._strategy = Field("Strategy", "choice", own.get("strategy") or "",
                                       options=_options(lore.STRATEGIES, sheet["strategies"]),
                                       hint="How rounds are shared; needs a preset")  # fmt: skip
            with div("row between"):
                self._now = Tag("p", "muted", _words(sheet["curriculum"]))
                button("Use from the next round on", self._apply, "primary", "check")

    async def _apply(self) -> None:
        assert self.campaign is not None
        values = {"curriculum": self._preset.value or None,
                  "strategy": self._strategy.value or None}  # fmt: skip
        path = f"/api/campaigns/{self.campaign['id']}/settings"
        said = await self.tavern.orders.ask("POST", path, {"values": values}, done="Taken over")
        if said is None:
            return
        sheet = await self.tavern.orders.ask("GET", f"/api/guild/{self.campaign['hero_id']}")
        if sheet is not None and sheet["curriculum"] is not None:
            self._now.say(_words(sheet["curriculum"]))


def _options(words: dict[str, str], known: list[str]) -> dict[str, str]:
    return {name: words.get(name, name) for name in ("", *known)}


def _words(curriculum: dict[str, Any]) -> str:
    """What is studied now."""
    skills = " and ".join(name.upper() for name in curriculum["skills"])
    extra = f", only {curriculum['preset']}" if curriculum["preset"] else ""
    focus = f" on {curriculum['focus'].upper()}" if curriculum["strategy"] == "focus" else ""
    return f"Now: {skills}{extra}, strategy {curriculum['strategy'].replace('_', ' ')}{focus}."
