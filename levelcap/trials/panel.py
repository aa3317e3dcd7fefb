"""The sealed panel: strength counts against opponents that no training run can have met.

    found = judge(policy, "duel", seed=0)
    found.sealed["veteran"].win_rate, found.trained["veteran"], found.differences["veteran"]

The panel is drawn when it is needed: 20 cousins of each of rookie, veteran and master with seeds
from `SEALED_FROM` on, and in duel the seers, which read the true state. `levelcap.play.roster`
refuses to load these names for training. The bots that training may use stand in a second column.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass, field
from typing import Any

import numpy as np
from numpy.typing import NDArray

from levelcap.kit.backend import Backend
from levelcap.kit.errors import BadValue, refuse, unknown_name
from levelcap.kit.seeds import chain, check_seed, stream
from levelcap.kit.stats import grouped_interval, newcombe, paired_interval
from levelcap.play.matchup import play_batch, play_games, scores_of, seats_of_game
from levelcap.play.roster import find
from levelcap.play.units import Seating, play_all, play_series
from levelcap.trials.ratings import Games, Ratings, rate
from levelcap.world.players.bot_names import BOTS, SEALED_FROM, SEERS
from levelcap.world.spec import WORLDS, arena_spec

BASES = ("rookie", "veteran", "master")
COUSINS = 20
LADDER_GAMES = 400
_SEEDS_END = 1_000_000_000  # cousin seeds of the panel lie in [SEALED_FROM, this)
_PURPOSES = ("cousins", "bots", "seers", "ladder", "one among")
Progress = Callable[[int, int, str], None]


@dataclass(frozen=True)
class Panel:
    """Names of sealed opponents, by the bot they are cousins of, and the seers."""

    ruleset: str
    seed: int
    cousins: dict[str, tuple[str, ...]]
    seers: tuple[str, ...]

    @property
    def names(self) -> tuple[str, ...]:
        """Everybody on the panel."""
        return (*(name for names in self.cousins.values() for name in names), *self.seers)


@dataclass(frozen=True)
class Record:
    """Games against one opponent or one group of them, from the judged policy's side."""

    scores: NDArray[np.float64] = field(repr=False)
    low: float
    high: float

    @property
    def win_rate(self) -> float:
        """(wins + draws / 2) / games."""
        return float(self.scores.mean())

    def as_json(self) -> dict[str, float | int]:
        """The numbers of a row."""
        return {
            "win_rate": round(self.win_rate, 6),
            "low": round(self.low, 6),
            "high": round(self.high, 6),
            "wins": int((self.scores == 1).sum()),
            "draws": int((self.scores == 0.5).sum()),
            "losses": int((self.scores == 0).sum()),
            "games": len(self.scores),
        }


@dataclass(frozen=True)
class Judgement:
    """How strong a policy is: the sealed panel first, the bots of training second."""

    name: str
    ruleset: str
    seed: int
    sealed: dict[str, Record]  # by base: its 20 cousins together
    seers: dict[str, Record]
    trained: dict[str, Record]  # by bot
    differences: dict[str, tuple[float, float, float]]  # sealed - trained with its interval
    one_among: dict[str, Record]  # lms: one seat among nine
    games: tuple[Games, ...]  # against the bots, what its Elo is made of
    ladder: tuple[Games, ...]  # of the bots among themselves, which link it to the anchor
    ratings: Ratings

    def elo(self) -> tuple[float, float, float]:
        """Elo and its 95 % interval."""
        return (self.ratings.elo(self.name), *self.ratings.interval(self.name))

    def as_json(self) -> dict[str, Any]:
        """The whole judgement as plain numbers."""
        tables = ("sealed", "seers", "trained", "one_among")
        rows = {
            table: {name: record.as_json() for name, record in getattr(self, table).items()}
            for table in tables
        }
        gaps = {
            base: {"points": round(gap, 6), "low": round(low, 6), "high": round(high, 6)}
            for base, (gap, low, high) in self.differences.items()
        }
        head = {"name": self.name, "ruleset": self.ruleset, "seed": self.seed}
        elo = self.ratings.as_json()["players"][self.name]
        return {**head, **rows, "differences": gaps, "elo": elo, "ratings": self.ratings.as_json()}


def draw_panel(ruleset: str, seed: int = 0) -> Panel:
    """The panel of an evaluation: the same for the same ruleset and seed, another for another."""
    if ruleset not in WORLDS:
        raise unknown_name("ruleset", ruleset, WORLDS)
    check_seed(seed)
    rng = stream(seed, f"sealed panel of {ruleset}")
    cousins = {}
    for base in BASES:
        drawn: dict[int, None] = {}  # distinct, in the order drawn
        while len(drawn) < COUSINS:
            drawn[int(rng.integers(SEALED_FROM, _SEEDS_END))] = None
        cousins[base] = tuple(f"{base}~{number}" for number in drawn)
    seers = tuple(f"seer-{k}" for k in SEERS) if arena_spec(ruleset).ruleset == "duel" else ()
    return Panel(ruleset, seed, cousins, seers)


