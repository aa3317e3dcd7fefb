"""The wheel: what should run next, and was it worth it. One turn is `turn`; it never waits.

For the arena hero: record a teacher -> imitate it -> rounds of reinforcement in one run that goes
on and on against its growing past -> every snapshot is judged -> better ones become champion.
When rounds stop helping they become longer; nothing ends by itself. The text hero's side is in
`studies`. Only the chosen hero's wheel turns.
"""

from __future__ import annotations

import json
from dataclasses import dataclass
from typing import Any

from levelcap.campaign.kinds import studies
from levelcap.campaign.kinds.heroes import ArenaHero, find_hero
from levelcap.campaign.story import campaigns, quests, runs
from levelcap.campaign.story.campaigns import Campaign
from levelcap.campaign.story.events import say
from levelcap.campaign.story.strength import difference
from levelcap.campaign.wheel import breaker
from levelcap.campaign.work.demos import find_demos
from levelcap.campaign.work.recipes import read_recipe
from levelcap.jobs.store import Store
from levelcap.kit.db import Connection, reading, transaction
from levelcap.kit.errors import BadFile, StateError, UserError
from levelcap.trials.gate import judge_elo
from levelcap.trials.verdict import Verdict
from levelcap.vault.champion import champion_of, promote

PAST_EVERY = "5000000"  # steps after which the present self joins the opponents of a long run


@dataclass(frozen=True)
class Line:
    """Where the campaign's own line of training stands; what people branch off is not in it."""

    open_quests: int
    shard: str | None  # the newest recording that holds the hero's teacher
    base: str | None  # checkpoint the line started from
    base_kept: bool  # is it still in the vault?
    last: quests.Quest | None  # its newest finished round; None: the next one begins at `base`
    tip: str | None  # newest checkpoint of that round's run
    rounds: int


def line_of(connection: Connection, hero: ArenaHero, campaign: Campaign) -> Line:
    """Read it from finished quests of the campaign; a few rows however long it has been going on.

    A clone that a person asked for is a branch; it becomes the base when its recipe says so.
    """
    last = quests.newest(connection, campaign.id, "reinforce", quests.FINISHED, "scheduler")
    clone = quests.newest_base(connection, campaign.id)
    base = None if clone is None else _newest_of(connection, clone.run)
    if clone is None or base is None or (last is not None and last.seq > clone.seq):
        base = campaign.starting_checkpoint if last is None else str(last.recipe["from"])
    else:
        last = None
    counts = quests.count(connection, campaign.id)
    return Line(
        open_quests=counts.get("queued", 0) + counts.get("running", 0),
        shard=find_demos(connection, campaign.id, hero.world, hero.teacher) if not base else None,
        base=base,
        base_kept=base is not None and _is_kept(connection, base),
        last=last,
        tip=None if last is None else _newest_of(connection, last.run),
        rounds=quests.count_rounds(connection, campaign.id),
    )


def _newest_of(connection: Connection, run: str | None) -> str | None:
    query = "SELECT id FROM ledger WHERE run = :r AND retired IS NULL ORDER BY seq DESC LIMIT 1"
    return connection.execute(query, {"r": run}).scalar()


def _is_kept(connection: Connection, checkpoint: str) -> bool:
    query = "SELECT count(*) FROM ledger WHERE id = :i AND retired IS NULL"
    return bool(connection.execute(query, {"i": checkpoint}).scalar_one())


def next_recipe(hero: ArenaHero, campaign: Campaign, now: Line) -> dict[str, Any] | None:
    """What should run next; None: there is work already."""
    if now.open_quests:
        return None
    common = {"world": hero.world, "seed": _seed(campaign)}
    if now.base is None and now.shard is None:
        return {**common, "quest": "record", "teacher": hero.teacher, "partner": hero.partner,
                "games": hero.demo_games}  # fmt: skip
    if now.base is None:
        return {**common, "quest": "imitate", "shards": [now.shard], "size": hero.size,
                "policies": [hero.teacher], "minutes": hero.imitation_minutes}  # fmt: skip
    return _round(hero, campaign, now, common)


