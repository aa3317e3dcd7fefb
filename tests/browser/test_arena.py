"""The arena in a real browser: watch, scrub, play, be recorded, become a quest."""

import json
import os
import re
import subprocess
import sys
from pathlib import Path

import numpy as np
import pytest
from playwright.sync_api import expect

from levelcap.campaign.realm import realm
from levelcap.campaign.story import quests
from levelcap.export.runtime import load as load_bundle
from levelcap.kit.db import reading
from levelcap.kit.paths import folder
from levelcap.lake.read import open_shards
from levelcap.services.tavern.pages.anywhere import RUNTIME
from levelcap.world.replay import load as load_replay
from levelcap.world.seat_record import record_seat
from tests.browser.axe import barriers
from tests.browser.inn import OUT, PHONE, serving
from tests.services.realms import ROOT, until
from tests.world.seats import arrays_of

# A match that was chosen is the one its address names; an exhibition has none.
CHOSEN = "location.pathname === `/arena/m/${window.__arena.match}` && window.__arena.tick > 5"
LEAST_FPS = 30  # 55 on a machine of its own, see benchmarks/oracle_speed.py


@pytest.fixture(scope="module")
def inn(tmp_path_factory):
    with serving(tmp_path_factory.mktemp("arena") / "home", "prepare_arena") as made:
        yield made


def arena(visit, **options):
    """An open arena page whose lobby is ready."""
    shown = visit(**options)
    shown.goto("/arena")
    shown.page.wait_for_selector("#arena-watch")
    return shown


def start(shown, world="duel", blue="master", red="rookie"):
    """Chooses who fights whom and watches."""
    page = shown.page
    page.select_option("select[name=world]", world)
    page.select_option("select[name=blue]", blue)
    page.select_option("select[name=red]", red)
    page.click("#arena-watch")
    shown.until(CHOSEN, 90)


def report(shown):
    return json.loads(shown.page.evaluate("JSON.stringify(window.__arena)"))


def test_a_live_match_is_drawn_as_it_happens(visit):
    shown = arena(visit)
    start(shown, blue="champion")
    first = report(shown)
    shown.page.wait_for_timeout(2000)
    then = report(shown)
    # Two seconds of a match in two seconds, drawn often enough to look like movement.
    assert 40 < then["tick"] - first["tick"] < 80
    assert then["fps"] >= LEAST_FPS and then["frames"] - first["frames"] >= 2 * LEAST_FPS
    expect(shown.page.locator(".hud-side.side-0 b")).to_have_text("champion")
    expect(shown.page.locator(".hud-value")).to_be_visible()
    shown.page.screenshot(path=OUT / "arena-live.png")


IN_WORDS = """async (given) => {
    const sheet = document.querySelector('link[href*="/static/"][href$="tavern.css"]').href;
    const { inWords } = await import(sheet.replace('tavern.css', 'arena/mind.js'));
    return inWords(...given);
}"""
WORDS = [
    (
        ["FLEE", {"confidence": 0.91, "enemies": 2, "plan": True}, 22.6],
        "FLEE .91: two enemies, hp 23",
    ),
    (["FIGHT", {"confidence": 1.0, "enemies": 1, "plan": True}, 80], "FIGHT 1: one enemy, hp 80"),
    (
        ["LOOT", {"confidence": 0.5, "looks": [{"kind": "ammo crate"}], "plan": True}, 100],
        "LOOT .50: wants an ammo crate, nobody in sight, hp 100",
    ),
    (
        ["CAUTIOUS", {"confidence": 0.7, "hidden": 1, "allies": 2, "plan": True}, 9],
        "CAUTIOUS .70: an enemy out of sight, two allies near, hp 9",
    ),
    (["EXPLORE", None, 64], "EXPLORE: hp 64"),
    (
        [None, {"odds": 0.31, "enemies": 1}, 50],
        "no stated intent: one enemy, aim odds .31, hp 50",
    ),
    ([None, None, 50], ""),
    (
        ["FIGHT", {"confidence": 0.6, "target": {"kind": "tower"}, "plan": True}, 50, "fight"],
        "FIGHT .60: at a tower, nobody in sight, hp 50 (ordered: fight)",
    ),
]


