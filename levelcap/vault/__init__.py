"""What we keep: assets in strongholds, the ledger of checkpoints, the champion. No torch.

schema.py     tables                   zones.py      strongholds: which disk
assets.py     registry and locations   ledger.py     one row a checkpoint
champion.py   promote, roll back       retention.py  what may go
ask.py        ask the vault first      archive.py    a checkpoint as one .tar
weights.py    safetensors looked at without loading them
backups.py    copies of the database   locks.py      settings that need an approval
"""
