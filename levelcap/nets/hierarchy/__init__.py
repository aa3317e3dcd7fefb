"""The hierarchy: Strategist (once a second), Tactician (ten times), Executor (every decision).

shape.py       sizes and options by name        memory.py      what carries a state through time
ssd.py         state-space block (Mamba-2)      lstm.py        the other memory
attention.py   transformer layers, pooling      strategist.py  a minute of summaries -> mode, goal
tactician.py   objects, goal -> target          executor.py    body, goal, target -> action
net.py         the three at their own rates
"""
