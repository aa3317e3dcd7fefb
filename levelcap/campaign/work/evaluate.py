"""`evaluate`: judge a checkpoint, in the way of its kind of hero."""

from __future__ import annotations

from pathlib import Path
from typing import Annotated, ClassVar, Literal

from pydantic import Field

from levelcap.campaign.kinds.heroes import kind_of_meta, kind_of_role
from levelcap.campaign.story import quests
from levelcap.campaign.story.events import say
from levelcap.campaign.story.skills import track
from levelcap.campaign.story.strength import keep_ladder
from levelcap.campaign.work.base import Bench, Desk, Limits, Recipe, Result, Work
from levelcap.campaign.work.fields import Level, Name, Ruleset, Seed
from levelcap.campaign.work.snapshots import meta_of
from levelcap.jobs.job import Job
from levelcap.jobs.store import Store
from levelcap.kit.db import Connection
from levelcap.kit.seeds import chain
from levelcap.trials.verdict import Figure
from levelcap.vault.ask import resolve
from levelcap.vault.assets import find
from levelcap.vault.evals import CONFIRMED, store_eval
from levelcap.vault.ledger import row_of
from levelcap.vault.probes import remember

Games = Annotated[int, Field(ge=40, le=20_000, multiple_of=40)]
Passives = Literal["lite", "full"]


class Evaluate(Work):
    """Judge a checkpoint: against the sealed panel and the bots, or, of a text hero, by an exam.

    skill_id, preset, level: what a text hero is asked besides the passives.
    """

    type: ClassVar[str] = "eval"
    limits: ClassVar[Limits] = Limits(600, 2, 50, 3, "warn", ("eval_worker",))

    checkpoint: Name
    skill_id: Name | None = None
    preset: Name | None = None
    level: Level | None = None
    passives: Passives = "lite"
    games: Games = 400
    seed: Seed = 0
    against: Name | None = None
    """games that confirm a champion: who reigned before it"""

    def perform(self, bench: Bench) -> Result:
        """Let its kind judge it."""
        place = bench.locate(self.checkpoint)

        def tell(done: int, total: int, what: str) -> None:
            bench.context.progress(done / total, f"{done:,} of {total:,}, {what}")

        found = kind_of_meta(meta_of(place)).judge(place, self, tell)
        if self.against is not None and "elo" in found:
            found |= {"against": self.against, "gain": self._meet(place, bench)}
        return found

    def _meet(self, place: Path, bench: Bench) -> Figure:
        """Elo over the predecessor in games of their own."""
        from levelcap.play.load import load_checkpoint
        from levelcap.play.matchup import play_games
        from levelcap.trials.sprt import elo_figure, pair_counts

        pair = (load_checkpoint(place), load_checkpoint(bench.locate(str(self.against))))
        played = play_games(*pair, meta_of(place).world, self.games, chain(self.seed, 1) >> 1)
        return elo_figure(pair_counts(played.scores))

    def effect(self, connection: Connection, store: Store, job: Job, result: Result) -> None:
        """Keep every score, and write what follows into the checkpoint's row."""
        entry = row_of(connection, self.checkpoint)
        assert entry is not None  # an evaluation belongs to a row
        kind = kind_of_role(entry.role)
        kept, confirms = keep_ladder(connection, self.seed, result), self.against is not None
        of = CONFIRMED if confirms else kind.eval_kind
        store_eval(connection, entry.id, of, job.id, self.seed, kept)
        remember(connection, find(connection, entry.id).sha256, "evaluation")
        noted = kind.note_result(connection, entry, result)
        quests.end(connection, job.id, "done", noted.result)
        said, data = f"{entry.id}: {noted.words}", {"checkpoint": entry.id, **noted.data}
        if confirms:
            said = f"{said} in fresh games, was {entry.elo_text()} when it was crowned"
            gain = result.get("gain")
            said += f"; {gain[0]:+.0f} Elo over {self.against}" if gain else ""
        told = "eval.confirmed" if confirms else "eval.completed"
        say(connection, told, said, severity="success", data=data)


class EvaluateRecipe(Recipe):
    """Judge a checkpoint; of a text hero by an exam in a skill (or preset) and the passives."""

    quest: Literal["evaluate"] = "evaluate"
    world: Ruleset = "duel"
    checkpoint: Name = "latest"
    games: Games = 400
    skill: Name | None = None
    level: Level | None = None
    passives: Passives = "lite"

    def describe(self) -> str:
        """The title."""
        return f"Evaluate {self.checkpoint}"

    def order(self, desk: Desk) -> Evaluate:
        """The work; what is not said is asked as by default, but with the seed that was given."""
        entry = resolve(desk.store.engine, self.checkpoint)
        asked = kind_of_role(entry.role).questions(entry) | {"seed": self.seed}
        if self.level is not None:
            asked["level"] = self.level
        if self.skill is not None:
            skill, preset = track(self.skill)
            skill.check(self.level or 1, preset)
            asked |= {"skill_id": skill.id, "preset": preset}
        return Evaluate(checkpoint=entry.id, games=self.games, passives=self.passives, **asked)
