"""The text hero's side of the wheel: school, rounds of study, sparring now and then, a champion.

Rounds continue one run as long as skill and knobs stay the same; a round on sparring lessons is a
run of its own, and the next round begins where it ended. Which skill comes next is decided by the
campaign's curriculum: the setting `curriculum` (a preset of the guild), and `strategy` to override
its strategy; without them the skill the hero likes best.
"""

from __future__ import annotations

from dataclasses import replace
from typing import Any

from levelcap.campaign.kinds.heroes import TextHeroFile
from levelcap.campaign.story import quests, skills
from levelcap.campaign.story.campaigns import Campaign
from levelcap.campaign.wheel.breaker import Halt
from levelcap.guild.curriculum import Curriculum, Standing, get_curriculum, shares
from levelcap.guild.skill import FULL_EXAM
from levelcap.kit.db import Connection
from levelcap.kit.errors import LevelcapError
from levelcap.trials.gate import judge_exam
from levelcap.trials.verdict import Verdict
from levelcap.vault.champion import champion_of
from levelcap.vault.ledger import Entry, row_of

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
            found = replace(found, strategy=str(settings["strategy"]),
                            focus=found.focus or found.skills[0],
                            weights=found.weights or dict.fromkeys(found.skills, 1.0))  # fmt: skip
    except LevelcapError:
        return found
    return found


def next_recipe(
    connection: Connection, hero: TextHeroFile, campaign: Campaign, halt: Halt | None = None
) -> dict[str, Any] | None:
    """What should run next; None: there is work already. Halted sparring is left out."""
    if (sparred := _fresh_lessons(connection, campaign)) is not None:
        return sparred | {"minutes": hero.round_minutes, "set": _knobs(campaign)}
    counts = quests.count(connection, campaign.id)
    if counts.get("queued", 0) + counts.get("running", 0):
        return None
    newest = _newest(connection, campaign)
    seed = int(campaign.config_overrides.get("seed", 0))
    if newest is None and hero.school_minutes > 0:
        return {"quest": "school", "minutes": min(hero.school_minutes, 10.0), "seed": seed,
                "set": _knobs(campaign)}  # fmt: skip
    done = _rounds(connection, campaign)
    name = _choose(connection, curriculum_of(hero, campaign), campaign, done)
    if newest is not None and (halt is None or not halt.stops("spar")):
        if (spar := _spar(connection, campaign, name, done)) is not None:
            return spar | {"checkpoint": newest.id, "seed": seed + sum(done.values())}
    return _round(connection, hero, campaign, newest, name, sum(done.values()) + 1) | {"seed": seed}


def _round(
    connection: Connection, hero: TextHeroFile, campaign: Campaign, newest: Entry | None,
    name: str, number: int,
) -> dict[str, Any]:  # fmt: skip
    """One more round: of the run that goes on, or of one that begins at the newest checkpoint."""
    last = quests.newest(connection, campaign.id, "study", ("done", "skipped"))
    recipe = {
        "quest": "study", "skill": name, "minutes": hero.round_minutes, "set": _knobs(campaign),
        "title": f"Round {number}: {hero.round_minutes:g} minutes of {name}",
    }  # fmt: skip
    failed = quests.newest(connection, campaign.id, "study")
    goes_on = (
        last is not None and failed == last and newest is not None and newest.run == last.run
        and last.recipe["skill"] == name and not last.recipe["lessons"]
        and last.recipe["set"] == recipe["set"]
    )  # fmt: skip
    if goes_on and last is not None:
        total = round(float(last.recipe["minutes"]) + hero.round_minutes, 6)
        return recipe | {"run": last.run, "minutes": total}
    level = skills.level_of(connection, campaign, name)
    return recipe | {"from": newest and newest.id, "level": level}


def _knobs(campaign: Campaign) -> dict[str, str]:
    own = campaign.config_overrides.get("knobs", {})
    return {"engine.snapshot_s": SNAPSHOT_S, **{str(k): str(v) for k, v in own.items()}}


def _newest(connection: Connection, campaign: Campaign) -> Entry | None:
    query = (
        "SELECT id FROM ledger WHERE campaign = :c AND retired IS NULL ORDER BY seq DESC LIMIT 1"
    )
    found = connection.execute(query, {"c": campaign.id}).scalar()
    found = found or campaign.starting_checkpoint
    return None if found is None else row_of(connection, found)


def _rounds(connection: Connection, campaign: Campaign) -> dict[str, int]:
    """Skill (or preset) -> finished rounds of the wheel."""
    query = (
        "SELECT json_extract(recipe, '$.skill'), count(*) FROM quests WHERE campaign = :c AND"
        " kind = 'study' AND source = 'scheduler' AND status IN ('done', 'skipped') GROUP BY 1"
    )
    return {name: int(count) for name, count in connection.execute(query, {"c": campaign.id})}


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
    query = (
        "SELECT count(*) FROM quests WHERE campaign = :c AND kind = 'spar'"
        " AND json_extract(recipe, '$.skill') = :s"
    )
    tried = connection.execute(query, {"c": campaign.id, "s": name}).scalar_one()
    if rounds < SPAR_EVERY * (int(tried) + 1):
        return None
    if not skills.weak(skills.standing(connection, campaign, name)["primitives"]):
        return None
    return {"quest": "spar", "skill": name, "count": SPAR_COUNT}


def _fresh_lessons(connection: Connection, campaign: Campaign) -> dict[str, Any] | None:
    """A round on sparring lessons that nobody has trained on yet, queued high: they go stale."""
    sparred = quests.newest(connection, campaign.id, "spar", ("done",))
    if sparred is None or not sparred.result or not sparred.result["asset"]:
        return None
    asset = sparred.result["asset"]
    query = (
        "SELECT count(*) FROM quests WHERE campaign = :c AND kind = 'study'"
        " AND json_extract(recipe, '$.lessons') LIKE '%' || :a || '%'"
    )
    if connection.execute(query, {"c": campaign.id, "a": asset}).scalar_one():
        return None
    newest = _newest(connection, campaign)
    skill = sparred.result["skill"]
    return {
        "quest": "study", "skill": skill, "from": newest and newest.id, "lessons": [asset],
        "priority": "high", "title": f"Learn from {sparred.result['wrong']} mistakes in {skill}",
        "level": skills.level_of(connection, campaign, skill),
    }  # fmt: skip


def judge_best(connection: Connection, hero: str) -> Verdict | None:
    """The verdict on the best judged checkpoint that is not champion; None: there is none."""
    query = (
        "SELECT ledger.id, skill_name, skill_level, accuracy FROM ledger"
        " JOIN assets ON assets.id = ledger.id WHERE hero = :h AND skill_level IS NOT NULL"
        " AND accuracy IS NOT NULL AND status = 'present' AND retired IS NULL"
        " AND EXISTS (SELECT 1 FROM evals WHERE checkpoint = ledger.id)"
        " AND NOT EXISTS (SELECT 1 FROM champions c WHERE c.checkpoint = ledger.id AND undone = 1)"
        " ORDER BY skill_level DESC, accuracy DESC, seq DESC LIMIT 1"
    )
    best = connection.execute(query, {"h": hero}).first()
    now = champion_of(connection, hero)
    if best is None or (now is not None and now.checkpoint == best.id):
        return None
    old = None if now is None else row_of(connection, now.checkpoint)
    return judge_exam(
        best.id, best.skill_name, best.skill_level, best.accuracy, FULL_EXAM,
        champion=None if now is None else now.checkpoint,
        reigning=None if old is None else (old.skill_level or 0, old.accuracy or 0.0),
    )  # fmt: skip
