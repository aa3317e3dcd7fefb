"""School: small problems of single abilities.

drill.py   what a drill is    numbers.py, words.py, reason.py   the drills
"""
