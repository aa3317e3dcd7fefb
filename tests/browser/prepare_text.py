"""Makes a realm under $LEVELCAP_HOME whose text hero went to school, studied and was examined.

A dummy net is schooled and taught by a real worker and its checkpoints are judged; then the study
run reports exams that passed four levels, as a longer run would, and training is paused.
"""

from levelcap.campaign.kinds.heroes import get_text_hero
from levelcap.campaign.realm import realm
from levelcap.campaign.story import runs, skills
from levelcap.campaign.wheel import flywheel
from levelcap.campaign.wheel.control import control, switch
from levelcap.kit.db import reading, transaction
from levelcap.kit.files import append_jsonl
from levelcap.kit.paths import folder
from levelcap.services.arena.daemon import worker
from levelcap.vault.ledger import get_ledger

HERO = """
id: dio-tiny
name: DIO
kind: text
subtitle: dummy, from scratch
size: dummy
batch: 4
affinity: {bin: 1.0, sy: 0.5}
school_minutes: 0.02
round_minutes: 0.03
"""
FIRST = 100_000  # updates, beyond those of the real rounds
LEVELS = 4
MOST = 14


def main() -> None:
    """Turns the wheel by hand."""
    own = folder("config") / "heroes"
    own.mkdir(parents=True)
    (own / "dio.yaml").write_text(HERO)
    with realm() as opened:
        switch(opened.store, "dio-tiny")
        crew, ledger = worker(opened), get_ledger(opened.engine)
        for _ in range(MOST):
            rows = ledger.list(hero="dio-tiny")
            if sum(row.val_loss is not None for row in rows) >= 2 and rows[0].skill_name == "bin":
                break
            flywheel.turn(opened.store)
            crew.run(max_jobs=1)
        control(opened.store, "pause")
        newest = ledger.list(hero="dio-tiny", limit=1)[0]
        with reading(opened.engine) as connection:
            run = runs.get(connection, newest.run)
        append_jsonl(runs.run_folder(run.id) / "events.jsonl", list(exams()))
        with transaction(opened.engine) as connection:
            skills.take_exams(connection, run, get_text_hero("dio-tiny"))


def exams():
    """Four levels passed, ever slower, then two evaluations on the way to the next."""
    update = FIRST
    for level in range(1, LEVELS + 1):
        for outcome in ("evaluated", "evaluated", "ready"):
            update += 25 * 4**level
            yield exam(update, level, "evaluation", outcome, 0.86)
        yield exam(update, level, "confirmation", "level_up", 0.83)
        yield {"event": "level_up", "update": update, "level": level + 1, "mastered": level < 3}
    for accuracy in (0.55, 0.61):
        update += 25 * 4**LEVELS
        yield exam(update, LEVELS + 1, "evaluation", "evaluated", accuracy)


def exam(update, level, kind, outcome, accuracy):
    count = 200 if kind == "confirmation" else 96
    right = round(accuracy * 40)
    return {
        "event": kind,
        "level": level,
        "outcome": outcome,
        "accuracy": accuracy,
        "count": count,
        "update": update,
        "core_seconds": (update - FIRST) / 50,
        "seconds": 1.0,
        "by_form": {
            "easy": [right, 40],
            "medium": [right - 4, 36],
            "hard": [6, 12],
            "expert": [2, 8],
        },
        "by_operation": {"add": [right, 40]},
        "by_primitive": {
            "add_no_carry": [right, 40],
            "add_with_carry": [20, 40],
            "sub_no_borrow": [2, 2],
        },
    }


if __name__ == "__main__":
    main()
