"""The floor: what everything stands on. Knows nothing of games.

errors.py  the tree of errors         paths.py    $LEVELCAP_HOME      config.py    settings
files.py   single files, atomically   publish.py  folders, atomically
db.py      transactions, migrations   sqlite.py   the driver and its words
clock.py   the clock of leases        ids.py      names that are no paths
seeds.py   counter-based chance       log.py      log and metrics
stats.py   intervals                  documents.py  YAML, read strictly
backend.py  stages over units, here or in processes that may be killed
compiled.py  the decorators of compiled code, and where its cache lives
"""
