"""Text heroes in a real browser: switch heroes, the guild, and talking to checkpoints."""

import re

import pytest
from playwright.sync_api import expect

from levelcap.campaign.realm import realm
from levelcap.campaign.story import campaigns
from levelcap.kit.db import reading
from tests.browser.inn import OUT, PHONE, WIDE, serving
from tests.services.realms import until

HOSTILE = '<img src=x onerror="window.hacked=1">'


@pytest.fixture(scope="module")
def inn(tmp_path_factory):
    with serving(tmp_path_factory.mktemp("school") / "home", "prepare_text") as made:
        yield made


def pictures(shown, name):
    """Wide and phone; nothing may stand out of a phone."""
    page = shown.page
    page.screenshot(path=OUT / f"{name}-wide.png", full_page=True)
    page.set_viewport_size(PHONE)
    page.wait_for_timeout(200)
    page.screenshot(path=OUT / f"{name}-phone.png", full_page=True)
    assert page.evaluate("document.documentElement.scrollWidth") <= PHONE["width"]
    page.set_viewport_size(WIDE)


def chosen():
    with realm() as opened, reading(opened.engine) as connection:
        return campaigns.chosen_hero(connection)


def settings():
    with realm() as opened, reading(opened.engine) as connection:
        return campaigns.current(connection, "dio-tiny").config_overrides


def oracle(visit, **options):
    """The open page with its conversation."""
    shown = visit(**options)
    shown.goto("/oracle")
    shown.page.wait_for_selector("#prompt")
    return shown


def test_the_sheet_of_a_text_hero_speaks_of_exams(visit):
    shown = visit()
    page = shown.goto("/")
    expect(page.get_by_role("img", name="Portrait of DIO")).to_be_visible()
    expect(page.get_by_text("three exams of fresh problems")).to_be_visible()
    pictures(shown, "hero-text")


def test_the_guild_of_a_text_hero_shows_what_was_measured_and_says_what_was_not(visit):
    shown = visit()
    page = shown.goto("/guild")
    skill = page.get_by_role("region", name=re.compile("^BIN"))
    expect(skill.get_by_text("Level 5 of 30")).to_be_visible()
    expect(skill.locator(".slot .figure-value")).to_have_text(["55.0 %", "61.0 %", "–"])
    expect(skill.locator(".meter-head").first).to_contain_text("not measured yet")
    expect(skill.get_by_text("Last exam: not there yet")).to_be_visible()
    expect(skill.locator(".meter-head", has_text="expert")).to_contain_text("of ")
    other = page.get_by_role("region", name=re.compile("^SY"))
    expect(other.get_by_text("too few levels to tell")).to_be_visible()
    weak = page.locator(".primitive", has_text="add with carry")
    expect(weak.locator(".primitive-share")).to_have_text(re.compile(r"^50 % of \d+$"))
    expect(page.locator(".primitive")).to_have_count(39)
    unknown = page.locator(".primitive", has_text="palindrome check")
    expect(unknown.locator(".primitive-share")).to_have_text("not measured yet")
    expect(page.locator(".passives tbody tr")).to_have_count(11)
    expect(page.get_by_text("BIN level 5", exact=True)).to_be_visible()
    page.wait_for_timeout(300)
    pictures(shown, "guild-text")


def test_the_curriculum_is_chosen_and_the_keeper_writes_it_down(visit):
    shown = visit()
    page = shown.goto("/guild")
    page.get_by_label("Preset").select_option("sy_focus")
    page.get_by_label("Strategy").select_option("catch_up")
    page.get_by_role("button", name="Use from the next round on").click()
    expect(page.get_by_text("Now: BIN and SY, strategy catch up.")).to_be_visible()
    assert settings() == {"curriculum": "sy_focus", "strategy": "catch_up"}
    shown.goto("/guild")
    expect(page.get_by_label("Preset")).to_have_value("sy_focus")
    page.get_by_label("Preset").select_option("")
    page.get_by_label("Strategy").select_option("")
    page.get_by_role("button", name="Use from the next round on").click()
    expect(page.get_by_text("Now: BIN, strategy equal.")).to_be_visible()


