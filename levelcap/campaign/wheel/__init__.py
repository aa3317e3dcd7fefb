"""What runs next, and who decides: once a second in the Keeper.

flywheel.py  what should run next, and was it worth it
breaker.py   work that keeps failing stops
control.py   pause, resume, stop, skip, retry
inbox.py     files that people drop become quests
schedule.py  what this machine can take now
curate.py    what people do with campaigns and checkpoints
"""
