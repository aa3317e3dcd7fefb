"""A match played while somebody watches or takes part.

match.py   one match, decision by decision   person.py   keys and cursor as a policy
pace.py    real time
"""
