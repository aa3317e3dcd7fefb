"""The walk of a recorded episode through the files, traced in a run: ARCHITECTURE's table.

    .venv/bin/python scripts/walk.py            # print it
    .venv/bin/python scripts/walk.py --write    # and put it into ARCHITECTURE.md

The wheel of a small realm in a temporary folder turns until a snapshot of the smallest net is
champion; then the vault's page is read. At the
moment in which a stage's thing comes to be, the files on the call stack are noted, callers first.
`kit` is the floor of all and `jobs` carries every stage: both are left out. It fails when the walk
has more than 25 files or when a folder calls one above it.
"""

from __future__ import annotations

import configparser
import os
import re
import sys
import tempfile
import threading
from importlib import import_module
from pathlib import Path
from types import CodeType, FrameType, SimpleNamespace

ROOT = Path(__file__).parents[1]
PACKAGE = ROOT / "levelcap"
MAX_FILES = 25
LEFT_OUT = ("kit", "jobs")
# Stage, what comes to be, and the function in which it does.
MOMENTS = (
    ("record", "a bot decides; the decision is noted", "play.seats:Seats.act"),
    ("shard", "rows become Parquet", "lake.write:ShardWriter._write_group"),
    ("batch", "rows in seeded order", "lake.batch:Batches._batch"),
    ("gradient", "loss and gradients", "learn.imitation.rows:RowCloner.backward"),
    ("snapshot", "slow weights, published", "nets.checkpoint:save_snapshot"),
    ("verdict", "games against the sealed panel, Elo", "trials.panel:judge"),
    ("ledger", "the Elo in the snapshot's row", "vault.ledger:rate"),
    ("champion", "the gate", "trials.gate:judge_elo"),
    ("champion", "the promotion", "vault.champion:promote"),
    ("page", "what a person sees", "vault.ledger:Ledger.page"),
)
MAX_TURNS = 12
HERO = """
{id: kestrel, name: Kestrel, kind: arena, size: dummy, demo_games: 20, imitation_minutes: 0.02,
 round_minutes: 0.03, late_round_minutes: 0.03}
"""
MARKS = ("<!-- walk: scripts/walk.py --write -->\n", "<!-- end of the walk -->\n")


class Tracer:
    """Notes the call stack when a moment's function is entered for the first time."""

    def __init__(self) -> None:
        self._awaited = {self._code(name): name for _, _, name in MOMENTS}
        self.stacks: dict[str, list[str]] = {}  # function -> files, callers first

    @staticmethod
    def _code(name: str) -> CodeType:
        module, path = name.split(":")
        found = import_module(f"levelcap.{module}")
        for part in path.split("."):
            found = getattr(found, part)
        return found.__code__

    def __call__(self, frame: FrameType, event: str, _argument: object) -> None:
        if event == "call" and frame.f_code in self._awaited:
            self.stacks.setdefault(self._awaited[frame.f_code], _files(frame))

    def __enter__(self) -> Tracer:
        threading.setprofile(self)
        sys.setprofile(self)
        return self

    def __exit__(self, *_error: object) -> None:
        sys.setprofile(None)
        threading.setprofile(None)


def _files(frame: FrameType | None) -> list[str]:
    """Files of the package on the stack, callers first.

    A function handed down and called back there counts as its owner's own call: of
    a → b → a → c remains a → c.
    """
    found: list[str] = []
    while frame is not None:
        path = Path(frame.f_code.co_filename)
        if path.is_relative_to(PACKAGE):
            name = path.relative_to(PACKAGE).as_posix()
            if name in found:
                del found[found.index(name) :]
            if name.split("/")[0] not in LEFT_OUT:
                found.append(name)
        frame = frame.f_back
    return found[::-1]


