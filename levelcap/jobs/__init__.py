"""How work runs: a queue with leases on SQLite, and the workers that take from it.

Nothing here knows what a job does. `job` has the nouns, `store` the transitions, `worker` the
loop that claims, runs a handler and reports.
"""
