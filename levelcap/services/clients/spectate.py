"""Watching a live match of the Oracle from a program: its notes until it is over."""

import json
from typing import Any

from websockets.exceptions import ConnectionClosed, InvalidHandshake
from websockets.sync.client import connect

from levelcap.kit.errors import StateError, refuse
from levelcap.play.show.frames import KIND_NOTE
from levelcap.services.process.hosts import get_service_url


def watch_to_the_end(match: str, token: str) -> dict[str, dict[str, Any]]:
    """Returns the last note of every type, e.g. `result` and `saved`.

    Raises:
        StateError: the Oracle does not show this match.
    """
    url = f"{get_service_url('oracle').replace('http', 'ws', 1)}/matches/{match}"
    headers = {"Authorization": f"Bearer {token}"}
    notes: dict[str, dict[str, Any]] = {}
    try:
        with connect(url, additional_headers=headers, proxy=None) as socket:
            for message in socket:
                if isinstance(message, bytes) and message[0] == KIND_NOTE:
                    note = json.loads(message[1:])
                    notes[note["type"]] = note
    except (OSError, InvalidHandshake, ConnectionClosed) as error:
        what = f"the Oracle does not show this match ({type(error).__name__})"
        raise StateError(refuse(what, match, "Check levelcap status")) from error
    return notes
