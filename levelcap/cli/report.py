"""`levelcap report`: what was gained, what it cost, what went wrong; this week and the last."""

from __future__ import annotations

from pathlib import Path

from levelcap.campaign.realm import realm
from levelcap.campaign.sheet.report import GainReport, make_report
from levelcap.cli.options import AsJson, check_targets
from levelcap.cli.printer import print_table, say, say_json, table
from levelcap.cli.report_pages import run_page, week_page
from levelcap.cli.runs import find_run
from levelcap.kit.errors import BadValue, refuse


def report(
    *,
    week: bool = True,
    run: str | None = None,
    html: Path | None = None,
    picture: Path | None = None,
    json_: AsJson = False,
) -> None:
    """Report gains and costs of the last seven days beside the seven before, or one run.

    Parameters
    ----------
    week
        The last seven days; --no-week: all from the beginning.
    run
        Instead: this run (its name or its beginning, latest, a folder), with --html.
    html
        Write one HTML file that needs nothing else, to send to somebody.
    picture
        Draw Elo per day as a PNG.
    json_
        Print one JSON object as the last line.
    """
    check_targets(html, picture)
    if run is not None and html is None:
        remedy = "Add --html FILE; levelcap query and levelcap track read its numbers"
        raise BadValue(refuse("a run is reported as a page", run, remedy))
    with realm() as opened:
        found = make_report(opened.engine, "weekly" if week else "campaign")
        if html is not None:
            page = week_page(opened, found) if run is None else run_page(opened, find_run(run))
            html.write_text(page, encoding="utf-8")
            say(f"page: {html}")
    if run is not None:
        return
    print_table(table(("", "this period", "before"), found.table(), f"{found.type} report"))
    say(found.block())
    if picture is not None:
        _draw(found, picture)
        say(f"picture: {picture}")
    if json_:
        say_json(found.as_json())


def _draw(found: GainReport, picture: Path) -> None:
    from levelcap.play.show.plot import plot_curves

    judged = [day for day in found.days if day.elo is not None]
    if not judged:
        remedy = "Report without --picture, or wait for an evaluation"
        raise BadValue(refuse("no day with a judged checkpoint", len(found.days), remedy))
    elo, low, high = ([getattr(d, n) for d in judged] for n in ("elo", "elo_low", "elo_high"))
    title = f"Best Elo of a day, {judged[0].day} to {judged[-1].day}"
    curve = ("Elo", list(range(len(judged))), elo, low, high)
    plot_curves(picture, [curve], title=title, x_label="day", y_label="Elo")
