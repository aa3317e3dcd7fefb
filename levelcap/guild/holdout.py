"""Which operands are never trained on: one pair in ten, by hash, for ever.

The hash sees numbers, not widths, forms or operations: a held-out pair stays held out in every
level that holds anything out, in either order, and in the natural-width form, where prompts of
different levels coincide.
"""

from levelcap.kit.seeds import chain

# Never changed: it would let trained pairs into exams. Chosen because the share is near a tenth
# from 4 digits on (24 of 256 ordered pairs, 106 of 1,024, 412 of 4,096).
SALT = 0x6775696D27
ONE_IN = 10


def held_out(*operands: int) -> bool:
    """True for the tenth of all operand tuples (order ignored) that only exams may ask."""
    return chain(SALT, len(operands), *sorted(operands)) % ONE_IN == 0
