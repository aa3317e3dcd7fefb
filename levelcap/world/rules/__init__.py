"""The rules as kernels: one tick of a match, what each player sees of it, and a patch's numbers.

state.py       a match as one record        chance.py     counter-based random numbers
rulebook.py, patches.py, patch_checks.py    numbers from TOML
tick.py        one tick, in order
terrain.py, sight.py, combat.py, lane.py, contest.py   parts of a tick
columns.py     names of view columns        observe.py, objects.py   the views
composite.py   views made of these          team.py       what a critic sees
advance.py     one decision of many matches, on threads
"""
