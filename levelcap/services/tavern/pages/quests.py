"""`/quests`: the board. Drop a recipe, move, retry or call off a quest, copy its command."""

from __future__ import annotations

from dataclasses import dataclass

from levelcap.campaign.story import quests, runs
from levelcap.campaign.story.quests import Quest
from levelcap.campaign.story.runs import Run
from levelcap.jobs.job import PRIORITIES
from levelcap.kit.db import Connection, reading
from levelcap.services.clients.keeper import KeeperClient
from levelcap.services.tavern.orders import OrderBody, Said, asks
from levelcap.services.tavern.pulse import Moment
from levelcap.services.tavern.view import Asked, View

SHOWN = 20
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


@dataclass(frozen=True)
class Shown:
    """What the template shows."""

    rows: list[Quest]
    runs: dict[str, Run]
    recipes: dict[str, str]  # kind -> a start of a recipe
    open: tuple[str, ...] = tuple(quests.OPEN)
    priorities: tuple[str, ...] = tuple(PRIORITIES)


def _add(keeper: KeeperClient, given: OrderBody) -> Said:
    name, text = str(given.values.get("name", "")), str(given.values.get("text", ""))
    return Said("On the board", keeper.upload_quest(name, text.encode())["title"])


class QuestsView(View[Asked]):
    """The board, and below it what can be asked for."""

    asked = Asked
    orders = {
        "add": _add,
        "priority": asks("POST", "/api/quests/{id}/priority", "Moved"),
        "cancel": asks("POST", "/api/quests/{id}/cancel"),
        "retry": asks("POST", "/api/quests/{id}/retry"),
    }

    def read(self, moment: Moment, asked: Asked) -> Shown:
        """What is open, and the newest of what has ended."""
        with reading(self.tavern.realm.engine) as connection:
            going = quests.list_quests(connection, status="open", limit=100)
            newest = quests.list_quests(connection, limit=SHOWN * 2)
            ended = [quest for quest in newest if quest.status not in quests.OPEN]
            rows = going[::-1] + ended[:SHOWN]
            wanted = {quest.run for quest in rows if quest.run is not None}
            known = {r.id: r for r in runs.list_runs(connection, limit=200) if r.id in wanted}
            shard = _newest_shard(connection) or "demos-…"
        recipes = TEXT_TEMPLATES if moment.hero.kind == "text" else TEMPLATES
        filled = {kind: text.replace("{shard}", shard) for kind, text in recipes.items()}
        return Shown(rows, known, filled)


def _newest_shard(connection: Connection) -> str | None:
    for quest in quests.list_quests(connection, status="done", limit=50):
        if quest.kind == "record" and quest.result:
            return str(quest.result.get("shard"))
    return None
