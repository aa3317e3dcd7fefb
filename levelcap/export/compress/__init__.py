"""`levelcap compress`: a flat hero made smaller and quicker, with its strength proven.

class_room.py  matches in which a teacher says what it would have done in every seat
distil.py      a smaller net learns from that: a task of the engine's one loop
reshape.py     hidden units cut, added or stacked, the most important ones kept
int8.py        a graph whose matrices are whole numbers, calibrated on real observations
figures.py     what a bundle weighs, takes and is worth against the original
compressed.py  the rows of all steps so far: compress.json
search.py      shapes around a result, and the front of Elo over latency
path.py        all of it in order; every step is published before the next begins
"""
