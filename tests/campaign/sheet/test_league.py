"""A season's sheet: the family, the table, the reasons."""

from levelcap.campaign.sheet.league import list_seasons, read_season
from levelcap.campaign.story import runs
from levelcap.kit.db import transaction
from levelcap.learn.league.config import LeagueConfig
from levelcap.learn.league.players import Player
from levelcap.learn.league.state import League


def season(place):
    league = League(place, "duel", LeagueConfig())
    place.mkdir(parents=True)
    for player in (
        Player("main-0", "main", "frozen/a", "a"),
        Player("main", "main", "frozen/b", "b", trainable=True, parent_id="main-0", run="main-0"),
        Player("main-1", "main", "frozen/b", "b", parent_id="main", born=3),
        Player(
            "main_exploiter", "main_exploiter", "frozen/c", "c", trainable=True, parent_id="main-1"
        ),
        Player("master", "bot", "master", ""),
    ):
        league.put(player)
    league.payoff.add("main", "master", (30, 0, 10), fading=True)
    league.payoff.add("main-1", "master", (2, 1, 1), fading=False)
    why = [{"rule": "the past, hard", "share": 1.0, "win_chance": 0.5}]
    row = {
        "turn": 0,
        "player": "main",
        "steps": 100,
        "seconds": 30.0,
        "frozen": "main-1",
        "opponents": [{"opponent": "master", "share": 1.0, "why": why}],
        "results": {"master": [30, 0, 10]},
    }
    league.turn = 1
    league.commit(row, [])


def test_family_table_and_reasons(realm):
    season(runs.run_folder("league-1"))
    with transaction(realm.engine) as connection:
        new = runs.NewRun("league-1", "league_round", 0, "levelcap league", world="duel")
        runs.begin(connection, new, None, 0)
        runs.begin(connection, runs.NewRun("other", "reinforce", 0, "", world="duel"), None, 0)
    assert [run.id for run in list_seasons(realm.engine)] == ["league-1"]
    sheet = read_season("league-1")
    family = [(member.name, member.depth) for member in sheet.members]
    assert family == [
        ("main-0", 0),
        ("main", 1),
        ("main-1", 2),
        ("main_exploiter", 3),
        ("master", 0),
    ]
    assert sheet.table == ("main", "main-1", "master")  # who has met nobody is left out
    chance, games = sheet.rates["master", "main"]
    assert games == 40 and chance == (1 + 10) / 42
    [turn] = sheet.turns
    [meeting] = turn.meetings
    assert (meeting.opponent, meeting.rules, meeting.won) == ("master", "the past, hard", 30)
    assert sheet.cycle_share is None and sheet.members[0].elo is None
