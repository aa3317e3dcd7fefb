"""Imitation: recorded play -> pi_sup, by behavioural cloning of any net family.

The value head learns the discounted outcome of the same matches beside it, so that reinforcement
starts with a critic.

config.py    every setting            cloner.py  what an update is, whatever the net
rows.py      single decisions, flat   segments.py  stretches of play, nets with a memory
task.py      the data and the update as a task of the engine's loop; accuracy per head
run.py       `imitate`
"""
