"""SY: syllacrostics.

skill.py   levels and problems    search.py   unique solutions    wording.py   how it is written
"""
