"""`levelcap test --recipe a.yaml b.yaml`: which settings train the stronger hero, luck aside?"""

from __future__ import annotations

from itertools import product
from pathlib import Path
from typing import Any

import numpy as np
from rich.console import Console

from levelcap.campaign.realm import Realm, realm
from levelcap.campaign.story.runs import run_folder
from levelcap.campaign.wheel.flywheel import begin
from levelcap.campaign.work.base import Desk, Recipe
from levelcap.campaign.work.bench import perform_here
from levelcap.campaign.work.desk import campaign_for
from levelcap.campaign.work.lessons import locate
from levelcap.campaign.work.recipes import parse_recipe
from levelcap.cli.printer import say
from levelcap.kit.errors import BadFile, BadValue, refuse
from levelcap.kit.ids import sha256_bytes
from levelcap.kit.seeds import chain, check_seed
from levelcap.play.load import NetPolicy, load_checkpoint
from levelcap.play.matchup import play_games
from levelcap.trials.populations import compare, verdict_of
from levelcap.trials.sprt import elo_of

QUESTS = ("imitate", "reinforce")


def compare_recipes(paths: tuple[Path, Path], seeds: int, games: int, seed: int) -> dict[str, Any]:
    """Train both, let all heroes of one meet all of the other; the same command again goes on."""
    check_seed(seed)
    if seeds < 2 or games < 2 or games % 2:
        what = "settings are compared by 2 seeds or more and pairs of games"
        raise BadValue(refuse(what, [seeds, games], "Give e.g. --seeds 5 --games 128"))
    recipes = [_read(path) for path in paths]
    with realm() as opened, Console(stderr=True).status("starting") as status:
        begin(opened.store)
        heroes = [
            [_trained(opened, recipe, seed + number, status.update) for number in range(seeds)]
            for recipe in recipes
        ]
    world = heroes[0][0].meta.world
    if any(hero.meta.world != world for side in heroes for hero in side):
        raise BadValue(refuse("two recipes of one world meet", world, "Name the same world"))
    played = [
        play_games(one, other, world, games, chain(seed, number)).scores
        for number, (one, other) in enumerate(product(*heroes))
    ]
    scores = np.array(played).reshape(seeds, seeds, games)
    found = compare(scores)
    edge = 1 / (2 * scores.size)
    elo = [elo_of(min(max(score, edge), 1 - edge)) for score in found]
    verdict = verdict_of(found)
    say(
        f"{paths[0].name} against {paths[1].name}: {verdict}, score {found[0]:.3f}"
        f" ({found[1]:.3f} to {found[2]:.3f}), Elo {elo[0]:+.0f} ({elo[1]:+.0f} to {elo[2]:+.0f});"
        f" {seeds} seeds each, {scores.size:,} games"
    )
    told = {"verdict": verdict, "score": list(found), "elo": elo, "world": world}
    means = scores.mean(2).round(4).tolist()
    return told | {"recipes": [p.name for p in paths], "seeds": seeds, "seed": seed, "means": means}


def _read(path: Path) -> Recipe:
    try:
        text = path.read_text(encoding="utf-8")
    except (OSError, UnicodeDecodeError) as error:
        what = f"cannot read the recipe ({error})"
        raise BadFile(refuse(what, str(path), "Give the path of a YAML file")) from error
    recipe = parse_recipe(text, path.name)
    if recipe.quest not in QUESTS:
        remedy = f"Give a recipe of {' or '.join(QUESTS)}"
        raise BadValue(refuse("this recipe trains no arena hero", recipe.quest, remedy))
    recipe.check()
    return recipe


def _trained(opened: Realm, recipe: Recipe, seed: int, tell: Any) -> NetPolicy:
    """The hero of a recipe and a seed; one that was trained before is taken as it is."""
    recipe = recipe.model_copy(update={"seed": seed})
    # The run's name is its recipe: the same settings are the same run.
    number = sha256_bytes(recipe.model_dump_json(by_alias=True).encode())[:12]
    campaign = campaign_for(opened.store, recipe.hero_kind)
    work = recipe.order(Desk(opened.store, campaign, number))
    perform_here(work, lambda name: locate(opened.engine, name), tell)
    assert work.run_id is not None  # both quests train in a run
    return load_checkpoint(sorted((run_folder(work.run_id) / "snapshots").glob("step-*"))[-1])
