"""The range that compiled code assumes of integers without declared bounds: `int` in the annotations of a spec.

Invariant: a value outside of the range ends compiled code with an error of its own, and is never wrapped; the search
then starts again with a wider range (`kmc.engine.assumed_integers`). The interpreter has no range, so the range changes
neither a verdict nor a count. It is the same for all integers of a process: then all of them have one type, and a value
moves from one variable to another without a conversion.

The same holds for the number of members of a set that is stored as a list, whose elements have too many possible values
for a mask, and for the number of levels of a helper that calls itself.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator
from contextlib import contextmanager
from dataclasses import dataclass, replace
from threading import RLock

INT_MAX = 1 << 52
"""The largest integer without declared bounds, and the negative of the least.

Compiled numbers end at 2**62, so the widest range leaves room for sums, and for products with numbers up to 1024.
"""

_BITS_ADDED = 4
_BITS_OF_ROOM = 2

_FIRST_MEMBERS = 4
_WIDEST_MEMBERS = 32

_FIRST_DEPTH = 4


@dataclass(frozen=True, slots=True)
class AssumedRange:
    """The integers from `low`, which is 0 or negative, to `high`, which is positive, both included.

    Its ends are powers of 16, so the range at which a search ends does not depend on the order of its restarts. A set
    that is stored as a list has at most `members` members, and a helper that calls itself at most `depth` levels: both
    are powers of 2.
    """

    low: int
    high: int
    members: int = _FIRST_MEMBERS
    depth: int = _FIRST_DEPTH

    def with_room_for(self, value: int) -> AssumedRange:
        """Return the least wider range that has room beyond `value`."""
        if value < 0:
            return replace(self, low=min(self.low, -_capped(_power_beyond(-value))))
        return replace(self, high=max(self.high, _capped(_power_beyond(value) - 1)))

    def lowered(self) -> AssumedRange:
        """Return a range with 16 times as many negative integers, or with the first ones."""
        return replace(self, low=-_capped(max(-self.low, 1) << _BITS_ADDED))

    def raised(self) -> AssumedRange:
        """Return a range with 16 times as many positive integers."""
        return replace(self, high=_capped(((self.high + 1) << _BITS_ADDED) - 1))

    def with_more_members(self) -> AssumedRange:
        """Return the same integers, with twice as many members of a set."""
        return replace(self, members=2 * self.members)

    def with_more_levels(self) -> AssumedRange:
        """Return the same integers, with twice as many levels of a helper that calls itself."""
        return replace(self, depth=2 * self.depth)

    @property
    def integers(self) -> str:
        """The range of the integers."""
        return f"{self.low}..{self.high}"

    def __str__(self) -> str:
        if self.depth != _FIRST_DEPTH:
            return f"{self.integers}, {self.members}, {self.depth}"
        return self.integers if self.members == _FIRST_MEMBERS else f"{self.integers}, {self.members}"

    @classmethod
    def parsed(cls, text: str) -> AssumedRange | None:
        """Return the range that was written as a text; None for any other text."""
        integers, *counts = text.split(", ")
        try:
            low, high = map(int, integers.split(".."))
            members, depth, *more = [*map(int, counts), *(_FIRST_MEMBERS, _FIRST_DEPTH)[len(counts) :]]
        except ValueError:
            return None
        is_range = -INT_MAX <= low <= 0 < high <= INT_MAX and members > 0 and depth > 0 and not more
        return cls(low, high, members, depth) if is_range else None


def _power_beyond(size: int) -> int:
    """Return the least power of 16 that is 16 at least and has room beyond a number."""
    return 1 << -(-(size.bit_length() + _BITS_OF_ROOM) // _BITS_ADDED) * _BITS_ADDED


def _capped(size: int) -> int:
    return min(size, INT_MAX)


WIDEST = AssumedRange(-INT_MAX, INT_MAX, _WIDEST_MEMBERS)
"""All integers without declared bounds; compiled code has this range where nothing else was assumed."""

NARROWEST = AssumedRange(0, (1 << _BITS_ADDED) - 1)
"""The range of a spec whose integers are small and never negative."""


class AssumedRangeLeft(Exception):
    """The end of a search in which an integer left the range, below or above, or a set got too many members, or a
    helper that calls itself too many levels.

    `value` is the integer, or `check` the number of the check that failed; `place` is a file of the spec with a line.
    """

    def __init__(
        self,
        *,
        below: bool = False,
        members: bool = False,
        depth: bool = False,
        value: int | None = None,
        check: int | None = None,
        place: str = "",
    ) -> None:
        super().__init__(below, members, value)
        self.below = below
        self.members = members
        self.depth = depth
        self.value = value
        self.check = check
        self.place = place


class _Assumption:
    """The range that holds now. One thread at a time has a range of its own."""

    def __init__(self) -> None:
        self.range = WIDEST
        self.lock = RLock()
        self.dependents: list[Callable[[], None]] = []

    def change(self, assumed: AssumedRange) -> None:
        """Make `assumed` the range that holds, and forget what was computed with another one."""
        if assumed != self.range:
            self.range = assumed
            for forget in self.dependents:
                forget()


_NOW = _Assumption()


def assumed_range() -> AssumedRange:
    """Return the range that holds now."""
    return _NOW.range


def forget_with_range(forget: Callable[[], None]) -> None:
    """Call `forget`, the clearing of a cache, whenever another range holds."""
    _NOW.dependents.append(forget)


@contextmanager
def assuming(assumed: AssumedRange) -> Iterator[None]:
    """Let a range hold in the body, and the one before it afterwards; other threads that want one wait."""
    with _NOW.lock:
        before = _NOW.range
        _NOW.change(assumed)
        try:
            yield
        finally:
            _NOW.change(before)
