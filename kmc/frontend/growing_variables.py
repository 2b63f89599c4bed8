"""Integers of the states that grow with the levels of a search: a sign that a model has no end, or one far away.

A few states of a level are sampled now and then, so that the watch needs a fiftieth of the time at most. It decides
nothing: its warning is shown beside the result. An integer counts as growing without bound if its largest value rose in
every quarter of the second half of the levels, and at that rate would need three times as many levels again to reach
the largest value of its type. In a model that its constants bound, integers stop growing long before.
"""

from __future__ import annotations

import time
from collections.abc import Callable, Iterable, Iterator
from itertools import pairwise
from typing import Any

from kmc.lang.assumed_range import INT_MAX
from kmc.lang.records import State
from kmc.lang.types import (
    IntType,
    MapType,
    MessageBagType,
    MessageSetType,
    RecordType,
    SeqType,
    SetType,
    Type,
    UnboundedInt,
    UnionType,
)
from kmc.result import GrowingVariable

SAMPLED_STATES = 24
_SHARE = 50
"""The watch pauses for its own duration times this number."""

_FIRST_SECONDS = 0.5
_WINDOW_LEVELS_MIN = 12
_QUARTERS = 4
_FAR = 3


class GrowthWatch:
    """Watches the levels of a search; `seconds` is a clock that only rises.

    With `share` 0 it samples every level, else first after half a second, so that a short search pays nothing.
    """

    def __init__(self, seconds: Callable[[], float] = time.monotonic, share: int = _SHARE) -> None:
        self._seconds = seconds
        self._share = share
        self._due = seconds() + (_FIRST_SECONDS if share else 0.0)
        self._seen: list[tuple[int, dict[str, int]]] = []
        self._largest: dict[str, int] = {}
        self._bounds: dict[str, int] = {}

    def level_made(self, level: int, sample: Callable[[int], Iterable[State]]) -> None:
        """Look at `level` (from 1), if it is time; `sample` gives so many of its states, or fewer."""
        began = self._seconds()
        if began < self._due:
            return
        for state in sample(SAMPLED_STATES):
            for name, value, bound in _in_record(state):
                self._largest[name] = max(value, self._largest.get(name, value))
                self._bounds[name] = bound
        self._seen.append((level, dict(self._largest)))
        ended = self._seconds()
        self._due = ended + self._share * (ended - began)

    @property
    def growing(self) -> tuple[GrowingVariable, ...]:
        """The integers that grow without bound, as far as was seen, in the order of the fields."""
        if not self._seen:
            return ()
        last = self._seen[-1][0]
        window = [(level, seen) for level, seen in self._seen if 2 * level >= last]
        levels = last - window[0][0]
        if levels < _WINDOW_LEVELS_MIN:
            return ()
        marks = [window[0][0] + levels * quarter / _QUARTERS for quarter in range(_QUARTERS + 1)]
        # The last value seen at each mark.
        seen = [max((at for at in window if at[0] <= mark), key=lambda at: at[0])[1] for mark in marks]
        return tuple(
            GrowingVariable(name, self._largest[name], bound, last)
            for name, bound in self._bounds.items()
            if _is_endless([at.get(name) for at in seen], bound, levels, last)
        )


def _is_endless(values: list[int | None], bound: int, levels: int, last: int) -> bool:
    """Whether the largest values at the marks rise all the time, and their bound is far."""
    known = [value for value in values if value is not None]
    if len(known) < len(values) or any(after <= before for before, after in pairwise(known)):
        return False
    pace = (known[-1] - known[0]) / levels
    return (bound - known[-1]) / pace >= _FAR * last


def _in_record(record: Any, before: str = "") -> Iterator[tuple[str, int, int]]:
    """The integers in a record: name, value and largest value of the type; a sequence has its length."""
    for field, declared in type(record).fields.items():
        yield from _in_value(getattr(record, field), declared, f"{before}{field}")


def _in_value(value: Any, declared: Type, name: str) -> Iterator[tuple[str, int, int]]:
    match declared:
        case UnboundedInt():
            yield name, value, INT_MAX
        case IntType(_, high):
            yield name, value, high
        case RecordType():
            yield from _in_record(value, f"{name}.")
        case UnionType(alternatives):
            alternative = next((each for each in alternatives if _may_be(value, each)), None)
            if alternative is not None:
                yield from _in_value(value, alternative, name)
        case SeqType(element, capacity):
            yield f"len({name})", len(value), capacity
            for each in value:
                yield from _in_value(each, element, f"{name}[*]")
        case MapType(_, element):
            for each in value.values():
                yield from _in_value(each, element, f"{name}[*]")
        case SetType(IntType(_, high)) if value:
            yield f"max({name})", max(value), high
        case MessageBagType(_, _, count_max):
            for message, count in value.counts():
                yield f"{name}[*]", count, count_max
                yield from _in_record(message, f"{name}: {type(message).__name__}.")
        case MessageSetType():
            for message in value:
                yield from _in_record(message, f"{name}: {type(message).__name__}.")
        case _:
            return


def _may_be(value: Any, declared: Type) -> bool:
    """Whether a value of a union is one of this alternative; among scalars only integers matter."""
    if isinstance(declared, IntType):
        return type(value) is int
    return isinstance(declared, RecordType) and isinstance(value, declared.cls)
