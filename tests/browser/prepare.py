"""Makes a small realm with real checkpoints under $LEVELCAP_HOME.

    python -m tests.browser.prepare [size minutes]

A tiny net is recorded for, imitated and reinforced twice by a real worker, each snapshot is judged
in forty games a bot, then training is paused. minutes: of the imitation and of every round.
"""

import sys

from levelcap.campaign.realm import realm
from levelcap.campaign.story.curves import roll_up
from levelcap.campaign.wheel import flywheel
from levelcap.campaign.wheel.control import control
from levelcap.campaign.work.desk import enter
from levelcap.campaign.work.recipes import read_recipe
from levelcap.kit.paths import folder
from levelcap.services.arena.daemon import worker
from levelcap.vault.ledger import get_ledger

HERO = """
id: kestrel
name: Kestrel
kind: arena
size: {size}
demo_games: {games}
imitation_minutes: {minutes}
round_minutes: {minutes}
late_round_minutes: 30
late_after_rounds: {late}
"""
ROWS = 3  # of imitation and of two rounds; on a busy machine a round may be too short for one
MOST = 12
SEASON = {"turn_s": "1", "turn_updates": "2", "rated_games": "4", "cousins": "0"}
SMALL = {"lanes": "16", "unroll": "24", "minibatches": "2", "value_warmup": "0"}


def play_season(opened, crew, start, campaign):
    """A season of a few short turns, for /league."""
    recipe = {"quest": "league", "from": start, "minutes": 0.1, "set": SEASON, "learning": SMALL}
    enter(opened.store, campaign, read_recipe(recipe), source="person")
    crew.run(max_jobs=1)
    for job in opened.store.list("queued", "eval"):
        opened.store.cancel(job.id)


def main(size: str = "dummy", minutes: float = 0.02) -> None:
    """Turns the wheel by hand."""
    games = 20 if size == "dummy" else 200
    own = folder("config") / "heroes"
    own.mkdir(parents=True)
    (own / "kestrel.yaml").write_text(
        HERO.format(late=MOST, size=size, minutes=minutes, games=games)
    )
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
        rows = get_ledger(opened.engine).list(limit=ROWS + 2)
        for row in rows:
            opened.store.submit("eval", {"checkpoint": row.id, "games": 40, "seed": 0})
        crew.run(max_jobs=len(rows))
        play_season(opened, crew, rows[0].id, rows[0].campaign)
        control(opened.store, "pause")
        (own / "kestrel.yaml").write_text(
            HERO.format(late=1, size=size, minutes=minutes, games=games)
        )  # the next round is a long one
        flywheel.turn(opened.store)
        roll_up(opened.engine)


if __name__ == "__main__":
    main(*([sys.argv[1], float(sys.argv[2])] if sys.argv[1:] else []))
