"""What a person does in the Tavern, in a real browser, with real services and a real trainer."""

import json
import re
import tarfile
import time

import httpx
import pytest
from playwright.sync_api import expect

from levelcap.campaign.realm import realm
from levelcap.campaign.story.events import say
from levelcap.kit.db import reading
from levelcap.services.clients.keeper import KeeperClient
from levelcap.services.tavern import entry
from levelcap.vault import removals
from levelcap.vault.ledger import get_ledger
from tests.browser.axe import barriers
from tests.browser.inn import LIVES, OUT, PHONE, WIDE, Watched, expect_same, mark, says

PAGES = {
    "hero": "/", "quests": "/quests", "guild": "/guild", "jobs": "/jobs", "vault": "/vault",
    "armory": "/settings", "report": "/report", "league": "/league",
    "tests": "/tests",
}  # fmt: skip
NARROW = {"width": 360, "height": 740}
HOSTILE = '<img src=x onerror="window.hacked=1"><script>window.hacked=1</script>'
COVERED = """() => {
  const boxes = (of) => [...document.querySelectorAll(of)].map((e) => e.getBoundingClientRect());
  const hit = (a, b) => a.width && b.width && a.left < b.right && b.left < a.right
    && a.top < b.bottom && b.top < a.bottom;
  const toasts = boxes('.toast');
  return toasts.length && boxes('button, a, input, select, textarea')
    .filter((one) => one.bottom > 0 && one.top < innerHeight)
    .filter((one) => toasts.some((toast) => hit(toast, one))).length;
}"""


def test_a_stranger_learns_how_to_get_in_and_nothing_else(inn, browser):
    context = browser.new_context()
    page = context.new_page()
    for path in ("/", "/vault", "/nowhere"):
        assert page.goto(inn.url + path).status == 401
        expect(page.locator("body")).to_contain_text("levelcap open")
    assert page.goto(f"{inn.url}/enter?code=guess").status == 403
    assert context.cookies() == []
    context.close()


def test_a_code_opens_the_door_once_and_the_first_visit_explains_the_game(inn, visit, browser):
    shown = visit()
    page = shown.page
    shown.until(LIVES)
    [cookie] = page.context.cookies()
    assert cookie["httpOnly"] and cookie["sameSite"] == "Strict"
    assert "code" not in page.url
    expect(page.locator(".welcome p")).to_have_count(3)
    page.screenshot(path=OUT / "welcome.png")
    page.get_by_role("button", name="Begin").click()
    expect(page.locator(".welcome")).to_have_count(0)
    tour = page.locator("#tour")
    for number in range(1, 6):
        expect(tour).to_contain_text(f"{number} of 5")
        expect(page.locator(".toured")).to_have_count(1)
        tour.get_by_role("button", name=re.compile("Next|Done")).click()
    shown.goto("/")
    expect(page.locator(".welcome")).to_have_count(0)
    expect(tour).to_be_hidden()  # once a browser
    notices = page.get_by_role("switch", name="Notifications")
    expect(notices).to_have_attribute("aria-checked", "false")

    code = entry.make_code()
    assert httpx.get(entry.entry_url(code)).status_code == 200
    assert httpx.get(entry.entry_url(code)).status_code == 403


@pytest.mark.parametrize("name", PAGES)
def test_every_page_fits_a_wide_screen_and_a_phone(visit, name):
    shown = visit()
    page = shown.goto(PAGES[name])
    page.wait_for_timeout(400)
    page.screenshot(path=OUT / f"{name}-wide.png", full_page=True)
    page.set_viewport_size(PHONE)
    page.wait_for_timeout(200)
    page.screenshot(path=OUT / f"{name}-phone.png")
    assert page.evaluate("document.documentElement.scrollWidth") <= PHONE["width"]
    assert barriers(page) == []
    page.set_viewport_size(NARROW)
    assert page.evaluate("document.documentElement.scrollWidth") <= NARROW["width"]
    page.set_viewport_size(PHONE)
    navigation = page.locator("nav.places").bounding_box()
    assert navigation["y"] + navigation["height"] == pytest.approx(PHONE["height"], abs=1)
    page.set_viewport_size(WIDE)


