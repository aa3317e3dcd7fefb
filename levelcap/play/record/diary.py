"""A person's seat of one live match as a shard of the lake, written only with their consent.

    diary = Diary(match)
    while not match.over:
        diary.look()
        match.decide()
        diary.note()
    diary.write(folder)

Nobody knows how likely a person's actions were: the log-probability is missing in the file.
"""

from __future__ import annotations

from pathlib import Path

import numpy as np

import levelcap
from levelcap.lake.gather import Facts, Gather
from levelcap.lake.header import STORED, Header, header_of
from levelcap.lake.write import ShardWriter, write_shard
from levelcap.play.live.match import Live
from levelcap.world.replay import describe_patch
from levelcap.world.rules.patches import champion_names
from levelcap.world.spec import FLAT_VIEWS


class Diary:
    """Collects what the person saw and did."""

    def __init__(self, match: Live) -> None:
        assert match.person_seat is not None, "a diary is kept for a person"
        self.match = match
        self._wanted = np.zeros((1, match.world.spec.num_players), np.bool_)
        self._wanted[0, match.person_seat] = True
        self._active = match.views["alive"].copy()
        self._gather = Gather(self._header(), self._wanted)
        champions = match.world.state["champion"]
        self._champions = np.array(champion_names(match.world.patch))[champions]
        self._unknown = np.full(self._wanted.shape, np.nan, np.float32)

    @property
    def steps(self) -> int:
        """Decisions collected."""
        return self._gather.num_steps

    def look(self) -> None:
        """Before a decision."""
        self._gather.look(self.match.views, self._active)

    def note(self) -> None:
        """After it."""
        last = self.match.last
        columns = {k: last[k] for k in ("actions", "rewards", "terminated", "truncated", "intents")}
        self._gather.note(log_probs=self._unknown, **columns)
        self._active = last["active"].copy()

    def write(self, folder: Path) -> Header:
        """Publish what was collected as a new shard.

        Raises:
            Conflict: the folder exists. BadValue: nothing was collected.
        """
        world, match = self.match.world, self.match
        size = world.rules.team_size
        facts = Facts(
            match_seed=world.state["seed"].copy(),
            winner=world.state["winner"].astype(np.int64),
            team=np.arange(world.spec.num_players) // size,
            policy=np.array([match.seats]),
            champion=self._champions,
            kept=self._wanted,
        )

        def fill(writer: ShardWriter) -> None:
            for steps, episodes in self._gather.blocks(facts):
                writer.add(steps, episodes)

        return write_shard(folder, self._header(), fill)

    def _header(self) -> Header:
        world, match = self.match.world, self.match
        described = [
            {"name": entrant.name, "hash": entrant.policy.content_hash, "log_probs": False}
            for entrant in match.entrants
        ]
        patch = describe_patch(world.patch)
        config = {
            "world": world.spec.name,
            "match_seed": str(int(world.state["seed"][0])),
            "policies": described,
            "seats": match.seats,
            "patch": patch["sha256"],
        }
        return header_of(
            world.spec,
            FLAT_VIEWS,
            patch=patch,
            views=STORED,
            decision_ticks=world.decision_ticks,
            champions=None,
            policies=described,
            made_by=f"levelcap {levelcap.__version__} live match",
            source="person",
            config=config,
            parents=[f"policy {p['name']} {p['hash']}" for p in described],
        )
