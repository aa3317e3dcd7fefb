"""Makes a realm under $LEVELCAP_HOME with two nets never trained: champion, and a hierarchy."""

import numpy as np

from levelcap.campaign.realm import realm
from levelcap.campaign.story import campaigns
from levelcap.kit.db import transaction
from levelcap.play.orders import save_orders
from levelcap.trials.verdict import Override
from levelcap.vault.champion import promote
from tests.services.oracles import net_in_vault


def main() -> None:
    """Enough for matches."""
    with realm() as opened:
        with transaction(opened.engine) as connection:
            campaigns.create(connection, "kestrel", "arena")
        entry, _ = net_in_vault(opened.engine, 7, size="slim")
        _, place = net_in_vault(opened.engine, 9, family="hierarchy")
        save_orders(place, {"flee": np.ones(64), "hold position": -np.ones(64)})
        promote(opened.engine, entry.id, Override("the only one", "test"))


if __name__ == "__main__":
    main()
