"""A hero that imitates a person takes over the person's habits."""

import numpy as np

from levelcap.learn.engine.config import EngineConfig
from levelcap.learn.engine.stops import Stops
from levelcap.learn.imitation.config import ImitationConfig
from levelcap.learn.imitation.run import Request, imitate
from levelcap.nets.family import describe, new_net
from levelcap.play.live.match import Entrant, Live
from levelcap.play.live.person import FIRE, Input, Person
from levelcap.play.load import NetPolicy, load_checkpoint
from levelcap.play.record.diary import Diary
from levelcap.play.roster import find
from levelcap.world.spec import arena_spec

UP, CENTRE = 10, 5


def played(seed, folder):
    """One match of somebody who only ever walks up and fires to the right; recorded."""
    person = Person("person-ann")
    entrants = [Entrant("person-ann", "person", person), Entrant("rookie", "bot", find("rookie"))]
    match = Live("duel", entrants, [0, 1], seed=seed)
    diary, number = Diary(match), 0
    while not match.over:
        number += 1
        person.hear(Input(number, FIRE if number % 2 else 0, 0, 0.0, 1.0, 1.0, 0.0))
        diary.look()
        match.decide(every=3)
        diary.note()
    diary.write(folder)
    return folder


def habit(policy):
    """Share of its decisions that walk straight up, in three matches it has never seen."""
    rows = []
    for seed in (101, 102, 103):
        entrants = [Entrant("net", "net", policy), Entrant("rookie", "bot", find("rookie"))]
        match = Live("duel", entrants, [0, 1], seed=seed)
        while not match.over:
            match.decide(every=3)
            rows.append(match.last["actions"][0, 0].copy())
    actions = np.array(rows)
    return float(((actions[:, 0] == CENTRE) & (actions[:, 1] == UP)).mean())


def test_after_three_recorded_matches_the_hero_shows_the_habit(tmp_path):
    shards = tuple(played(seed, tmp_path / f"match-{seed}") for seed in (1, 2, 3))
    meta = describe("flat", arena_spec("duel"), "slim")
    before = habit(NetPolicy(new_net(meta, 0), meta, "untrained"))
    config = ImitationConfig(batch_size=256, validation=0.0, engine=EngineConfig(lr=3e-3, ema=0.9))
    request = Request("duel", shards, tmp_path / "run", ("person-ann",))
    done = imitate(request, config, Stops(updates=160))
    after = habit(load_checkpoint(done.outcome.snapshot))
    agreement = done.training["accuracy_move_y"]
    print(f"habit {before:.1%} -> {after:.1%}, agreement with the recording {agreement:.1%}")
    assert before < 0.1 and after > 0.7 and agreement > 0.95