def run() -> dict[str, list[str]]:
    """Turn the wheel of a small realm until there is a champion; the stack of every moment."""
    from levelcap.campaign.realm import realm
    from levelcap.campaign.wheel import flywheel
    from levelcap.campaign.work import snapshots
    from levelcap.kit.db import reading
    from levelcap.kit.paths import folder
    from levelcap.services.arena.daemon import worker
    from levelcap.services.clients.keeper import KeeperClient
    from levelcap.services.tavern.lore import PLACES
    from levelcap.services.tavern.pages.vault import VaultAsked, VaultView
    from levelcap.services.tavern.pulse import Pulse
    from levelcap.services.tavern.view import Tavern
    from levelcap.services.tavern.visits import Visits
    from levelcap.vault.champion import champion_of

    snapshots.QUICK_GAMES = 40  # a tenth of the usual: what is walked through is the same
    (folder("config") / "heroes").mkdir()
    (folder("config") / "heroes" / "kestrel.yaml").write_text(HERO)
    with realm() as opened, Tracer() as tracer:
        flywheel.begin(opened.store)
        crew = worker(opened)
        for _ in range(MAX_TURNS):
            flywheel.turn(opened.store)
            with reading(opened.engine) as connection:
                if champion_of(connection) is not None:
                    break
            crew.run(max_jobs=1)
        keeper = KeeperClient("http://127.0.0.1:9", "")
        moment = SimpleNamespace(hero=SimpleNamespace(id="kestrel"))
        tavern = Tavern(opened, Pulse(opened), keeper, Visits())
        place = next(one for one in PLACES if one.path == "/vault")
        VaultView(tavern, place).read(moment, VaultAsked())
    return tracer.stacks


def layers() -> dict[str, int]:
    """Folder -> its height in the import contract."""
    contract = configparser.ConfigParser()
    contract.read(ROOT / ".importlinter")
    rows = contract["importlinter:contract:layers"]["layers"].split("\n")[::-1]
    return {name: height for height, row in enumerate(rows) for name in re.findall(r"\w+", row)}


def check(stacks: dict[str, list[str]]) -> list[str]:
    """What is wrong with the walk: nothing, it is to be hoped."""
    wrong = [f"{name} was never called" for _, _, name in MOMENTS if name not in stacks]
    height = layers()
    for files in stacks.values():
        for above, below in zip(files, files[1:], strict=False):
            if height[below.split("/")[0]] > height[above.split("/")[0]]:
                wrong.append(f"a step back: {above} calls {below}")
    count = len({file for files in stacks.values() for file in files})
    return wrong + ([f"{count} files, {MAX_FILES} allowed"] if count > MAX_FILES else [])


def table(stacks: dict[str, list[str]]) -> str:
    """The walk as Markdown: every file where it is entered first, numbered."""
    rows, known = (
        ["| stage | what comes to be | files, in order of first entry |", "|---|---|---|"],
        {},
    )
    for stage, what, name in MOMENTS:
        entered = [f for f in dict.fromkeys(stacks[name]) if f not in known]
        known |= {file: len(known) + i for i, file in enumerate(entered, start=1)}
        last = stacks[name][-1]
        shown = entered or [last]
        cells = [f"{known[f]} `{f}`" for f in shown]
        rows.append(f"| {stage} | {what} | {' → '.join(cells)} |")
    return "\n".join(rows) + "\n"


def main() -> int:
    """Walk, print, and with --write put the table where it belongs."""
    with tempfile.TemporaryDirectory() as home:
        os.environ["LEVELCAP_HOME"] = home
        stacks = run()
    if wrong := check(stacks):
        sys.stderr.write("\n".join(wrong) + "\n")
        return 1
    sys.stdout.write(table(stacks))
    if "--write" in sys.argv[1:]:
        place = ROOT / "ARCHITECTURE.md"
        before, rest = place.read_text(encoding="utf-8").split(MARKS[0])
        after = rest.split(MARKS[1])[1]
        place.write_text(MARKS[0].join([before, table(stacks) + MARKS[1] + after]))
    return 0


if __name__ == "__main__":
    sys.exit(main())
