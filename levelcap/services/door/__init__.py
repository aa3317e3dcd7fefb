"""What stands before every route: who gets in, with what, and how they are answered.

http      a guarded app and its server     guard     Host, token, Origin, strict JSON, in order
rights    who may call a route             tokens    the three secrets of a realm
body      bodies: capped, timed, strict    sockets   WebSockets: backlog, budget, one loop
patience  connections that idle end        listen    taking a port, or saying who has it
fields    types of bodies and parameters   rewrite   answers held back and sent in another shape
"""
