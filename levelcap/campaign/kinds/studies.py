"""The text hero's side of the wheel: school, rounds of study, sparring now and then, a champion.

Rounds continue one run as long as skill and knobs stay the same; a round on sparring lessons is a
run of its own, and the next round begins where it ended. Which skill comes next is decided by the
campaign's curriculum: the setting `curriculum` (a preset of the guild), and `strategy` to override
its strategy; without them the skill the hero likes best.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import replace
from typing import TYPE_CHECKING, Any

from levelcap.campaign.story import quests, skills
from levelcap.campaign.story.campaigns import Campaign
from levelcap.guild.curriculum import Curriculum, Standing, get_curriculum, shares
from levelcap.guild.skill import FULL_EXAM
from levelcap.kit.db import Connection
from levelcap.kit.errors import LevelcapError
from levelcap.trials.gate import judge_exam
from levelcap.trials.verdict import Verdict, verdict_from_json
from levelcap.vault.champion import champion_of
from levelcap.vault.evals import newest_trial
from levelcap.vault.ledger import Entry, row_of
from levelcap.vault.lookup import most_skilled, newest_of_campaign

if TYPE_CHECKING:
    from levelcap.campaign.kinds.text import TextHeroFile

SPAR_EVERY = 4  # rounds of study
SPAR_COUNT = 400
SNAPSHOT_S = "60"


def curriculum_of(hero: TextHeroFile, campaign: Campaign) -> Curriculum:
    """What the campaign's settings ask for; settings that make no sense are left out."""
    settings = campaign.config_overrides
    likes = hero.affinity or {"bin": 1.0}
    found = Curriculum("equal", (max(likes, key=lambda name: likes[name]),))
    try:
        if "curriculum" in settings:
            found = get_curriculum(str(settings["curriculum"]))
        if "strategy" in settings:
            found = replace(
                found,
                strategy=str(settings["strategy"]),
                focus=found.focus or found.skills[0],
                weights=found.weights or dict.fromkeys(found.skills, 1.0),
            )
    except LevelcapError:
        return found
    return found


def next_recipe(
    connection: Connection, hero: TextHeroFile, campaign: Campaign, stopped: Callable[[str], bool]
) -> dict[str, Any] | None:
    """What should run next; None: there is work already. Halted sparring is left out."""
    if (sparred := _fresh_lessons(connection, campaign)) is not None:
        return sparred | {"minutes": hero.round_minutes, "set": _knobs(campaign)}
    counts = quests.count(connection, campaign.id)
    if counts.get("queued", 0) + counts.get("running", 0):
        return None
    newest = _newest(connection, campaign)
    seed = campaign.seed
    if newest is None and hero.school_minutes > 0:
        return {
            "quest": "school",
            "minutes": min(hero.school_minutes, 10.0),
            "seed": seed,
            "set": _knobs(campaign),
        }
    done = quests.count_skill_rounds(connection, campaign.id)
    name = _choose(connection, curriculum_of(hero, campaign), campaign, done)
    if newest is not None and not stopped("spar"):
        if (spar := _spar(connection, campaign, name, done)) is not None:
            return spar | {"checkpoint": newest.id, "seed": seed + sum(done.values())}
    return _round(connection, hero, campaign, newest, name, sum(done.values()) + 1) | {"seed": seed}


def _round(
    connection: Connection,
    hero: TextHeroFile,
    campaign: Campaign,
    newest: Entry | None,
    name: str,
    number: int,
) -> dict[str, Any]:
    """One more round: of the run that goes on, or of one that begins at the newest checkpoint."""
    last = quests.newest(connection, campaign.id, "study", ("done", "skipped"))
    recipe = {
        "quest": "study",
        "skill": name,
        "minutes": hero.round_minutes,
        "set": _knobs(campaign),
        "title": f"Round {number}: {hero.round_minutes:g} minutes of {name}",
    }
    failed = quests.newest(connection, campaign.id, "study")
    goes_on = (
        last is not None
        and failed == last
        and newest is not None
        and newest.run == last.run
        and last.recipe["skill"] == name
        and not last.recipe["lessons"]
        and last.recipe["set"] == recipe["set"]
    )
    if goes_on and last is not None:
        total = round(float(last.recipe["minutes"]) + hero.round_minutes, 6)
        return recipe | {"run": last.run, "minutes": total}
    level = skills.level_of(connection, campaign, name)
    return recipe | {"from": newest and newest.id, "level": level}


def _knobs(campaign: Campaign) -> dict[str, str]:
    return {"engine.snapshot_s": SNAPSHOT_S, **campaign.knobs}


def _newest(connection: Connection, campaign: Campaign) -> Entry | None:
    found = newest_of_campaign(connection, campaign.id)
    if found is None and campaign.starting_checkpoint is not None:
        return row_of(connection, campaign.starting_checkpoint)
    return found


def _choose(
    connection: Connection, curriculum: Curriculum, campaign: Campaign, done: dict[str, int]
) -> str:
    """The skill that is furthest behind its share of the rounds."""
    names = {skill: curriculum.preset or skill for skill in curriculum.skills}
    standings = []
    for skill, name in names.items():
        level = skills.level_of(connection, campaign, name)
        standings.append(Standing(skill, level, skills.track(name)[0].levels))
    wanted = shares(curriculum, standings)
    total = sum(done.get(name, 0) for name in names.values()) + 1
    return names[max(wanted, key=lambda skill: wanted[skill] * total - done.get(names[skill], 0))]


def _spar(
    connection: Connection, campaign: Campaign, name: str, done: dict[str, int]
) -> dict[str, Any] | None:
    """Every few rounds, when a primitive is weak: spar in this skill."""
    rounds = done.get(name, 0)
    tried = quests.count_of_skill(connection, campaign.id, "spar", name)
    if rounds < SPAR_EVERY * (tried + 1):
        return None
    if not skills.weak(skills.standing(connection, campaign, name).primitives):
        return None
    return {"quest": "spar", "skill": name, "count": SPAR_COUNT}


def _fresh_lessons(connection: Connection, campaign: Campaign) -> dict[str, Any] | None:
    """A round on sparring lessons that nobody has trained on yet, queued high: they go stale."""
    sparred = quests.newest(connection, campaign.id, "spar", ("done",))
    if sparred is None or not sparred.result or not sparred.result["asset"]:
        return None
    asset = sparred.result["asset"]
    if quests.is_taught(connection, campaign.id, asset):
        return None
    newest = _newest(connection, campaign)
    skill = sparred.result["skill"]
    return {
        "quest": "study",
        "skill": skill,
        "from": newest and newest.id,
        "lessons": [asset],
        "priority": "high",
        "title": f"Learn from {sparred.result['wrong']} mistakes in {skill}",
        "level": skills.level_of(connection, campaign, skill),
    }


def judge_best(connection: Connection, hero: str) -> Verdict | None:
    """The verdict on the best judged checkpoint that is not champion; None: there is none."""
    now = champion_of(connection, hero)
    best = most_skilled(connection, hero, None if now is None else now.checkpoint)
    if best is None or (now is not None and now.checkpoint == best.id):
        return None
    if now is not None and (trial := newest_trial(connection, best.id, now.checkpoint)):
        return verdict_from_json(trial)
    old = None if now is None else row_of(connection, now.checkpoint)
    return judge_exam(
        best.id,
        str(best.skill_name),
        best.skill_level or 0,
        best.accuracy or 0.0,
        FULL_EXAM,
        champion=None if now is None else now.checkpoint,
        reigning=None if old is None else (old.skill_level or 0, old.accuracy or 0.0),
    )
