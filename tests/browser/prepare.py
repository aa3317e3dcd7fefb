"""Makes a small realm with real checkpoints under $LEVELCAP_HOME.

A tiny net is recorded for, imitated and reinforced twice by a real worker, each snapshot is judged
in forty games a bot, then training is paused.
"""

from levelcap.campaign import flywheel
from levelcap.campaign.control import control
from levelcap.campaign.curves import roll_up
from levelcap.campaign.realm import realm
from levelcap.kit.paths import folder
from levelcap.services.arena.daemon import worker
from levelcap.vault.ledger import get_ledger

HERO = """
id: kestrel
name: Kestrel
kind: arena
size: dummy
demo_games: 20
imitation_minutes: 0.02
round_minutes: 0.02
late_round_minutes: 30
late_after_rounds: {late}
"""
ROWS = 3  # of imitation and of two rounds; on a busy machine a round may be too short for one
MOST = 12


def main() -> None:
    """Turns the wheel by hand."""
    own = folder("config") / "heroes"
    own.mkdir(parents=True)
    (own / "kestrel.yaml").write_text(HERO.format(late=MOST))
    with realm() as opened:
        flywheel.begin(opened.store)
        crew = worker(opened)
        for _ in range(MOST):
            if get_ledger(opened.engine).count() >= ROWS:
                break
            flywheel.turn(opened.store)
            for job in opened.store.list("queued", "eval"):
                opened.store.cancel(job.id)
            crew.run(max_jobs=1)
        for job in opened.store.list("queued", "eval"):
            opened.store.cancel(job.id)
        rows = get_ledger(opened.engine).list()
        for row in rows:
            opened.store.submit("eval", {"checkpoint": row.id, "games": 40, "seed": 0})
        crew.run(max_jobs=len(rows))
        control(opened.store, "pause")
        (own / "kestrel.yaml").write_text(HERO.format(late=1))  # the next round is a long one
        flywheel.turn(opened.store)
        roll_up(opened.engine)


if __name__ == "__main__":
    main()
