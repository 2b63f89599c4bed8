"""The hash of a row, in plain Python: the same sum that kernels compute incrementally.

The hash sum of a row is the sum, modulo 2**64, of one term per word of the fixed part and one per network entry. An
entry of several words is one chained term, never a sum over its words, so that {(a, b), (c, d)} and {(a, d), (c, b)}
differ. The fingerprint is the sum, and never 0.
"""

from __future__ import annotations

from collections.abc import Sequence

from kmc.runtime.mixing import WORD_MASK, mix

MASK = WORD_MASK

SECOND = 1 << 32
"""Added to every salt for the second word of a fingerprint of 128 bits, so that it is an independent hash."""

WIDE_WORDS = 2
"""Words before a row whose state has a fingerprint of 128 bits: its second word, and the second hash sum."""


def entry_term(words: Sequence[int], salt: int, shift: int) -> int:
    """The term of a network entry: its words chained; `shift` is 0, or SECOND in the second hash sum."""
    term = salt
    for word in words:
        term = mix(word, term + shift)
    return term


def fingerprint(hash_sum: int) -> int:
    """The fingerprint of a row with this hash sum."""
    return hash_sum & MASK or 1


def network_salt(index: int) -> int:
    """The salt of entries of network `index`; fixed words use their own positions."""
    return 1 << 20 | index
