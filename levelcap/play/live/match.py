"""One match played while somebody watches or takes part; no torch.

    match = Live("duel", [bot("master"), bot("rookie")], seats=[0, 1], seed=7)
    send(match.header())
    while not match.over:
        for message in match.decide():      # ten times a second at normal speed
            send(message)
    match.recorder.save(path)

Everybody is asked at their own rate (a net: as its description says, so as it was trained), on the
grid that all these rates share; its replay and its records are like any other match's.
What happens between two decisions follows from the first of them: those ticks are played again on
a second world, for the eyes only, and sent ahead of the time at which they are to be shown.
"""

from __future__ import annotations

import math
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import NDArray

from levelcap.coach.orders import ORDERS
from levelcap.kit.errors import BadValue, refuse
from levelcap.play.live.person import Person
from levelcap.play.orders import STANDS_S
from levelcap.play.seats import Seats, views_of
from levelcap.play.show import frames
from levelcap.play.show.feed import fallen
from levelcap.play.show.mind import MindReader, mind_records
from levelcap.world.draw.scoreboard import read_scoreboard
from levelcap.world.match import ArenaWorld
from levelcap.world.protocols import Policy, ticks_of
from levelcap.world.replay import Recorder, Replay
from levelcap.world.rules.state import State
from levelcap.world.spec import FLAT_VIEWS, arena_spec


@dataclass(frozen=True)
class Entrant:
    """Somebody who can take seats; kind is bot, net or person."""

    name: str
    kind: str
    policy: Policy


class Between:
    """The ticks inside a decision, played again one by one."""

    def __init__(self, world: ArenaWorld) -> None:
        self._ticks = world.decision_ticks
        self._world = ArenaWorld(
            world.spec.name,
            1,
            patch=world.patch,
            views=(),
            decision_ticks=1,
            seat_ticks=world.seat_ticks,
            auto_reset=False,
            threads=1,
        )

    def play(self, before: State, actions: NDArray[np.uint8]) -> Iterator[Any]:
        """The record of the match after each tick of a decision that began at `before`."""
        start = before.copy()
        start["decision"] *= self._ticks  # here a decision is a tick; who is due is the same
        self._world.restore(start)
        for _ in range(self._ticks):
            self._world.step(actions)
            yield self._world.state[0]
            if self._world.state["over"][0]:
                return


class Scene:
    """A match as messages: shared by a live one and a replay."""

    def __init__(
        self,
        world: ArenaWorld,
        names: Sequence[str],
        kinds: Sequence[str],
        orders: Sequence[bool] = (),
    ) -> None:
        """orders: who takes any."""
        self.world, self.names, self.kinds, self.orders = world, names, kinds, orders
        self.tally = np.zeros((world.rules.num_players, 2), np.int64)
        self._between = Between(world)
        self._last = world.state[0].copy()

    def header(self, **more: Any) -> bytes:
        """The first message."""
        takes = [seat for seat, ready in enumerate(self.orders) if ready]
        told = {"orders": list(ORDERS), "takes_orders": takes}
        return frames.header(self.world, self.names, self.kinds, **told, **more)

    def now(self, **shown: Any) -> bytes:
        """The state at this moment."""
        return frames.state(self.world, self.world.state[0], tally=self.tally, **shown)

    def decision(
        self, before: State, actions: NDArray[np.uint8], every: int, **shown: Any
    ) -> Iterator[bytes]:
        """Notes and states of the decision that led from `before` to the world's present state.

        every: a state is sent at ticks that this number divides, and at the end.
        """
        final = self.world.state[0]
        ticks = (
            self._between.play(before, actions) if every < self.world.decision_ticks else iter(())
        )
        for g in ticks:
            if int(g["tick"]) < int(final["tick"]):
                yield from self._moment(g, every, shown)
        yield from self._moment(final, every, shown)
        if final["over"]:
            yield frames.message(frames.KIND_NOTE, self.result())

    def _moment(self, g: Any, every: int, shown: dict[str, Any]) -> Iterator[bytes]:
        for note in fallen(self.world.rules, self._last, g):
            self.tally[note["victim"], 1] += 1
            if note["killer"] >= 0:
                self.tally[note["killer"], 0] += 1
            yield frames.message(frames.KIND_NOTE, note)
        self._last = g.copy()
        if int(g["tick"]) % every == 0 or g["over"]:
            yield frames.state(self.world, g, tally=self.tally, **shown)

    def result(self) -> dict[str, Any]:
        """How it ended, in numbers and words."""
        board = read_scoreboard(self.world)
        return {
            "type": "result",
            "tick": int(self.world.state["tick"][0]),
            "winner": board.winner,
            "headline": board.headline,
            "reason": board.reason,
            "seconds": round(board.seconds, 2),
            "tally": self.tally.tolist(),
        }


