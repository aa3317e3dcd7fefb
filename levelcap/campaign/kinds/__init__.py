"""Kinds of hero: what an arena hero and a text hero do differently, behind one protocol.

heroes.py   hero files: which there are, of which kind
studies.py  the text hero's side of the wheel
"""
