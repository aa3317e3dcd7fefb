"""`/quests`: the board. Drop a recipe, move, retry or call off a quest, copy its command."""

from __future__ import annotations

from dataclasses import replace

from nicegui import ui

from levelcap.campaign.story import quests, runs
from levelcap.campaign.story.quests import Quest
from levelcap.campaign.story.runs import Run
from levelcap.kit.db import Connection, reading
from levelcap.services.tavern import lore
from levelcap.services.tavern.fields import Drop, Field
from levelcap.services.tavern.frame import Tavern
from levelcap.services.tavern.orders import attempt
from levelcap.services.tavern.page import Page
from levelcap.services.tavern.parts import bar, page_heading
from levelcap.services.tavern.pulse import Moment
from levelcap.services.tavern.tags import (
    Copy,
    Icon,
    Tag,
    button,
    card,
    div,
    heading,
    paragraph,
    span,
)

SHOWN = 20
LANES = (
    ("Waiting", ("queued",), "Nothing waits. The wheel makes the next quest by itself."),
    ("In battle", ("running",), "Nobody is fighting at the moment."),
    ("Over", ("done", "skipped", "failed", "dead", "cancelled"), "No quest has ended yet."),
)
TEMPLATES = {
    "record": "quest: record\nworld: duel\nteacher: master\npartner: veteran\n"
    "games: 400\nseed: 1\n",
    "imitate": "quest: imitate\nworld: duel\nshards: [{shard}]\npolicies: [master]\nminutes: 0.5\n",
    "reinforce": "quest: reinforce\nworld: duel\nfrom: champion\nminutes: 2\nseed: 1\n"
    "set: {engine.schedule: constant}\n",
    "league": "quest: league\nworld: duel\nfrom: champion\nminutes: 30\n",
    "hunt": "quest: hunt\nworld: duel\ncheckpoint: champion\ncore_minutes: 20\n",
    "trial": "quest: trial\ncheckpoint: latest\nagainst: champion\nminutes: 10\n",
    "evaluate": "quest: evaluate\ncheckpoint: latest\ngames: 400\n",
}
TEXT_TEMPLATES = {
    "study": "quest: study\nskill: bin\nfrom: latest\nminutes: 2\n",
    "spar": "quest: spar\nskill: bin\ncheckpoint: latest\ncount: 400\n",
    "evaluate": "quest: evaluate\ncheckpoint: latest\nskill: bin\npassives: full\n",
}


