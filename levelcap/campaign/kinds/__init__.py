"""Kinds of hero: what an arena hero and a text hero do differently, behind one protocol.

kind.py     the base class: what a kind of hero answers for
arena.py    heroes that play worlds
text.py     heroes that answer skills; studies.py  their side of the wheel
heroes.py   the table of kinds, and hero files
"""