def test_a_heros_mind_is_said_in_words_and_takes_orders(visit):
    shown = arena(visit)
    page = shown.page
    with realm() as opened, reading(opened.engine) as connection:
        hero = connection.execute("SELECT id FROM ledger WHERE step = 9").scalar()
    start(shown, blue=hero, red="idle")
    said = page.locator(".mind-words")
    expect(said).to_have_text(re.compile(r"^[A-Z]+ \.?\d+: .*hp \d+$"), timeout=20_000)
    expect(page.locator(".mind-value small")).to_contain_text("expects to win")
    order = page.locator(".mind-orders input")
    order.fill("dance")
    page.get_by_role("button", name="Order").click()
    expect(page.locator(".mind-said")).to_contain_text("No such order. There are: fight, flee")
    order.fill("flee")
    page.keyboard.press("Enter")
    expect(said).to_contain_text("(ordered: flee)", timeout=10_000)
    page.screenshot(path=OUT / "arena-mind.png")
    page.get_by_role("button", name="At ease").click()
    expect(said).not_to_contain_text("ordered", timeout=10_000)
    # The strip above the scrub bar has the colour of what was wanted.
    shown.until("Boolean(document.querySelector('.bar-strip').dataset.wanted)")
    bare = {"looks": [], "target": None, "confidence": None, "odds": None, "order": 0, "loot": 0,
            "enemies": 0, "hidden": 0, "allies": 0, "plan": False}  # fmt: skip
    for (intent, mind, *more), sentence in WORDS:
        mind = None if mind is None else bare | mind
        assert page.evaluate(IN_WORDS, [intent, mind, *more]) == sentence


def test_a_match_is_hurried_to_its_end_and_seen_again(visit):
    shown = arena(visit)
    page = shown.page
    start(shown)
    page.select_option(".bar-speed", "16")
    expect(page.locator(".hud-banner h2")).to_contain_text("WINS", timeout=60_000)
    page.screenshot(path=OUT / "arena-end.png")
    page.click("#arena-replay")
    shown.until("window.__arena.state === 'playing'", 90)
    expect(page.locator(".bar-live")).to_be_hidden()
    # The scrubber leads to any moment, and back.
    shown.until("Number(document.querySelector('.bar-scrub').max) > 60")
    page.keyboard.press("Space")
    shown.until("window.__arena.state === 'paused'")
    page.locator(".bar-scrub").fill("60")
    shown.until("Math.abs(window.__arena.tick - 60) < 1.5")
    page.locator(".bar-scrub").fill("12")
    shown.until("Math.abs(window.__arena.tick - 12) < 1.5")
    page.locator("canvas.arena-canvas").focus()
    page.keyboard.press("End")
    expect(page.locator(".hud-banner h2")).to_contain_text("WINS")
    page.keyboard.press("Home")
    page.keyboard.press("]")
    expect(page.locator(".bar-speed")).to_have_value("2")


def test_keys_follow_players_switch_layers_and_explain_themselves(visit):
    shown = arena(visit)
    page = shown.page
    start(shown, "siege", "master", "veteran")
    canvas = page.locator("canvas.arena-canvas")
    canvas.focus()
    page.keyboard.press("Tab")
    expect(page.locator(".hud-board li.followed")).to_have_count(1)
    page.keyboard.press("1")
    expect(page.locator("[data-layer=sight]")).to_have_attribute("aria-pressed", "true")
    page.keyboard.press("2")
    expect(page.locator("[data-layer=health]")).to_have_attribute("aria-pressed", "false")
    page.locator(".hud-board li").nth(7).click()
    expect(page.locator(".hud-board li").nth(7)).to_have_class("followed")
    page.wait_for_timeout(1500)
    page.screenshot(path=OUT / "arena-siege.png")
    page.keyboard.press("?")
    expect(page.locator(".arena-help")).to_be_visible()
    page.screenshot(path=OUT / "arena-help.png")
    page.keyboard.press("Escape")
    expect(page.locator(".arena-help")).to_be_hidden()


