"""`manifest.jsonl`: how a run ended, joined to its feedback stream by `runtime_feedback`.

    {runtime_feedback: <path>, run_finish}

The path is compared with the streams that were found, never opened: it names a file on somebody
else's machine. The stream whose folder and name end the path is meant.
"""

from __future__ import annotations

from collections.abc import Sequence
from pathlib import Path, PurePosixPath

from levelcap.lake.importers.lines import Record, checked, json_lines
from levelcap.lake.importers.protocol import relative
from levelcap.lake.importers.report import ImportReport

FILE = "manifest.jsonl"
ENDS = {"win": 1, "loss": -1, "defeat": -1, "death_event": -1, "draw": 0}


class Finish(Record):
    """One line."""

    runtime_feedback: str
    run_finish: str


def outcome_of(run_finish: str) -> int | None:
    """+1, -1 or 0; None for words that say nothing of it."""
    words = run_finish.strip().lower()
    return next((value for word, value in ENDS.items() if words.startswith(word)), None)


def read_outcomes(
    root: Path, manifests: Sequence[Path], streams: Sequence[str], report: ImportReport
) -> dict[str, int]:
    """Outcome of each stream that a manifest names; the others have none.

    streams: their names below root.
    """
    found: dict[str, int] = {}
    for path in manifests:
        name = relative(path, root)
        for line, value in json_lines(path, name, report):
            finish = checked(Finish, value, report, name, line)
            if finish is None:
                continue
            outcome = outcome_of(finish.run_finish)
            meant = _meant(finish.runtime_feedback, streams)
            if outcome is None:
                why = f"run_finish: none of {', '.join(ENDS)}"
            elif meant is None:
                why = "runtime_feedback: no stream here, or several, ends like this path"
            elif found.get(meant, outcome) != outcome:
                why = f"run_finish: {meant} already ended otherwise"
            else:
                found[meant] = outcome
                report.used += 1
                continue
            report.reject(name, line, why, value)
    return found


def _meant(path: str, streams: Sequence[str]) -> str | None:
    """The only stream whose folder and name end the path, or the only one there is."""
    parts = PurePosixPath(path.replace("\\", "/")).parts
    found = [one for one in streams if PurePosixPath(one).parts[-2:] == parts[-2:]]
    alone = len(streams) == 1 and parts[-1:] == PurePosixPath(streams[0]).parts[-1:]
    return found[0] if len(found) == 1 else streams[0] if alone else None
