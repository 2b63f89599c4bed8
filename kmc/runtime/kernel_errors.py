"""The negative answers of kernels: the number of a check that failed, and of one that a value is in the assumed range.

Invariant: a check of the assumed range has a number that no other check has. So an engine distinguishes a range that is
too narrow from an error of the spec, whatever else it finds in a level.
"""

from __future__ import annotations

from enum import Enum

from kmc.lang.assumed_range import WIDEST, AssumedRangeLeft
from kmc.lang.types import IntType, UnboundedInt

ERROR_BASE = 16
"""A kernel that returns -(ERROR_BASE + n) stopped at check number n."""


class RangeEnd(Enum):
    """An end of the range that compiled code assumes: of integers without declared bounds, of the members of a set, or
    of the levels of a recursion.

    The number of a check that a value is within this end has the value as a bit besides.
    """

    BELOW = 1 << 40
    ABOVE = 1 << 41
    MEMBERS = 1 << 42
    DEPTH = 1 << 43


def assumed_ends(declared: IntType) -> tuple[RangeEnd | None, RangeEnd | None]:
    """Return the assumptions that the least and the largest value of a type are; None for a declared bound."""
    is_assumed = isinstance(declared, UnboundedInt)
    below = RangeEnd.BELOW if is_assumed and declared.low > WIDEST.low else None
    return below, RangeEnd.ABOVE if is_assumed and declared.high < WIDEST.high else None


_CHECKS = RangeEnd.BELOW.value - 1


def error_number(answer: int) -> int:
    """Return the number of the spec's error that a kernel's negative answer represents."""
    return -ERROR_BASE - answer


def require_assumed(number: int) -> None:
    """Raise AssumedRangeLeft if the number of an error is that of a check of the assumed range."""
    if number > _CHECKS:
        below, members, depth = (bool(number & end.value) for end in (RangeEnd.BELOW, RangeEnd.MEMBERS, RangeEnd.DEPTH))
        raise AssumedRangeLeft(below=below, members=members, depth=depth, check=number & _CHECKS)
