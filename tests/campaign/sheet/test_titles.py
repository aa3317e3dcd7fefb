"""Titles and achievements follow from what the realm holds."""

from levelcap.campaign.sheet.titles import (
    COUNTS,
    count_deeds,
    honours,
    load_titles,
    next_title,
    reached,
)
from levelcap.campaign.story import campaigns
from levelcap.kit.db import reading, transaction


def test_titles_by_steps_begin_where_the_formats_page_says():
    steps = load_titles().steps
    expected = {
        0: "Untrained",
        999: "Untrained",
        1000: "Apprentice",
        9999: "Apprentice",
        10_000: "Journeyman",
        50_000: "Adept",
        100_000: "Expert",
        200_000: "Master",
        10**9: "Master",
    }
    assert {at: reached(steps, at) for at in expected} == expected
    assert next_title(steps, 1500).title == "Journeyman" and next_title(steps, 10**9) is None


def test_titles_by_elo_need_a_judged_checkpoint():
    elo = load_titles().elo
    assert reached(elo, None) is None and reached(elo, 0) is None
    assert reached(elo, 1340) == "Veteran Hunter"
    assert [row.at for row in elo] == sorted({row.at for row in elo})


def test_every_achievement_counts_something_that_is_counted():
    rows = load_titles().achievements
    assert {row.count for row in rows} <= set(COUNTS)
    assert len({row.id for row in rows}) == len(rows)


def test_a_new_game_plus_is_an_achievement(realm):
    with transaction(realm.engine) as connection:
        campaigns.create(connection, "kestrel", "first")
    with reading(realm.engine) as connection:
        before = honours(connection, "kestrel", 0, None)
    assert before.title == "Untrained" and before.elo_title is None
    assert not any(deed.done for deed in before.deeds)
    with transaction(realm.engine) as connection:
        campaigns.create(connection, "kestrel", "second", starting_checkpoint="checkpoint-a")
    with reading(realm.engine) as connection:
        assert count_deeds(connection, "kestrel")["again"] == 1
        after = honours(connection, "kestrel", 12_000, 1800)
    assert [deed.achievement.id for deed in after.deeds if deed.done] == ["again"]
    assert (after.title, after.elo_title) == ("Journeyman", "Master Slayer")
