"""May this checkpoint become champion? One gate for both kinds of hero. Pure decisions, no torch.

A candidate passes when it is better *beyond chance*: the interval of its difference to the
champion lies above 0. The first one that was judged at all passes, because nobody stands there.
A whole trial asks more: strength gained (or equal at a saving), safety kept, robustness known.
"""

from __future__ import annotations

from typing import Any

from levelcap.kit.errors import Conflict, refuse
from levelcap.kit.stats import share_difference, wilson
from levelcap.trials.verdict import TRIAL_VERSION, Decision, Figure, Override, Verdict

REFUSING = ("screen", "strength", "safety", "drift")


def judge_elo(
    candidate: str, elo: Figure, champion: str | None = None, difference: Figure | None = None
) -> Verdict:
    """An arena hero: Elo, and its difference to the champion on the same panel.

    difference None with a champion: the two were never judged together, so nothing is certain.
    """
    figures = {"elo": elo}
    if champion is None:
        reason = "first judged checkpoint, provisional: by the panel alone"
        return Verdict(candidate, None, "panel", True, reason, figures)
    if difference is None:
        reason = "not judged on the champion's panel"
        return Verdict(candidate, champion, "panel", False, reason, figures)
    gap, low, high = difference
    reason = f"{gap:+.0f} Elo ({low:+.0f} to {high:+.0f}) over the champion"
    figures["difference"] = difference
    return Verdict(candidate, champion, "panel", low > 0, reason, figures)


def judge_exam(
    candidate: str,
    skill: str,
    level: int,
    accuracy: float,
    problems: int,
    champion: str | None = None,
    reigning: tuple[int, float] | None = None,
) -> Verdict:
    """A text hero: more levels; at the same level more right answers than chance explains.

    problems: of one exam. reigning: level and accuracy of the champion.
    """
    figures: dict[str, Figure] = {
        "level": (level, level, level),
        "accuracy": (accuracy, *wilson(accuracy, problems)),
    }
    reason = f"{skill} level {level}, {accuracy:.0%} exact"
    passed = True
    if reigning is not None:
        difference = share_difference(accuracy, reigning[1], problems)
        figures["difference"] = difference
        passed = level > reigning[0] if level != reigning[0] else difference[1] > 0
    return Verdict(candidate, champion, "exam", passed, reason, figures)


def judge_trial(
    candidate: str, champion: str | None, parts: dict[str, Any], figures: dict[str, Figure]
) -> Verdict:
    """A whole trial: parts that refuse are the reason; on an empty throne none does.

    parts: `screen`, and when that passed `strength`, `safety`, `robust`, `speed` and `cost`; of a
    text hero `strength`, `safety`, `drift`, `speed` and `cost`. Each has `passed` and `why`. Those
    of `REFUSING` decide; the others are told.
    """
    if champion is None:
        reason = f"provisional, nobody stood there: {parts['screen']['why']}"
        return Verdict(
            candidate, None, "trial", True, reason, figures, TRIAL_VERSION, parts, provisional=True
        )
    failed = [name for name in REFUSING if name in parts and not parts[name]["passed"]]
    refused = [f"{name}: {parts[name]['why']}" for name in failed]
    reason = "; ".join(refused) if refused else str(parts["strength"]["why"])
    return Verdict(candidate, champion, "trial", not refused, reason, figures, TRIAL_VERSION, parts)


def check_decision(decision: Decision, candidate: str, champion: str | None) -> None:
    """Let a promotion through, or say why not.

    Raises:
        Conflict: the verdict failed, is of another checkpoint, or was made against a champion that
            is no longer the one; a trial whose safety failed or whose robustness is not known.
    """
    if isinstance(decision, Override):
        return
    if not decision.passed:
        remedy = "Train on, or promote it by hand with a reason"
        raise Conflict(refuse("the verdict does not let it pass", decision.reason, remedy))
    if (decision.candidate, decision.champion) != (candidate, champion):
        what = f"this verdict is of {decision.candidate} against {decision.champion}"
        raise Conflict(refuse(what, f"{candidate} against {champion}", "Judge it again"))
    if decision.version >= TRIAL_VERSION and not (decision.provisional and champion is None):
        _check_parts(decision.parts)


def _check_parts(parts: dict[str, Any]) -> None:
    """Whatever else a trial says: safety passed, and a robustness report (text: drift) exists."""
    safety = parts.get("safety")
    if safety is None or not safety["passed"]:
        shown = "not examined" if safety is None else safety["why"]
        remedy = "Train it out of the hero, or promote it by hand with a reason"
        raise Conflict(refuse("the constitution is not kept", shown, remedy))
    if "drift" not in parts and not parts.get("robust", {}).get("attacks"):
        remedy = "Let levelcap trial measure it under attack"
        raise Conflict(refuse("no robustness report", list(parts), remedy))
