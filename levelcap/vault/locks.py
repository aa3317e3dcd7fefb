"""Settings that change what a hero is. They are locked: a change needs an explicit approval."""

from __future__ import annotations

from collections.abc import Collection, Mapping

from levelcap.kit.errors import Conflict, refuse

LOCKED = frozenset({"max_length", "model_name", "base_model"})


def check_change(
    before: Mapping[str, object], after: Mapping[str, object], approved: Collection[str] = ()
) -> list[str]:
    """Names that change, sorted; a locked one must be among the approved.

    Raises:
        Conflict: a locked setting would change without approval. Nothing was changed.
    """
    names = set(before) | set(after)
    changed = sorted(n for n in names if before.get(n) != after.get(n))
    for name in changed:
        if name in LOCKED and name in before and name not in approved:
            what = f"{name} is locked at {before[name]!r}"
            remedy = f"Approve the change by name (--approve {name}), or keep the value"
            raise Conflict(refuse(what, after.get(name), remedy))
    return changed
