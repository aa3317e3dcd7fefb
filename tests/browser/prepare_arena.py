"""Makes a realm under $LEVELCAP_HOME whose champion is a net that was never trained."""

from levelcap.campaign.realm import realm
from levelcap.campaign.story import campaigns
from levelcap.kit.db import transaction
from levelcap.trials.verdict import Override
from levelcap.vault.champion import promote
from tests.services.oracles import net_in_vault


def main() -> None:
    """Enough for matches."""
    with realm() as opened:
        with transaction(opened.engine) as connection:
            campaigns.create(connection, "kestrel", "arena")
        entry, _ = net_in_vault(opened.engine, 7, size="slim")
        promote(opened.engine, entry.id, Override("the only one", "test"))


if __name__ == "__main__":
    main()