def _round(
    hero: ArenaHero, campaign: Campaign, now: Line, common: dict[str, Any]
) -> dict[str, Any]:
    """One more round: of the run that goes on, or of one that begins where that one stands."""
    late = now.rounds >= hero.late_after_rounds
    length = hero.late_round_minutes if late else hero.round_minutes
    knobs = {
        "engine.schedule": "constant", "past_every_steps": PAST_EVERY, "engine.snapshot_s": "60",
        **{k: str(v) for k, v in campaign.config_overrides.get("knobs", {}).items()},
    }  # fmt: skip
    recipe = {
        **common, "quest": "reinforce", "from": now.base, "run": None, "size": hero.size,
        "minutes": length, "set": knobs,
        "title": f"Round {now.rounds + 1}: {length:g} minutes of {hero.world}",
    }  # fmt: skip
    if now.last is None:
        return recipe
    asked = now.last.recipe
    # A run refuses to go on with another start or other settings than it began with.
    same = all(asked[name] == recipe[name] for name in ("world", "seed", "size", "set"))
    if now.base_kept and same:
        total = round(float(asked["minutes"]) + length, 6)
        return recipe | {"run": now.last.run, "minutes": total}
    return recipe | {"from": now.tip or now.base}


def _seed(campaign: Campaign) -> int:
    return int(campaign.config_overrides.get("seed", 0))


def turn(store: Store) -> list[str]:
    """One turn for the chosen hero; returns the ids of quests that were added."""
    with reading(store.engine) as connection:
        hero = find_hero(campaigns.chosen_hero(connection))
        campaign = campaigns.active(connection, hero.id)
    if campaign is None:
        return []
    if isinstance(hero, ArenaHero):
        settle(store, hero.id, campaign)
    else:
        _crown_text(store, hero.id)
    with reading(store.engine) as connection:
        halt = breaker.look(connection, campaign.id)
        if isinstance(hero, ArenaHero):
            recipe = next_recipe(hero, campaign, line_of(connection, hero, campaign))
        else:
            recipe = studies.next_recipe(connection, hero, campaign, halt)
    if recipe is None or (halt is not None and halt.stops(recipe["quest"])):
        return []
    number = f"{campaign.id}-{_count(store, campaign.id)}"
    try:
        quest = quests.enter(
            store, campaign.id, read_recipe(recipe), source="scheduler", key=f"next-{number}"
        )
    except UserError as error:
        with transaction(store.engine) as connection:
            breaker.note_refusal(connection, campaign.id, str(error))
        return []
    return [quest.id]


def _count(store: Store, campaign_id: str) -> int:
    with reading(store.engine) as connection:
        query = "SELECT count(*) FROM quests WHERE campaign = :c"
        return int(connection.execute(query, {"c": campaign_id}).scalar_one())


def begin(store: Store) -> None:
    """A realm whose chosen hero never had a campaign starts one."""
    with transaction(store.engine) as connection:
        hero = find_hero(campaigns.chosen_hero(connection))
        if not campaigns.list_all(connection, hero.id):
            campaigns.create(connection, hero.id, f"{hero.name}'s first campaign")


def settle(store: Store, hero: str, campaign: Campaign) -> None:
    """Was it worth it? Gains and costs of judged runs; the best judged checkpoint is champion."""
    for run_id in _unsettled(store, campaign.id):
        _settle_run(store, run_id)
    _crown(store, hero)


