"""The net that reads: Qwen3 in plain torch, its characters, its rows, its memory.

qwen3.py   the net               shape.py        its sizes (no torch)
tokens.py  characters <-> ids    rows.py         texts of a batch side by side
memory.py  what training takes   pretrained.py   published folders
"""