def test_every_number_of_the_sheet_says_what_it_is(visit):
    page = visit().goto("/")
    for shown in page.locator(".sheet .tip").all():
        assert re.search(r"=.*\n(raw value|95 % interval): ", shown.get_attribute("data-tip"))
    page.locator(".stat .tip").first.hover()
    content = "getComputedStyle(document.querySelector('.stat .tip'), '::after').content"
    assert "1 / training loss" in page.evaluate(content)


def test_a_checkpoint_on_trial_is_seen_to_be_judged(visit):
    page = visit().goto("/")
    with KeeperClient.local() as keeper:
        newest = keeper.call("GET", "/api/ledger")["checkpoints"][0]
        order = {"checkpoint": newest["id"], "games": 400, "seed": 3}
        job = keeper.call("POST", "/api/jobs", {"job_type": "eval", "payload": order})
        expect(page.locator(".training-state")).to_have_text("On trial")
        name = f"kestrel {newest['step']:,}"
        expect(page.locator(".fight h2")).to_have_text(f"On trial: {name}")
        told = page.locator(".on-trial p").first
        panel = re.compile(r"the sealed panel, [\d,]+ of 2,400, cousins")
        expect(told).to_contain_text(panel, timeout=60_000)
        expect(told).to_contain_text(re.compile(r"score \d+% so far"), timeout=60_000)
        page.screenshot(path=OUT / "on-trial.png")
        watch = page.get_by_role("link", name="Watch them").get_attribute("href")
        assert watch == f"/arena?red={newest['id']}&blue=master"
        keeper.call("POST", f"/api/jobs/{job['job_id']}/cancel")
    expect(page.locator(".fight h2")).not_to_contain_text("On trial", timeout=60_000)


def test_training_goes_on_and_is_seen_to(visit):
    page = visit().goto("/")
    state = page.locator(".training-state")
    expect(state).to_have_text("Resting", timeout=60_000)
    page.get_by_role("button", name="Loss", exact=True).click()
    page.get_by_role("button", name="Resume").click()
    expect(state).to_have_text("In training", timeout=60_000)
    experience = page.locator(".figure", has_text="XP of this battle").locator(".figure-value")
    page.wait_for_selector(".float b", timeout=120_000)
    before = int(experience.inner_text().replace(",", ""))
    page.screenshot(path=OUT / "battle.png")
    expect(experience).not_to_have_text(f"{before:,}", timeout=60_000)
    assert re.match(r"Round \d+: 30 minutes", page.locator(".fight h2").inner_text())
    assert re.match(r"\d+ % · Kestrel · Hero", page.title())
    rests = page.locator(".feed .event-title", has_text="The hero rests")
    before = rests.count()
    page.get_by_role("button", name="Pause").click()
    expect(state).to_have_text("Resting")
    expect(rests).to_have_count(before + 1)
    expect(page.locator(".chart:visible")).to_have_attribute("data-points", re.compile("[1-9]"))


def call_off(quest):
    quest.get_by_role("button", name="Call off").click()
    expect(quest.locator(".chip.cancelled")).to_have_text("called off")


def test_a_dropped_recipe_goes_on_the_board_and_is_moved_and_called_off(visit, tmp_path):
    page = visit().goto("/quests")
    good = tmp_path / "evening.yaml"
    good.write_text("quest: evaluate\ncheckpoint: latest\ngames: 80\ntitle: An evening trial\n")
    # Evaluations are begun while training rests, so the board is asked for a training quest, too.
    work = tmp_path / "night.yaml"
    work.write_text("quest: record\ngames: 4\ntitle: A night of watching\n")
    page.set_input_files("input[type=file]", [good, work])
    waiting = page.locator("article.quest", has_text="A night of watching")
    expect(page.locator("article.quest", has_text="An evening trial")).to_have_count(1)
    waiting.get_by_label("Priority").select_option("high")
    expect(waiting.get_by_label("Priority")).to_have_value("high")
    call_off(waiting)
    waiting.get_by_role("button", name="Try again").click()
    expect(waiting.locator(".chip.queued")).to_have_text("waiting")
    call_off(waiting)