def play_to_the_end(shown, seconds=90):
    """Runs to the middle, where the enemy is met, firing about; returns when it is over."""
    page = shown.page
    box = page.locator("canvas.arena-canvas").bounding_box()
    for number in range(int(seconds / 0.3)):
        now = report(shown)
        if now["state"] == "over":
            return
        x, y = now["hero"]["x"], now["hero"]["y"]
        ways = {"a": x > 1, "d": x < -1, "s": y > 1, "w": y < -1}
        keys = [key for key, away in ways.items() if away]
        for key in keys:
            page.keyboard.down(key)
        page.mouse.move(box["x"] + box["width"] * (0.3 + 0.1 * (number % 5)), box["y"] + 200)
        page.mouse.down()
        page.wait_for_timeout(250)
        page.mouse.up()
        for key in keys:
            page.keyboard.up(key)
        if number == 6:
            page.screenshot(path=OUT / "arena-play.png")
    raise AssertionError(f"not over after {seconds} s")


def test_a_duel_played_by_a_person_is_recorded_counted_and_becomes_a_quest(visit):
    shown = arena(visit)
    page = shown.page
    page.click(".tab:has-text('Play')")
    page.select_option("select[name=red]", "master")
    page.fill(".lobby-field input[type=text]", "ann")
    assert page.is_checked("#arena-consent")
    page.click("#arena-play")
    shown.until(f"{CHOSEN} && window.__arena.hero !== null", 90)
    play_to_the_end(shown)
    delays = sorted(report(shown)["inputToPhotonMs"])
    assert len(delays) > 20 and delays[int(0.95 * len(delays))] <= 120
    expect(page.locator("#arena-quest")).to_be_visible()
    expect(page.locator(".hud-banner")).to_contain_text("Counted as a match of a person")
    page.screenshot(path=OUT / "arena-played.png")
    page.click("#arena-quest")
    expect(page.locator(".hud-banner p [role=status]")).to_contain_text("On the board: Imitate")
    expect(page.locator(".lobby-people")).to_contain_text("1 played")

    assert load_replay(newest(folder("replays"))).check() > 30
    [shard] = (folder("lake") / "trajectories").glob("person-ann-duel-live-*")
    assert open_shards((shard,), world="duel").filtered(policies=("person-ann",)).num_steps > 30
    with realm() as opened, reading(opened.engine) as connection:
        made = quests.list_quests(connection)
        [quest] = [q for q in made if q.recipe.get("shards") == [shard.name]]
    assert quest.kind == "imitate" and quest.status == "queued"


def newest(place):
    return max(place.glob("live-*.lcr"), key=lambda path: path.stat().st_mtime)


def test_every_seat_can_have_another_player_and_one_of_them_is_you(visit):
    shown = arena(visit)
    page = shown.page
    page.select_option("select[name=world]", "siege")
    page.select_option("select[name=seating]", "each")
    assert page.locator("[data-seat]").count() == 10
    page.select_option("[data-seat='1']", "champion")
    page.select_option("[data-seat='2']", "rookie")
    checkpoint = page.locator("[data-seat='7'] option[value^=checkpoint]")
    assert checkpoint.count() == 0  # the only one was made for another ruleset
    expect(page.locator("#arena-consent")).to_have_count(0)
    page.select_option("[data-seat='7']", "person")
    expect(page.locator("#arena-consent")).to_be_visible()
    page.select_option("[data-seat='3']", "person")  # one person: the other seat is given back
    expect(page.locator("[data-seat='7']")).not_to_have_value("person")
    page.screenshot(path=OUT / "arena-seats.png", full_page=True)
    page.select_option("[data-seat='1']", "master")
    page.click("#arena-watch")
    shown.until("window.__arena.hero !== null", 90)
    names = page.evaluate("[...document.querySelectorAll('.hud-board li')].map((li) => li.title)")
    assert [name.split(",")[0] for name in names[1:4]] == ["master", "rookie", "person-guest"]


