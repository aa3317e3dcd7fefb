"""Part of the Armory: what training a text hero takes of this machine's memory, before it is tried.

The formula is in `levelcap/nets/text/memory.py`; the Keeper is not asked.
"""

from __future__ import annotations

import psutil

from levelcap.campaign.kinds.heroes import load_text_heroes
from levelcap.campaign.sheet.memory import memory_of
from levelcap.kit.errors import BadValue, LevelcapError, refuse
from levelcap.nets.text.memory import GIB, Memory
from levelcap.services.tavern.fields import Field
from levelcap.services.tavern.parts import chips
from levelcap.services.tavern.tags import div, paragraph, span, tip

CHIPS = {"green": "done", "amber": "running", "red": "failed"}
WORDS = {"green": "fits well", "amber": "is tight", "red": "is too much"}
FORMULA = (
    "weights P·b + gradients P·b + optimizer 8·P + activations batch·length·hidden·b·34"
    " (÷ √layers with checkpointing); b = 4 bytes"
)


class MemoryCard:
    """Four fields and a sentence."""

    def __init__(self) -> None:
        self.heroes = load_text_heroes()

    def build(self) -> None:
        """Draws it."""
        names = {name: f"{hero.name} · {hero.subtitle}" for name, hero in self.heroes.items()}
        first = next(iter(names))
        with div("thirds"):
            self._hero = Field("Hero", "choice", first, options=names, on_change=self._chosen)
            batch = str(self.heroes[first].batch)
            self._batch = Field("batch_size", "number", batch, on_change=self._fill)
            self._length = Field("Tokens of a text", "number", "128", on_change=self._fill)
        self._saving = Field("Checkpoint activations", "switch", False, on_change=self._fill)
        self._said = div("row")
        self._fill()

    def _chosen(self, hero: str) -> None:
        self._batch.set(str(self.heroes[hero].batch))
        self._fill()

    def _fill(self, _changed: object = None) -> None:
        try:
            memory = self._memory()
        except LevelcapError as error:
            said = str(error)
            self._said.redraw(said, lambda: paragraph(said, "problem"))
        else:
            self._said.redraw(memory, lambda: self._show(memory))

    def _memory(self) -> Memory:
        batch, length = (_whole(str(field.value)) for field in (self._batch, self._length))
        return memory_of(str(self._hero.value), batch, length, bool(self._saving.value))

    def _show(self, memory: Memory) -> None:
        device = psutil.virtual_memory().total
        colour = memory.colour(device)
        span(f"chip {CHIPS[colour]}", WORDS[colour])
        raw = f"{FORMULA}\nraw value: {memory.total:,.0f} bytes of {device:,}"
        tip(memory.sentence(), raw, "figure-value")
        parts = ("weights", "gradients", "optimizer", "activations")
        chips((f"{name} {getattr(memory, name) / GIB:.2g} GB", "plain") for name in parts)


def _whole(text: str) -> int:
    if not text.isascii() or not text.isdigit() or len(text) > 9:
        raise BadValue(refuse("a whole number is asked for", text, "Correct this field"))
    return int(text)
