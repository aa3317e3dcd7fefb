"""What was played, on disk: shards of steps, written whole or not at all, read in seeded order.

    from levelcap.lake.read import open_shards
    shards = open_shards([folder], world="duel").filtered(policies=["master"])
    training, validation = shards.split(validation=0.05)
    for batch in training.batches(4096, seed=0):
        batch.inputs(("features",)), batch.mask, batch.actions

`records.py` says what a shard holds; `levelcap.play.record.games` plays games into one.
"""