def _unsettled(store: Store, campaign_id: str) -> list[str]:
    """Runs of which a checkpoint was judged since the gain was last written."""
    query = (
        "SELECT runs.id FROM runs JOIN ledger ON ledger.run = runs.id"
        " WHERE runs.campaign = :c AND elo IS NOT NULL GROUP BY runs.id"
        " HAVING runs.worth IS NULL OR runs.worth NOT LIKE '%' || max(ledger.seq) || ']'"
    )
    with reading(store.engine) as connection:
        return connection.execute(query, {"c": campaign_id}).scalars()


def _settle_run(store: Store, run_id: str) -> None:
    """Elo of the run's last judged checkpoint over the one it began with."""
    with transaction(store.engine) as connection:
        run = runs.get(connection, run_id)
        query = "SELECT id, seq FROM ledger WHERE run = :r AND elo IS NOT NULL ORDER BY seq"
        judged = connection.execute(query, {"r": run_id}).all()
        first = _start_of(connection, run) or judged[0].id
        mark = f"[{judged[-1].seq}]"
        gain = difference(connection, judged[-1].id, first)
        if gain is None or judged[-1].id == first:
            runs.note_gain(connection, run_id, (0.0, 0.0, 0.0), None, f"first of its kind {mark}")
            return
        cost = run.core_seconds / gain[0] if gain[1] > 0 else None
        worth = "gain" if gain[1] > 0 else "no gain that is certain"
        runs.note_gain(connection, run_id, gain, cost, f"{worth} {mark}")
        if cost is not None:
            text_ = f"{run_id}: {gain[0]:+.0f} Elo ({gain[1]:+.0f} to {gain[2]:+.0f})"
            say(connection, "hero.stat_change", f"{text_}, {cost:.2f} core-seconds a point",
                data={"run": run_id, "gain": gain[0], "cost_per_elo": cost})  # fmt: skip


def _start_of(connection: Connection, run: runs.Run) -> str | None:
    """The checkpoint a run of reinforcement began with."""
    query = "SELECT recipe FROM quests WHERE run = :r ORDER BY seq LIMIT 1"
    found = connection.execute(query, {"r": run.id}).scalar()
    if found is None or run.kind != "reinforce":
        return None
    start = json.loads(found).get("from")
    return None if start is None else str(start)


def _crown(store: Store, hero: str) -> None:
    """Promote the best judged checkpoint if it is certainly better than the champion."""
    with reading(store.engine) as connection:
        query = (
            "SELECT ledger.id, elo, elo_low, elo_high FROM ledger"
            " JOIN assets ON assets.id = ledger.id"
            " WHERE hero = :h AND elo IS NOT NULL AND status = 'present'"
            " ORDER BY elo DESC, seq DESC LIMIT 1"
        )
        best = connection.execute(query, {"h": hero}).first()
        now = champion_of(connection, hero)
        if best is None or (now is not None and now.checkpoint == best.id):
            return
        gain = None if now is None else difference(connection, best.id, now.checkpoint)
        undone = connection.execute(
            "SELECT count(*) FROM champions WHERE checkpoint = :c AND undone = 1",
            {"c": best.id},
        ).scalar_one()
    elo = (best.elo, best.elo_low, best.elo_high)
    verdict = judge_elo(best.id, elo, None if now is None else now.checkpoint, gain)
    if verdict.passed and not undone:
        _promote(store, hero, verdict)


def _crown_text(store: Store, hero: str) -> None:
    """Promote the checkpoint with the most levels, then the best accuracy."""
    with reading(store.engine) as connection:
        verdict = studies.judge_best(connection, hero)
    if verdict is not None and verdict.passed:
        _promote(store, hero, verdict)


def _promote(store: Store, hero: str, verdict: Verdict) -> None:
    try:
        promote(store.engine, verdict.candidate, verdict)
    except (BadFile, StateError) as error:
        say(store.engine, "vault.promotion_refused", str(error), severity="warning")
        return
    say(store.engine, "vault.champion_promoted", f"{verdict.candidate}: {verdict.reason}",
        severity="success", data={"checkpoint": verdict.candidate, "hero": hero})  # fmt: skip
