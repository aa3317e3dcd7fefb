"""`levelcap tui`: the live status as a dashboard in the terminal, where there is no browser."""

from __future__ import annotations

import os
import select
import sys
import termios
import tty
from collections.abc import Iterator
from contextlib import contextmanager
from typing import Annotated, Any

from cyclopts import Parameter
from cyclopts.validators import Number
from rich.console import Console, Group, RenderableType
from rich.live import Live
from rich.panel import Panel
from rich.progress_bar import ProgressBar
from rich.table import Table
from rich.text import Text

from levelcap.campaign.realm import Realm, realm
from levelcap.campaign.story.events import Event, list_events
from levelcap.cli.printer import table
from levelcap.cli.status import look, why_nothing
from levelcap.vault.ledger import elo_text

EVENTS = 100  # read; as many are shown as the window has lines for
COLOURS = {"error": "red", "warning": "yellow", "success": "green"}


def tui(
    *,
    once: bool = False,
    every_s: Annotated[float, Parameter(validator=Number(gte=0.2, lte=3600))] = 1.0,
) -> None:
    """Show failures, heroes, training, jobs and events in the terminal until q is pressed.

    Parameters
    ----------
    once
        Print one picture and end; for scripts and screens that are no terminal.
    every_s
        Seconds between two looks.
    """
    console = Console(highlight=False)
    with realm() as opened:
        if once or not (console.is_terminal and sys.stdin.isatty()):
            console.print(frame(*_read(opened), lines=12))
            return
        with _keys() as pressed, Live(console=console, screen=True, auto_refresh=False) as live:
            while True:
                live.update(frame(*_read(opened), lines=console.height), refresh=True)
                if pressed(every_s) in ("q", "Q", "\x03", "\x1b"):
                    return


def _read(opened: Realm) -> tuple[dict[str, Any], list[Event]]:
    return look(opened), opened.read(list_events, limit=EVENTS)


def frame(found: dict[str, Any], events: list[Event], lines: int) -> RenderableType:
    """One picture; the events get the lines that are left of `lines`, three at least."""
    parts: list[RenderableType] = []
    if found["failures"]:
        words = Text("\n".join(found["failures"]), style="red")
        parts.append(Panel(words, title="needs you", title_align="left", border_style="red"))
    parts += [_heroes(found), _training(found), _machine(found)]
    used = 12 + 2 * len(found["heroes"]) + 3 * len(found["failures"])
    shown = Table.grid(padding=(0, 1))
    for event in events[: max(3, lines - used)]:
        style = COLOURS.get(event.severity, "")
        shown.add_row(Text(event.time[11:19], style="dim"), Text(event.message, style=style))
    parts.append(Panel(shown, title="newest first · q ends", title_align="left"))
    return Group(*parts)


def _heroes(found: dict[str, Any]) -> Table:
    rows = []
    for hero in found["heroes"]:
        elo, champion, gain = hero["elo"], hero["champion"], found["gains"].get(hero["id"])
        strong = elo_text(elo["elo"], elo["elo_low"], elo["elo_high"], elo["elo_bound"])
        skills = ", ".join(f"{name} level {level}" for name, level in hero["skills"].items())
        told = "" if gain is None else "{:+.0f} ({:+.0f} to {:+.0f})".format(*gain["gain"])
        who = f"{'▶ ' if hero['chosen'] else ''}{hero['name']}, {hero['world']}"
        named = champion["checkpoint"] if champion else "nobody yet"
        rows.append((who, hero["stats"]["level"]["value"], skills or strong, told, named))
    made = table(("hero", "level", "Elo or skills", "gain", "champion"), rows)
    made.expand, made.columns[-1].no_wrap = True, True  # ids stay whole
    return made


def _training(found: dict[str, Any]) -> Panel:
    training = found["training"]
    quest, reason = training["quest"], why_nothing(found)
    state = (training["held"] or training["state"]) if found["leader"] else "not started"
    if quest is None:
        words = Text(reason or "between two quests", style="yellow" if reason else "")
        return Panel(words, title=f"training · {state}", title_align="left")
    bar = Table.grid(padding=(0, 1))
    share = Text(f"{100 * quest['progress']:.0f} %")
    bar.add_row(ProgressBar(1.0, quest["progress"], width=24), share, Text(quest["title"]))
    body = Group(bar, Text(quest["message"] or "starting"))
    return Panel(body, title=f"training · {state}", title_align="left")


def _machine(found: dict[str, Any]) -> Text:
    services = found["services"].items()
    told = ", ".join(f"{name} {state}" for name, state in services) or "not running (levelcap up)"
    jobs = ", ".join(f"{count} {name}" for name, count in found["jobs"].items() if count) or "none"
    return Text(
        f"services  {told}\njobs      {jobs} · {found['workers']} workers ·"
        f" {found['checkpoints']} checkpoints"
    )


@contextmanager
def _keys() -> Iterator[Any]:
    """A function that waits so many seconds for a key; keys are neither shown nor gathered."""
    number = sys.stdin.fileno()
    before = termios.tcgetattr(number)

    def pressed(seconds: float) -> str:
        ready, _, _ = select.select([number], [], [], seconds)
        return os.read(number, 1).decode("latin-1") if ready else ""

    try:
        tty.setcbreak(number)  # Ctrl-C still interrupts
        yield pressed
    finally:
        termios.tcsetattr(number, termios.TCSADRAIN, before)
