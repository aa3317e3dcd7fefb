"""`train_text`: from nothing, or from a snapshot, to a hero that answers; in a run folder."""

from __future__ import annotations

from dataclasses import asdict, dataclass, replace
from pathlib import Path
from typing import Any

import torch

from levelcap.guild.alphabet import load_alphabet
from levelcap.guild.engine import get_engine
from levelcap.guild.school import VERSION
from levelcap.kit.errors import BadFile, refuse
from levelcap.kit.files import read_jsonl
from levelcap.kit.ids import sha256_file
from levelcap.kit.seeds import check_seed
from levelcap.learn.engine.folder import EVENTS, RunFolder
from levelcap.learn.engine.loop import Outcome, train
from levelcap.learn.engine.stops import Stops
from levelcap.learn.engine.task import Hooks
from levelcap.learn.text.config import TextConfig
from levelcap.learn.text.exams import Examiner, starting_at
from levelcap.learn.text.lessons import SCHOOL, Lessons, Plan, read_lessons
from levelcap.learn.text.task import TextTask
from levelcap.nets.checkpoint import load_snapshot
from levelcap.nets.meta import Meta, text_meta
from levelcap.nets.text.qwen3 import Qwen3Net, fresh_text_net
from levelcap.nets.text.shape import character_shape
from levelcap.nets.text.tokens import character_tokens
from levelcap.play.answers import TextHero


@dataclass(frozen=True)
class Request:
    """What a text run was asked for; saved as its config.json."""

    skill: str
    """of the guild, or `school`: the primitives and passives, without levels"""
    out: Path
    preset: str | None = None
    size: str = "tiny"
    seed: int = 0
    start: Path | None = None
    """a snapshot to start from; None: random weights"""
    level: int = 1
    """the level to start at"""
    files: tuple[Path, ...] = ()
    """lesson files (JSONL) that are trained on beside the skill's own lessons"""


@dataclass(frozen=True)
class Taught:
    """How a run ended, and its level-ups in order: level, update, seconds, core_seconds."""

    outcome: Outcome
    level: int
    level_ups: list[dict[str, Any]]


def train_text(
    request: Request, config: TextConfig, stops: Stops, hooks: Hooks | None = None
) -> Taught:
    """Train until one of `stops`; the same request again continues where the last one ended."""
    check_seed(request.seed)
    torch.set_num_threads(1)  # cores are used by halves of a batch, see levelcap.learn.text.update
    guild, school = get_engine(), request.skill == SCHOOL
    skill = None if school else guild.get(request.skill)
    progress = None if school else starting_at(guild, request.skill, request.level, request.preset)
    net, meta, parent = _start(request)
    assert meta.text is not None
    tokens = character_tokens(meta.text)
    plan = Plan(
        request.skill, request.preset, read_lessons(request.files, list(guild.skills.values()))
    )
    examiner = None
    if progress is not None:
        judged = TextHero(fresh_text_net(meta), tokens, meta)
        examiner = Examiner(guild, progress, config, judged, request.seed)
    task = TextTask(net, meta, Lessons(skill, plan, config, tokens, request.seed), examiner)
    wanted = {
        "kind": "text",
        "skill": request.skill,
        "version": VERSION if skill is None else skill.version,
        "preset": request.preset,
        "size": meta.size,
        "seed": request.seed,
        "level": request.level,
        "start": parent,
        "files": [sha256_file(path) for path in request.files],
        "config": asdict(config),
    }
    with RunFolder(request.out) as folder:
        folder.claim(wanted)
        if examiner is not None:
            hooks = replace(hooks or Hooks(), examine=examiner.examine)
        outcome = train(task, config.engine, stops, folder, hooks)
    level = request.level if examiner is None else examiner.progress.passed + 1
    return Taught(outcome, level, level_ups(request.out))


def level_ups(run: Path) -> list[dict[str, Any]]:
    """The level-up events of a run's folder."""
    rows = read_jsonl(run / EVENTS).records
    return [row for row in rows if row.get("event") == "level_up"]


def _start(request: Request) -> tuple[Qwen3Net, Meta, str | None]:
    """The net to train, its description, and the hash of the snapshot it comes from."""
    alphabet = load_alphabet()
    if request.start is None:
        shape = character_shape(request.size, alphabet.version, "".join(alphabet.characters))
        meta = text_meta(shape, request.size)
        return fresh_text_net(meta, request.seed), meta, None
    net, meta, digest = load_snapshot(request.start)
    if not isinstance(net, Qwen3Net) or meta.text is None:
        remedy = "Give a snapshot of a text run"
        raise BadFile(refuse("this checkpoint reads no text", meta.architecture, remedy))
    if meta.text.characters != "".join(alphabet.characters):
        what = f"this checkpoint reads alphabet v{meta.text.alphabet_version}"
        raise BadFile(refuse(what, f"v{alphabet.version}", "Start from one of this alphabet"))
    net.train()
    return net, replace(meta, parents=(digest,)), digest
