"""The Oracle: inference and live matches on port 8765. The one service that imports torch.

app.py            the app and its process
checkpoint_cache.py  loaded checkpoints; names.py: what names mean
act.py            rows of views in, decisions out
generate.py       prompts in, answers out; text_api.py: its routes
openai_shapes.py  what OpenAI's clients send and expect
matches.py        live matches: started, paced in a thread each, watched over sockets
exhibition.py     the match that is on while somebody looks
endings.py        what remains of a match: replay, record, event
match_api.py      their routes; replay_api.py: those of replays
replays.py        recorded matches: as the same messages, listed, as files
"""
