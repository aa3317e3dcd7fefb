"""Settings of a season, and of each kind of player in it. No torch."""

from __future__ import annotations

from dataclasses import dataclass

from levelcap.kit.errors import BadValue, refuse
from levelcap.learn.engine.config import check_number

MAIN, MAIN_EXPLOITER, LEAGUE_EXPLOITER, BOT = "main", "main_exploiter", "league_exploiter", "bot"
SIBLING = "sibling"  # learns as main does, with settings of its own (`tuning.py`)
LEARNERS = (MAIN, MAIN_EXPLOITER, LEAGUE_EXPLOITER)


@dataclass(frozen=True)
class LeagueConfig:
    """One line of help under each field."""

    turn_s: float = 30.0
    """seconds a player trains before the next one's turn"""
    turn_updates: int = 0
    """or: updates a turn; 0 = as many as fit into turn_s, so that bits depend on the machine"""
    main_weight: float = 0.5
    """share of the turns that the main player gets"""
    main_exploiter_weight: float = 0.25
    """share of the turns of the exploiter that looks for the main player's holes; 0 = none"""
    league_exploiter_weight: float = 0.25
    """share of the turns of the exploiter that looks for everybody's holes; 0 = none"""
    self_play: float = 0.35
    """main: share of its matches against itself"""
    forgotten: float = 0.15
    """main: share against frozen mains and exploiters that it has come to lose against"""
    forgotten_below: float = 0.3
    """main: chance to win below which an opponent counts as forgotten"""
    hopeless_below: float = 0.2
    """main_exploiter: chance against the present main below which it plays its past instead"""
    power: float = 2.0
    """exponent of f_hard"""
    floor: float = 0.1
    """share of PFSP that is spread evenly, so that nobody starves"""
    opponents: int = 16
    """different opponents in the matches of one turn"""
    bots: tuple[str, ...] = ("veteran", "master")
    """scripted players that are frozen members of the league"""
    cousins: int = 2
    """training cousins of each of them"""
    half_life: float = 2000.0
    """games after which a result of a player that still learns counts half"""
    snapshot_at: float = 0.7
    """chance to win against all frozen players at which a learner is frozen"""
    snapshot_games: float = 50.0
    """games against each of them that this chance must rest on"""
    snapshot_share: float = 0.2
    """share of the season after which it is frozen anyway"""
    league_exploiter_reset: float = 0.25
    """chance that a frozen league exploiter starts anew; a main exploiter always does"""
    rated_opponents: int = 12
    """frozen players that a newly frozen one is measured against"""
    rated_games: int = 32
    """games against each of those, in pairs"""
    siblings: int = 0
    """population-based tuning: players beside main that share its turns; 0 = off"""
    tune_turns: int = 2
    """turns of its own after which main or a sibling is compared with another of them"""
    tune_games: int = 64
    """games of a comparison, in pairs"""
    tune_below: float = 0.45
    """score below which the other's weights and settings are taken over"""
    tune_factor: float = 1.2
    """by which each setting then goes up or down"""
    tune_range: float = 4.0
    """settings stay within this factor of the season's own"""

    def __post_init__(self) -> None:
        shares = [f"{kind}_weight" for kind in LEARNERS]
        shares += ["self_play", "forgotten", "forgotten_below", "hopeless_below", "floor"]
        shares += ["snapshot_at", "snapshot_share", "league_exploiter_reset", "tune_below"]
        for name in shares:
            check_number(name, getattr(self, name), low=0.0, high=1.0)
        for name in ("turn_s", "half_life", "power"):
            check_number(name, getattr(self, name), low=0.0, open_low=True)
        for name in ("turn_updates", "cousins", "rated_opponents", "rated_games", "snapshot_games"):
            check_number(name, getattr(self, name), low=0.0)
        check_number("opponents", self.opponents, low=1.0, high=64.0)
        check_number("siblings", self.siblings, low=0.0, high=9.0)
        check_number("tune_turns", self.tune_turns, low=1.0)
        check_number("tune_games", self.tune_games, low=2.0)
        for name in ("tune_factor", "tune_range"):
            check_number(name, getattr(self, name), low=1.0)
        if self.main_weight == 0:
            raise BadValue(refuse("a league needs its main player", 0, "Give main_weight above 0"))
        if self.self_play + self.forgotten > 1:
            total = self.self_play + self.forgotten
            remedy = "Give shares that sum to at most 1"
            raise BadValue(refuse("self_play and forgotten are shares of one", total, remedy))
        for name in ("rated_games", "tune_games"):
            if getattr(self, name) % 2:
                what = f"{name}: games are played in pairs"
                raise BadValue(refuse(what, getattr(self, name), "Give an even number"))

    def weight(self, kind: str) -> float:
        """Share of the turns of one player of this kind; main's are shared with its siblings."""
        if kind in (MAIN, SIBLING):
            return self.main_weight / (1 + self.siblings)
        return float(getattr(self, f"{kind}_weight"))
