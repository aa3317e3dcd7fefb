"""Messages that `frames.stack` has put into one file, apart again, as the browser reads them."""


def unstack(data):
    at = 0
    while at < len(data):
        size = int.from_bytes(data[at : at + 4], "little")
        yield data[at + 4 : at + 4 + size]
        at += 4 + size
