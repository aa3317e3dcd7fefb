"""The desk: whose campaign a quest goes to, and runs that go on only from their own start."""

import pytest

from levelcap.campaign.kinds.heroes import find_hero
from levelcap.campaign.story import campaigns, runs
from levelcap.campaign.work.desk import campaign_for, enter
from levelcap.campaign.work.recipes import read_recipe
from levelcap.kit.db import reading, transaction
from levelcap.kit.errors import BadValue, Conflict
from tests.vault.made import entered


def hero_of(realm, campaign):
    with reading(realm.engine) as connection:
        return campaigns.get(connection, campaign).hero_id


def test_quests_go_to_a_hero_of_their_kind_whoever_trains(realm):
    with pytest.raises(Conflict, match="no campaign is active"):
        campaign_for(realm.store, "arena")
    assert hero_of(realm, campaign_for(realm.store, "text")) == "dio-tiny"
    with transaction(realm.engine) as connection:
        campaigns.choose(connection, find_hero("dio-tiny"))
    assert hero_of(realm, campaign_for(realm.store, "arena")) == "kestrel"
    assert hero_of(realm, campaign_for(realm.store, None)) == "dio-tiny"


def test_a_quest_of_another_kind_of_hero_is_refused(realm):
    text = campaign_for(realm.store, "text")
    with pytest.raises(BadValue, match="for arena heroes, this campaign is not"):
        enter(realm.store, text, read_recipe({"quest": "record"}), source="person")


def test_a_run_goes_on_from_its_own_start_only(realm):
    first, second = entered(realm, 5).id, entered(realm, 6).id
    with transaction(realm.engine) as connection:
        campaign = campaigns.create(connection, "kestrel", "one").id
    begun = enter(
        realm.store, campaign, read_recipe({"quest": "reinforce", "from": first}), source="person"
    )
    with reading(realm.engine) as connection:
        assert runs.get(connection, begun.run).start == first
    on = {"quest": "reinforce", "run": begun.run, "minutes": 3}
    with pytest.raises(BadValue, match=f"this run started from {first}"):
        enter(realm.store, campaign, read_recipe(on | {"from": second}), source="person")
    later = enter(realm.store, campaign, read_recipe(on), source="person")
    assert realm.store.get(later.job).payload["start"] == first