def test_fingers_move_aim_and_fire(visit):
    shown = arena(visit, viewport=PHONE, has_touch=True, is_mobile=True)
    page = shown.page
    page.tap(".tab:has-text('Play')")
    page.select_option("select[name=red]", "idle")
    page.tap("#arena-play")
    shown.until("window.__arena.tick > 3 && window.__arena.hero !== null", 90)
    # Whoever plays with fingers has the whole screen: no bar lies over the map or beside it.
    shown.until("document.querySelector('.pocket.hands-on') !== null")
    box = page.locator("canvas.arena-canvas").bounding_box()
    assert (box["x"], box["y"], box["width"], box["height"]) == (0, 0, *PHONE.values())
    assert page.evaluate("document.elementFromPoint(195, 830).className") == "arena-canvas"
    hand = page.context.new_cdp_session(page)
    left = {"x": box["x"] + 90, "y": box["y"] + box["height"] - 120, "id": 1}
    right = {"x": box["x"] + box["width"] - 60, "y": left["y"] - 60, "id": 2}

    def touch(kind, *points):
        hand.send("Input.dispatchTouchEvent", {"type": kind, "touchPoints": list(points)})

    began = report(shown)["hero"]
    out = (
        1 if began["y"] > 0 else -1
    )  # away from the centre: no wall stands outside the ring of spawns
    touch("touchStart", left)
    drawn = {**left, "y": left["y"] - out * 60}
    touch("touchMove", drawn)
    shown.until(f"(window.__arena.hero.y - {began['y']}) * {out} > 1")
    up = report(shown)["hero"]
    assert abs(up["x"] - began["x"]) < 0.5
    touch("touchStart", drawn, right)  # the second finger fires while the first still moves:
    drawn = {**left, "y": left["y"] + out * 60}  # back the way it came
    touch("touchMove", drawn, right)
    page.wait_for_timeout(500)
    page.screenshot(path=OUT / "arena-touch.png")
    left_over, magazine = map(int, page.locator(".hand-ammo").inner_text().split(" / "))
    touch("touchEnd")
    page.wait_for_timeout(400)
    rest = report(shown)["hero"]
    page.wait_for_timeout(500)
    still = report(shown)["hero"]
    assert abs(still["y"] - rest["y"]) < 0.3 and (up["y"] - rest["y"]) * out > 0.5
    assert left_over < magazine
    shown.goto("/")  # leaves the match, which ends when nobody watches it


def test_a_refusal_of_the_oracle_is_shown_in_its_words(visit):
    shown = arena(visit)
    page = shown.page
    shown.faults = _Silent()  # the browser reports the refused request by itself
    page.evaluate(
        "fetch('/arena/api/matches', {method: 'POST', body: '{\"seats\": [\"nobody\"]}',"
        " headers: {'Content-Type': 'application/json'}}).then(r => r.json())"
        ".then(said => { window.said = said.message; })"
    )
    shown.until("window.said !== undefined")
    assert "nobody" in page.evaluate("window.said")


class _Silent(list):
    def append(self, _fault):
        """Expected here."""


def test_the_arena_fits_a_phone(visit):
    shown = arena(visit, viewport=PHONE)
    start(shown, "crown", "master", "veteran")
    shown.page.wait_for_timeout(1500)
    shown.page.screenshot(path=OUT / "arena-phone.png")
    for width in (PHONE["width"], 360):
        shown.page.set_viewport_size({"width": width, "height": 780})
        assert shown.page.evaluate("document.documentElement.scrollWidth") <= width
        box = shown.page.locator("canvas.arena-canvas").bounding_box()
        assert box["y"] >= 0 and box["width"] <= width


def on_stage(shown):
    """Id of the exhibition that moves on the arena's page."""
    shown.until("window.__arena?.match?.startsWith('show-') && window.__arena.tick > 5", 60)
    return report(shown)["match"]


def shows(shown):
    """Exhibitions that the Oracle has open: how many look, and how far each has come."""
    said = shown.page.request.get(f"{shown.url}/arena/api/choices").json()
    return [(one["id"], one["watched"], one["seconds"]) for one in said["live"] if one["show"]]


def test_an_exhibition_is_on_while_somebody_looks(visit):
    first = visit()
    first.goto("/")
    small = "document.querySelector('tavern-exhibition')"
    first.until(f"Number({small}.dataset.tick) > 5", 60)  # nothing was clicked
    box = first.page.locator("tavern-exhibition")
    assert box.get_attribute("data-hero") == "kestrel"
    words = "The champion against master, the strongest bot"
    expect(box.locator(".show-words")).to_have_text(words)
    first.page.screenshot(path=OUT / "hero-exhibition.png")
    second = arena(visit)

    def same():  # for everybody, also when the next match has begun meanwhile
        address = first.page.locator(".show-link").get_attribute("href")
        return address == f"/arena/m/{on_stage(second)}"

    until(same, 30, "both see the same match")
    expect(second.page.locator(".hud-side.side-0 b")).to_have_text("kestrel 7")
    expect(second.page.locator(".hud-show")).to_contain_text("The champion against")
    expect(second.page.locator(".bar-speed")).to_be_disabled()  # all see the same
    second.page.close()
    box.get_by_role("button", name="hold still").click()
    until(lambda: not any(watched for _, watched, _ in shows(first)), 20, "nobody looks")
    stood = shows(first)
    first.page.wait_for_timeout(400)
    assert set(shows(first)) <= set(stood)  # and nothing is computed
    first.page.evaluate(f"{small}.dataset.tick = 0")
    box.get_by_role("button", name="go on").click()
    first.until(f"Number({small}.dataset.tick) > 5", 60)


