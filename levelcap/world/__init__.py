"""The arena: a fast, deterministic team game, and any Gymnasium or PettingZoo game beside it.

    import levelcap.world
    world = levelcap.world.make("duel", num_matches=256, seed=0, views=("features",))
    views = world.reset()
    views, rewards, terminated, truncated, info = world.step(actions)

`make` takes `duel`, `lms`, `siege`, `crown`, `gym:<id>` and `zoo:<module>`. `parallel_env` gives a
PettingZoo environment; after `import levelcap.world`, `gymnasium.make("levelcap/Duel-v1")` works.
"""

from __future__ import annotations

from typing import Any

from levelcap.world.doors import farama
from levelcap.world.protocols import Decision, Policy, World
from levelcap.world.spec import RULESETS, WorldSpec, arena_spec

__all__ = [
    "RULESETS",
    "Decision",
    "Policy",
    "World",
    "WorldSpec",
    "arena_spec",
    "make",
    "parallel_env",
]


def make(ruleset: str, num_matches: int = 1, **options: Any) -> Any:
    """A world of many matches.

    ruleset: `duel`, `lms`, `siege`, `crown`, or an outside game (`gym:CartPole-v1`,
    `zoo:mpe2.simple_spread_v3`).
    options of our rulesets: patch="1.0", seed=0, views=("features",), decision_ticks=3,
    champions=None ("base", "random", a name, or one name a seat), pseudo_reward_scale=0,
    max_decisions=None, auto_reset=True, match_seeds=None, threads=None (all cores). Outside games
    take seed, views and max_decisions.

    The object has `reset()` and `step(actions)`; actions are integers [matches, players, heads].
    Finished matches restart by themselves. The arrays returned are reused by the next call.
    """
    if ":" in ruleset:
        from levelcap.world.doors.outside import make_outside

        return make_outside(ruleset, num_matches=num_matches, **options)
    from levelcap.world.match import ArenaWorld

    return ArenaWorld(ruleset, num_matches, **options)


def parallel_env(ruleset: str, **options: Any) -> Any:
    """The ruleset as a PettingZoo parallel environment (options: `levelcap.world.doors.farama`)."""
    return farama.parallel_env(ruleset, **options)


farama.register()
