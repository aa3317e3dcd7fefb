"""Scripted opponents, weak to strong, and their cousins.

    idle < wanderer < rookie < veteran < master

`veteran~17` is a cousin: the same bot with parameters drawn from seed 17. A bot's strength comes
from reaction time, aim and skills (data/bots/), never from hidden information.
"""

from __future__ import annotations

import hashlib
import tomllib
from importlib import resources
from typing import Any

import numpy as np
from numpy.typing import NDArray

from levelcap.kit.errors import check_known
from levelcap.kit.seeds import stream
from levelcap.world.match import ArenaWorld
from levelcap.world.players.bot_names import BOTS
from levelcap.world.players.brain import INTENT, MIND, RING, Ground, Traits
from levelcap.world.players.decide import act_rows
from levelcap.world.protocols import Decision, Policy, PolicyState, Views, World
from levelcap.world.rules.columns import slots_of
from levelcap.world.spec import RULESETS

COUSIN_SPREAD = 0.25  # numbers are multiplied by exp of a uniform in +- this


def _ground(ruleset: str, half: float) -> Ground:
    """What a bot knows of a ruleset: its size, what is at stake, and where which objects stand."""
    slots = slots_of(ruleset)
    behind = slots.rest if slots.rests else slots.item
    return Ground(
        half=half,
        zone=int(ruleset in ("duel", "lms")),
        lane=int(ruleset == "siege"),
        crown=int(ruleset == "crown"),
        enemies=slots.enemies,
        allies=slots.allies,
        structures=slots.structures,
        rest=behind,
    )


_NO_KINDS = np.zeros((1, 3), np.int64)
_READ = (
    "player",
    "objects",
    "context",
    "mask",
    "key",
    "reset",
    "alive",
)  # by `act_rows`


def bot_traits(name: str) -> Traits:
    """Parameters of a bot by name."""
    check_known("bot", name, BOTS)
    file = resources.files("levelcap") / "data" / "bots" / f"{name}.toml"
    table = tomllib.loads(file.read_text(encoding="utf-8"))
    return Traits(**{field: float(table.get(field, 0.0)) for field in Traits._fields})


def cousin_traits(name: str, seed: int) -> Traits:
    """The parameters of `name`, each moved by chance drawn from `seed`."""
    traits = bot_traits(name)._asdict()
    rng = stream(seed, f"cousin of {name}")
    for field in ("aim_noise", "lead", "range", "fire_range", "courage", "greed", "roam", "dodge"):
        traits[field] *= float(np.exp(rng.uniform(-COUSIN_SPREAD, COUSIN_SPREAD)))
    traits["reaction"] = max(0.0, traits["reaction"] + int(rng.integers(-1, 2)))
    traits["lead"] = min(1.2, traits["lead"])
    return Traits(**traits)


class Bot(Policy):
    """A scripted policy for any of our rulesets."""

    views = ("player", "objects", "context")
    decision_ticks = 3

    def __init__(self, name: str, traits: Traits) -> None:
        self.name, self.traits = name, traits
        self._ground: Ground | None = None
        self._kinds = _NO_KINDS
        assert traits.reaction < RING

    @property
    def content_hash(self) -> str:
        """Of its numbers. The class is named as it was when the first shards were recorded."""
        return hashlib.sha256(f"levelcap.world.bots.Bot {self.traits}".encode()).hexdigest()

    def bind(self, world: World) -> None:
        """Learn the ruleset's layout and the roster's abilities (both are public)."""
        ruleset = world.spec.ruleset
        check_known("ruleset for a scripted bot", ruleset, RULESETS)
        assert isinstance(world, ArenaWorld)
        self._ground = _ground(ruleset, float(world.rules.half))
        self._kinds = np.ascontiguousarray(world.rules.ability_kind, np.int64)

    def initial_state(self, num_rows: int) -> NDArray[Any]:
        """Fresh memory for `num_rows` players."""
        return np.zeros(num_rows, MIND)

    def act(self, views: Views, state: PolicyState) -> Decision:
        """Bins [n, 7], intents, and the memory, changed in place."""
        assert self._ground is not None, "bind(world) comes before act"
        out = np.empty((len(views["key"]), INTENT + 1), np.int8)
        seen = (np.ascontiguousarray(views[name]) for name in _READ)
        act_rows(*seen, state, self.traits, self._ground, self._kinds, out)
        return Decision(out[:, :INTENT], state, intents=out[:, INTENT])