def test_what_changes_on_the_board_replaces_no_other_quest(visit):
    page = visit().goto("/quests")

    def ask(title):
        recipe = {"name": "recipe.yaml", "mimeType": "text/yaml"}
        text = f"quest: record\ngames: 4\ntitle: {title}\n"
        page.set_input_files("input[type=file]", {**recipe, "buffer": text.encode()})
        shown = page.locator("article.quest", has_text=title)
        expect(shown).to_have_count(1)
        return shown

    first = ask("A first watch")
    mark(first)
    second = ask("A second watch")
    expect_same(first)
    with KeeperClient.local() as keeper:  # moved and called off by somebody else
        path = f"/api/quests/{first.get_attribute('data-quest')}"
        keeper.call("POST", f"{path}/priority", {"priority": "low"})
        expect(first.get_by_label("Priority")).to_have_value("low")
        expect_same(first)
        mark(second)
        keeper.call("POST", f"{path}/cancel")
    expect(first.locator(".chip.cancelled")).to_have_count(1)
    expect_same(second)
    call_off(second)


def test_templates_fill_the_recipe_and_a_run_shows_its_command(visit):
    page = visit().goto("/quests")
    page.get_by_role("button", name=re.compile("^Trial")).click()
    recipe = page.get_by_label("Recipe (YAML)")
    expect(recipe).to_have_value(re.compile("quest: evaluate"))
    page.get_by_label("games", exact=True).fill("80")  # field by field, with the YAML beside it
    page.get_by_label("title", exact=True).fill("A trial: of two")
    expect(recipe).to_have_value(re.compile('title: "A trial: of two"\n.*games: 80', re.DOTALL))
    recipe.fill("quest: evaluate\ngames: 41\n")
    page.get_by_role("button", name="Put it on the board").click()
    says(page, "games")
    page.locator("details summary").first.click()
    newest = re.compile("levelcap (reinforce|league start) --world duel")
    expect(page.locator("details code").first).to_contain_text(newest)


def test_hostile_files_are_shown_as_text_and_stay_out(visit):
    page = visit().goto("/quests")
    recipe = f"quest: record\ngames: 4\ntitle: {json.dumps(HOSTILE)}\n"
    files = [
        {"name": "nice.yaml", "mimeType": "text/yaml", "buffer": recipe.encode()},
        {"name": f"{HOSTILE[:20]}.yaml", "mimeType": "text/yaml", "buffer": b"quest: record"},
        {"name": "bomb.yaml", "mimeType": "text/yaml", "buffer": b"a: &a [x]\nb: [*a, *a]\n"},
        {"name": "big.yaml", "mimeType": "text/yaml", "buffer": b"#" * 70_000},
    ]
    for file in files:
        page.set_input_files("input[type=file]", file)
    expect(page.locator("article.quest", has_text=HOSTILE)).to_have_count(1)
    expect(page.locator(".drop .problem")).to_contain_text("big.yaml has 70000 bytes")
    says(page, "an alias (*a) is not allowed")
    says(page, "Give the name of the file, not a path")
    page.goto(page.url.replace("/quests", "/"))
    expect(page.locator(".feed .event-text", has_text=HOSTILE).first).to_be_visible()
    assert page.evaluate("window.hacked === undefined")
    quest = page.context.new_page()
    quest.goto(page.url + "quests")
    row = quest.locator("article.quest", has_text=HOSTILE)
    row.get_by_role("button", name="Call off").click()
    expect(row.locator(".chip.cancelled")).to_have_count(1)


def test_two_checkpoints_are_compared_sorted_and_verified(visit):
    page = visit().goto("/vault")
    page.get_by_role("button", name="Step").click()
    page.get_by_role("button", name="Step ↓").click()
    expect(page.locator("th[aria-sort=ascending]")).to_have_text("Step ↑")
    cells = page.locator("td[data-label=Step]").all()
    steps = [int(cell.inner_text().replace(",", "")) for cell in cells]
    assert steps == sorted(steps) and len(steps) >= 3
    for number in (0, 1):
        page.get_by_role("button", name="Compare", exact=True).nth(number).click()
    page.locator("a.btn.primary", has_text="Compare").click()
    page.wait_for_url("**/compare/*/*")
    expect(page.locator(".figure-value")).to_have_text(re.compile(r"[+-]\d+ Elo \(.+ to .+\)"))
    expect(page.get_by_role("link", name=re.compile("^Play kestrel"))).to_be_visible()
    page.screenshot(path=OUT / "compare.png")
    page.go_back()
    page.get_by_role("button", name="Verify").first.click()
    says(page, "Every byte is as it was saved")


