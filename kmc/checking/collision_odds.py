"""The odds that a state was missed for want of fingerprint bits: in words, and when 64 bits are too few."""

from __future__ import annotations

from kmc.engine.collision_bound import collision_bound
from kmc.result import Result

ODDS_MAX = 1e-3
ODDS_COUNTED_MIN = 1e-6
WIDE_BYTES_PER_STATE = 48
"""The memory of a state with 128-bit fingerprints: 41 bytes in a table that has just grown, and its share of the rows
of two levels.
"""


def odds_text(collision_bound: float) -> str:
    """The odds, in words, of which `collision_bound` is the upper bound: "1 in 148", or "2.4E-18" for small ones."""
    if collision_bound >= 1:
        return "1 in 1"
    if collision_bound < ODDS_COUNTED_MIN:
        return f"{collision_bound:.1E}" if collision_bound else "0"
    return f"1 in {round(1 / collision_bound):,}"


def enough_bits(states: int | None, free_bytes: float) -> int:
    """The width for a search of so many expected states: 128 bits where 64 are too few and the memory is there.

    An unknown number of states gives 64.
    """
    if states is None or collision_bound(states) <= ODDS_MAX:
        return 64
    return 128 if states * WIDE_BYTES_PER_STATE <= free_bytes else 64


def collision_warnings(result: Result, remedy: str) -> tuple[str, ...]:
    """A warning if states may have been missed for want of bits; `remedy` makes the odds negligible."""
    if result.fingerprint_bits != 64 or result.collision_bound <= ODDS_MAX:
        return ()
    return (
        f"two states may have had the same 64-bit fingerprint, and one of them was missed then: the odds are at most "
        f"{odds_text(result.collision_bound)}. To make them negligible: {remedy}",
    )
