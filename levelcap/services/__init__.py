"""Processes with ports, and what starts, guards and watches them. Services never import each other.

`door` is what stands before every route, `process` how a service starts, is found and ends,
`clients` how programs call one; `document.py` writes reports as files; every other folder is a
service.
"""
