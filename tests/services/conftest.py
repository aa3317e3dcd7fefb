"""The Tavern's pages without a browser: a realm with one campaign and one quest of odd names."""

import pytest
from starlette.testclient import TestClient

from levelcap.campaign.story import campaigns
from levelcap.campaign.work.desk import enter
from levelcap.campaign.work.recipes import read_recipe
from levelcap.kit.db import transaction
from levelcap.services.clients.keeper import KeeperClient
from levelcap.services.door.tokens import load_tokens
from levelcap.services.tavern.app import build

HOSTILE = "<img src=x onerror=alert(1)>'\"&"
PORT = 8888


@pytest.fixture
def client(realm):
    tokens = load_tokens()
    with transaction(realm.engine) as connection:
        campaign = campaigns.create(connection, "kestrel", HOSTILE)
    recipe = read_recipe({"quest": "record", "games": 4, "title": HOSTILE})
    enter(realm.store, campaign.id, recipe, source="person")
    app = build(realm, tokens, KeeperClient("http://127.0.0.1:9", tokens.admin), PORT)
    headers = {"authorization": f"Bearer {tokens.admin}"}
    with TestClient(app, base_url=f"http://localhost:{PORT}", headers=headers) as found:
        yield found