def test_a_season_is_read_who_beats_whom_and_why_they_met(visit):
    page = visit().goto("/league")
    expect(page.locator("table.heat tbody tr")).to_have_count(
        page.locator("table.heat thead th").count()
    )
    expect(page.locator(".heat .tip").first).to_have_attribute("data-tip", re.compile("games"))
    expect(page.locator(".chart canvas")).to_be_visible()
    page.get_by_role("button", name="0 main", exact=True).click()
    expect(page.get_by_text("Turn 0: main learned for")).to_be_visible()
    expect(page.get_by_role("cell", name="self-play")).to_be_visible()


def test_a_test_is_asked_for_and_called_off(visit):
    page = visit().goto("/tests")
    page.get_by_label("First").fill("nobody-at-all")
    page.get_by_role("button", name="Test them").click()
    says(page, "nobody-at-all")
    page.get_by_label("First").fill("champion")
    page.get_by_label("Second").fill("rookie")
    page.get_by_label("Preset").select_option("simplify")
    page.get_by_role("button", name="Test them").click()
    asked = page.locator("[data-test]", has_text="against rookie")
    expect(asked.first).to_contain_text("simplify · duel")
    asked.first.get_by_role("button", name="Call off").click()
    ended = page.locator("tr[data-test]", has_text="against rookie")
    expect(ended.locator(".chip")).to_have_text("cancelled")
    ended.get_by_role("button", name="Details").click()
    expect(page.get_by_role("dialog", name="Test")).to_be_visible()
    page.reload()  # what is open stands in the address
    expect(page.get_by_role("dialog", name="Test")).to_be_visible()


def test_a_promotion_is_rolled_back(visit):
    page = visit().goto("/vault")
    before = page.locator("tr.champion").get_attribute("data-checkpoint")
    other = page.locator("tbody tr:not(.champion)").first
    chosen = other.get_attribute("data-checkpoint")
    other.get_by_role("button", name="Promote").click()
    asked = page.get_by_role("dialog", name="Are you sure?")
    asked.get_by_role("button", name="No").click()
    expect(page.locator("tr.champion")).to_have_attribute("data-checkpoint", before)
    other.get_by_role("button", name="Promote").click()
    asked.get_by_role("button", name="Yes").click()
    expect(page.locator("tr.champion")).to_have_attribute("data-checkpoint", chosen)
    page.locator("tr.champion").get_by_role("button", name="Undo").click()
    expect(page.locator("tr.champion")).to_have_attribute("data-checkpoint", before)


def test_a_deleted_checkpoint_can_be_taken_back_and_waits_without_the_page(visit):
    page = visit().goto("/vault")
    row = page.locator("tbody tr:not(.champion)").last
    chosen = row.get_attribute("data-checkpoint")
    row = page.locator(f"tr[data-checkpoint={chosen}]")
    row.get_by_role("button", name="Delete").click()
    expect(row).to_have_class("going")
    expect(row).to_contain_text(re.compile(r"goes in (2|3)\d s"))
    row.get_by_role("button", name="Undo").click()
    expect(row.get_by_role("button", name="Delete")).to_be_visible()
    row.get_by_role("button", name="Delete").click()
    expect(row).to_have_class("going")
    page.close()
    with realm() as opened, reading(opened.engine) as connection:
        assert chosen in removals.waiting(connection)
    other = visit().goto("/vault")
    other.locator(f"tr[data-checkpoint={chosen}]").get_by_role("button", name="Undo").click()
    expect(other.locator("tr.going")).to_have_count(0)
    with realm() as opened:
        assert get_ledger(opened.engine).get(chosen).retired is None


