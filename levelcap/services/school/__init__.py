"""The skill servers: problems of one skill over HTTP, 8080 (SY) and 8090 (BIN). No torch.

app.py   the routes     bin.py, sy.py   one process each
"""
