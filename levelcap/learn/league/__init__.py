"""The league: players that learn against each other and against what they have been.

pfsp, payoff, players, config   who there is, who beats whom, how often to meet whom
pairing                         the plan of a turn, with its reasons
pool, turn                      one player's turn of reinforcement learning
tuning, population              settings that are tried on siblings of main (off by default)
state, shelf, rated, season     the folder, the snapshots, measured matches, the whole
"""
