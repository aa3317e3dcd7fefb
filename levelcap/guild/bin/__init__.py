"""BIN: binary arithmetic with circled digits.

skill.py        levels and problems     operations.py, work.py   what is computed, step by step
tasks.py        which problem           wording.py               how it is written
primitives.py   the small abilities it is made of
"""
