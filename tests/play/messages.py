"""Messages that `frames.stack` has put into one file, apart again, as the browser reads them."""

import numpy as np

from levelcap.play.show import frames


def unstack(data):
    at = 0
    while at < len(data):
        size = int.from_bytes(data[at : at + 4], "little")
        yield data[at + 4 : at + 4 + size]
        at += 4 + size


def minds_of(message):
    """The `MIND` rows at the end of a state."""
    head = np.frombuffer(message, frames.HEAD, 1)[0]
    size = int(head["minds"]) * frames.MIND.itemsize
    return np.frombuffer(message[len(message) - size :], frames.MIND)
