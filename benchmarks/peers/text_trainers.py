"""`transformers.Trainer` and `trl.SFTTrainer` on the text hero's model and lessons.

    python -m benchmarks.peers.text_trainers hf|trl --mode speed|race --seconds 60

The same `Qwen3ForCausalLM` of 0.6 M parameters from random weights, the same lessons, 32 problems
an update, loss on answers only, AdamW at 3e-3 (not tuned for them), one thread. speed: lessons of
one level. race (hf only): the same curriculum and rule of progress as ours; exams by `generate`, as
their documentation shows. The last line is one JSON object.
"""

from __future__ import annotations

import argparse
import json
import os
import tempfile
import time
from collections.abc import Iterator
from typing import Any

os.environ.setdefault("OMP_WAIT_POLICY", "PASSIVE")

import torch
from torch.utils.data import IterableDataset
from transformers import PreTrainedTokenizerFast, Trainer, TrainerCallback, TrainingArguments

from levelcap.guild.alphabet import load_alphabet
from levelcap.guild.engine import get_engine
from levelcap.guild.progress import begin, record
from levelcap.learn.text.config import TextConfig
from levelcap.learn.text.lessons import Lessons, Plan
from levelcap.nets.meta import text_meta
from levelcap.nets.text.pretrained import to_transformers
from levelcap.nets.text.qwen3 import fresh_text_net
from levelcap.nets.text.shape import character_shape
from levelcap.nets.text.tokens import character_tokens

BATCH, LONGEST_ANSWER = 32, 200
GUILD = get_engine()
ALPHABET = load_alphabet()
SHAPE = character_shape("tiny", ALPHABET.version, "".join(ALPHABET.characters))
TOKENS = character_tokens(SHAPE)


class Course(IterableDataset):  # type: ignore[misc]
    """Lessons in order of their numbers, at the level the hero has."""

    def __init__(self, level: int, preset: str | None) -> None:
        config = TextConfig(school=0.0, batch=BATCH)
        self.lessons = Lessons(GUILD.get("bin"), Plan("bin", preset), config, TOKENS, 0)
        self.level = level

    def __iter__(self) -> Iterator[dict[str, list[int]]]:
        first = 0
        while True:
            for lesson in self.lessons.batch(first, self.level):
                labels = [-100] * len(lesson.prompt) + lesson.answer
                yield {"input_ids": lesson.prompt + lesson.answer, "labels": labels}
            first += BATCH


def collate(rows: list[dict[str, list[int]]]) -> dict[str, torch.Tensor]:
    """Padded to the longest."""
    width = max(len(row["input_ids"]) for row in rows)
    ids = torch.full((len(rows), width), TOKENS.pad)
    labels, mask = torch.full_like(ids, -100), torch.zeros_like(ids)
    for number, row in enumerate(rows):
        size = len(row["input_ids"])
        ids[number, :size] = torch.tensor(row["input_ids"])
        labels[number, :size] = torch.tensor(row["labels"])
        mask[number, :size] = 1
    return {"input_ids": ids, "labels": labels, "attention_mask": mask}


class Watch(TrainerCallback):  # type: ignore[misc]
    """Ends a run at its time; in a race it also examines, every 25 updates."""

    def __init__(self, options: argparse.Namespace, course: Course | None) -> None:
        self.options, self.course = options, course
        self.progress = begin(GUILD.get("bin"), options.preset)
        self.began, self.exams, self.exam_s = time.monotonic(), 0, 0.0
        self.core_began = time.process_time()
        self.ups: list[dict[str, float]] = []

    def on_train_begin(self, *given: Any, **more: Any) -> None:
        self.began, self.core_began = time.monotonic(), time.process_time()

    def on_step_end(self, args: Any, state: Any, control: Any, **more: Any) -> None:
        if self.course is not None and state.global_step % 25 == 0:
            self._examine(more["model"], state.global_step)
        late = time.monotonic() - self.began > self.options.seconds
        control.should_training_stop = late or self.progress.passed + 1 >= self.options.goal

    def _examine(self, model: Any, update: int) -> None:
        assert self.course is not None
        began = time.monotonic()
        _, count = self.progress.wanted
        problems = GUILD.generate_eval_batch(
            "bin", self.progress.level, count, self.exams, self.options.preset
        )
        self.exams += 1
        score = GUILD.score_eval(problems, generate(model, [p.prompt for p in problems]))
        self.progress, outcome = record(self.progress, score, update, GUILD.get("bin"))
        self.exam_s += time.monotonic() - began
        if outcome == "level_up":
            self.course.level = self.progress.level
            seconds, core = time.monotonic() - self.began, time.process_time() - self.core_began
            self.ups.append(
                {
                    "level": self.progress.passed + 1,
                    "seconds": round(seconds, 1),
                    "core_seconds": round(core, 1),
                }
            )


