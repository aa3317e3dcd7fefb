"""Collects the figures of the promises; prints them as a table, then as one line of JSON.

A test takes the fixture `figures` and calls, once it knows:

    figures.add("P1", "1,000 kills: 0 lost, 0 doubled", ok=True, kills=1000, lost=0, doubled=0)

`ok` is the result shown in the table; the test itself still asserts. Of values that several tests
give under one name, integers are added up, others must agree. The JSON is the very last line of
the run. Tests may be spread over processes (`-n 2 --dist loadfile`): each hands its figures to the
one that prints. What measures time (`@pytest.mark.alone`) begins first and holds the others back;
then comes the longest file, so that nobody waits for it alone at the end.
"""

import fcntl
import json
from dataclasses import dataclass, field
from typing import Any

import pytest
from rich.console import Console
from rich.table import Table


@dataclass
class Figures:
    """What the promises came to in this run."""

    rows: list[tuple[str, str, bool]] = field(default_factory=list)
    values: dict[str, Any] = field(default_factory=dict)

    def add(self, promise: str, figure: str, ok: bool, **values: Any) -> None:
        """Adds a row to the table and values to the JSON."""
        self.rows.append((promise, figure, ok))
        self.take(values)

    def take(self, values: dict[str, Any]) -> None:
        """Adds values to the JSON."""
        for name, value in values.items():
            known = self.values.get(name)
            if known is None or isinstance(value, bool) or not isinstance(value, int):
                assert known is None or known == value, f"two figures for {name!r}"
                self.values[name] = value
            else:
                self.values[name] = known + value


_FIGURES = pytest.StashKey[Figures]()
FIRST = ("test_load.py", "test_trainers.py")


def pytest_collection_modifyitems(items):
    place = {name: number for number, name in enumerate(FIRST)}
    items.sort(key=lambda item: place.get(item.path.name, len(FIRST)))  # stable


@pytest.fixture(autouse=True)
def turn(request, tmp_path_factory):
    """A test that measures time has the machine for itself; all others share it."""
    alone = request.node.get_closest_marker("alone") is not None
    with (tmp_path_factory.getbasetemp().parent / "turn.lock").open("w") as file:
        fcntl.flock(file, fcntl.LOCK_EX if alone else fcntl.LOCK_SH)
        yield


@pytest.hookimpl(trylast=True)
def pytest_sessionfinish(session):
    if hasattr(session.config, "workeroutput"):  # a process that prints nothing itself
        found = session.config.stash[_FIGURES]
        session.config.workeroutput["figures"] = json.dumps([found.rows, found.values])


@pytest.hookimpl(optionalhook=True)
def pytest_testnodedown(node, error):
    rows, values = json.loads(getattr(node, "workeroutput", {}).get("figures", "[[], {}]"))
    found = node.config.stash[_FIGURES]
    found.rows += rows
    found.take(values)


def pytest_configure(config):
    config.stash[_FIGURES] = Figures()


@pytest.fixture(scope="session")
def figures(request) -> Figures:
    """The figures of this run."""
    return request.config.stash[_FIGURES]


def pytest_terminal_summary(terminalreporter, config):
    found = config.stash[_FIGURES]
    if not found.rows:
        return
    table = Table("promise", "figure", "result", title="Trust")
    for promise, figure, ok in sorted(found.rows, key=lambda row: _order(row[0])):
        table.add_row(promise, figure, "kept" if ok else "BROKEN")
    console = Console(width=120, no_color=True)
    with console.capture() as captured:
        console.print(table)
    terminalreporter.write(captured.get())


def _order(promise):
    number = promise.removeprefix("P").split()[0]
    return (int(number) if number.isdigit() else 99, promise)


@pytest.hookimpl(trylast=True)
def pytest_unconfigure(config):
    found = config.stash.get(_FIGURES, None)
    reporter = config.pluginmanager.get_plugin("terminalreporter")
    if found and found.rows and reporter:
        kept = all(ok for _, _, ok in found.rows)
        reporter.write_line(json.dumps({**found.values, "kept": kept}))
