"""`/league`: a season's players, who beats whom, how strong they became, and why they met."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Annotated, Any

from pydantic import Field

from levelcap.campaign.sheet.league import SeasonSheet, TurnSheet, list_seasons, read_season
from levelcap.services.tavern import plots
from levelcap.services.tavern.pulse import Moment
from levelcap.services.tavern.view import Asked, View


class LeagueAsked(Asked):
    """run: the season, "": the newest; turn: which one is explained, -1: the newest."""

    run: Annotated[str, Field(max_length=100)] = ""
    turn: Annotated[int, Field(ge=-1)] = -1


@dataclass(frozen=True)
class Shown:
    """What the template shows."""

    seasons: dict[str, str]
    run: str | None
    going: bool  # is it still played?
    found: SeasonSheet | None
    turn: TurnSheet | None
    chart: dict[str, Any] | None


class LeagueView(View[LeagueAsked]):
    """The choice of a season, then what is known of it."""

    asked = LeagueAsked
    fresh_s = 1.0

    def read(self, moment: Moment, asked: LeagueAsked) -> Shown:
        """The season and the turn that is explained."""
        rows = list_seasons(self.tavern.realm.engine)
        seasons = {run.id: f"{run.id} · {run.world}" for run in rows}
        run = asked.run if asked.run in seasons else next(iter(seasons), None)
        going = any(row.id == run and row.ended is None for row in rows)
        found = None if run is None else read_season(run)
        turns = [] if found is None else list(found.turns)
        turn = next((t for t in turns if t.number == asked.turn), turns[0] if turns else None)
        rated = [m for m in found.members if m.elo is not None] if found else []
        return Shown(seasons, run, going, found, turn, plots.league(rated) if rated else None)
