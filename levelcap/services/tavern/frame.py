"""What stands around every page: header, navigation, help, notifications.

    with frame(tavern, "/quests") as page: ...

A page is built from what was read before; afterwards the pulse changes what differs.
"""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass
from typing import Any

from nicegui import context, ui
from nicegui.element import Element

from levelcap.campaign.realm import Realm
from levelcap.services.tavern import lore
from levelcap.services.tavern.fields import Field
from levelcap.services.tavern.orders import Orders
from levelcap.services.tavern.pulse import Moment, Pulse
from levelcap.services.tavern.tags import (
    STATIC,
    Icon,
    Modal,
    Tag,
    button,
    div,
    link,
    put,
    span,
)
from levelcap.services.tavern.visits import Visits

STEERING = (
    ("pause", "Pause", "pause"), ("resume", "Resume", "play"), ("skip", "Skip this quest", "skip"),
    ("stop", "Stop", "stop"), ("retry", "Try again what failed", "undo"),
)  # fmt: skip
KEYS = (
    *((f"g {p.key}", f"go to {p.name}") for p in lore.PLACES),
    ("p", "pause or resume training"),
    ("m", "sound on or off"),
    ("?", "this help"),
    ("Tab, Enter", "reach and press everything"),
    ("Esc", "close a window"),
)
TONES: dict[str, Any] = {
    "success": "positive",
    "warning": "warning",
    "error": "negative",
    "info": "info",
}


@dataclass(frozen=True)
class Tavern:
    """What pages are made of: the realm to read, the pulse, the Keeper to ask."""

    realm: Realm
    pulse: Pulse
    orders: Orders
    visits: Visits
    static: str = ""  # address of the folder of static files


class Shell(Element, component=STATIC / "shell.js"):
    """Keys and sounds; looks like the sound switch."""

    def __init__(self, places: list[dict[str, str]]) -> None:
        super().__init__()
        self._props.update(places=places, cue={})


class Frame:
    """The frame of one open page."""

    def __init__(self, tavern: Tavern, path: str, moment: Moment) -> None:
        self.tavern, self.path, self.moment = tavern, path, moment
        self._cues, self._shown_hero = 0, moment.hero.id
        self._level = int(moment.hero.stats["level"].value or 0)

    def build(self) -> Tag:
        """Draws it; returns the place of the page's own content."""
        link("Skip to the content", "#content", "skip-link")
        with Tag("header", "top"):
            self._brand()
            self._training()
            with div("tools"):
                self.shell = Shell([{"key": p.key, "path": p.path} for p in lore.PLACES])
                self.shell.on("steer", self._toggle, args=[])
                button("Keys and help", self._open_help, "bare", "help", title="Help (?)")
                self.shell.on("help", self._open_help, args=[])
        self._navigation()
        self._help()
        content = Tag("main", "content", id="content", tabindex="-1")
        self.refresh(self.moment)
        return content

    def _brand(self) -> None:
        hero = self.moment.hero
        with div("brand"):
            Icon("hero")
            with div("brand-words"):
                span("brand-line", lore.TITLE_LINE)
                able = [s for s in self.moment.sheets if s.why_not is None or s is hero]
                names = {s.id: lore.hero_name(s) for s in able}
                self._heroes = Field(
                    "Hero",
                    "choice",
                    hero.id,
                    options=names,
                    classes="heroes",
                    on_change=self._switch,
                )

    async def _switch(self, hero: str) -> None:
        """Let another hero train; every open page is then drawn for that one (see `refresh`)."""
        said = await self.tavern.orders.ask("POST", f"/api/heroes/{hero}/choose")
        if said is None:
            self._heroes.set(self.moment.hero.id)
        else:
            await self.tavern.pulse.beat()

    def _training(self) -> None:
        with div("training", aria_label="Training", role="group"):
            self._dot = span("dot")
            with div("training-words"):
                self._state = span("training-state", "", role="status")
                self._quest = span("training-quest", "")
            self._bar = Tag("progress", "training-bar", max="1", value="0", aria_label="Quest")
            self._buttons = {
                action: button(label, self._steer(action), "bare", icon, title=label)
                for action, label, icon in STEERING
            }

    def _steer(self, action: str) -> Any:
        async def steer() -> None:
            said = await self.tavern.orders.ask("POST", "/api/training/control", {"action": action})
            if said is not None:
                self._show_state(self.moment.training | said)

        return steer

    async def _toggle(self) -> None:
        running = self.moment.training["state"] == "running"
        await self._steer("pause" if running else "resume")()

    def _navigation(self) -> None:
        with Tag("nav", "places", aria_label="Pages"):
            for place in lore.PLACES:
                here = {"aria_current": "page"} if place.path == self.path else {}
                with link("", place.path, "place", title=place.text, **here):
                    Icon(place.icon)
                    span(text=place.name)

    def _help(self) -> None:
        with Modal("Keys") as self._keys, Tag("dl", "keys"):
            for key, what in KEYS:
                Tag("dt", text=key)
                Tag("dd", text=what)

    def _open_help(self) -> None:
        self._keys.open()

    def refresh(self, moment: Moment) -> None:
        """Show a moment; when another hero trains than the page was made for, open it anew."""
        if moment.hero.id != self._shown_hero:
            self._shown_hero = moment.hero.id
            ui.navigate.to(self.path)
            return
        self.moment = moment
        self.tavern.visits.note(moment.seq)
        quest = moment.training["quest"]
        self._show_state(moment.training)
        waiting = moment.counts.get("queued", 0)
        idle = lore.counted(waiting, "quest") + " waiting" if waiting else "no quest waits"
        if quest is None and (halt := moment.training["halt"]) is not None:
            idle = f"{halt['reason']}. {halt['remedy']}"
        self._quest.say(idle if quest is None else str(quest["title"]))
        self._quest.put(title=self._quest.text)
        self._bar.put(value=0 if quest is None else round(float(quest["progress"]), 3))
        for event in moment.events:
            self._announce(event.kind, event.message, event.severity)
        level = int(moment.hero.stats["level"].value or 0)
        if level > self._level:
            self._level = level
            self._announce("hero.level_up", f"{moment.hero.name} is level {level}", "success")

    def _show_state(self, training: dict[str, Any]) -> None:
        state, held, halt = training["state"], training["held"], training["halt"]
        resting = state == "running" and held is None and training["quest"] is None
        word = lore.STATES.get(state, state) if held is None else f"Waits: {held}"
        if resting:
            word = lore.READY if halt is None else lore.HALTED
        self._state.say(word)
        self._dot.only(f"dot {'held' if held or halt else 'ready' if resting else state}")
        self._buttons["pause"].put(disabled=state != "running")
        self._buttons["resume"].put(disabled=state == "running")
        self._buttons["retry"].put(hidden=halt is None)

    def _announce(self, kind: str, message: str, severity: str) -> None:
        if kind not in lore.LOUD and severity not in ("warning", "error"):
            return
        title, _ = lore.event_words(kind)
        ui.notify(
            title, caption=message[:200], type=TONES[severity], position="top-right", timeout=5000
        )
        sound = {"hero.level_up": "level", "vault.champion_promoted": "level"}.get(kind)
        self._cues += 1
        cue = sound or ("bad" if severity in ("warning", "error") else "good")
        put(self.shell, cue={"id": self._cues, "sound": cue})


@contextmanager
def frame(tavern: Tavern, path: str, moment: Moment) -> Iterator[Frame]:
    """Builds the frame of the present client and enters its content."""
    made = Frame(tavern, path, moment)
    with made.build():
        yield made
    tavern.pulse.listen(context.client, made.refresh)
