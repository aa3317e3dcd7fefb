"""`levelcap up` and `levelcap down`: the realm's services, in this terminal or behind it."""

from __future__ import annotations

import asyncio
import subprocess
import sys
import time
from pathlib import Path
from typing import TYPE_CHECKING

from rich.console import Console
from rich.text import Text

from levelcap.kit.errors import StateError, refuse
from levelcap.kit.files import keep_private
from levelcap.kit.paths import folder
from levelcap.services.weaver.checks import BEFORE_LEADING

if TYPE_CHECKING:
    from levelcap.campaign.story.events import Event
    from levelcap.kit.db import Database
    from levelcap.services.process.standing import Leader

POLL_S = 0.5
COLOURS = {"success": "green", "warning": "yellow", "error": "red"}


def up(*, detach: bool = False, lan: bool = False) -> None:
    """Start the realm's services and show what happens; Ctrl-C stops them all.

    Parameters
    ----------
    detach
        Leave them running and return once they are ready; `levelcap down` stops them.
    lan
        Listen on every address of this machine, not only on loopback. Callers need a token.
    """
    for check in BEFORE_LEADING:
        check()
    console = Console(highlight=False, soft_wrap=True)
    if detach:
        _detach(console, lan)
        return
    from levelcap.services.weaver.run import run

    async def beside(engine: Database, leader: Leader) -> None:
        show_addresses(console, leader)
        console.print("Ctrl-C stops everything.")
        async with asyncio.TaskGroup() as tasks:
            tasks.create_task(_show_events(console, engine))
            if "tavern" in leader.ports:
                tasks.create_task(_show_entry_when_open(console))

    run(lan=lan, beside=beside)
    console.print("everything is stopped")


def down() -> None:
    """Stop the realm's services, also what a killed Weaver left behind."""
    from levelcap.services.weaver.stop import stop_realm

    stopped = stop_realm()
    text = f"stopped {', '.join(stopped)}" if stopped else "nothing was running"
    Console(highlight=False, soft_wrap=True).print(text)


def show_addresses(console: Console, leader: Leader) -> None:
    """Where the services are reached, and what opens them."""
    from levelcap.services.door.tokens import load_tokens, tokens_path
    from levelcap.services.process.hosts import get_service_url

    for name in leader.ports:
        console.print(f"{name:<12}{get_service_url(name)}")
    if leader.lan:
        console.print("They also listen on every other address of this machine.")
    load_tokens()  # made now if there are none, so that the next line is true
    console.print(f"{'tokens':<12}{tokens_path()} (viewer, worker, admin)", markup=False)


async def _show_entry_when_open(console: Console) -> None:
    """The address that lets a browser in, as soon as somebody answers there."""
    from levelcap.cli.open import show_entry
    from levelcap.services.process.standing import read_standings

    while (row := read_standings().get("tavern")) is None or row.state != "up":
        await asyncio.sleep(POLL_S)
    show_entry(console)


async def _show_events(console: Console, engine: Database) -> None:
    from levelcap.campaign.story.events import last_seq

    seen = last_seq(engine)
    try:
        while True:
            await asyncio.sleep(POLL_S)
            for event in await asyncio.to_thread(_after, engine, seen):
                seen = event.seq
                console.print(event_line(event))
    finally:
        for event in _after(engine, seen):
            console.print(event_line(event))


def _after(engine: Database, seen: int) -> list[Event]:
    from levelcap.campaign.story.events import follow

    return list(follow(engine, seen))


def event_line(event: Event) -> Text:
    """One event as a line: time of day, kind, message."""
    line = Text(f"{event.time[11:19]}  {event.kind:<24}", style="dim")
    return line.append(event.message, style=COLOURS.get(event.severity, "default"))


def _detach(console: Console, lan: bool) -> None:
    """Starts a Weaver in a session of its own and waits for its services."""
    from levelcap.services.process.standing import read_leader

    words = folder("state") / "logs" / "weaver.out"
    words.parent.mkdir(exist_ok=True)
    command = [sys.executable, "-m", "levelcap.services.weaver", *(["--lan"] if lan else [])]
    with keep_private(words).open("wb") as output:
        process = subprocess.Popen(
            command, stdin=subprocess.DEVNULL, stdout=output, stderr=output, start_new_session=True
        )
    while True:
        if process.poll() is not None:
            _pass_on(words, process.returncode)
        leader = read_leader()
        if leader is not None and leader.pid == process.pid:
            _refuse_the_down()
            if leader.ready:
                break
        time.sleep(0.1)
    show_addresses(console, leader)
    if "tavern" in leader.ports:
        from levelcap.cli.open import show_entry

        show_entry(console)
    console.print(f"running (pid {leader.pid}); `levelcap down` stops it")


def _pass_on(words: Path, code: int) -> None:
    """Says what a Weaver that did not start said, and ends as it ended."""
    lines = words.read_text(errors="replace").strip().splitlines()
    Console(stderr=True, highlight=False, soft_wrap=True).print(
        lines[-1] if lines else "levelcap: the Weaver ended without a word", markup=False
    )
    sys.exit(code or 1)


def _refuse_the_down() -> None:
    from levelcap.services.process.standing import read_standings

    for row in read_standings().values():
        if row.state == "down":
            remedy = f"See `levelcap logs {row.name}`; `levelcap down` stops the others"
            raise StateError(refuse(f"{row.name} does not start", row.reason, remedy))
