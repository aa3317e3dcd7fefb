"""Playing into the lake.

plan.py    what a recording will be    games.py   whole games as a shard
diary.py   a person's seat of a live match
"""
