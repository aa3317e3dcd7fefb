"""`/league`: a season's players, who beats whom, how strong they became, and why they met."""

from __future__ import annotations

from collections.abc import Callable

from levelcap.campaign.sheet.league import (
    Meeting,
    Member,
    SeasonSheet,
    TurnSheet,
    list_seasons,
    read_season,
)
from levelcap.services.tavern import charts, lore
from levelcap.services.tavern.fields import Field
from levelcap.services.tavern.page import Page, table
from levelcap.services.tavern.parts import figures, page_heading
from levelcap.services.tavern.pulse import Moment
from levelcap.services.tavern.tags import Tag, button, card, div, link, paragraph, span, tip

NOTHING = "No season has been played yet. A quest of the kind League plays one."
PLAYERS = (("Player", ""), ("State", ""), ("Elo", "num"), ("Nash", "num optional"), ("Turn", "num"))
_COUNTS = tuple((name, "num optional") for name in ("Won", "Drawn", "Lost"))
MEETINGS = (("Opponent", ""), ("Share", "num"), ("Chance", "num"), *_COUNTS, ("Why", ""))


class LeaguePage(Page):
    """One open page."""

    seasons: dict[str, str]
    run: str | None = None
    turn: int | None = None  # that is explained; None: the newest
    found: SeasonSheet | None = None

    def _read(self) -> None:
        rows = list_seasons(self.tavern.realm.engine)
        self.seasons = {run.id: f"{run.id} · {run.world}" for run in rows}
        if self.run not in self.seasons:
            self.run = next(iter(self.seasons), None)
        self.found = None if self.run is None else read_season(self.run)

    def build(self) -> None:
        """The choice of a season, then what is known of it."""
        with div("row between"):
            page_heading("League", "Players that learn against each other, and what they were.")
            self._choice = div("row")
        self._body = div("form")
        self._fill()

    async def refresh(self, moment: Moment) -> None:
        """Follows the season that is played."""
        if self.found is not None or any(e.kind.startswith("queue.") for e in moment.events):
            await self.reload()

    async def _choose(self, run: str) -> None:
        self.run, self.turn = run, None
        await self.reload()

    def _fill(self) -> None:
        self._choice.redraw(tuple(self.seasons), self._choices)
        self._body.redraw((self.found, self.turn), self._draw)

    def _choices(self) -> None:
        if self.run is not None:
            Field("Season", "choice", self.run, options=self.seasons, on_change=self._choose)

    def _draw(self) -> None:
        found = self.found
        if found is None:
            with card():
                paragraph(NOTHING, "empty")
                link("To the quest board", "/quests", "btn")
            return
        worst = "–" if found.worst is None else f"{found.worst:.2f}"
        cycles = "–" if found.cycle_share is None else f"{found.cycle_share:.2f}"
        figures(
            (
                ("Turns", f"{found.turn:,}", "turns of learning taken so far"),
                ("Players", f"{len(found.members):,}", "learners, frozen snapshots and bots"),
                ("Spent", lore.lasting(found.core_seconds), "core-seconds of the season"),
                ("Worst of main", worst, "its lowest chance against a frozen learner"),
                ("Cycles", cycles, "share of the table that no rating explains"),
            )
        )
        with div("split"):
            self._strength(found)
            self._heat(found)
        with div("split"):
            self._tree(found)
            self._turns(found)

    def _strength(self, found: SeasonSheet) -> None:
        with card("Strength over the season"):
            rated = [member for member in found.members if member.elo is not None]
            if not rated:
                paragraph("Nobody has been frozen and rated yet.", "empty")
                return
            charts.Chart(
                charts.league(rated), "Elo of frozen players with 95 % intervals", "league"
            )
            paragraph("Each frozen player at the turn it came in, 95 % intervals.", "quest-sub")

    def _heat(self, found: SeasonSheet) -> None:
        with card("Who beats whom"), div("table-wrap"), Tag("table", "sheet-table heat"):
            with Tag("thead"), Tag("tr"):
                Tag("th", "", "", scope="col")
                for name in found.table:
                    Tag("th", "heat-head", name, scope="col")
            with Tag("tbody"):
                for row in found.table:
                    with Tag("tr"):
                        Tag("th", "", row, scope="row")
                        for column in found.table:
                            self._cell(found, row, column)

    def _cell(self, found: SeasonSheet, row: str, column: str) -> None:
        rate = found.rates.get((row, column))
        if rate is None:
            Tag("td", "heat-none", "·")
            return
        chance, games = rate
        with Tag("td", f"heat-{min(9, int(chance * 10))}"):
            tip(f"{chance:.2f}", f"{row} against {column}, {games:,.0f} games")

    def _tree(self, found: SeasonSheet) -> None:
        with card("Family"):
            place = div("table-wrap")
            rows = {member.name: member for member in found.members}
            table(place, PLAYERS, rows, self._member)

    def _member(self, member: Member) -> Tag:
        made = Tag("tr")
        with made:
            with Tag("td"):
                span("quest-sub", "└ " * (member.depth > 0))
                span("", member.name, style=f"padding-left: {0.8 * max(0, member.depth - 1)}em")
            Tag("td", "", member.state)
            elo = "–"
            if member.elo is not None:
                middle, low, high = member.elo
                elo = f"{middle:.0f} ({low:.0f} to {high:.0f})"
            Tag("td", "num", elo)
            Tag("td", "num optional", "–" if member.nash is None else f"{member.nash:.2f}")
            Tag("td", "num", str(member.born))
        return made

    def _turns(self, found: SeasonSheet) -> None:
        with card("Why this opponent?"):
            if not found.turns:
                paragraph("The first turn is being played.", "empty")
                return
            with div("row wrap"):
                for sheet in found.turns:
                    look = "primary small" if sheet.number == self._explained(found) else "small"
                    button(f"{sheet.number} {sheet.player}", self._explain(sheet.number), look)
            shown = next(t for t in found.turns if t.number == self._explained(found))
            paragraph(self._sentence(shown), "quest-sub")
            rows = {meeting.opponent: meeting for meeting in shown.meetings}
            table(div("table-wrap"), MEETINGS, rows, self._meeting)

    def _explained(self, found: SeasonSheet) -> int:
        numbers = [sheet.number for sheet in found.turns]
        return self.turn if self.turn in numbers else numbers[0]

    def _explain(self, number: int) -> Callable[[], None]:
        def show() -> None:
            self.turn = number
            self._fill()

        return show

    @staticmethod
    def _sentence(sheet: TurnSheet) -> str:
        frozen = f" It was frozen as {sheet.frozen}." if sheet.frozen else ""
        took = lore.lasting(sheet.seconds)
        return f"Turn {sheet.number}: {sheet.player} learned for {took}.{frozen}"

    @staticmethod
    def _meeting(meeting: Meeting) -> Tag:
        made = Tag("tr")
        with made:
            Tag("td", "", meeting.opponent)
            Tag("td", "num", f"{meeting.share:.2f}")
            Tag("td", "num", f"{meeting.chance:.2f}")
            for count in (meeting.won, meeting.drawn, meeting.lost):
                Tag("td", "num optional", f"{count:,}")
            Tag("td", "", meeting.rules)
        return made