def generate(model: Any, prompts: list[str]) -> list[str]:
    """Greedy answers, prompts padded on the left."""
    texts = TOKENS.encode_all([prompt + "\n" for prompt in prompts])
    width = max(map(len, texts))
    ids = torch.full((len(texts), width), TOKENS.pad)
    mask = torch.zeros_like(ids)
    for number, text in enumerate(texts):
        ids[number, width - len(text) :] = torch.tensor(text)
        mask[number, width - len(text) :] = 1
    model.eval()
    with torch.no_grad():
        out = model.generate(
            input_ids=ids,
            attention_mask=mask,
            max_new_tokens=LONGEST_ANSWER,
            do_sample=False,
            eos_token_id=TOKENS.end,
            pad_token_id=TOKENS.pad,
        )
    model.train()
    return [TOKENS.decode(row[width:].tolist()) for row in out]


def arguments(kind: Any, folder: str, **more: Any) -> Any:
    """The same settings for both."""
    return kind(
        output_dir=folder,
        per_device_train_batch_size=BATCH,
        max_steps=100_000,
        learning_rate=3e-3,
        lr_scheduler_type="constant_with_warmup",
        warmup_steps=20,
        optim="adamw_torch",
        adam_beta2=0.95,
        max_grad_norm=1.0,
        use_cpu=True,
        bf16=False,
        report_to=[],
        save_strategy="no",
        logging_steps=50,
        disable_tqdm=True,
        dataloader_num_workers=0,
        **more,
    )


def tuned_trl(model: Any, options: argparse.Namespace, watch: Watch, folder: str) -> Any:
    """SFTTrainer on prompts and completions, loss on completions only."""
    from datasets import Dataset
    from trl import SFTConfig, SFTTrainer

    tokenizer = PreTrainedTokenizerFast(
        tokenizer_object=TOKENS.tokenizer, pad_token="<pad>", eos_token="<end>"
    )
    made = Course(options.level, options.preset).lessons
    texts = [made.text(number, options.level) for number in range(4000)]
    rows = [{"prompt": f"{prompt}\n", "completion": answer} for _, prompt, answer in texts]
    settings = arguments(
        SFTConfig,
        folder,
        completion_only_loss=True,
        packing=False,
        max_length=1024,
        gradient_checkpointing=False,
    )
    return SFTTrainer(
        model=model,
        args=settings,
        train_dataset=Dataset.from_list(rows),
        processing_class=tokenizer,
        callbacks=[watch],
    )


def main() -> None:
    """One run."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("peer", choices=("hf", "trl"))
    parser.add_argument("--mode", choices=("speed", "race"), default="speed")
    parser.add_argument("--seconds", type=float, default=60.0)
    parser.add_argument("--level", type=int, default=3)
    parser.add_argument("--goal", type=int, default=5)
    parser.add_argument("--preset", default=None)
    parser.add_argument("--threads", type=int, default=1)
    options = parser.parse_args()
    torch.set_num_threads(options.threads)
    racing = options.mode == "race"
    if not racing:
        options.goal = 10**9
    model = to_transformers(fresh_text_net(text_meta(SHAPE, "tiny"), 0))
    model.train()
    course = Course(1 if racing else options.level, options.preset)
    watch = Watch(options, course if racing else None)
    counted = [0]
    original = model.forward

    def forward(*given: Any, **named: Any) -> Any:
        if model.training and named.get("attention_mask") is not None:
            counted[0] += int(named["attention_mask"].sum())
        return original(*given, **named)

    model.forward = forward
    with tempfile.TemporaryDirectory() as folder:
        if options.peer == "trl":
            trainer = tuned_trl(model, options, watch, folder)
        else:
            settings = arguments(TrainingArguments, folder, remove_unused_columns=False)
            trainer = Trainer(
                model=model,
                args=settings,
                train_dataset=course,
                data_collator=collate,
                callbacks=[watch],
            )
        trainer.train()
    seconds, core = time.monotonic() - watch.began, time.process_time() - watch.core_began
    logged = [int(row["num_tokens"]) for row in trainer.state.log_history if "num_tokens" in row]
    counted[0] = max([counted[0], *logged])  # SFTTrainer counts by itself
    print(
        json.dumps(
            {
                "peer": options.peer,
                "updates": trainer.state.global_step,
                "tokens": counted[0],
                "seconds": seconds,
                "core_seconds": core,
                "level": watch.progress.passed + 1,
                "level_ups": watch.ups,
                "exam_seconds": watch.exam_s,
                "exams": watch.exams,
            }
        )
    )


if __name__ == "__main__":
    main()
