"""Makes a realm under $LEVELCAP_HOME with two nets never trained: champion, and a hierarchy.

Both are exported, and each has played a duel that was recorded.
"""

import numpy as np

from levelcap.campaign.realm import realm
from levelcap.campaign.story import campaigns
from levelcap.kit.db import transaction
from levelcap.kit.paths import folder
from levelcap.play.live.match import Entrant, Live
from levelcap.play.load import load_checkpoint
from levelcap.play.orders import save_orders
from levelcap.play.roster import find
from levelcap.trials.verdict import Override
from levelcap.vault.champion import promote
from tests.export.traced import trace_bundle
from tests.services.oracles import net_in_vault


def export_and_play(name, checkpoint):
    """A bundle `name`, and a duel of the original as replay `name`."""
    trace_bundle(checkpoint, folder("exports") / name)
    players = [
        Entrant(name, "net", load_checkpoint(checkpoint)),
        Entrant("rookie", "bot", find("rookie")),
    ]
    match = Live("duel", players, [0, 1], seed=7)
    while not match.over:
        match.decide(every=1000)
    match.recorder.save(folder("replays") / f"{name}.lcr")


def main() -> None:
    """Enough for matches."""
    with realm() as opened:
        with transaction(opened.engine) as connection:
            campaigns.create(connection, "kestrel", "arena")
        entry, flat = net_in_vault(opened.engine, 7, size="slim")
        _, layered = net_in_vault(opened.engine, 9, family="hierarchy")
        save_orders(layered, {"flee": np.ones(64), "hold position": -np.ones(64)})
        promote(opened.engine, entry.id, Override("the only one", "test"))
    export_and_play("flat", flat)
    export_and_play("hierarchy", layered)


if __name__ == "__main__":
    main()