class Live:
    """A match that is played now; see the module's text."""

    def __init__(
        self,
        ruleset: str,
        entrants: Sequence[Entrant],
        seats: Sequence[int],
        *,
        seed: int = 0,
        patch: str | dict[str, Any] = "1.0",
        champions: str | tuple[str, ...] | None = None,
    ) -> None:
        """seats: which entrant plays each seat. seed: of the match itself."""
        policies = [entrant.policy for entrant in entrants]
        _check_seats(ruleset, entrants, seats)
        rate = arena_spec(ruleset).tick_hz
        ticks = [ticks_of(entrants[index].policy, rate) for index in seats]
        shown = tuple(dict.fromkeys((*views_of(policies), *FLAT_VIEWS)))
        self.world = ArenaWorld(
            ruleset,
            1,
            patch=patch,
            views=shown,
            champions=champions,
            auto_reset=False,
            match_seeds=[seed],
            threads=1,
            decision_ticks=math.gcd(*ticks),
            seat_ticks=ticks,
        )
        self.entrants, self.seats = list(entrants), list(seats)
        self.person: Person | None = None
        self.person_seat: int | None = None
        self._find_person()
        self.views = self.world.reset()
        self._due: NDArray[np.bool_] | None = None
        # A single match is not worth a hand-over between threads.
        self._table = Seats(self.world, policies, np.array([self.seats]), threads=False, minds=True)
        self._reader = MindReader(self._table)
        self._minds: NDArray[Any] | None = None
        self._standing: dict[int, tuple[str, int]] = {}  # seat: order, decision of its next renewal
        played = [self.entrants[index] for index in self.seats]
        hashes = [(entrant.name, entrant.policy.content_hash) for entrant in played]
        self.recorder = Recorder(self.world, policies=hashes)
        orders = [bool(entrant.policy.orders) for entrant in played]
        self.scene = Scene(self.world, [e.name for e in played], [e.kind for e in played], orders)
        self.last: dict[str, Any] = {}

    @property
    def over(self) -> bool:
        """Has it ended?"""
        return bool(self.world.state["over"][0])

    @property
    def decisions(self) -> int:
        """Decisions played so far."""
        return int(self.world.state["decision"][0])

    def header(self, **more: Any) -> bytes:
        """The first message; `you` is the person's seat."""
        return self.scene.header(you=self.person_seat, **more)

    def now(self) -> bytes:
        """The state at this moment."""
        return self.scene.now(**self._shown())

    def decide(self, every: int = 2) -> list[bytes]:
        """Play one decision; returns the messages about it. every: see `Scene.decision`."""
        before = self.world.state.copy()
        self._renew()
        actions = self._table.act(self.views, self._due)
        kept = self._reader.read()
        if kept:
            kept["order"] = np.zeros(self.world.rules.num_players, np.uint8)
            for seat, (name, _) in self._standing.items():
                kept["order"][seat] = 1 + list(ORDERS).index(name)
        self._minds = mind_records(kept, self.views["objects"][0], self.world.rules, before[0])
        outcome = self.world.step(actions)
        self.views = outcome[0]
        info = outcome[4]
        self._due = info["due"].copy()
        self.last = {
            "actions": info["actions"],
            "rewards": outcome[1],
            "terminated": outcome[2],
            "truncated": outcome[3],
            "active": info["active"],
            "intents": self._table.intents,
        }
        mind = {"value": self._table.values[0], "intent": self._table.intents[0].astype(np.int32)}
        mind |= kept
        self.recorder.record(info, mind)
        return list(self.scene.decision(before, info["actions"], every, **self._shown()))

    def check_order(self, seat: int, name: str | None) -> None:
        """Can the player in this seat be told that?

        Raises:
            BadValue: no such seat, or its player takes no such order.
        """
        if not 0 <= seat < len(self.seats):
            remedy = f"Name one of {len(self.seats)} seats, from 0"
            raise BadValue(refuse("no such seat", seat, remedy))
        orders = self.entrants[self.seats[seat]].policy.orders
        if name is not None and name not in orders:
            known = ", ".join(orders) or "none; learn them with levelcap orders"
            raise BadValue(refuse("this player takes no such order", name, f"It knows {known}"))

    def order(self, seat: int, name: str | None) -> None:
        """Give the player in a seat a standing order; None: at ease. Raises as `check_order`."""
        self.check_order(seat, name)
        self._tell(seat, name)
        self._standing.pop(seat, None)
        if name is not None:
            self._standing[seat] = (name, self.decisions + self._stands)

    @property
    def _stands(self) -> int:
        """Decisions of the grid for which an order counts."""
        return round(STANDS_S * self.world.spec.tick_hz / self.world.decision_ticks)

    def _renew(self) -> None:
        for seat, (name, due) in self._standing.items():
            if self.decisions >= due:
                self._tell(seat, name)
                self._standing[seat] = (name, due + self._stands)

    def _tell(self, seat: int, name: str | None) -> None:
        index = self.seats[seat]
        row = int(np.flatnonzero(self._table.rows[index] == seat)[0])
        self.entrants[index].policy.order(self._table.states[index], row, name, STANDS_S)

    def _shown(self) -> dict[str, Any]:
        person = self.person
        return {
            "values": self._table.values[0],
            "intents": self._table.intents[0],
            "minds": self._minds,
            "ack": person.ack if person else 0,
            "idle": bool(person and person.idle),
        }

    def _find_person(self) -> None:
        for seat, index in enumerate(self.seats):
            policy = self.entrants[index].policy
            if isinstance(policy, Person):
                rules = self.world.rules
                turned = rules.num_teams == 2 and seat >= rules.team_size
                policy.seat(-1.0 if turned else 1.0)
                self.person, self.person_seat = policy, seat