def test_the_reload_case_a_match_keeps_its_address_live_and_afterwards(visit):
    shown = arena(visit)
    page = shown.page
    on_stage(shown)
    start(shown, blue="champion", red="veteran")
    page.keyboard.press("Space")  # it stands still for everybody
    match = report(shown)["match"]
    page.reload()
    shown.until(CHOSEN, 60)
    expect(page.locator(".bar-live")).to_be_visible()
    guest = visit()
    guest.page.goto(page.url)
    guest.until(CHOSEN, 60)
    assert report(guest)["match"] == match
    page.select_option(".bar-speed", "32")
    page.locator("canvas.arena-canvas").focus()
    page.keyboard.press("Space")
    page.keyboard.press("Space")
    expect(page.locator(".hud-banner h2")).to_contain_text("WINS", timeout=60_000)
    page.reload()  # now its replay
    shown.until(CHOSEN, 60)
    expect(page.locator(".bar-live")).to_be_hidden()
    page.go_back()
    on_stage(shown)
    page.go_forward()
    shown.until(CHOSEN, 60)
    # A recorded match is found, given away and deleted.
    page.get_by_role("button", name="Replays").click()
    row = page.locator(f"li:has([data-replay='{match}'])")
    page.fill(".lobby-search", "champion won by")
    expect(row.locator(".lobby-won")).to_contain_text("won by")
    page.fill(".lobby-search", "nobody of this name")
    expect(row).to_be_hidden()
    page.fill(".lobby-search", "")
    give_away(page, match)
    row.locator("summary").click()
    row.get_by_role("button", name="Delete …").click()
    assert (folder("replays") / f"{match}.lcr").exists()  # it is asked for twice
    row.get_by_role("button", name="Delete for good").click()
    expect(row).to_have_count(0)
    assert not list(folder("replays").glob(f"{match}.*"))


def give_away(page, match):
    page.click(".bar-share")
    row = page.locator(".bar-line ~ .bar-share .share-row")
    for kind, begins in (("gif", b"GIF89a"), ("png", b"\x89PNG"), ("lcr", b"{")):
        with page.expect_download() as saved:
            row.locator(f"[data-share={kind}]").click()
        assert saved.value.suggested_filename == f"{match}.{kind}"
        assert Path(saved.value.path()).read_bytes().startswith(begins)
    page.context.grant_permissions(["clipboard-read", "clipboard-write"])
    row.locator("[data-share=link]").click()
    expect(row.locator(".share-said")).to_have_text("The link is copied.")
    assert page.evaluate("navigator.clipboard.readText()").endswith(f"/arena/m/{match}")


TURNS = """async () => {
    const sheet = document.querySelector('link[href*="/static/"][href$="tavern.css"]').href;
    const { findTurns } = await import(sheet.replace('tavern.css', 'arena/turns.js'));
    const seats = [{ kind: 'net', team: 0 }, { kind: 'bot', team: 1 }];
    const header = { ticks_per_s: 30, teams: 2, seats };
    // Slow drift, one jump up at 10 s, a larger one down at 20 s.
    const ticks = Array.from({ length: 400 }, (_, i) => 2 * i);
    const jump = (i, at, by) => (ticks[i] > at ? by : 0);
    const stated = (i) => ({ value: 0.0002 * ticks[i] + jump(i, 300, 0.4) - jump(i, 600, 0.9) });
    return findTurns({ header, ticks, stated });
}"""


