"""Doors to other people's code: our game for them, their games for us.

farama.py    ours for Gymnasium and PettingZoo      outside.py   theirs as a `World`
spaces.py    their spaces as views and heads        batch.py     many of their matches at once
moments.py   running mean and variance
"""
