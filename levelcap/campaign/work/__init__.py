"""Kinds of work: one file each, from what a person writes to what is in the database afterwards.

base.py       Work (the payload of a job and what to do with it), Recipe (what a person writes)
table.py      the only list of kinds of work: a new one is a file here and a line there
desk.py       entering a quest: recipe -> job, run and quest in one transaction
bench.py      the torch side: a worker's handlers, made of the table
recipes.py    recipes out of YAML and JSON
fields.py     types of their fields; lessons.py  sets of lessons
training.py   what kinds of work with a run folder share; snapshots.py  a snapshot's row

Everything here loads without torch; `perform` imports what it needs when a worker calls it.
"""
