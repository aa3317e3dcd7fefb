"""`levelcap report`: what was gained, what it cost, what went wrong; this week and the last."""

from __future__ import annotations

from pathlib import Path

from levelcap.campaign.realm import realm
from levelcap.campaign.sheet.report import GainReport, make_report
from levelcap.cli.options import AsJson
from levelcap.cli.printer import print_table, say, say_json, table
from levelcap.cli.report_pages import run_page, week_page
from levelcap.cli.runs import find_run
from levelcap.kit.errors import BadFile, BadValue, refuse


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
    if html is not None and not html.absolute().parent.is_dir():
        raise BadFile(refuse("no such folder", str(html), "Create the folder first"))
    if run is not None:
        _report_run(run, html)
        return
    with realm() as opened:
        found = make_report(opened.engine, "weekly" if week else "campaign")
        page = None if html is None else week_page(opened, found)
    print_table(table(("", "this period", "before"), found.table(), f"{found.type} report"))
    say(found.block())
    if page is not None and html is not None:
        html.write_text(page.html, encoding="utf-8")
        say(f"page: {html}")
    if picture is not None:
        _draw(found, picture)
        say(f"picture: {picture}")
    if json_:
        say_json(found.as_json())


def _report_run(name: str, html: Path | None) -> None:
    if html is None:
        remedy = "Add --html FILE; levelcap query and levelcap track read its numbers"
        raise BadValue(refuse("a run is reported as a page", name, remedy))
    place = find_run(name)
    with realm() as opened:
        html.write_text(run_page(opened, place).html, encoding="utf-8")
    say(f"page: {html}")


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
