"""Processes with ports, and what starts, guards and watches them. Services never import each other.

`ports` is the table of services, `hosts` says where they are reached, `http` makes a guarded app
and serves it, `lifeline` is the start of every service process.
"""