def test_the_held_mouse_case_and_where_it_turned(visit):
    shown = arena(visit)
    page = shown.page
    start(shown, blue="champion", red="veteran")
    box = page.locator("canvas.arena-canvas").bounding_box()
    x, y = box["x"] + box["width"] / 2, box["y"] + box["height"] / 2
    page.select_option(".bar-speed", "32")
    page.mouse.move(x, y)
    page.mouse.down()  # held, as by somebody who fires, where the card comes up
    card = page.locator(".hud-banner")
    expect(card).to_be_visible(timeout=60_000)
    covered = "document.querySelector('.hud-banner').matches(':hover')"
    until(lambda: page.locator("#arena-replay").count(), 10, "the match was kept")
    page.wait_for_timeout(700)
    assert page.evaluate("document.querySelector('.hud-banner').inert")  # the button is still down
    place = card.bounding_box()
    assert not (place["x"] <= x <= place["x"] + place["width"])  # beside the mouse, not below it
    assert place["x"] >= box["x"] and place["x"] + place["width"] <= box["x"] + box["width"]
    page.screenshot(path=OUT / "arena-held.png")
    page.mouse.up()
    assert not page.evaluate(covered) and location(page).startswith("/arena/m/live-")
    page.click("#arena-replay")  # in a moment it takes clicks
    shown.until("document.querySelector('.bar-live').hidden", 60)
    turns = page.evaluate(TURNS)
    assert [(round(t["tick"], -1), t["swing"] > 0) for t in turns] == [(270, True), (570, False)]
    shown.until("!document.querySelector('.bar-turns').hidden", 30)
    assert page.locator(".turn").count() <= 5


def location(page):
    return page.evaluate("location.pathname")


def test_the_silent_name_case_and_a_hero_of_another_ruleset_are_said_before_a_match(visit):
    shown = visit()
    page = shown.page
    with realm() as opened, reading(opened.engine) as connection:
        hero = connection.execute("SELECT id FROM ledger WHERE step = 9").scalar()
    shown.goto(f"/arena?blue={hero}&red=veteran&ruleset=siege")
    expect(page.locator("select[name=blue]")).to_have_value(hero)
    expect(page.locator("select[name=red]")).to_have_value("veteran")
    expect(page.locator("select[name=world]")).to_have_value("siege")
    warning = "kestrel 9 trained in duel and was never in siege"
    expect(page.locator(".lobby-warning")).to_contain_text(warning)
    page.select_option("select[name=blue]", "master")
    expect(page.locator(".lobby-warning")).to_be_hidden()
    page.get_by_role("button", name="Play", exact=True).click()
    page.fill(".lobby-field input[type=text]", "Ann Müller")
    page.click("#arena-play")
    expect(page.locator(".lobby .problem")).to_contain_text('got "Ann Müller"')
    assert location(page) == "/arena"
    shown.goto("/arena?red=nobody-at-all")
    expect(page.locator(".lobby .problem")).to_contain_text("nobody-at-all")


AGAIN = """async ([name, drawn]) => {
    const page = document.querySelector('tavern-anywhere');
    const script = document.querySelector('script[src$="anywhere/element.js"]').src;
    const { Again } = await import(script.replace('element.js', 'again.js'));
    const match = [...page.recorded].find(([key]) => key.startsWith(name))[1];
    const again = new Again(page.heroes.get(name), match, drawn);
    const logits = [];
    while (!again.over) { await again.step(); logits.push(Array.from(again.logits)); }
    return { logits, actions: Array.from(again.actions), modes: Array.from(again.modes) };
}"""


@pytest.fixture(scope="module")
def runtime():
    """onnxruntime-web, as set-up fetches it; where npm is missing the page cannot be tried."""
    if not list(RUNTIME.glob("[0-9]*")):
        subprocess.run([sys.executable, "scripts/browser_runtime.py"], cwd=ROOT, check=True)
    if not list(RUNTIME.glob("[0-9]*")) and not os.environ.get("CI"):
        pytest.skip("onnxruntime-web could not be fetched: no hero was run in the browser")


def decided(shown):
    """Presses the button; what the page tells when the match has been decided again."""
    shown.page.click("[data-is=go]")
    shown.until("['done', 'failed'].includes(window.__anywhere.state)", 60)
    told = json.loads(shown.page.evaluate("JSON.stringify(window.__anywhere)"))
    assert told["state"] == "done", shown.page.inner_text("[data-is=said]")
    return told


