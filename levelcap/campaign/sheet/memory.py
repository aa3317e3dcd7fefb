"""What training a text hero would take of a machine's memory, with the hero's own sizes."""

from __future__ import annotations

from levelcap.campaign.kinds.heroes import get_text_hero
from levelcap.campaign.kinds.text import TextHeroFile
from levelcap.guild.alphabet import load_alphabet
from levelcap.nets.text.memory import Memory, training_memory
from levelcap.nets.text.shape import TextShape, character_shape

MOST = 10**6  # texts of a batch, tokens of a text


def shape_of(hero: TextHeroFile) -> TextShape:
    """The net of a hero, whether its weights are here or not."""
    if hero.shape is not None:
        return hero.shape
    alphabet = load_alphabet()
    return character_shape(hero.size or "", alphabet.version, "".join(alphabet.characters))


def memory_of(
    hero_id: str, batch: int | None = None, length: int = 128, checkpointing: bool = False
) -> Memory:
    """Memory of one training process; batch: the hero's own when left out.

    Raises:
        UnknownName: no such text hero. BadValue: a size below 1.
    """
    hero = get_text_hero(hero_id)
    texts = hero.batch if batch is None else min(batch, MOST)
    return training_memory(shape_of(hero), texts, min(length, MOST), checkpointing=checkpointing)
