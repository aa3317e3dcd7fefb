"""`levelcap status`: what has failed, then the realm's story in ten lines, also while nothing runs.

`levelcap tui` shows the same (`look`, `failures`) as a dashboard.
"""

from __future__ import annotations

from datetime import UTC, datetime, timedelta
from typing import Any

from rich.console import Console

from levelcap.campaign.kinds.heroes import all_heroes
from levelcap.campaign.realm import Realm, realm
from levelcap.campaign.sheet.hero import HeroSheet, sheet
from levelcap.campaign.sheet.on_trial import JUDGING
from levelcap.campaign.story import quests
from levelcap.campaign.story.strength import difference
from levelcap.campaign.wheel import control
from levelcap.cli.options import AsJson
from levelcap.cli.printer import say_json
from levelcap.kit.db import reading
from levelcap.services.process.standing import read_leader, read_standings
from levelcap.services.watchtower.watch import raised_alarms
from levelcap.vault.ledger import elo_text, get_ledger

FAILURE = "FAILED    "
LOST = ("failed", "dead")
Words = dict[str, str]
SHOWN = 3  # failed quests told one by one


def status(*, json_: AsJson = False) -> None:
    """Say what runs, what trains, how strong the hero is, and why if nothing happens.

    Parameters
    ----------
    json_
        Print one JSON object instead.
    """
    console = Console(highlight=False, soft_wrap=True)
    with realm() as opened:
        found = look(opened)
    if json_:
        say_json(found)
        return
    for line in story(found):
        console.print(line, markup=False, style="red" if line.startswith(FAILURE) else None)


def look(opened: Realm) -> dict[str, Any]:
    """Everything the story is made of."""
    leader = read_leader()
    services = {name: row.state for name, row in read_standings().items()} if leader else {}
    with reading(opened.engine) as connection:
        sheets = [sheet(connection, hero) for hero in all_heroes().values()]
        heroes = [row for row in sheets if row.chosen or row.campaign]
        training = control.status(connection)
        counts = quests.count(connection)
        gains = {}
        for hero in heroes:
            gains[hero.id] = _gain(opened, connection, hero)
        lost = [row for status in LOST for row in quests.list_quests(connection, status=status)]
    alarms = raised_alarms() if leader else {}
    return {
        "failures": failures(services, training, alarms, lost),
        "leader": None if leader is None else leader.pid,
        "services": services,
        "heroes": [hero.as_json() for hero in heroes],
        "training": training,
        "quests": counts,
        "gains": gains,
        "jobs": opened.store.stats()["status"],
        "checkpoints": get_ledger(opened.engine).count(),
        "workers": sum(bool(row["alive"]) for row in opened.store.workers()),
    }


def failures(services: Words, training: Any, alarms: Words, lost: list[quests.Quest]) -> list[str]:
    """What needs a person, worst first, each with what to do: also a page's and a script's."""
    told = [
        f"the {name} is {state}. See: levelcap logs {name}"
        for name, state in services.items()
        if state in ("down", "failed")
    ]
    if (halt := training["halt"]) is not None:
        told.append(f"{halt['reason']}. {halt['remedy']}")
    # What stopped the wheel is told above with its remedy.
    told += [words for name, words in alarms.items() if name != "wheel_stopped"]
    since = (datetime.now(UTC) - timedelta(days=1)).isoformat()
    recent = sorted((row for row in lost if (row.ended or "") > since), key=lambda q: -q.seq)
    for row in recent[:SHOWN]:
        why = (row.result or {}).get("error") or "no reason was written"
        told.append(f"{row.title} {row.status}: {why}. Again: levelcap quest retry {row.id}")
    if len(recent) > SHOWN:
        more = f"{len(recent) - SHOWN} more quests failed in the last day"
        told.append(f"{more}. See: levelcap quest ls --status failed")
    return told


def _gain(opened: Realm, connection: Any, hero: HeroSheet) -> dict[str, Any] | None:
    """Elo of the newest judged checkpoint over the campaign's first judged one."""
    if hero.campaign is None:
        return None
    rows = get_ledger(opened.engine).list(campaign=hero.campaign.id, limit=1000)
    judged = [row for row in rows if row.elo is not None]
    if len(judged) < 2:
        return None
    found = difference(connection, judged[0].id, judged[-1].id)
    if found is None:
        return None
    return {"first": judged[-1].id, "last": judged[0].id, "judged": len(judged), "gain": found}


