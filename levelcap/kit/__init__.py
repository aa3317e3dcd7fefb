"""The floor: paths, settings, errors, seeds, ids, files, database, log. Knows nothing of games."""
