"""Drills: a bot, a kind of work, a skill, a page, a net family are one new file and one line.

Each diff is applied to a copy of the package, and what it adds is used there for real.
"""

import json
import re
import subprocess
import sys

import httpx
import pytest

from levelcap.campaign.story import campaigns, quests
from levelcap.kit.db import reading, transaction
from levelcap.services.tavern import entry
from tests.drills.tree import HERE, ROOT, Tree, diff_of, read_diff
from tests.services.realms import free_ports, until

DRILLS = sorted(path.stem for path in HERE.glob("*.diff"))


def test_development_shows_the_diffs_that_are_applied_here():
    text = (ROOT / "DEVELOPMENT.md").read_text(encoding="utf-8")
    shown = re.findall(r"^```diff\n(.*?)^```$", text, re.M | re.S)
    assert sorted(shown) == sorted(diff_of(name) for name in DRILLS)


def test_the_net_family_of_the_diff_is_the_one_that_is_trained():
    [content] = read_diff(diff_of("net_family")).new.values()
    assert content == (HERE / "gru_family.py").read_text(encoding="utf-8")


def test_a_diff_of_two_lines_is_refused(tmp_path, monkeypatch):
    wider = diff_of("work") + "@@ -1 +1,2 @@\n+a second line\n"
    monkeypatch.setattr("tests.drills.tree.diff_of", lambda name: wider)
    with pytest.raises(AssertionError, match="more than one changed line"):
        Tree(tmp_path / "tree", "work")


def test_a_bot_plays(tmp_path):
    tree = Tree(tmp_path / "tree", "bot")
    output = tree.levelcap("play", "scout", "scout~7", "--games", "2", "--json")
    assert json.loads(output.splitlines()[-1])["games"] == 2
    assert "rookie < scout < veteran" in tree.levelcap("worlds")


def test_a_kind_of_work_is_entered_and_carried_out(tmp_path, realm):
    tree = Tree(tmp_path / "tree", "work")
    recipe = tmp_path / "greet.yaml"
    recipe.write_text("{quest: greet, who: Ann}")
    with transaction(realm.engine) as connection:
        campaigns.create(connection, "kestrel", "drill")
    assert "Greet Ann (queued)" in tree.levelcap("quest", "add", str(recipe))
    tree.levelcap("worker", "--jobs", "1")
    with reading(realm.engine) as connection:
        [found] = quests.list_quests(connection)
    assert (found.kind, found.status, found.result) == ("greet", "done", {"said": "hello Ann"})


JUDGED = """
from levelcap.campaign.story.skills import tracks
from levelcap.guild.engine import get_engine

guild = get_engine()
asked = guild.generate_eval_batch("mir", level=2, count=8, seed=3)
answers = [problem.answer for problem in asked]
print(list(tracks()), guild.score_eval(asked, answers).accuracy,
      guild.score_eval(asked, [*answers[:4], *"wrong"[:4]]).accuracy,
      all(guild.get("mir").examined(problem.prompt) for problem in asked))
"""


def test_a_skill_is_listed_drawn_and_judged(tmp_path):
    tree = Tree(tmp_path / "tree", "skill")
    drawn = tree.levelcap("guild", "problem", "mir", "--level", "3").split()
    assert drawn[0] == "Mirror:" and drawn[1] == drawn[2][::-1] and len(drawn[1]) == 5
    assert tree.run("-c", JUDGED) == "['bin', 'sy', 'mir', 'bin_add'] 1.0 0.5 True\n"


def test_a_page_is_served_and_in_the_navigation(tmp_path):
    tree, [port] = Tree(tmp_path / "tree", "page"), free_ports(1)
    process = subprocess.Popen(
        [sys.executable, "-m", "levelcap.services.tavern", "--port", str(port)],
        cwd=tree.place,
        env=tree.environment(),
        stderr=subprocess.DEVNULL,
    )
    try:
        with httpx.Client(base_url=f"http://127.0.0.1:{port}") as client:
            until(lambda: _answers(client), 60, "the tavern answers")
            client.get("/enter", params={"code": entry.make_code()})
            page = client.get("/cellar")
    finally:
        process.terminate()
        assert process.wait(60) == 0
    assert page.status_code == 200
    assert "store their things here" in page.text and "What is kept below" in page.text
    assert re.search(r"href.{1,12}/cellar", page.text)


def _answers(client):
    try:
        return client.get("/health", timeout=2).status_code == 200
    except httpx.HTTPError:
        return False


def test_a_net_family_is_trained_by_the_command(tmp_path):
    tree = Tree(tmp_path / "tree", "net_family")
    shard, run = str(tmp_path / "shard"), tmp_path / "run"
    tree.levelcap("record", "rookie", "idle", "--games", "40", "--out", shard)
    tree.levelcap(
        *("imitate", "--shards", shard, "--family", "gru", "--size", "dummy", "--updates", "3"),
        *("--games", "0", "--out", str(run), "--set", "batch_size=512", "--set", "minibatches=2"),
    )
    [meta] = run.glob("snapshots/*/meta.json")
    assert json.loads(meta.read_text())["architecture"] == "gru"