def test_a_checkpoint_and_the_report_are_taken_home(visit, tmp_path):
    shown = visit()
    page = shown.goto("/vault")
    with page.expect_download() as tar:
        page.get_by_role("link", name="Pack").first.click()
    tar.value.save_as(tmp_path / "hero.tar")
    with tarfile.open(tmp_path / "hero.tar") as archive:
        assert any(name.endswith("manifest.json") for name in archive.getnames())
    page = shown.goto("/report")
    with page.expect_download() as report:
        page.get_by_role("link", name="JSON").click()
    report.value.save_as(tmp_path / "report.json")
    assert json.loads((tmp_path / "report.json").read_text())["days"][0]["elo_low"] is not None
    with page.expect_download() as picture:
        page.get_by_role("button", name=re.compile("^Save Elo per day")).click()
    picture.value.save_as(tmp_path / "elo.png")
    assert (tmp_path / "elo.png").read_bytes()[:8] == b"\x89PNG\r\n\x1a\n"


def test_settings_are_checked_and_a_locked_one_needs_approval(visit):
    shown = visit()
    page = shown.goto("/settings")
    page.get_by_label("Disk cap (GB)").fill("-3")
    page.get_by_role("button", name="Save").click()
    says(page, "greater than 0")
    page.get_by_label("Disk cap (GB)").fill("12.5")
    page.get_by_label("Rest while on battery").uncheck()
    page.get_by_role("button", name="Save").click()
    says(page, "Saved")
    shown.goto("/settings")
    expect(page.get_by_label("Disk cap (GB)")).to_have_value("12.5")

    def set_length(value, approve=False):
        page.get_by_label("Setting", exact=True).fill("max_length")
        page.get_by_label("Value", exact=True).fill(value)
        if approve:
            page.get_by_label("Approve a locked one").check()
        page.get_by_role("button", name="Set it").click()

    set_length("128")
    expect(page.locator(".setting-row", has_text="max_length")).to_contain_text("128")
    set_length("256")
    says(page, "max_length is locked at 128")
    set_length("256", approve=True)
    expect(page.locator(".setting-row", has_text="max_length")).to_contain_text("256")


def test_the_armory_says_what_a_setting_takes(visit):
    page = visit().goto("/settings")
    said = page.locator(".card", has_text="What a setting takes")
    batch = said.get_by_label("batch_size", exact=True)

    def choose(value):
        batch.fill(value)
        batch.press("Tab")

    choose("30")
    expect(said.locator(".figure-value")).to_contain_text("batch_size=30 uses about")
    expect(said.locator(".chip.done")).to_have_text("fits well")
    said.get_by_label("Hero", exact=True).select_option("flo")
    expect(batch).to_have_value("4")
    choose("100000")
    expect(said.locator(".chip.failed")).to_have_text("is too much")
    choose("0")
    expect(said.locator(".problem")).to_contain_text("batch is at least 1")


def test_new_game_plus_begins_and_the_old_campaign_is_continued(visit):
    page = visit().goto("/settings")
    old = page.locator("[data-campaign]", has_text="active").first.get_attribute("data-campaign")
    page.get_by_label("Name").fill("Second wind")
    page.get_by_label("Start").select_option("champion")
    page.get_by_role("button", name="Begin the campaign").click()
    made = page.locator("[data-campaign]", has_text="Second wind")
    expect(made).to_contain_text("New Game+")
    expect(made.locator(".chip")).to_have_text("active")
    archived = page.locator(f"[data-campaign={old}]")
    archived.get_by_role("button", name="Continue").click()
    expect(archived.locator(".chip")).to_have_text("active")
    expect(made.locator(".chip")).to_have_text("archived")


def test_jobs_are_filtered_paged_and_looked_into(visit):
    page = visit().goto("/jobs")
    page.get_by_label("Status").select_option("done")
    page.get_by_label("Kind of work").select_option("eval")
    rows = page.locator("tbody [data-job]")
    expect(rows.filter(has_not_text="eval")).to_have_count(0)
    expect(page.locator("tbody .chip:not(.done)")).to_have_count(0)
    mark(rows.first)
    page.wait_for_timeout(2_500)  # two looks of the page: the worker's work goes on meanwhile
    expect_same(rows.first)
    rows.first.get_by_role("link", name="Details").click()
    window = page.get_by_role("dialog", name="Job")
    expect(window.locator(".event-title").first).to_have_text("submitted")
    expect(window.locator("pre")).to_contain_text('"checkpoint"')
    page.keyboard.press("Escape")
    expect(page.get_by_role("dialog", name="Job")).to_have_count(0)
    expect(page.locator(".pager")).to_contain_text("page 1")


