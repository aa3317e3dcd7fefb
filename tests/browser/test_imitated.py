"""A person plays in the browser, the matches become quests, the running Arena imitates them."""

import pytest
from playwright.sync_api import expect

from levelcap.campaign.realm import realm
from levelcap.campaign.story import quests
from levelcap.kit.db import reading
from levelcap.kit.paths import folder
from levelcap.lake.read import open_shards
from levelcap.learn.imitation.config import ImitationConfig
from levelcap.learn.imitation.task import accuracy
from levelcap.play.load import load_checkpoint
from levelcap.vault.ask import ask_vault_first
from levelcap.vault.ledger import get_ledger
from tests.browser.inn import serving
from tests.browser.prepare import HERO
from tests.browser.test_arena import arena, report
from tests.learn.imitation.test_person import habit
from tests.services.realms import until

pytestmark = [pytest.mark.slow, pytest.mark.timeout(900)]
HEADS = ("move_x", "move_y", "fire")


@pytest.fixture(scope="module")
def inn(tmp_path_factory):
    home = tmp_path_factory.mktemp("imitated") / "home"
    own = home / "config" / "heroes"
    own.mkdir(parents=True)
    # What the wheel does of itself is short, so that the person's quests are soon begun.
    tiny = {"late": 100, "size": "dummy", "minutes": 0.02, "games": 20}
    (own / "kestrel.yaml").write_text(HERO.format(**tiny))
    with serving(home, "prepare_arena") as made:
        made.start("arena")
        yield made


def walk_up_firing_right(shown, seconds=75):
    """Plays to the end with two habits: the hero walks up, and fires to the right."""
    page = shown.page
    shown.until("window.__arena.hero !== null && window.__arena.tick < 90", 30)
    box = page.locator("canvas.arena-canvas").bounding_box()
    page.mouse.move(box["x"] + box["width"] - 30, box["y"] + box["height"] / 2)
    page.keyboard.down("w")
    page.mouse.down()
    until(lambda: report(shown)["state"] == "over", seconds, "the match is over")
    page.mouse.up()
    page.keyboard.up("w")


def net_of(quest_id):
    """The policy that a quest has made, once it is done."""

    def made():
        with realm() as opened, reading(opened.engine) as connection:
            quest = quests.get(connection, quest_id)
        assert quest.status in ("queued", "running", "done"), quest
        return quest if quest.status == "done" else None

    quest = until(made, 240, "the quest is done")
    with realm() as opened:
        newest = get_ledger(opened.engine).list(run=quest.run, limit=1)[0]
        return load_checkpoint(ask_vault_first(newest.id, engine=opened.engine))


def champion():
    with realm() as opened:
        return load_checkpoint(ask_vault_first("champion", engine=opened.engine))


def agreement(policy, shards):
    """Share of the recorded decisions that the policy would have made, over three heads."""
    found = accuracy(policy.net, policy.meta, shards, ImitationConfig(batch_size=256), batches=4)
    return sum(found[f"accuracy_{head}"] for head in HEADS) / len(HEADS)


def newest_quest():
    with realm() as opened, reading(opened.engine) as connection:
        return next(q for q in quests.list_quests(connection) if q.source != "scheduler").id


def put_on_the_board(page, button):
    page.click(button)
    expect(
        page.locator(".hud-banner [role=status]").filter(has_text="On the board")
    ).to_be_visible()
    return newest_quest()


def test_the_hero_takes_over_what_a_person_did_in_the_browser(visit, capsys):
    shown = arena(visit)
    page = shown.page
    page.click(".tab:has-text('Play')")
    page.select_option("select[name=red]", "rookie")
    page.fill(".lobby-field input[type=text]", "ann")
    page.click("#arena-play")
    walk_up_firing_right(shown)
    untrained = champion()
    first = put_on_the_board(page, "#arena-quest")
    for _ in range(2):
        page.click(".hud-banner .btn.primary")
        walk_up_firing_right(shown)
    every = put_on_the_board(page, "#arena-quest-all")

    places = sorted((folder("lake") / "trajectories").glob("person-ann-duel-live-*"))
    assert len(places) == 3
    recorded = open_shards((places[0],), world="duel").filtered(policies=("person-ann",))
    imitator = net_of(first)
    agreed = agreement(untrained, recorded), agreement(imitator, recorded)
    shown_habit = habit(untrained), habit(net_of(every))
    with capsys.disabled():
        print(
            f"\nagreement with the recorded match: {agreed[0]:.1%} -> {agreed[1]:.1%}; "
            f"habit of walking up: {shown_habit[0]:.1%} -> {shown_habit[1]:.1%}"
        )
    assert agreed[0] < 0.6 and agreed[1] > 0.85
    assert shown_habit[0] < 0.1 and shown_habit[1] > 0.6
