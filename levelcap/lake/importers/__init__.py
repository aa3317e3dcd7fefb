"""Recordings people bring, each format in a file of its own, as trajectories of the lake.

    ticks.py      data/processed/{episode}_{player}.jsonl.gz, a line a tick
    feedback.py   feedback_stream.jsonl, a line an event; outcomes.py joins manifest.jsonl
    filtered.py   session_*/sequence_*.json of a recorder that keeps what is worth keeping
    watch.py      session_*/events.parquet or .csv, metadata.json, integrity.sha256

`table.py` lists them and recognises a folder; `levelcap.lake.intake` makes a shard of one. An
importer reads strictly: a line that is not exactly what the format says goes to quarantine with
its number and the reason, and the trajectory is cut there. Nobody knows how likely a brought
action was: its log-probability is missing.
"""
