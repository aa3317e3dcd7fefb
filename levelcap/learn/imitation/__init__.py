"""Imitation: recorded play -> pi_sup, by behavioural cloning of the flat policy.

The value head learns the discounted outcome of the same matches beside it, so that reinforcement
starts with a critic.

config.py  the knobs     update.py  one update
task.py    the data and the update as a task of the engine's loop; accuracy per head
run.py     `imitate`
"""
