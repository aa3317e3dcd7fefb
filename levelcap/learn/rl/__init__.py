"""Reinforcement learning of any net family: pi_sup -> pi_rl.

V-trace actor-critic (Espeholt et al. 2018) with UPGO and a KL to the imitated policy (Vinyals et
al. 2019), actors and learner in one process with a constant lag of one batch.

config.py       every setting          opponents.py  who plays the other seats
groups.py       the worlds, and the    match_group.py  one of them: seats, results, memory
                learner's seats        batch.py      what acting hands to learning
actor.py        plays, fills batches   learner.py    gradients of a minibatch: which path
fused.py        compiled, flat nets    general.py    autograd over maths, any net
scale.py        rewards on one scale   task.py       all of it as a task of the engine's loop
run.py          `reinforce`
"""
