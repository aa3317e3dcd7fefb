"""Arena heroes: they play worlds, and their strength is an Elo.

A campaign goes: record a teacher -> imitate it (-> play under its eyes) -> rounds of reinforcement
in one run that goes on and on against its growing past. When rounds stop helping they become
longer; nothing ends by itself. Every snapshot is judged; a certainly better one becomes champion.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from pathlib import Path
from typing import Any, Literal

from pydantic import Field

from levelcap.campaign.kinds.kind import Asked, HeroFile, Kind, Learned, Noted, Progress, Stat
from levelcap.campaign.story import campaigns, quests, runs
from levelcap.campaign.story.campaigns import Campaign
from levelcap.campaign.story.demos import find_demos
from levelcap.campaign.story.events import say
from levelcap.campaign.story.runs import Gain
from levelcap.campaign.story.strength import difference
from levelcap.jobs.store import Store
from levelcap.kit.db import Connection, reading, transaction
from levelcap.nets.meta import Meta
from levelcap.nets.options import VIEWS
from levelcap.trials.gate import judge_elo
from levelcap.trials.verdict import Verdict, verdict_from_json
from levelcap.vault import lookup
from levelcap.vault.champion import champion_of
from levelcap.vault.evals import QUICK, newest_trial
from levelcap.vault.ledger import Entry, amend, rate
from levelcap.world.spec import WorldName

STEPS_A_LEVEL = 1000
PAST_EVERY = "5000000"  # steps after which the present self joins the opponents of a long run


class ArenaHero(HeroFile):
    """A hero of the arena: which net it is and how its campaign goes."""

    kind: Literal["arena"]
    world: WorldName = "duel"
    family: Literal["flat", "hierarchy"] = "flat"
    """the kind of net"""
    net: list[str] = Field(default=[], max_length=16)
    """parts of it chosen by name, e.g. aim=residual"""
    size: Literal["dummy", "slim", "seed", "full"] = "slim"
    teacher: str = "master"
    """the bot whose play is imitated first"""
    partner: str = "veteran"
    """the bot it is recorded against"""
    demo_games: int = Field(3000, ge=2, le=200_000)
    imitation_minutes: float = Field(0.5, gt=0, le=600)
    taught_minutes: float = Field(0.0, ge=0, le=600)
    """training minutes of playing itself and doing as the teacher would there; 0 = none"""
    round_minutes: float = Field(1.5, gt=0, le=600)
    """training minutes of one round of reinforcement"""
    late_round_minutes: float = Field(5.0, gt=0, le=600)
    """the same once the hero has had `late_after_rounds` rounds"""
    late_after_rounds: int = Field(6, ge=1)
    league_minutes: float = Field(0.0, ge=0, le=6000)
    """length of a league season, after which rounds start from its main player; 0 = none"""
    league_after_rounds: int = Field(8, ge=1)
    """rounds before a season, and between two"""

    @property
    def plays(self) -> str:
        """Its world."""
        return self.world


class Arena(Kind):
    """The kind."""

    name = "arena"
    hero_file = ArenaHero
    role = "decision"
    first_hero = campaigns.FIRST_HERO
    accuracy = "win rate against the sealed panel"
    eval_kind = QUICK

    def owns(self, meta: Meta) -> bool:
        """Nets that decide have no text shape."""
        return meta.text is None

    def next_recipe(
        self,
        connection: Connection,
        hero: ArenaHero,
        campaign: Campaign,
        stopped: Callable[[str], bool],
    ) -> dict[str, Any] | None:
        """The next step of the campaign's line."""
        return next_recipe(hero, campaign, line_of(connection, hero, campaign))

    def settle(self, store: Store, campaign: Campaign) -> None:
        """Gains and costs of runs of which a checkpoint was judged since they were last written."""
        with reading(store.engine) as connection:
            written = runs.settled(connection, campaign.id)
            judged = lookup.newest_judged(connection, campaign.id)
        for run, newest in judged.items():
            if written.get(run, newest) < newest:
                _settle_run(store, run)

    def judge_best(self, connection: Connection, hero: str) -> Verdict | None:
        """The strongest checkpoint against the champion; one that was undone stays so."""
        now = champion_of(connection, hero)
        best = lookup.strongest(connection, hero, None if now is None else now.checkpoint)
        if best is None or best.elo is None or best.elo_low is None or best.elo_high is None:
            return None
        if lookup.was_undone(connection, best.id):
            return None
        elo = (best.elo, best.elo_low, best.elo_high)
        if now is None:
            return judge_elo(best.id, elo)
        if now.checkpoint == best.id:
            return None
        trial = newest_trial(connection, best.id, now.checkpoint)
        if trial is not None:
            return verdict_from_json(trial)
        gain = difference(connection, best.id, now.checkpoint)
        return judge_elo(best.id, elo, now.checkpoint, gain)

    def trial_order(self, connection: Connection, entry: Entry, before: Entry) -> dict[str, Any]:
        """In its world."""
        return super().trial_order(connection, entry, before) | {"world": entry.world or "duel"}

    def learned(self, connection: Connection, campaign: Campaign | None) -> Learned:
        """Level and XP count optimizer updates."""
        steps = campaign.current_step if campaign else 0
        level = Stat(steps // STEPS_A_LEVEL, f"steps // {STEPS_A_LEVEL}", steps)
        return Learned(level, Stat(steps, "optimizer updates", steps))

    def judge(self, place: Path, asked: Asked, on_progress: Progress) -> dict[str, Any]:
        """The quick evaluation: sealed panel, bots, Elo."""
        from levelcap.trials.evaluate import evaluate

        return evaluate(place, games=asked.games, seed=asked.seed, on_progress=on_progress)

    def note_result(self, connection: Connection, entry: Entry, result: dict[str, Any]) -> Noted:
        """Elo, accuracy and the value's held-out loss."""
        elo, low, high = result["elo"]
        rate(connection, entry.id, (elo, low, high), result.get("bound", ""))
        amend(connection, entry.id, accuracy=result["accuracy"])
        if entry.val_loss is None:  # imitation has measured its own
            amend(connection, entry.id, val_loss=result["value_loss"])
        if entry.campaign is not None:
            figures = {"elo": elo, "accuracy": result["accuracy"]}
            campaigns.advance(connection, entry.campaign, entry.step, figures)
        told = {"elo": result["elo"], "text": result["text"]}
        return Noted(told, f"Elo {result['text']}", {"elo": elo, "low": low, "high": high})


@dataclass(frozen=True)
class Line:
    """Where the campaign's own line of training stands; what people branch off is not in it."""

    open_quests: int
    shard: str | None  # the newest recording that holds the hero's teacher
    base: str | None  # checkpoint the line started from
    base_kept: bool  # is it still in the vault?
    last: quests.Quest | None  # its newest finished round; None: the next one begins at `base`
    tip: str | None  # newest checkpoint of that round's run
    own_clone: bool  # the line is at a clone the wheel itself asked for
    rounds: int
    fresh_rounds: int = 0  # of them, since the line's base


def line_of(connection: Connection, hero: ArenaHero, campaign: Campaign) -> Line:
    """Read it from finished quests of the campaign; a few rows however long it has been going on.

    A clone that a person asked for is a branch; it becomes the base when its recipe says so.
    """
    last = quests.newest(connection, campaign.id, "reinforce", quests.FINISHED, "scheduler")
    clone = quests.newest_base(connection, campaign.id)
    cloned = None if clone is None else lookup.newest_of_run(connection, clone.run)
    base = None if cloned is None else cloned.id
    if clone is None or base is None or (last is not None and last.seq > clone.seq):
        base = campaign.starting_checkpoint if last is None else str(last.recipe["from"])
    else:
        last = None
    tip = None if last is None else lookup.newest_of_run(connection, last.run)
    counts = quests.count(connection, campaign.id)
    return Line(
        open_quests=counts.get("queued", 0) + counts.get("running", 0),
        shard=None if base else _demos_of(connection, hero, campaign),
        base=base,
        base_kept=base is not None and lookup.is_kept(connection, base),
        last=last,
        tip=None if tip is None else tip.id,
        own_clone=last is None and _is_own(clone),
        rounds=quests.count_rounds(connection, campaign.id),
        fresh_rounds=quests.count_rounds(connection, campaign.id, clone.seq if clone else -1),
    )


def _is_own(clone: quests.Quest | None) -> bool:
    """Is it a clone that the wheel asked for, and not a season's player?"""
    return clone is not None and (clone.kind, clone.source) == ("imitate", "scheduler")


def _demos_of(connection: Connection, hero: ArenaHero, campaign: Campaign) -> str | None:
    """The newest recording its net can learn from."""
    views = VIEWS.get(hero.family, ())
    return find_demos(connection, campaign.id, hero.world, hero.teacher, views)


def next_recipe(hero: ArenaHero, campaign: Campaign, now: Line) -> dict[str, Any] | None:
    """What should run next; None: there is work already."""
    if now.open_quests:
        return None
    common = {"world": hero.world, "seed": campaign.seed}
    if now.base is None and now.shard is None:
        who = {"teacher": hero.teacher, "partner": hero.partner, "games": hero.demo_games}
        return {**common, "quest": "record", **who, **_net_of(hero, "family")}
    if now.base is None:
        demos = {"shards": [now.shard], "policies": [hero.teacher]}
        length = {"size": hero.size, "minutes": hero.imitation_minutes} | _early(hero)
        return {**common, "quest": "imitate", **demos, **length, **_net_of(hero, "family", "net")}
    return _round(hero, campaign, now, common)


def _early(hero: ArenaHero) -> dict[str, Any]:
    """A first checkpoint halfway through a short imitation: who waits for the hero sees it play.

    Longer ones publish every minute anyway; of shorter ones the end is near enough.
    """
    if not 0.25 <= hero.imitation_minutes < 1:
        return {}
    return {"set": {"engine.snapshot_s": f"{0.55 * 60 * hero.imitation_minutes:g}"}}


def _net_of(hero: ArenaHero, *names: str) -> dict[str, Any]:
    """What a recipe must say of the hero's net; the usual one goes without saying."""
    usual = {"family": "flat", "net": []}
    return {n: getattr(hero, n) for n in names if getattr(hero, n) != usual[n]}


def _round(
    hero: ArenaHero, campaign: Campaign, now: Line, common: dict[str, Any]
) -> dict[str, Any]:
    """One more round: of the run that goes on, or of one that begins where that one stands."""
    late = now.rounds >= hero.late_after_rounds
    length = hero.late_round_minutes if late else hero.round_minutes
    knobs = {"engine.schedule": "constant", "past_every_steps": PAST_EVERY}
    recipe = {
        **common,
        "quest": "reinforce",
        "from": now.base,
        "run": None,
        "size": hero.size,
        "minutes": length,
        "set": {**knobs, "engine.snapshot_s": "60", **campaign.knobs},
        "title": f"Round {now.rounds + 1}: {length:g} minutes of {hero.world}",
    }
    if now.own_clone and hero.taught_minutes > 0:
        minutes, title = hero.taught_minutes, f"Play under the eyes of {hero.teacher}"
        return recipe | {"teacher": hero.teacher, "minutes": minutes, "title": title, "set": {}}
    if now.last is None:
        return recipe
    if hero.league_minutes > 0 and now.fresh_rounds >= hero.league_after_rounds:
        minutes, tip = hero.league_minutes, now.tip or now.base
        return {**common, "quest": "league", "from": tip, "minutes": minutes}
    asked = now.last.recipe
    # A run refuses to go on with another start or other settings than it began with.
    same = all(asked[name] == recipe[name] for name in ("world", "seed", "size", "set"))
    if now.base_kept and same and not asked.get("teacher"):
        total = round(float(asked["minutes"]) + length, 6)
        return recipe | {"run": now.last.run, "minutes": total}
    return recipe | {"from": now.tip or now.base}


def _settle_run(store: Store, run_id: str) -> None:
    """Elo of the run's last judged checkpoint over the one it began with."""
    with transaction(store.engine) as connection:
        run = runs.get(connection, run_id)
        judged = lookup.judged_of_run(connection, run_id)
        newest, first = judged[-1], run.start or judged[0].id
        gain = difference(connection, newest.id, first)
        if gain is None or newest.id == first:
            none = Gain(0.0, 0.0, 0.0, None, "first of its kind", newest.seq)
            runs.note_gain(connection, run_id, none)
            return
        cost = run.core_seconds / gain[0] if gain[1] > 0 else None
        worth = "gain" if gain[1] > 0 else "no gain that is certain"
        runs.note_gain(connection, run_id, Gain(*gain, cost, worth, newest.seq))
        if cost is not None:
            said = f"{run_id}: {gain[0]:+.0f} Elo ({gain[1]:+.0f} to {gain[2]:+.0f})"
            said += f", {cost:.2f} core-seconds a point"
            data = {"run": run_id, "gain": gain[0], "cost_per_elo": cost}
            say(connection, "hero.stat_change", said, data=data)
