"""The platform of all trainers: one loop, run folders, exact resume. It knows no algorithm.

loop.py      the loop: gather, update, guard, checkpoint, report
task.py      what a trainer brings
config.py    every setting
optim.py     AdamW and MuonAdamW; schedule.py: learning rate and EMA; guard.py: non-finite updates
state.py     checkpoints; folder.py: the run's folder; stops.py: when a run ends
"""