class QuestsPage(Page):
    """One open page."""

    rows: list[Quest]
    runs: dict[str, Run]
    shard = "demos-…"

    def __init__(self, tavern: Tavern, moment: Moment) -> None:
        super().__init__(tavern, moment)
        self._bars: dict[str, Tag] = {}
        self._priorities: dict[str, Field] = {}

    def _read(self) -> None:
        with reading(self.tavern.realm.engine) as connection:
            going = quests.list_quests(connection, status="open", limit=100)
            newest = quests.list_quests(connection, limit=SHOWN * 2)
            ended = [quest for quest in newest if quest.status not in quests.OPEN]
            self.rows = going[::-1] + ended[:SHOWN]
            self.runs = _runs_of(connection, self.rows)
            self.shard = _newest_shard(connection) or self.shard

    def build(self) -> None:
        """The board, and below it what can be asked for."""
        page_heading("Quests", "What is asked of the hero. An empty board fills by itself.")
        with div("board"):
            self._lanes = [self._lane(name) for name, _, _ in LANES]
        self._fill()
        with card("Ask for something", "ask"):
            with div("templates"):
                text = self.moment.hero.kind == "text"
                for kind, recipe in (TEXT_TEMPLATES if text else TEMPLATES).items():
                    self._template(kind, recipe.replace("{shard}", self.shard))
            with div("split"):
                with div("form"):
                    hint = "Choose a start above, or write your own; QUICKSTART lists every key."
                    self._recipe = Field("Recipe (YAML)", "area", "", hint=hint)
                    button("Put it on the board", self._send, "primary", "plus")
                Drop("Drop a recipe file here, or choose one", self._upload)

    def _lane(self, name: str) -> tuple[Tag, Tag]:
        """The number at its head, and the place of its quests."""
        with Tag("section", "lane", aria_label=name):
            with div("lane-head"):
                heading(name)
                count = span("chip plain")
            return count, div("lane-quests")

    def _template(self, kind: str, recipe: str) -> None:
        word, icon, text = lore.quest_words(kind)
        with Tag("button", "btn template", type="button") as shown:
            Icon(icon)
            span(text=word)
            Tag("small", text=text)
        shown.on("click", lambda: self._recipe.set(recipe), args=[])

    async def _send(self) -> None:
        await self._upload("recipe.yaml", str(self._recipe.value))

    async def _upload(self, name: str, text: str) -> None:
        said = await attempt(self.tavern.orders.upload(name, text))
        if said is not None:
            await self.reload()
            ui.notify("On the board", caption=said["title"], type="positive", position="top-right")

    async def refresh(self, moment: Moment) -> None:
        """Follows what happens."""
        if moment.events:
            await self.reload()
        quest = moment.training["quest"]
        if quest is not None and (shown := self._bars.get(quest["id"])) is not None:
            shown.put(value=round(float(quest["progress"]), 3))

    def _fill(self) -> None:
        for (count, place), (_, statuses, nothing) in zip(self._lanes, LANES, strict=True):
            found = [quest for quest in self.rows if quest.status in statuses]
            count.say(str(len(found)))
            # The priority is a field of its own: who has just moved a quest may call it off.
            still = {quest.id: (replace(quest, priority=""), self._run(quest)) for quest in found}
            place.fill(still, lambda row: self._quest(*row), nothing)
        for quest in self.rows:
            if quest.status == "queued":
                self._priorities[quest.id].set(quest.priority)

    def _run(self, quest: Quest) -> Run | None:
        return None if quest.run is None else self.runs.get(quest.run)

    def _quest(self, quest: Quest, run: Run | None) -> Tag:
        word, icon, _ = lore.quest_words(quest.kind)
        with Tag("article", "quest", data_quest=quest.id) as made:
            with div("quest-title"):
                Icon(icon)
                span(text=quest.title)
            with div("row"):
                span(f"chip {quest.status}", lore.QUEST_STATUS.get(quest.status, quest.status))
                since = f"{word} · from {quest.source} · "
                self.tell(span("quest-sub"), lambda: since + lore.ago(quest.created))
            if quest.status == "running":
                self._bars[quest.id] = bar(0, "Progress")
            if quest.status in ("failed", "dead") and quest.result:
                paragraph(str(quest.result.get("error") or ""), "quest-sub problem")
            if run is not None:
                self._command(run)
            if quest.status != "done":
                self._buttons(quest)
        return made

    def _command(self, run: Run) -> None:
        with Tag("details"):
            Tag("summary", "quest-sub", f"Command and seed ({run.seed})")
            Copy(run.command)

    def _buttons(self, quest: Quest) -> None:
        path = f"/api/quests/{quest.id}"
        with div("row"):
            if quest.status == "queued":
                moved = self.priority(f"{path}/priority", quest.priority, "inline")
                self._priorities[quest.id] = moved
            if quest.status in quests.OPEN:
                button("Call off", self.order(f"{path}/cancel"), "small danger", "cross")
            else:
                button("Try again", self.order(f"{path}/retry"), "small", "undo")


def _runs_of(connection: Connection, rows: list[Quest]) -> dict[str, Run]:
    wanted = {quest.run for quest in rows if quest.run is not None}
    found = runs.list_runs(connection, limit=200)
    return {run.id: run for run in found if run.id in wanted}


def _newest_shard(connection: Connection) -> str | None:
    for quest in quests.list_quests(connection, status="done", limit=50):
        if quest.kind == "record" and quest.result:
            return str(quest.result.get("shard"))
    return None
