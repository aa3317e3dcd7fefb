"""May this checkpoint become champion? One gate for both kinds of hero. Pure decisions, no torch.

A candidate passes when it is better *beyond chance*: the interval of its difference to the
champion lies above 0. The first one that was judged at all passes, because nobody stands there.
"""

from __future__ import annotations

from levelcap.kit.errors import Conflict, refuse
from levelcap.kit.stats import share_difference, wilson
from levelcap.trials.verdict import Decision, Figure, Override, Verdict


def judge_elo(
    candidate: str, elo: Figure, champion: str | None = None, difference: Figure | None = None
) -> Verdict:
    """An arena hero: Elo, and its difference to the champion on the same panel.

    difference None with a champion: the two were never judged together, so nothing is certain.
    """
    figures = {"elo": elo}
    if champion is None:
        return Verdict(candidate, None, "panel", True, "first judged checkpoint", figures)
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


def check_decision(decision: Decision, candidate: str, champion: str | None) -> None:
    """Let a promotion through, or say why not.

    Raises:
        Conflict: the verdict failed, is of another checkpoint, or was made against a champion that
            is no longer the one.
    """
    if isinstance(decision, Override):
        return
    if not decision.passed:
        remedy = "Train on, or promote it by hand with a reason"
        raise Conflict(refuse("the verdict does not let it pass", decision.reason, remedy))
    if (decision.candidate, decision.champion) != (candidate, champion):
        what = f"this verdict is of {decision.candidate} against {decision.champion}"
        raise Conflict(refuse(what, f"{candidate} against {champion}", "Judge it again"))
