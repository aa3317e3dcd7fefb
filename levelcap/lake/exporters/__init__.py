"""Shards for programs of others, one file a format.

parquet.py   plain columns, as `datasets.load_dataset(folder)` reads them
minari.py    the offline-RL format of the Farama foundation (needs `pip install minari`)
"""
