"""Scripted players: weak to strong, and planners that see the true state.

bot_names.py   who there is, without compiled code      scripted.py   a player by its name
bots.py        parameters, cousins, the policy          brain.py, decide.py   how a bot decides
seers.py       planners over the simulator
"""
