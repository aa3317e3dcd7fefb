"""Replay files (`.lcr`): a match as its seed and its actions.

    recorder = Recorder(world, match=0, policies=[("rookie", sha_a), ("master", sha_b)])
    ... views, rewards, terminated, truncated, info = world.step(actions)
        recorder.record(info)
    recorder.save(path)
    for world in load(path).play():   # a fresh world of one match, at every decision
        ...

A file is one line of JSON (the header), then the zlib of uint8 [T, P, heads], then, when the
header names any, the zlib of the mind channel: further arrays [T, ...] one after the other, such
as intents or values, shown beside a match and never read by the rules. The header carries a hash
of the match's state every 100 decisions, so a replay that comes out differently says where.
A shipped patch goes by name and hash, any other is embedded.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from pathlib import Path
from typing import TYPE_CHECKING, Any

import numpy as np
from numpy.typing import ArrayLike, NDArray

from levelcap.kit.errors import BadFile, BadValue, Corrupt, refuse
from levelcap.kit.files import write_bytes
from levelcap.world.replay_file import AGAIN, FORMAT, MIND_TYPES, pack, unpack
from levelcap.world.rules.patches import champion_names, load_patch, patch_hash, patch_names
from levelcap.world.spec import HEADS, WORLD_VERSION, world_name

if TYPE_CHECKING:
    from levelcap.world.match import ArenaWorld

HASH_EVERY = 100
MAX_FILE_BYTES = 1 << 28


@dataclass(frozen=True)
class Replay:
    """A recorded match: header (`replay_file.HEADER`), actions [T, P, heads], mind [T, …]."""

    header: dict[str, Any]
    actions: NDArray[np.uint8]
    mind: dict[str, NDArray[Any]] = field(default_factory=dict)

    def world(self, views: tuple[str, ...] = ("features",)) -> ArenaWorld:
        """A world of this one match, before its first decision (call `reset`)."""
        from levelcap.world.match import ArenaWorld

        head = self.header
        patch = head["patch"]["content"] or head["patch"]["name"]
        return ArenaWorld(
            world_name(head["ruleset"], head["tick_hz"]),
            1,
            patch=patch,
            views=views,
            decision_ticks=head["decision_ticks"],
            seat_ticks=head["seat_ticks"],
            champions=tuple(head["champions"]),
            auto_reset=False,
            match_seeds=[head["match_seed"]],
            threads=1,
        )

    def play(self, views: tuple[str, ...] = ("features",)) -> Iterator[ArenaWorld]:
        """Play the match again; yields its world at the start and after every decision.

        Raises:
            Corrupt: the match comes out differently; the message names the decisions.
        """
        world = self.world(views)
        world.reset()
        self._compare(world, 0)
        yield world
        for decision, row in enumerate(self.actions, start=1):
            *_, info = world.step(row[None])
            over = bool(info["ended"][0])
            if over and decision < len(self.actions):
                what = f"the match ends after {decision} of {len(self.actions)} decisions"
                raise Corrupt(refuse(what, self._name(), AGAIN))
            if decision % HASH_EVERY == 0:
                self._compare(world, decision)
            if decision == len(self.actions):
                self._compare_result(world, over)
            yield world

    def check(self) -> int:
        """Play the match to its end, comparing everything; returns the number of decisions."""
        for _ in self.play():
            pass
        return len(self.actions)

    def save(self, path: Path) -> Path:
        """Write the file atomically; returns its path."""
        write_bytes(path, pack(self.header, self.actions, self.mind))
        return path

    def _name(self) -> str:
        return f"{self.header['ruleset']} match {self.header['match_seed']}"

    def _compare(self, world: ArenaWorld, decision: int) -> None:
        place, hashes = decision // HASH_EVERY, self.header["hashes"]
        if place < len(hashes) and world.match_hash(0) != hashes[place]:
            if decision == 0:
                raise Corrupt(refuse("the match starts differently", self._name(), AGAIN))
            self._differs(decision - HASH_EVERY + 1, decision)

    def _compare_result(self, world: ArenaWorld, over: bool) -> None:
        result, last = self.header["result"], len(self.actions)
        final = result["hash"]
        if final is not None and world.match_hash(0) != final:
            self._differs((last - 1) // HASH_EVERY * HASH_EVERY + 1, last)
        winner = int(world.state["winner"][0]) if over else None
        if (over, winner) != (result["ended"], result["winner"]):
            what = f"the match ends with winner {winner}, recorded was {result['winner']}"
            raise Corrupt(refuse(what, self._name(), AGAIN))

    def _differs(self, first: int, last: int) -> None:
        what = f"the match differs from decision {first}–{last}"
        raise Corrupt(refuse(what, self._name(), AGAIN))


class Recorder:
    """Collects one match of a world, from its first decision to its end.

    Create it when the match is at its start (after `reset`, or when `views["reset"]` marks it),
    call `record(info)` after every `step`. Once the match has ended, `done` is True and further
    calls change nothing, although the world has gone on to the next match.
    """

    def __init__(
        self, world: ArenaWorld, match: int = 0, policies: Sequence[tuple[str, str]] = ()
    ) -> None:
        """policies: name and content hash of the policy in each seat, or of one for all."""
        players = world.spec.num_players
        if int(world.state["decision"][match]) != 0:
            at = int(world.state["decision"][match])
            remedy = "Create the recorder right after reset"
            raise BadValue(refuse("a recording starts with the match", f"decision {at}", remedy))
        given = list(policies) * (players if len(policies) == 1 else 1)
        if given and len(given) != players:
            remedy = f"Give none, one, or {players} pairs of name and hash"
            raise BadValue(refuse("policies do not fit the seats", len(given), remedy))
        self.world, self.match, self.done = world, match, False
        self._rows: list[NDArray[np.uint8]] = []
        self._mind: list[dict[str, NDArray[Any]]] = []
        self._hashes = [world.match_hash(match)]
        self._result: dict[str, Any] = {"ended": False, "winner": None, "hash": None}
        names = champion_names(world.patch)
        kinds = list(dict.fromkeys(given))
        self._start: dict[str, Any] = {
            "format": FORMAT,
            "world_version": WORLD_VERSION,
            "patch": describe_patch(world.patch),
            "ruleset": world.ruleset,
            "tick_hz": world.spec.tick_hz,
            "match_seed": int(world.state["seed"][match]),
            "champions": [names[c] for c in world.state["champion"][match].tolist()],
            "decision_ticks": world.decision_ticks,
            "seat_ticks": world.seat_ticks.tolist(),
            "policies": [{"name": name, "sha256": digest} for name, digest in kinds],
            "seats": [kinds.index(pair) for pair in given],
        }

    def record(self, info: Mapping[str, Any], mind: Mapping[str, ArrayLike] | None = None) -> bool:
        """Take in one decision; returns True while the match goes on.

        info: what `step` returned. mind: arrays to keep beside this decision (the same names and
        shapes every time), of a type in `MIND_TYPES`.
        """
        if self.done:
            return False
        self._rows.append(info["actions"][self.match].copy())
        self._mind.append(_mind_row(mind or {}, self._mind[0] if self._mind else None))
        decisions = int(info["length"][self.match])
        if decisions != len(self._rows):
            what = f"recorded {len(self._rows)} decisions of a match that has {decisions}"
            raise BadValue(refuse(what, self.match, "Call record() after every step"))
        if info["ended"][self.match]:
            self._finish(info)
        elif decisions % HASH_EVERY == 0:
            self._hashes.append(self.world.match_hash(self.match))
        return not self.done

    def replay(self) -> Replay:
        """What was recorded so far."""
        world = self.world
        shape = (len(self._rows), world.spec.num_players, len(HEADS))
        actions = np.array(self._rows, np.uint8).reshape(shape)
        mind = {n: np.stack([row[n] for row in self._mind]) for n in (self._mind or [{}])[0]}
        header = {
            **self._start,
            "decisions": shape[0],
            "players": shape[1],
            "heads": shape[2],
            "result": dict(self._result),
            "hashes": list(self._hashes),
            "mind": [
                {"name": n, "dtype": a.dtype.name, "shape": list(a.shape[1:])}
                for n, a in mind.items()
            ],
            "checksum": "",
        }
        return Replay(header, actions, mind)

    def save(self, path: Path) -> Path:
        """Write what was recorded to `path`, atomically; returns the path."""
        return self.replay().save(path)

    def _finish(self, info: Mapping[str, Any]) -> None:
        self.done = True
        rows = info["final_rows"]
        cut = rows is not None and (rows[:, 0] == self.match).any()
        if not cut:
            self._result.update(ended=True, winner=int(info["winner"][self.match]))
        if int(self.world.state["decision"][self.match]) == len(self._rows):  # not yet restarted
            self._result["hash"] = self.world.match_hash(self.match)


def load(path: Path) -> Replay:
    """Read a replay file.

    Raises:
        BadFile: no replay, or one of another world version or an unknown patch.
        Corrupt: a replay whose bytes are not those that were written.
    """
    try:
        if path.stat().st_size > MAX_FILE_BYTES:
            what = f"a replay has at most {MAX_FILE_BYTES} bytes"
            raise BadFile(refuse(what, str(path), "Give a replay file"))
        data = path.read_bytes()
    except OSError as error:
        what = f"cannot read the replay ({error.strerror})"
        raise BadFile(refuse(what, str(path), "Check the file's name")) from error
    return Replay(*unpack(data, str(path)))


def describe_patch(patch: dict[str, Any]) -> dict[str, Any]:
    """Name, sha256 and, unless it is a shipped one, content of a patch."""
    digest = patch_hash(patch)
    name = patch["name"]
    shipped = name in patch_names() and patch_hash(load_patch(name)) == digest
    return {"name": name, "sha256": digest, "content": None if shipped else patch}


def _mind_row(
    mind: Mapping[str, ArrayLike], first: Mapping[str, NDArray[Any]] | None
) -> dict[str, NDArray[Any]]:
    row = {name: np.array(value) for name, value in mind.items()}
    for name, array in row.items():
        if array.dtype.name not in MIND_TYPES:
            remedy = f"Give one of {', '.join(MIND_TYPES)}"
            raise BadValue(
                refuse(f"mind array {name} of the wrong dtype", array.dtype.name, remedy)
            )
    if first is not None:
        now = {n: (a.dtype, a.shape) for n, a in row.items()}
        if now != {n: (a.dtype, a.shape) for n, a in first.items()}:
            remedy = "Give the same names, types and shapes at every decision"
            raise BadValue(refuse("the mind channel has changed its arrays", sorted(row), remedy))
    return row
