"""Reads what `record_seat` wrote, as a page does."""

import json

import numpy as np


def arrays_of(data):
    """Its first line, and its arrays by name."""
    line, _, rest = data.partition(b"\n")
    told, found = json.loads(line), {}
    for row in told["arrays"]:
        dtype = np.dtype(row["dtype"]).newbyteorder("<")
        size = dtype.itemsize * int(np.prod(row["shape"]))
        found[row["name"]] = np.frombuffer(rest[:size], dtype).reshape(row["shape"])
        rest = rest[size:]
    assert rest == b""
    return told, found
