"""What a shard is made of: broken values are refused, everything else is counted and reported.

Refused: NaN or infinite views, rewards and log-probabilities; actions beyond their head. Reported:
actions that the mask forbade, episodes that occur twice, and the shares by outcome, side, policy,
champion (of episodes) and intent (of steps), so that a one-sided shard can be seen before it is
learned from.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Sequence
from typing import Any

import numpy as np
from numpy.typing import NDArray

from levelcap.kit.errors import BadValue, refuse
from levelcap.kit.seeds import splitmix64_array
from levelcap.lake.header import Header
from levelcap.lake.records import NO_INTENT, Episodes, Steps
from levelcap.world.spec import INTENTS

OUTCOMES = {1: "won", 0: "drawn", -1: "lost"}


def all_finite(array: NDArray[Any]) -> bool:
    """Is there neither NaN nor infinity? A sum of squares answers in one pass, nearly always."""
    if array.dtype.kind != "f":
        return True
    flat = array.reshape(-1)
    with np.errstate(all="ignore"):
        quick = float(np.dot(flat, flat)) if flat.flags.c_contiguous else np.inf
    return bool(np.isfinite(quick)) or bool(np.isfinite(array).all())


def check_finite(name: str, array: NDArray[Any]) -> None:
    """Refuse NaN and infinity, naming the first place."""
    if not all_finite(array):
        place = tuple(int(i) for i in np.argwhere(~np.isfinite(array))[0])
        value = float(array[place])
        remedy = "Correct what produced it; such a record is never written"
        raise BadValue(refuse(f"{name} of row {place[0]} is not finite", value, remedy))


def check_actions(actions: NDArray[np.uint8], header: Header) -> None:
    """Refuse bins beyond their head, naming the first place."""
    bad = actions >= header.head_sizes
    if bad.any():
        row, head = (int(i) for i in np.argwhere(bad)[0])
        name, size = header.heads[head]
        remedy = f"Give a bin from 0 to {size - 1}"
        what = f"action {name} of row {row} is out of range"
        raise BadValue(refuse(what, int(actions[row, head]), remedy))


def forbidden_rows(
    actions: NDArray[np.uint8], mask: NDArray[np.uint8], header: Header
) -> NDArray[np.bool_]:
    """Which rows [n] chose a bin that their mask forbade."""
    offsets = np.concatenate(([0], np.cumsum(header.head_sizes)[:-1]))
    chosen = np.take_along_axis(mask, actions + offsets, axis=1)
    return (chosen == 0).any(axis=1)


class Quality:
    """The running report of one shard; memory grows by 12 bytes an episode."""

    def __init__(self, header: Header) -> None:
        self._header = header
        self._forbidden, self._alive, self._looked = 0, 0, 0
        self._shares: dict[str, Counter[str]] = {
            name: Counter() for name in ("outcome", "side", "policy", "champion", "intent")
        }
        self._keys: list[NDArray[np.uint64]] = []
        self._lengths: list[NDArray[np.int32]] = []

    def add(self, steps: Steps, episodes: Episodes) -> None:
        """Check and count the rows of whole episodes; raises before anything was counted."""
        known = np.array([bool(p["log_probs"]) for p in self._header.policies])
        named = {name: a for name, a in steps.columns().items() if name == "rewards"}
        for name, array in {**named, **steps.views}.items():
            check_finite(name, array)
        rows_known = np.repeat(known[episodes.policy], episodes.length)
        check_finite("behaviour_log_prob", steps.log_probs[rows_known])
        check_finite("reward_sum", episodes.reward_sum)
        check_actions(steps.actions, self._header)
        self._count_episodes(episodes)
        self._count_steps(steps, np.repeat(episodes.kept, episodes.length))

    def _count_episodes(self, episodes: Episodes) -> None:
        kept = episodes.kept
        names = np.array([policy["name"] for policy in self._header.policies])
        for share, values in (
            ("side", episodes.team[kept]),
            ("policy", names[episodes.policy[kept]]),
            ("champion", episodes.champion[kept]),
        ):
            self._count(share, values)
        self._count("outcome", episodes.outcome[kept], OUTCOMES)
        key = splitmix64_array(episodes.match_seed[kept])
        for word in (episodes.seat, episodes.policy):
            key = splitmix64_array(key ^ word[kept].astype(np.uint64))
        self._keys.append(key)
        self._lengths.append(episodes.length[kept].astype(np.int32))

    def _count_steps(self, steps: Steps, kept: NDArray[np.bool_]) -> None:
        intents = {index: name for index, name in enumerate(INTENTS)} | {NO_INTENT: "unknown"}
        self._count("intent", steps.intents[kept], intents)
        if steps.mask is not None and steps.alive is not None:
            wrong = forbidden_rows(steps.actions, steps.mask, self._header)
            self._looked += int(kept.sum())
            self._alive += int((steps.alive & kept).sum())
            self._forbidden += int((wrong & steps.alive & kept).sum())

    def _count(self, share: str, values: NDArray[Any], names: dict[int, str] | None = None) -> None:
        found, counts = np.unique(values, return_counts=True)
        for value, count in zip(found.tolist(), counts.tolist(), strict=True):
            self._shares[share][names[value] if names else str(value)] += count

    def report(self) -> dict[str, Any]:
        """The whole report, ready for JSON; what a lazy shard cannot know is null."""
        lengths = np.concatenate(self._lengths) if self._lengths else np.zeros(0, np.int32)
        keys = np.concatenate(self._keys) if self._keys else np.zeros(0, np.uint64)
        looked = self._looked > 0
        return {
            "episodes": len(lengths),
            "steps": int(lengths.sum()),
            "not_finite": 0,
            "actions_out_of_range": 0,
            "actions_forbidden": self._forbidden if looked else None,
            "alive_share": round(self._alive / self._looked, 6) if looked else None,
            "episodes_twice": len(keys) - len(np.unique(keys)),
            "length": _spread(lengths),
            "shares": {name: _shares(counter) for name, counter in self._shares.items()},
        }


def _spread(lengths: NDArray[np.int32]) -> dict[str, float]:
    if len(lengths) == 0:
        return {}
    low, middle, high = np.percentile(lengths, (0, 50, 100)).tolist()
    return {"min": low, "median": middle, "mean": round(float(lengths.mean()), 3), "max": high}


def _shares(counter: Counter[str]) -> dict[str, float]:
    total = sum(counter.values())
    return {name: round(count / total, 6) for name, count in sorted(counter.items())}


def one_sided(report: dict[str, Any], limit: float = 0.9) -> Sequence[str]:
    """Which shares of a report are dominated by one value (more than `limit`)."""
    found = []
    for name, shares in report["shares"].items():
        if len(shares) > 1:
            top = max(shares, key=lambda value: shares[value])
            if shares[top] > limit:
                found.append(f"{name}: {top} {shares[top]:.0%}")
    return found
