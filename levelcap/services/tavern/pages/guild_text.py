"""The guild of a text hero: skills with their levels, primitives, passives, the curriculum.

What was not measured says so; no figure stands without the number of problems behind it.
"""

from __future__ import annotations

from levelcap.campaign.sheet.drift import PassiveRow, PassiveTable
from levelcap.campaign.sheet.guild import GuildSheet, PrimitiveRow, SkillSheet, guild_sheet
from levelcap.campaign.story.skills import Best, SkillStanding
from levelcap.guild.progress import CONFIRM_BAR, FORM_BAR, LEAST_FOR_A_RULE, WINDOW
from levelcap.services.tavern import charts, lore
from levelcap.services.tavern.page import Page, table
from levelcap.services.tavern.parts import bar, chips, meter, rung
from levelcap.services.tavern.pulse import Moment
from levelcap.services.tavern.tags import Icon, Tag, card, div, heading, paragraph, span, tip

LOOKS = 5  # of the pulse between two readings
WEAK = 0.6


class TextGuild(Page):
    """The live part of one open page; what is edited stands elsewhere and is never redrawn."""

    sheet: GuildSheet
    _looks = 0

    def _read(self) -> None:
        self.sheet = self.tavern.realm.read(guild_sheet, self.hero)

    def build(self) -> None:
        """Places for the parts, and what they show now."""
        with div("guild-parts"):
            self._skills, self._primitives, self._measured = div(), div(), div("split")
        self._fill()

    async def refresh(self, _moment: Moment) -> None:
        """Reads again now and then, and draws what differs."""
        self._looks += 1
        if self._looks % LOOKS == 0:
            await self.reload()

    def _fill(self) -> None:
        sheet = self.sheet
        self._skills.redraw(sheet.skills, lambda: show_skills(sheet.skills))
        self._primitives.redraw(sheet.primitives, lambda: show_primitives(sheet.primitives))
        self._measured.redraw((sheet.passives, sheet.bests), self._show_measured)

    def _show_measured(self) -> None:
        show_passives(self.sheet.passives)
        show_bests(self.sheet.bests)


def show_skills(rows: list[SkillSheet]) -> None:
    """All skills side by side."""
    if not rows:
        with card("Skills"):
            paragraph("No campaign yet: it begins when this hero trains.", "empty")
    with div("split"):
        for row in rows:
            show_skill(row)


def show_skill(sheet: SkillSheet) -> None:
    """One skill: level, the way to the next, forms, and where it is heading."""
    row = sheet.standing
    name = f"{row.skill.upper()} · {row.title}"
    with card(None, "skill-card", aria_label=name):
        with div("card-head"):
            heading(name)
            formula = f"level = passed levels + 1\n{row.level_name}\nskill version {row.version}"
            tip(f"Level {row.level} of {row.levels}", formula, "chip")
        chips((words, "plain") for words in _marks(sheet))
        for warning in sheet.honours.warnings:
            paragraph(warning.replace("_", " "), "problem")
        _way_up(row)
        _forms(row)
        _heading_for(sheet)


def _marks(sheet: SkillSheet) -> list[str]:
    row, following = sheet.standing, sheet.honours.title_next
    mastered = ", ".join(str(level) for level in row.mastered)
    pool = row.pool
    size = f"{'' if pool.exact else 'at least '}{lore.number(pool.size)} problems"
    return [
        row.level_name,
        sheet.honours.title_won or "no title yet",
        *([f"next: {following.title} at level {following.at:g}"] if following else []),
        f"{lore.number(row.xp)} XP",
        lore.counted(row.exams, "exam"),
        f"mastered: {mastered}" if mastered else "no level mastered",
        size + (", memorisable" if pool.memorisable else ", a tenth held out"),
    ]


def _way_up(row: SkillStanding) -> None:
    """The last three evaluations against the bar, and the confirmation."""
    needed, window, mean = row.threshold, row.window, row.mean
    heading(f"To level {min(row.level + 1, row.levels)}", 3)
    with Tag("ol", "last-three", aria_label="Last three evaluations"):
        for number in range(WINDOW):
            known = number < len(window)
            share = window[number] if known else None
            with Tag("li", "slot" + (" good" if share is not None and share >= needed else "")):
                span("figure-name", f"exam {number + 1}")
                span("figure-value", lore.percent(share) if known else "–")
    said = lore.NOT_MEASURED if mean is None else lore.percent(mean)
    raw = lore.NOT_MEASURED if mean is None else f"{mean:.4f}"
    formula = f"mean = sum of the last {WINDOW} evaluations / {WINDOW}\nraw value: {raw}"
    name, label = f"mean of three, {100 * needed:.0f} % needed", "Mean of three evaluations in "
    meter(name, said, formula, mean or 0.0, label + row.skill, most=needed)
    outcome = lore.OUTCOMES.get(row.outcome or "", "no exam yet")
    paragraph(
        f"Then a confirmation of 200 problems at {100 * CONFIRM_BAR:.0f} %. Last exam: {outcome}.",
        "muted",
    )


