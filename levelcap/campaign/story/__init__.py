"""What happened, and where everything stands: the campaign's tables and all SQL on them.

campaigns.py  attempts to take a hero as far as it can go
quests.py     units of work, each carried out by one job
runs.py       run folders: what they are for, cost and gained
events.py     the battle log
matches.py    live matches, with both content hashes
played.py     matches of persons that were kept; demos.py  what recorded shards hold
tests.py      sequential tests that have ended
skills.py     exams of text heroes
strength.py   Elo out of stored evaluations
curves.py     metrics of runs, rolled up
rows.py       rows of the tables as dataclasses
values.py     named values of the realm; schema.py  the tables and their migrations
"""
