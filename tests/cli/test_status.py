"""`levelcap status` and `levelcap tui`: what failed comes first, and a terminal is enough."""

import os
import pty
import select
import subprocess
import sys
import time

from levelcap.campaign.story import campaigns, quests
from levelcap.campaign.work.desk import campaign_for, enter
from levelcap.campaign.work.recipes import read_recipe
from levelcap.jobs.job import Status
from tests.cli.calling import levelcap
from tests.cli.kept import crown, keep_arena


def failed_quest(realm):
    """A quest of a person that ended in an error."""
    realm.write(campaigns.create, "kestrel", "First")
    campaign = campaign_for(realm.store, "arena")
    recipe = read_recipe({"quest": "record", "games": 2})
    quest = enter(realm.store, campaign, recipe, source="person")
    realm.write(quests.end, quest.job, "failed", {"error": "the disk is on fire"})
    return quest


def test_status_shows_failures_first(realm, capsys):
    quest = failed_quest(realm)
    assert realm.store.get(quest.job).status is Status.QUEUED
    code, out, _ = levelcap(capsys, "status")
    first = out.splitlines()[0]
    assert code == 0 and first.startswith("FAILED") and "the disk is on fire" in first
    assert f"levelcap quest retry {quest.id}" in first


def test_one_picture_of_the_dashboard_has_everything(realm, capsys, monkeypatch):
    monkeypatch.setenv("COLUMNS", "120")
    row, _ = keep_arena(realm, 10, elo=1100.0)
    crown(realm, row)
    failed_quest(realm)
    code, out, err = levelcap(capsys, "tui", "--once")
    assert code == 0, err
    for words in ("needs you", "the disk is on fire", "Kestrel, duel", row.id, "1 checkpoints"):
        assert words in out
    assert out.index("needs you") < out.index("Kestrel")
    assert levelcap(capsys, "tui", "--once", "--every-s", "0")[0] != 0


def test_the_dashboard_ends_when_q_is_pressed():
    ours, theirs = pty.openpty()
    command = [sys.executable, "-m", "levelcap", "tui"]
    with subprocess.Popen(command, stdin=theirs, stdout=theirs, stderr=theirs) as running:
        os.close(theirs)
        seen, until = b"", time.monotonic() + 60
        while b"newest first" not in seen and time.monotonic() < until:
            if select.select([ours], [], [], 1)[0]:
                seen += os.read(ours, 65536)
        assert b"newest first" in seen, seen[-500:]
        os.write(ours, b"q")
        while running.poll() is None and time.monotonic() < until:
            if select.select([ours], [], [], 0.1)[0]:
                try:
                    os.read(ours, 65536)
                except OSError:  # the other side is closed
                    break
        assert running.wait(20) == 0
    os.close(ours)
