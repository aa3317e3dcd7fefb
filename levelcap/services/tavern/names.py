"""Checkpoints as people call them: "kestrel 11,552", wherever an id stands in what is shown."""

from __future__ import annotations

import re

from levelcap.campaign.realm import Realm
from levelcap.kit.ids import spoken_name
from levelcap.vault.lookup import steps_of

_NAME = re.compile(r"\bcheckpoint-(?:[0-9a-f]{12}|\d+-\d{8}-\d{4})\b")
MOST = 20_000  # names that are remembered; a hero and a step of an id never change


class Names:
    """The names of one realm, each read once."""

    def __init__(self, realm: Realm) -> None:
        self._realm = realm
        self._known: dict[str, str] = {}

    def of(self, checkpoint: str | None) -> str:
        """One name; bots and whatever is no checkpoint keep theirs."""
        return self.within(checkpoint or "")

    def within(self, text: str) -> str:
        """A text with every id in it replaced."""
        unknown = {name for name in _NAME.findall(text) if name not in self._known}
        if unknown:
            found = self._realm.read(steps_of, sorted(unknown))
            if len(self._known) > MOST:
                self._known.clear()
            self._known |= {name: spoken_name(*of) for name, of in found.items()}
        return _NAME.sub(lambda match: self._known.get(match[0], match[0]), text)