def _check_seats(ruleset: str, entrants: Sequence[Entrant], seats: Sequence[int]) -> None:
    players = arena_spec(ruleset).num_players
    if len(seats) != players:
        raise BadValue(refuse(f"{ruleset} has {players} seats", len(seats), "Fill each of them"))
    people = sum(isinstance(entrants[index].policy, Person) for index in seats)
    if people > 1:
        raise BadValue(refuse("one person can play in a match", people, "Give one seat"))


def replay_messages(replay: Replay, every: int = 2, **more: Any) -> Iterator[bytes]:
    """A recorded match as the messages of a live one; every hash is compared on the way.

    Raises:
        Corrupt: the match comes out differently.
    """
    head = replay.header
    names = [head["policies"][index]["name"] for index in head["seats"]]
    names += [""] * (head["players"] - len(names))
    values, intents = replay.mind.get("value"), replay.mind.get("intent")
    scene: Scene | None = None
    before: State | None = None
    objects: NDArray[Any] | None = None
    for decision, world in enumerate(replay.play(("features", "objects"))):
        if scene is None:
            kinds = [_kind(name, seat, values) for seat, name in enumerate(names)]
            scene = Scene(world, names, kinds)
            yield scene.header(decisions=head["decisions"], ended=head["result"]["ended"], **more)
            yield scene.now()
        else:
            assert before is not None and objects is not None
            kept = {name: rows[decision - 1] for name, rows in replay.mind.items()}
            shown = {
                "minds": mind_records(kept, objects, world.rules, before[0]),
                "values": None if values is None else values[decision - 1],
                "intents": None if intents is None else intents[decision - 1],
            }
            yield from scene.decision(before, replay.actions[decision - 1][None], every, **shown)
        before, objects = world.state.copy(), world.buffers.objects[0].copy()


def _kind(name: str, seat: int, values: NDArray[Any] | None) -> str:
    if name.startswith("person"):
        return "person"
    has_value = values is not None and values.ndim == 2 and bool(np.isfinite(values[:, seat]).any())
    return "net" if has_value else "bot"
