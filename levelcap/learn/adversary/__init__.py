"""Adversaries: attacks on a hero's senses, and training under them (`levelcap harden`).

attacks     noise, dropped and late looks, hostile openings; a wrapper of any policy
saboteur    a pattern that bends what a player sees, trained against that player
world       a world that attacks the learner's seats, harder when it has coped
harden      reinforcement learning in that world
"""
