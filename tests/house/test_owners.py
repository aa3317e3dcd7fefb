"""A table's SQL is written in its owner's folder, and nowhere else."""

import re

from tests.house.sources import name_of, package_files

OWNERS = {
    "levelcap/vault/": (
        *("assets", "locations", "transfers", "ledger", "evals", "champions", "removals", "probes"),
        "notes",
    ),
    "levelcap/jobs/": ("jobs", "job_events", "workers"),
    "levelcap/campaign/story/": (
        *("campaigns", "quests", "runs", "events", "curves", "curve_marks", "exams", "matches"),
        *("realm", "tests"),
    ),
}  # fmt: skip
WORD = r"\b(?:FROM|JOIN|INTO|UPDATE|TABLE|INDEX \w+ ON)\s+(?:IF (?:NOT )?EXISTS\s+)?(\w+)"


def test_every_table_is_spoken_to_by_its_owner_only():
    strangers = []
    for path in package_files():
        name = name_of(path)
        for owner, tables in OWNERS.items():
            if name.startswith(owner):
                continue
            said = [table for table in re.findall(WORD, path.read_text()) if table in tables]
            strangers += [f"{name}: {table}" for table in said]
    assert strangers == []
