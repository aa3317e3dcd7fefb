"""The Arena's extra hands: they judge, they do not train, and they go when it goes."""

import os
import subprocess
import sys

import psutil

from levelcap.campaign.realm import open_realm
from levelcap.campaign.story import campaigns
from levelcap.campaign.wheel import inbox
from levelcap.jobs.job import Status
from levelcap.kit.db import transaction
from tests.services.realms import ROOT, until


def test_a_hand_takes_what_is_no_training_and_ends_with_its_parent(home):
    realm = open_realm()
    with transaction(realm.engine) as connection:
        campaigns.create(connection, "kestrel", "test")
    check = realm.store.submit("health_check", {}).job_id
    quest = inbox.enter_text(realm.store, b"quest: record\ngames: 2\n", "x.yaml")
    code = (
        "import time\nfrom levelcap.services.arena.daemon import start_hands\n"
        "print(start_hands(1)[0].pid, flush=True)\ntime.sleep(600)"
    )
    arena = subprocess.Popen(
        [sys.executable, "-c", code], cwd=ROOT, env={**os.environ}, stdout=subprocess.PIPE
    )
    hand = psutil.Process(int(arena.stdout.readline()))
    try:
        until(lambda: realm.store.get(check).status is Status.DONE, 60, "the hand works")
        assert realm.store.get(quest.job).status is Status.QUEUED
        [row] = realm.store.workers()
        assert row["name"] == "hand-1" and "trainer" not in row["roles"]
    finally:
        arena.kill()
        arena.wait()
        arena.stdout.close()
    until(lambda: not hand.is_running(), 60, "the hand is gone")
    realm.close()
