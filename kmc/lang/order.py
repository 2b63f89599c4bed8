"""A total order of values, for display and for choosing one counterexample among equals.

The order depends on the values only: not on hashes, and not on the order in which a search found them. Kinds are
ordered first (Nil, booleans, integers, symbols, sequences, sets, maps, records, networks), then contents.
"""

from __future__ import annotations

from typing import Any, TypeAlias

from kmc.lang.maps import MapValue
from kmc.lang.networks import MessageBagValue, MessageSetValue
from kmc.lang.seqs import SeqValue
from kmc.lang.symbols import Symbol
from kmc.lang.types import RecordMeta

SortKey: TypeAlias = tuple[Any, ...]


def sort_key(value: Any) -> SortKey:
    """A key such that `sorted(values, key=sort_key)` is the display order; TypeError for anything but a spec value."""
    if value is None:
        return (0,)
    if isinstance(value, bool):
        return (1, value)
    if isinstance(value, int):
        return (2, value)
    if isinstance(value, Symbol):
        return (3, type(value).__name__, value.index)
    if isinstance(value, SeqValue):
        return (4, tuple(sort_key(element) for element in value))
    if isinstance(value, frozenset):
        return (5, len(value), tuple(sorted(sort_key(element) for element in value)))
    if isinstance(value, MapValue):
        return (6, tuple(sorted((sort_key(key), sort_key(item)) for key, item in value.items())))
    if isinstance(type(value), RecordMeta):
        return (7, type(value).__name__, tuple(sort_key(item) for _, item in value.items()))
    if isinstance(value, MessageSetValue):
        return (8, len(value), tuple(sorted(sort_key(message) for message in value)))
    if isinstance(value, MessageBagValue):
        return (9, len(value), tuple(sorted((sort_key(message), count) for message, count in value.counts())))
    raise TypeError(f"{value!r} is not a value of the spec language")


def ordered(values: Any) -> list[Any]:
    """The elements of a collection in display order."""
    return sorted(values, key=sort_key)