def test_two_checkpoints_answer_a_problem_side_by_side_and_are_judged(visit):
    shown = oracle(visit)
    page = shown.page
    names = page.get_by_label("Right hero").first.locator("option").all_text_contents()
    assert names[0] == "nobody" and any("BIN" in name for name in names)
    page.locator("#who-1").select_option(label=names[-1])
    page.get_by_role("button", name="Draw a problem").click()
    shown.until("document.querySelector('#prompt').value.startsWith('Compute')")
    page.locator("#prompt").press("Enter")
    for side in ("Left", "Right"):
        pane = page.get_by_role("region", name=f"{side} hero")
        expect(pane.locator(".line.you .said")).to_contain_text("Compute")
        expect(pane.locator(".line.hero .note")).to_contain_text(re.compile("right|wrong"))
    page.wait_for_timeout(200)
    pictures(shown, "oracle")


def test_what_is_said_is_text_and_never_becomes_a_tag(visit):
    shown = oracle(visit)
    page = shown.page
    page.locator("#prompt").fill(HOSTILE)
    page.keyboard.press("Enter")
    pane = page.get_by_role("region", name="Left hero")
    expect(pane.locator(".line.you .said")).to_have_text(HOSTILE)
    expect(pane.locator(".line.hero .said")).not_to_have_text("…")
    assert page.evaluate("window.hacked") is None
    assert page.locator(".oracle img").count() == 0


def test_a_prompt_is_typed_with_keys_alone_and_an_answer_can_be_stopped(visit):
    shown = oracle(visit)
    page = shown.page
    page.get_by_role("button", name="Insert ①").focus()
    page.keyboard.press("Enter")
    expect(page.locator("#prompt")).to_be_focused()
    page.keyboard.type(" = ")
    page.keyboard.press("Shift+Enter")
    page.keyboard.type("a")
    expect(page.locator("#prompt")).to_have_value("① = \na")
    page.get_by_label("Longest answer").fill("1024")
    page.get_by_label("Temperature").fill("5")
    page.locator("#prompt").focus()
    page.keyboard.press("Enter")
    line = page.locator(".line.hero")
    expect(line.locator(".said")).not_to_have_text("…")
    page.keyboard.press("Escape")
    expect(page.get_by_role("button", name="Ask", exact=True)).to_be_visible()  # for Stop
    page.get_by_role("button", name="Clear").click()
    expect(page.locator(".line")).to_have_count(0)


@pytest.mark.slow
def test_an_oracle_that_is_away_is_said_and_the_page_lives_on(visit, inn):
    shown = oracle(visit)
    page = shown.page
    inn.kill("oracle")
    try:
        page.locator("#prompt").fill("ab")
        page.keyboard.press("Enter")
        expect(page.locator(".line.hero .note")).to_contain_text("not reachable")
    finally:
        inn.start("oracle")
        inn.wait(8765, "oracle")
    page.get_by_role("button", name="Ask").click()
    expect(page.locator(".line.hero .said").nth(1)).not_to_have_text(re.compile("^…?$"))


def test_sound_is_off_until_somebody_wants_it(visit):
    page = visit().goto("/")
    switch = page.get_by_role("switch", name="Sound")
    expect(switch).to_have_attribute("aria-checked", "false")
    page.evaluate("window.dispatchEvent(new CustomEvent('tavern-sound', {detail: 'hit'}))")
    assert page.evaluate("window.__tavern.played") == []
    switch.click()
    assert page.evaluate("window.__tavern.played") == ["good"]


def test_nothing_moves_for_those_who_asked_for_that(visit):
    page = visit(reduced_motion="reduce").goto("/")
    moving = "[...document.querySelectorAll('*')].filter(e => e.getAnimations().length).length"
    assert page.evaluate(moving) == 0
    still = visit().goto("/")
    assert "blade" in still.content()


def test_the_hero_is_switched_in_the_frame_and_every_open_page_follows(visit):
    first, second = visit(), visit()
    page = first.goto("/")
    expect(page.locator(".hero-name")).to_have_text("DIO")
    expect(page.locator(".elo")).to_contain_text("BIN 5")
    page.screenshot(path=OUT / "hero-text-wide.png", full_page=True)
    second.goto("/guild")
    page.get_by_label("Hero", exact=True).select_option("kestrel")
    expect(page.locator(".hero-name")).to_have_text("Kestrel")
    until(lambda: chosen() == "kestrel", 5, "the keeper has written it down")
    expect(second.page.get_by_role("heading", name="Rulesets")).to_be_visible()
    second.page.get_by_label("Hero", exact=True).select_option("dio-tiny")
    expect(page.locator(".hero-name")).to_have_text("DIO")
    assert chosen() == "dio-tiny"