def test_everything_is_reached_with_the_keyboard(visit):
    page = visit().goto("/")
    page.keyboard.press("Tab")
    expect(page.locator(":focus")).to_have_text("Skip to the content")
    page.keyboard.press("Enter")
    expect(page.locator(":focus")).to_have_id("content")
    page.keyboard.press("?")
    expect(page.get_by_role("dialog", name="Keys")).to_be_visible()
    page.screenshot(path=OUT / "keys.png")
    page.keyboard.press("Escape")
    expect(page.get_by_role("dialog", name="Keys")).to_have_count(0)
    page.keyboard.press("g")
    page.keyboard.press("v")
    page.wait_for_url("**/vault")
    page.wait_for_selector("tbody tr")
    for _ in range(60):
        page.keyboard.press("Tab")
        if "sort" in (page.locator(":focus").get_attribute("class") or ""):
            break
    assert page.evaluate("getComputedStyle(document.activeElement).outlineStyle") == "solid"
    page.keyboard.press("Enter")
    expect(page.locator("th[aria-sort=ascending]")).to_have_count(1)


def test_what_happens_elsewhere_is_announced_on_every_open_page(visit):
    pages = [visit().goto("/guild"), visit(viewport=PHONE).goto("/report")]
    with KeeperClient.local() as keeper:
        rows = keeper.call("GET", "/api/ledger")["checkpoints"]
        now = keeper.call("GET", "/api/champion")["champion"]["checkpoint"]
        other = next(row["id"] for row in rows if row["id"] != now)
        body = {"checkpoint": other, "reason": "chosen elsewhere"}
        keeper.call("POST", "/api/champion", body)
        for page in pages:
            says(page, re.compile("New champion.*chosen elsewhere", re.DOTALL))
        keeper.call("POST", "/api/champion/rollback", {"hero": "kestrel"})


def test_eight_tabs_of_one_browser_all_follow(visit):
    """A browser has six HTTP/1.1 connections to a host; what tabs listen with must not use them."""
    first = visit()
    tabs = [first, *(Watched(first.page.context, first.url) for _ in range(7))]
    for tab, path in zip(tabs, PAGES.values(), strict=False):
        tab.goto(path)
    first.page.close()  # none depends on another one
    with realm() as opened:
        say(opened.engine, "data.rejected", "eight.yaml was wrong", severity="warning")
    for tab in tabs[1:]:
        says(tab.page, "eight.yaml was wrong")
    tabs[7].goto("/report")
    assert [fault for tab in tabs for fault in tab.faults] == []


def test_what_is_being_typed_stays_while_the_page_changes(visit):
    page = visit().goto("/quests")
    recipe = page.get_by_label("Recipe (YAML)")
    recipe.fill("quest: rec")
    with KeeperClient.local() as keeper:
        quest = keeper.add_quest({"quest": "record", "games": 4, "title": "A third watch"})
    shown = page.locator("article.quest", has_text="A third watch")
    expect(shown).to_have_count(1)
    expect(recipe).to_be_focused()
    page.keyboard.type("ord")
    expect(recipe).to_have_value("quest: record")
    call_off(shown)
    assert quest["title"] == "A third watch"


def test_the_reload_case_an_open_checkpoint_survives_reload_back_and_another_browser(visit):
    page = visit().goto("/vault")
    link = page.locator("tbody a", has_text="kestrel").first
    name = link.inner_text()
    link.click()
    window = page.get_by_role("dialog", name=name)
    expect(window).to_be_visible()
    where = page.url
    assert re.search(r"/vault/checkpoint-[0-9a-f]{12}", where)
    window.get_by_label("Note on this checkpoint").fill("turns too late")
    window.get_by_label("Tags of this checkpoint").fill("slow turn")
    window.get_by_role("button", name="Write down: this checkpoint").click()
    says(page, "Written down")
    page.reload()
    expect(page.get_by_label("Tags of this checkpoint")).to_have_value("slow turn")
    other = visit()
    other.goto("/" + where.split("/", 3)[3])
    expect(other.page.get_by_role("dialog", name=name)).to_be_visible()
    page.keyboard.press("Escape")
    expect(page.get_by_role("dialog", name=name)).to_have_count(0)
    page.wait_for_url("**/vault")
    page.go_back()
    expect(page.get_by_role("dialog", name=name)).to_be_visible()
    page.keyboard.press("Escape")
    page.get_by_role("search").get_by_label("Search").fill("slow")
    page.keyboard.press("Enter")
    expect(page.locator("tr[data-checkpoint]")).to_have_count(1)
    expect(page.locator("tr[data-checkpoint]")).to_contain_text("turns too late")


