"""One realm, one browser for a file of journeys; one context, with a cookie of its own, a test."""

import pytest
from playwright.sync_api import sync_playwright

from levelcap.services.tavern import entry
from tests.browser.inn import OUT, WIDE, Inn, Watched, launch


@pytest.fixture(scope="module")
def inn(tmp_path_factory):
    made = Inn(tmp_path_factory.mktemp("inn") / "home")
    try:
        made.prepare()
        for name in ("keeper", "tavern", "arena"):
            made.start(name)
        made.wait(8767, "keeper")
        made.wait(8888, "tavern")
        yield made
    finally:
        made.close()


@pytest.fixture(scope="module")
def browser():
    OUT.mkdir(exist_ok=True)
    with sync_playwright() as playwright:
        opened = launch(playwright)
        yield opened
        opened.close()


@pytest.fixture(autouse=True)
def here(home, inn, monkeypatch):
    """The test's own code reads the realm of the inn."""
    for name in ("LEVELCAP_HOME", "LEVELCAP_PORT_OFFSET"):
        monkeypatch.setenv(name, inn.env[name])


@pytest.fixture
def visit(inn, browser, here):
    """Opens a watched page that is let in; what went wrong in any of them fails the test."""
    contexts, pages = [], []

    def enter(**options):
        context = browser.new_context(**{"viewport": WIDE, **options})
        contexts.append(context)
        pages.append(Watched(context, inn.url))
        pages[-1].page.goto(entry.entry_url(entry.make_code()))
        pages[-1].page.wait_for_selector("main#content h1")
        return pages[-1]

    yield enter
    for context in contexts:
        context.close()
    assert [fault for page in pages for fault in page.faults] == []
    assert {host for page in pages for host in page.hosts} <= {inn.url.split("//")[1], None}