def _forms(row: SkillStanding) -> None:
    heading("By form, last ten exams", 3)
    if not row.forms:
        paragraph(lore.NOT_MEASURED, "empty")
    for name, (right, count) in row.forms.items():
        needed = f"mastered needs {100 * FORM_BAR:.0f} % in every form"
        formula = f"share = right / asked\nraw value: {right} / {count}; {needed}"
        said, share = lore.share_of(right, count), right / count if count else 0.0
        meter(name, said, formula, share, f"{row.skill}, form {name}")


def _heading_for(sheet: SkillSheet) -> None:
    """The estimate of the level cap and what it rests on."""
    row, cap = sheet.standing, sheet.cap
    ups = row.level_ups
    heading("Level cap", 3)
    tip(
        cap.words,
        "cap = where a saturating curve of level against compute ends, 95 % interval"
        f"\nraw value: {cap.points} points, {lore.lasting(row.core_seconds)} of a core",
        "cap",
    )
    if len(ups) >= 2:
        points = [[0.0, 1], *([seconds, level] for level, seconds in ups)]
        if row.core_seconds:
            points.append([row.core_seconds, row.level])
        charts.Chart(
            charts.levels(points), f"Level of {row.skill} over compute", f"{row.skill}-levels"
        )
    elif ups:
        level, seconds = ups[0]
        paragraph(f"Level {level} after {lore.lasting(seconds)} of a core.", "muted")


def show_primitives(rows: list[PrimitiveRow]) -> None:
    """The grid: accuracy with the number of problems, by track."""
    asked = sum(row.count > 0 for row in rows)
    with card(f"Primitives · {asked} of {len(rows)} measured"):
        paragraph(
            "How often problems that use a primitive were right, over the last ten exams of "
            f"each skill. Below {LEAST_FOR_A_RULE} problems it is no more than a hint.",
            "muted",
        )
        for track in dict.fromkeys(row.track for row in rows):
            with Tag("section", aria_label=f"Primitives: {track}"):
                heading(track, 3)
                with Tag("ul", "primitives"):
                    for row in rows:
                        if row.track == track:
                            _primitive(row)


def _primitive(row: PrimitiveRow) -> None:
    share = row.accuracy
    tone = "unknown" if share is None else "weak" if share < WEAK else "known"
    said = lore.share_of(row.right, row.count)
    with Tag("li", f"primitive {tone}"):
        span("primitive-name", row.name.replace("_", " "))
        span("primitive-share", said)
        if share is not None:
            bar(share, row.name)


def show_passives(found: PassiveTable | None) -> None:
    """Side abilities against the schooled base."""
    with card("Passives"):
        if found is None:
            paragraph(f"{lore.NOT_MEASURED}: they are asked at every checkpoint.", "empty")
            return
        counts = {"gained": found.gained, "held": found.held, "lost": found.lost}
        chips((f"{count} {word}", f"plain {word}") for word, count in counts.items())
        base = found.base or "no schooled base"
        paragraph(f"{found.checkpoint} against {base}", "quest-sub")
        columns = [("Passive", ""), *((title, "num") for title in ("Now", "Base", "Chance", ""))]
        rows = {row.name: row for row in found.passives}
        table(div("table-wrap"), columns, rows, _passive, classes="passives")


def _passive(row: PassiveRow) -> Tag:
    with Tag("tr") as made:
        Tag("td", "", row.name.replace("_", " "))
        Tag("td", "num", lore.share_of(row.right, row.count), data_label="now")
        base = lore.NOT_MEASURED if row.base is None else f"{100 * row.base:.0f} %"
        Tag("td", "num", base, data_label="base")
        Tag("td", "num", f"{100 * row.chance:.0f} %", data_label="chance")
        with Tag("td", "num"):
            if row.drift is not None:
                icon, word = lore.DRIFT[row.drift]
                with span(f"drift {row.drift}"):
                    Icon(icon)
                    span(text=word)
    return made


def show_bests(rows: list[Best]) -> None:
    """Personal bests over all campaigns."""
    with card("Personal bests"):
        if not rows:
            paragraph("None yet: the first level-up sets one.", "empty")
            return
        with Tag("ol", "ladder"):
            for row in rows:
                with rung("star", f"{row.skill.upper()} level {row.level}", True):
                    raw = f"raw value: {row.core_seconds:,.1f} s in {row.campaign}"
                    formula = f"fewest core-seconds to this level\n{raw}"
                    tip(lore.lasting(row.core_seconds), formula, "quest-sub")
