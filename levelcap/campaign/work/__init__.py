"""Kinds of work: from a recipe to a job, its handler with torch, and its effect without.

table.py     job types: payloads and limits      recipes.py    what a person writes
handlers.py  job type -> function (torch)        effects.py    job type -> what is written then
teaching.py  text heroes (torch)                 snapshots.py  from a snapshot to its row
demos.py     recorded shards                     lessons.py    sets of lessons
"""