def judge(
    policy: Any,
    ruleset: str,
    *,
    seed: int = 0,
    games_per_cousin: int = 50,
    bot_games: int = 1000,
    seer_games: int = 200,
    seers: bool = False,
    one_among: bool = False,
    on_progress: Progress | None = None,
    name: str = "hero",
    ladder: Sequence[Games] | None = None,
    backend: Backend | None = None,
) -> Judgement:
    """Let a policy play the panel and the bots of training.

    seed: draws the panel and all matches; two policies judged with one seed meet the same ones.
    seers (duel), one_among (lms): play these too. on_progress: told (games done, games in all,
    what comes next and the score so far). name: its name in the ratings. ladder: games of the bots
    among themselves that link them to the anchor (`bot_ladder`), played here when not given.
    backend: plays the games in units; the policy is then given by its name or folder.
    """
    panel = draw_panel(ruleset, seed)
    _check(panel, games_per_cousin, bot_games, seer_games, seers, one_among)
    name = _own_name(name)
    steps: list[tuple[str, str, int]] = [("cousins", b, COUSINS * games_per_cousin) for b in BASES]
    steps += [("seers", seer, seer_games) for seer in panel.seers] if seers else []
    steps += [("bots", bot, bot_games) for bot in BASES]
    steps += [("one among", bot, bot_games) for bot in BASES] if one_among else []
    total, done, points = sum(games for *_, games in steps), 0, 0.0
    found: dict[str, dict[str, Record]] = {purpose: {} for purpose in _PURPOSES}
    for purpose, who, games in steps:
        if on_progress:
            on_progress(done, total, f"{purpose} {who}{_so_far(points, done)}")
        from_seed = match_seeds(seed, purpose, who)
        if purpose == "cousins":
            record = against_cousins(policy, ruleset, panel.cousins[who], games, from_seed, backend)
        elif backend is not None and purpose != "one among":
            scores = play_series(backend, policy, who, ruleset, games, from_seed)
            record = Record(scores, *paired_interval(scores))
        else:
            alone = purpose == "one among"
            result = play_games(policy, find(who), ruleset, games, from_seed, one_among=alone)
            record = Record(result.scores, result.ci_low, result.ci_high)
        found[purpose][who] = record
        done, points = done + games, points + float(record.scores.sum())
    if on_progress:
        on_progress(done, total, f"ratings{_so_far(points, done)}")
    own = tuple(Games(name, bot, found["bots"][bot].scores) for bot in BASES)
    if ladder is None:
        ladder = bot_ladder(ruleset, seed, min(LADDER_GAMES, bot_games))
    return Judgement(
        name=name,
        ruleset=ruleset,
        seed=seed,
        sealed=found["cousins"],
        seers=found["seers"],
        trained=found["bots"],
        differences={b: difference(found["cousins"][b], found["bots"][b]) for b in BASES},
        one_among=found["one among"],
        games=own,
        ladder=tuple(ladder),
        ratings=rate([*own, *ladder]),
    )


def bot_ladder(ruleset: str, seed: int = 0, games: int = LADDER_GAMES) -> list[Games]:
    """Games of neighbouring bots, which link all of them to the anchor."""
    found = []
    for below, above in zip(BASES, BASES[1:], strict=False):
        from_seed = match_seeds(seed, "ladder", above)
        result = play_games(find(above), find(below), ruleset, games, from_seed)
        found.append(Games(above, below, result.scores))
    return found


def _so_far(points: float, games: int) -> str:
    return f", score {points / games:.0%} so far" if games else ""


def match_seeds(seed: int, purpose: str, who: str) -> int:
    """The seed of one row of the judgement: no two rows share matches."""
    return int(stream(seed, f"judge {purpose} {who}").integers(2**63))


def difference(one: Record, other: Record) -> tuple[float, float, float]:
    """Win rate of one minus that of the other, and a 95 % interval made of both intervals."""
    return newcombe((one.win_rate, one.low, one.high), (other.win_rate, other.low, other.high))


def _own_name(name: str) -> str:
    return f"{name} (judged)" if name in BOTS else name  # a bot may itself be judged


def _check(
    panel: Panel,
    games_per_cousin: int,
    bot_games: int,
    seer_games: int,
    seers: bool,
    one_among: bool,
) -> None:
    counts = {
        "games_per_cousin": games_per_cousin,
        "bot_games": bot_games,
        "seer_games": seer_games,
    }
    for what, games in counts.items():
        if games < 2 or games % 2:
            remedy = "Give an even number: games come in pairs, sides exchanged"
            raise BadValue(refuse(f"{what} must be even and at least 2", games, remedy))
    if seers and not panel.seers:
        raise BadValue(refuse("seers play duel only", panel.ruleset, "Leave the seers out"))
    if one_among and arena_spec(panel.ruleset).num_teams == 2:
        raise BadValue(refuse("one among nine is for lms", panel.ruleset, "Leave it out"))


def against_cousins(
    policy: Any,
    ruleset: str,
    cousins: Sequence[str],
    games: int,
    seed: int,
    backend: Backend | None = None,
) -> Record:
    """Equally many games against each cousin, all of them in one world (or cut into units)."""
    each = games // len(cousins)
    layout, seeds = [], []
    for number in range(len(cousins)):
        own = chain(seed, number)
        for game in range(each):
            seats = seats_of_game(ruleset, game, own)
            layout.append(np.where(seats == 0, 0, number + 1))
            seeds.append(chain(own, game // 2))
    table = np.stack(layout)
    if backend is not None:
        whole = Seating((policy, *cousins), ruleset, table, np.array(seeds, np.uint64))
        scores = play_all(backend, [whole])[0]
        return Record(scores, *grouped_interval(scores, len(cousins)))
    policies = [policy, *(find(cousin) for cousin in cousins)]
    winners = play_batch(policies, ruleset, table, np.array(seeds, np.uint64))["winner"]
    scores = scores_of(ruleset, table, winners)
    return Record(scores, *grouped_interval(scores, len(cousins)))
