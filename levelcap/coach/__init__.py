"""The coach: what a player was doing in a short stretch of recorded play, and why.

label.py    what an answer is: health, tactic, description, intent, target, confidence
windows.py  two seconds of play a label, one a second
rules.py    the coach that reads the recorded state itself; needs no model
agree.py    how far two coaches say the same
"""
