"""Names of scripted opponents, and who may be trained against. No numba: recipes are checked here.

A name is a bot (`master`), a cousin (`veteran~17`), a bot without one skill (`master-no-lead`) or
with the trait *wary* (`master-wary`), a seer (`seer-16`) or `uniform`.
"""

from __future__ import annotations

import re

from levelcap.kit.errors import BadValue, refuse, unknown_name

BOTS = ("idle", "wanderer", "rookie", "veteran", "master")
SKILLS = ("lead", "kite", "retreat", "loot", "group", "objective")
SEERS = (2, 4, 16, 64)
SEALED_FROM = 1_000_000  # cousin seeds from here on are kept for the sealed panel
COUSIN = re.compile(r"^([a-z]+)~(\d{1,18})$")
WITHOUT = re.compile(r"^([a-z]+)-no-([a-z]+)$")
WARY = re.compile(r"^([a-z]+)-wary$")
_KNOWN = (*BOTS, *(f"seer-{k}" for k in SEERS), "uniform")


def is_sealed(name: str) -> bool:
    """Is this opponent reserved for judging? No training run may ever play it."""
    cousin = COUSIN.match(name)
    return name.startswith("seer-") or (cousin is not None and int(cousin[2]) >= SEALED_FROM)


def refuse_sealed(name: str) -> None:
    """Nobody of the sealed panel may be trained against.

    Raises:
        BadValue: the name is sealed.
    """
    if is_sealed(name):
        remedy = f"Train against bots or cousins with seeds below {SEALED_FROM}"
        raise BadValue(refuse("a sealed opponent cannot be trained against", name, remedy))


def is_bot(name: str) -> bool:
    """Does some scripted policy bear this name?"""
    cousin, without, wary = (form.match(name) for form in (COUSIN, WITHOUT, WARY))
    if name in _KNOWN or any(form and form[1] in BOTS for form in (cousin, wary)):
        return True
    return without is not None and without[1] in BOTS and without[2] in SKILLS


def check_bot(name: str, *, for_training: bool = False) -> str:
    """The name, if some scripted policy bears it; for_training: and it is not sealed.

    Raises:
        UnknownName: nobody is called that. BadValue: a sealed opponent.
    """
    if for_training:
        refuse_sealed(name)
    if not is_bot(name):
        raise unknown_name("policy", name, (*_KNOWN, "veteran~17", "master-no-lead", "master-wary"))
    return name
