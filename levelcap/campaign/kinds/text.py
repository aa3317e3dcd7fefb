"""Text heroes: they answer the skills of the guild, and their strength is the level they pass."""

from __future__ import annotations

import math
from pathlib import Path
from typing import Annotated, Any, Literal

from pydantic import Field, model_validator

from levelcap.campaign.kinds import studies
from levelcap.campaign.kinds.kind import Asked, HeroFile, Kind, Learned, Noted, Progress, Stat
from levelcap.campaign.story import campaigns, skills
from levelcap.campaign.story.campaigns import Campaign
from levelcap.campaign.story.runs import Run
from levelcap.kit.db import Connection
from levelcap.kit.paths import get_base_dir
from levelcap.nets.meta import TEXT_WORLD, Meta
from levelcap.nets.text.shape import TextShape
from levelcap.trials.verdict import Verdict
from levelcap.vault.evals import EXAM
from levelcap.vault.ledger import Entry, amend, row_of
from levelcap.vault.lookup import base_before


class TextHeroFile(HeroFile):
    """A hero that reads and writes: which model it is and how it is trained."""

    kind: Literal["text"]
    size: Literal["dummy", "tiny"] | None = None
    """of a net from scratch that reads characters"""
    model: str | None = Field(None, pattern=r"^[A-Za-z0-9][A-Za-z0-9._-]{0,60}$")
    """or: folder of a published Qwen3 under the realm's models/"""
    shape: TextShape | None = None
    """sizes of the published model, for memory figures before it is on disk"""
    optimizer: Literal["adamw", "muon"] = "muon"
    lr: float = Field(3e-3, gt=0, le=1)
    hidden_lr: float = Field(0.02, gt=0, le=1)
    ema: float = Field(0.95, ge=0, lt=1)
    batch: int = Field(32, ge=1, le=4096)
    """problems an update"""
    chat_template: Literal["plain", "chatml"] = "plain"
    """plain: prompt, newline, answer"""
    portrait: Literal["kestrel", "dio", "flo"] = "dio"
    affinity: dict[str, Annotated[float, Field(ge=0, le=1)]] = Field(default_factory=dict)
    """skill -> how much of its time the hero gives it by default"""
    school_minutes: float = Field(5.0, ge=0, le=600)
    """on the primitives, before the first quest"""
    round_minutes: float = Field(2.0, gt=0, le=600)

    @model_validator(mode="after")
    def _one_source(self) -> TextHeroFile:
        if (self.size is None) == (self.model is None) or (self.model and self.shape is None):
            raise ValueError("give size, or model with its shape")
        return self

    @property
    def plays(self) -> str:
        """No world: text."""
        return TEXT_WORLD

    @property
    def weights(self) -> str:
        """The published model it begins with."""
        return self.model or ""

    def folder(self) -> Path | None:
        """Where the published weights must lie; None: none are needed."""
        return None if self.model is None else get_base_dir() / "models" / self.model

    def why_not(self) -> str | None:
        """Why the realm cannot train it; None: it can."""
        if self.model is None:
            return None
        if not (self.folder() or Path()).is_dir():
            return f"its weights are not in models/{self.model}"
        return "training from published weights is not built yet"


class Text(Kind):
    """The kind."""

    name = "text"
    hero_file = TextHeroFile
    role = "text"
    first_hero = "dio-tiny"
    accuracy = "answers of the last exam that are exact"
    eval_kind = EXAM

    def owns(self, meta: Meta) -> bool:
        """Nets that write have a text shape."""
        return meta.text is not None

    # School, rounds of study, sparring now and then; champion is who has passed more levels, or as
    # many and certainly more exactly.
    next_recipe = staticmethod(studies.next_recipe)
    judge_best = staticmethod(studies.judge_best)

    def trial_of(self, connection: Connection, verdict: Verdict) -> dict[str, Any] | None:
        """Of one that has a skill: after school alone there is nothing to hold a trial in."""
        entry = row_of(connection, verdict.candidate)
        if entry is None or entry.skill_name not in skills.tracks():
            return None
        return super().trial_of(connection, verdict)

    def trial_order(self, connection: Connection, entry: Entry, before: Entry) -> dict[str, Any]:
        """In its skill, and in the champion's; from the base that drift is measured from."""
        base = base_before(connection, entry)
        known = before if before.skill_name in skills.tracks() else entry
        return super().trial_order(connection, entry, before) | {
            "subject": f"{entry.skill_name}~{entry.skill_level or 1}",
            "held": f"{known.skill_name}~{known.skill_level or 1}",
            "base": None if base is None else base.id,
        }

    def learned(self, connection: Connection, campaign: Campaign | None) -> Learned:
        """Level and XP count passed levels and exams."""
        levels = skills.levels(connection, campaign)
        passed = sum(level - 1 for level in levels.values())
        earned = 0 if campaign is None else skills.earned_xp(connection, campaign.id)
        return Learned(
            Stat(1 + passed, "1 + passed levels of all skills", passed),
            Stat(earned, "10 x the level's multiplier x accuracy, an exam", earned),
            levels,
        )

    def facts(self, run: Run | None, metrics: dict[str, float]) -> dict[str, Any]:
        """Skill, level and the last exam's accuracy."""
        loss = metrics.get("loss")
        return {
            "skill_name": run.skill if run else None,
            "skill_level": int(metrics.get("level", 0)),
            "accuracy": metrics.get("accuracy"),
            "perplexity": None if loss is None else math.exp(min(loss, 50.0)),
        }

    def questions(self, entry: Entry) -> dict[str, Any]:
        """Its own skill at its own level; every exam has problems of its own."""
        if entry.skill_name not in skills.tracks():
            return {"seed": entry.seq}
        skill, preset = skills.track(entry.skill_name)
        own = {"skill_id": skill.id, "preset": preset, "level": entry.skill_level or 1}
        return {"seed": entry.seq, **own}

    def judge(self, place: Path, asked: Asked, on_progress: Progress) -> dict[str, Any]:
        """An exam: problems of a level, and the passives."""
        from levelcap.trials.exam import examine

        return examine(
            place,
            skill=asked.skill_id,
            preset=asked.preset,
            level=asked.level,
            seed=asked.seed,
            passives=asked.passives,
            on_progress=on_progress,
        )

    def note_result(self, connection: Connection, entry: Entry, result: dict[str, Any]) -> Noted:
        """What the exam says, if it is about the skill and level that the row tells of."""
        own = result["skill"] == (entry.skill_name or result["skill"])
        if own and result["level"] == (entry.skill_level or result["level"]):
            amend(
                connection,
                entry.id,
                accuracy=result["accuracy"],
                val_loss=result["val_loss"],
                skill_name=result["skill"],
                skill_level=result["level"],
            )
        if entry.campaign is not None and result["val_loss"] is not None:
            figures = {f"{result['skill']}_val_loss": result["val_loss"]}
            campaigns.advance(connection, entry.campaign, entry.step, figures)
        data = {"accuracy": result["accuracy"]}
        return Noted({"text": result["text"]}, str(result["text"]), data)

    def take_notes(self, connection: Connection, run: Run, hero: HeroFile) -> None:
        """Exams of a run of study."""
        skills.take_exams(connection, run, hero)
