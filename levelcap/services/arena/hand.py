"""`python -m levelcap.services.arena.hand`: one more worker beside the Arena, which started it.

It takes everything but training: evaluations, reports, retention. How many there are is decided by
`campaign.schedule.extra_workers`; on two cores none, and the Arena does these between its rounds.
"""

from __future__ import annotations

import argparse

from levelcap.campaign.realm import open_realm
from levelcap.kit.config import load_settings
from levelcap.kit.log import configure
from levelcap.kit.paths import folder
from levelcap.services.arena.daemon import worker
from levelcap.services.process import lifeline

TRAINER = ("trainer", "data_forge")


def main() -> None:
    """Run until told to stop, or until the Arena is gone."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--parent", type=int, required=True)
    parser.add_argument("--number", type=int, required=True)
    given = parser.parse_args()
    lifeline.die_with(given.parent)
    configure(load_settings().log_level, folder("state") / "logs" / "arena.log", console=False)
    realm = open_realm()
    try:
        worker(realm, f"hand-{given.number}", without=TRAINER).run()
    finally:
        realm.close()


if __name__ == "__main__":
    main()