def story(found: dict[str, Any]) -> list[str]:
    """The lines people read."""
    lines = [f"{FAILURE}{words}" for words in found["failures"]]
    lines.append(_services_line(found))
    for hero in found["heroes"]:
        stats = hero["stats"]
        shown = " · ".join(f"{name} {_number(stat['value'])}" for name, stat in stats.items())
        lines.append(f"{hero['name']} ({hero['subtitle']}, {hero['world']}): {shown}")
        campaign = hero["campaign"]
        if campaign is not None:
            lines.append(
                f"campaign  {campaign['name']} ({campaign['status']}), since "
                f"{campaign['created_at'][:16].replace('T', ' ')}"
            )
        if hero["skills"]:
            levels = ", ".join(f"{name} level {n}" for name, n in hero["skills"].items())
            lines.append(f"skills    {levels}")
        elo = hero["elo"]
        if elo["elo"] is not None:
            shown = elo_text(elo["elo"], elo["elo_low"], elo["elo_high"], elo["elo_bound"])
            lines.append(f"strength  Elo {shown}, rookie = 1000")
        if (gain := found["gains"].get(hero["id"])) is not None:
            middle, low, high = gain["gain"]
            lines.append(
                f"gain      {middle:+.0f} Elo ({low:+.0f} to {high:+.0f}) over the first "
                f"of {gain['judged']} judged checkpoints"
            )
        champion = hero["champion"]
        who = champion and f"{champion['checkpoint']}, {champion['reason']}"
        lines.append(f"champion  {who or 'nobody yet'}")
    lines.append(_training_line(found["training"], found["leader"] is not None))
    counts = ", ".join(f"{n} {name}" for name, n in sorted(found["quests"].items())) or "none"
    lines.append(f"quests    {counts} · {found['checkpoints']} checkpoints in the ledger")
    if (reason := why_nothing(found)) is not None:
        lines.append(f"nothing is happening: {reason}")
    return lines


def _services_line(found: dict[str, Any]) -> str:
    if found["leader"] is None:
        return "services  not running; start them with: levelcap up"
    shown = ", ".join(f"{name} {state}" for name, state in found["services"].items())
    return f"services  {shown} (weaver pid {found['leader']})"


def _training_line(training: dict[str, Any], up: bool) -> str:
    quest = training["quest"]
    state = training["state"] if training["held"] is None else f"waiting: {training['held']}"
    if training["trials"] and (quest is None or quest["type"] in JUDGING):
        one = training["trials"][0]
        return f"training  on trial: {one['checkpoint']} against {one['against']}, {one['words']}"
    if quest is None and training["halt"] is not None:
        return f"training  stopped: {training['halt']['reason']}"
    if not up:
        return f"training  {'rests' if state == 'running' else state}; the services do not run"
    if quest is None:
        return f"training  {state}, no quest is being fought"
    share = f"{100 * quest['progress']:.0f} %"
    return f"training  {state}: {quest['title']}, {share}, {quest['message'] or 'starting'}"


def why_nothing(found: dict[str, Any]) -> str | None:
    """Why no hero is training, in one sentence with a remedy; None: one is."""
    training = found["training"]
    if found["leader"] is None:
        return "the services are not running. Start them with: levelcap up"
    if found["services"].get("arena") == "down":
        return "the Arena does not start. See: levelcap logs arena"
    if training["held"] is not None:
        return f"the machine holds training back ({training['held']}); it goes on by itself"
    if training["state"] != "running":
        return f"training is {training['state']}. Go on with: levelcap training resume"
    if training["quest"] is not None or training["trials"]:
        return None
    if (halt := training["halt"]) is not None:
        return f"{halt['reason']}. {halt['remedy']}"
    if found["workers"] == 0:
        return "no worker is alive yet. See: levelcap logs arena"
    if not any(hero["campaign"] for hero in found["heroes"]):
        return "no campaign is active. Start one with: levelcap campaign new NAME"
    return None


def _number(value: float | int | None) -> str:
    if value is None:
        return "–"
    return f"{value:,}" if isinstance(value, int) else f"{value:.3g}"