def test_the_silent_name_case_a_file_with_spaces_and_lessons_get_an_answer(visit):
    page = visit().goto("/quests")
    recipe = b"quest: record\ngames: 4\ntitle: A copied watch\n"
    named = {"name": "my recipe (1).yaml", "mimeType": "text/yaml", "buffer": recipe}
    page.set_input_files("input[type=file]", named)
    quest = page.locator("article.quest", has_text="A copied watch")
    expect(quest).to_have_count(1)
    expect(quest.locator(".waits")).to_contain_text("press Resume")
    quest.get_by_role("button", name="Call off").click()
    lessons = b'{"prompt": "Compute: add(1)", "answer": "2"}\n' * 3 + b"{not json\n"
    data = {"name": "some lessons.jsonl", "mimeType": "", "buffer": lessons}
    page.set_input_files("input[type=file]", data)
    says(page, re.compile("some-lessons.jsonl"))


def test_the_palette_leads_to_what_is_typed(visit):
    page = visit().goto("/jobs")
    with realm() as opened:
        newest = get_ledger(opened.engine).list(limit=1)[0]
    page.keyboard.press("Control+k")
    page.keyboard.type(f"kestrel {newest.step:,}")
    found = page.get_by_role("option", name=newest.id)
    expect(found).to_have_attribute("aria-selected", "true")
    page.keyboard.press("Enter")
    page.wait_for_url(f"**/vault/{newest.id}*")
    page.keyboard.press("Escape")
    expect(page.get_by_role("dialog")).to_have_count(0)
    page.keyboard.press("/")
    page.keyboard.type("quests")
    expect(page.locator("#palette-found li").first).to_contain_text("Quests")
    page.keyboard.press("Enter")
    page.wait_for_url("**/quests")


def test_what_is_announced_covers_no_control(visit):
    page = visit().goto("/vault")
    with realm() as opened:
        for words in ("one.yaml was wrong", "two.yaml was wrong, and this takes many words to say"):
            say(opened.engine, "data.rejected", words, severity="warning")
    says(page, "two.yaml")
    assert page.evaluate(COVERED) == 0
    page.set_viewport_size(PHONE)
    assert page.evaluate(COVERED) == 0


def test_a_killed_tavern_comes_back_and_tells_what_was_missed(inn, visit):
    shown = visit()
    page = shown.goto("/")
    inn.kill("tavern")
    page.wait_for_selector("#popup[aria-hidden=false]", state="attached")
    with KeeperClient.local() as keeper:
        keeper.call("POST", "/api/training/control", {"action": "pause"})
    noted = inn.home / "state" / "tavern.json"
    last = json.loads(noted.read_text())
    with realm() as opened, reading(opened.engine) as connection:
        query = "SELECT min(seq) FROM events WHERE kind = 'eval.completed'"
        first = connection.execute(query).scalar_one()
    noted.write_text(json.dumps({**last, "time": time.time() - 3600, "seq": first - 1}))
    page.evaluate("window.__before = true")
    inn.start("tavern")
    inn.wait(8888, "tavern")
    shown.until(f"window.__before === undefined && ({LIVES})")
    expect(page.locator(".away")).to_contain_text("trials finished")
    page.screenshot(path=OUT / "away.png")
    # Losing the connection is what this is about; the browser says so.
    lost = ("ERR_CONNECTION_REFUSED", "WebSocket connection", "Failed to load resource")
    shown.faults[:] = [fault for fault in shown.faults if not any(word in fault for word in lost)]
