"""What people do with campaigns and checkpoints, by command or over HTTP: the same, said once."""

from __future__ import annotations

from levelcap.campaign.kinds.heroes import find_hero
from levelcap.campaign.story import campaigns
from levelcap.campaign.story.events import say
from levelcap.campaign.story.strength import difference
from levelcap.kit.db import Database, reading, transaction
from levelcap.trials.verdict import Override
from levelcap.vault import champion
from levelcap.vault.ask import resolve
from levelcap.vault.champion import Promotion
from levelcap.vault.ledger import Entry, amend, get_ledger


def begin_campaign(
    engine: Database, hero: str, name: str, start: str | None = None, description: str = ""
) -> campaigns.Campaign:
    """A new game of a hero, or with the name of a checkpoint New Game+."""
    find_hero(hero)
    entry = None if start is None else resolve(engine, start, hero)
    with transaction(engine) as connection:
        return campaigns.create(
            connection,
            hero,
            name,
            starting_checkpoint=None if entry is None else entry.id,
            starting_step=0 if entry is None else entry.step,
            description=description,
        )


def promote(engine: Database, checkpoint: str, reason: str, who: str) -> Promotion:
    """Make a checkpoint champion by hand: an override, kept with the champion for ever."""
    made = champion.promote(engine, resolve(engine, checkpoint).id, Override(reason, who))
    said, data = f"{made.checkpoint}: {made.reason}", {"checkpoint": made.checkpoint}
    say(engine, "vault.champion_promoted", said, severity="success", data=data)
    return made


def roll_back(engine: Database, hero: str) -> Promotion | None:
    """Undo the last promotion; returns the champion that is one again."""
    find_hero(hero)
    now = champion.roll_back(engine, hero)
    said = f"the champion is {'nobody' if now is None else now.checkpoint} again"
    say(engine, "vault.champion_rolled_back", said, severity="warning")
    return now


def pin(engine: Database, checkpoint: str, pinned: bool) -> Entry:
    """Keep a checkpoint for ever, or no longer."""
    entry = resolve(engine, checkpoint)
    with transaction(engine) as connection:
        amend(connection, entry.id, pinned=int(pinned))
    return get_ledger(engine).get(entry.id)


def compare(
    engine: Database, a: str, b: str
) -> tuple[Entry, Entry, tuple[float, float, float] | None]:
    """Two checkpoints, and Elo of a minus b with its interval if both were judged."""
    one, other = resolve(engine, a), resolve(engine, b)
    with reading(engine) as connection:
        return one, other, difference(connection, one.id, other.id)
