"""Reinforcement learning of the flat policy: pi_sup -> pi_rl.

V-trace actor-critic (Espeholt et al. 2018) with UPGO and a KL to the imitated policy (Vinyals et
al. 2019), actors and learner in one process with a constant lag of one batch.

config.py     the knobs            rooms.py      the worlds and the learner's seats
opponents.py  who plays the others actor.py      plays, and fills batches
update.py     one update           task.py       all of it as a task of the engine's loop
run.py        `reinforce`
"""
