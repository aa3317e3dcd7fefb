"""A service as a process: how it starts, where it is reached, whether it lives, how it ends.

lifeline   the start of every service       ports      the table of services
hosts      where each is reached            health     asking one how it is
processes  ours told from strangers         standing   what the Weaver says of them
database   opened, or refused in a sentence voice      events of the battle log
"""