def decided_by_python(name, drawn):
    """The same by `levelcap.export.runtime`: logits, actions, intents."""
    hero = load_bundle(folder("exports") / name)
    replay = load_replay(folder("replays") / f"{name}.lcr")
    _, seen = arrays_of(record_seat(replay, 0, list(hero.bundle.views)))
    found, state = [], None
    for at in range(len(seen["at"])):
        views = {view: seen[view][at : at + 1] for view in hero.bundle.views}
        key = seen["key"][at : at + 1] if drawn else None
        found.append(hero.act(views, state, mask=seen["mask"][at : at + 1], key=key))
        state = found[-1].state
    return found


def compare_logits(mine, theirs):
    """Alike to 1e-4; those of an aim, logarithms with a floor of .001, by their probabilities.

    There the last bit of a cumulative distribution is 6e-5 of its logarithm, and builds of
    onnxruntime differ in a few of these bits.
    """
    aim = slice(22, 44)
    assert np.abs(np.exp(mine[:, aim]) - np.exp(theirs[:, aim])).max() < 1e-6
    assert np.abs(mine - theirs)[:, aim].max() < 5e-4
    mine[:, aim] = theirs[:, aim]
    assert np.abs(mine - theirs).max() < 1e-4


@pytest.mark.parametrize("name", ["flat", "hierarchy"])
def test_an_exported_hero_decides_a_match_again_in_the_browser(visit, runtime, name):
    shown = visit()
    page = shown.goto("/anywhere")
    page.select_option("[data-is=bundle]", name)
    expect(page.locator("[data-is=match] option").first).to_contain_text("(its own)")
    page.select_option("[data-is=match]", name)  # other tests have played, too
    told = decided(shown)
    assert told["own"] and told["over"] and told["counted"] > 100
    assert told["agreement"] >= 0.999 and told["rate"] > 50
    expect(page.locator("[data-is=said]")).to_contain_text("100.0 % as the hero itself decided")
    page.locator("[data-is=scrub]").fill("20")
    expect(page.locator("[data-is=when]")).to_contain_text("Decision 21 of")
    recorded = page.locator("[data-is=recorded-words]").inner_text()
    assert page.locator("[data-is=decided-words]").inner_text().startswith(recorded)
    page.screenshot(path=OUT / f"anywhere-{name}.png", full_page=True)
    assert barriers(page) == []
    # The server is no longer needed, and decisions are those of the runtime without a browser.
    page.context.set_offline(True)
    page.select_option("[data-is=chance]", "likeliest")
    again = decided(shown)
    assert again["over"] and again["counted"] == told["counted"]
    for drawn in (False, True):
        mine, theirs = page.evaluate(AGAIN, [name, drawn]), decided_by_python(name, drawn)
        compare_logits(np.array(mine["logits"]), np.array([out.logits[0] for out in theirs]))
        assert mine["actions"] == np.concatenate([out.actions[0] for out in theirs]).tolist()
        modes = [-1 if out.modes is None else int(out.modes[0]) for out in theirs]
        assert mine["modes"] == modes
    # The page's own socket says that the server is away; nothing else does.
    assert [f for f in shown.faults if "ERR_INTERNET_DISCONNECTED" not in f] == []
    shown.faults.clear()


def test_a_bundle_that_was_changed_is_not_run_in_the_browser(visit, runtime):
    shown = visit()
    page = shown.goto("/anywhere?bundle=flat&replay=flat&seat=0")
    graph = folder("exports") / "flat" / "policy.onnx"
    data = graph.read_bytes()
    graph.write_bytes(data[:-1] + bytes([data[-1] ^ 1]))
    try:
        page.click("[data-is=go]")
        said = "policy.onnx is not what the manifest says; export the checkpoint again"
        expect(page.locator("[data-is=said]")).to_contain_text(said)
    finally:
        graph.write_bytes(data)
    assert decided(shown)["agreement"] >= 0.999
    # Somebody else's seat: how alike the two decide is said, too.
    page.select_option("[data-is=seat]", "1")
    assert decided(shown)["own"] is False
    expect(page.locator("[data-is=said]")).to_contain_text("as rookie decided")
    page.set_viewport_size(PHONE)
    assert page.evaluate("document.documentElement.scrollWidth") <= PHONE["width"]
