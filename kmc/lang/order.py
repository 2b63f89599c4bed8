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

_FIELDS = slice(1, None)
"""The fields of a record, which is a tuple that begins with its class."""


def sort_key(value: Any, memo: dict[Any, SortKey] | None = None) -> SortKey:
    """A key such that `sorted(values, key=sort_key)` is the display order; TypeError for anything but a spec value.

    `memo` remembers the keys of the records inside, for values that share many of them, as the permutations of a state.
    """
    if value is None:
        return (0,)
    if isinstance(value, int):
        return (1 if isinstance(value, bool) else 2, value)
    if isinstance(value, Symbol):
        return (3, type(value).__name__, value.index)
    if isinstance(type(value), RecordMeta):
        return _record_key(value, memo)
    if isinstance(value, SeqValue):
        return (4, tuple([sort_key(element, memo) for element in value]))
    if isinstance(value, frozenset):
        return (5, len(value), tuple(sorted([sort_key(element, memo) for element in value])))
    if isinstance(value, MapValue):
        return (6, tuple(sorted([(sort_key(key, memo), sort_key(item, memo)) for key, item in value.items()])))
    if isinstance(value, MessageSetValue):
        return (8, len(value), tuple(sorted([sort_key(message, memo) for message in value])))
    if isinstance(value, MessageBagValue):
        return (9, len(value), tuple(sorted([(sort_key(message, memo), count) for message, count in value.counts()])))
    raise TypeError(f"{value!r} is not a value of the spec language")


def _record_key(record: Any, memo: dict[Any, SortKey] | None) -> SortKey:
    if memo is None:
        return record_key(record, None)
    key = memo.get(record)
    if key is None:
        key = memo[record] = record_key(record, memo)
    return key


def record_key(record: Any, memo: dict[Any, SortKey] | None) -> SortKey:
    """The key of a record; `memo` remembers the keys of the records inside, not this one."""
    items = tuple.__getitem__(record, _FIELDS)
    return (7, type(record).__name__, tuple([sort_key(item, memo) for item in items]))


def ordered(values: Any) -> list[Any]:
    """The elements of a collection in display order."""
    return sorted(values, key=sort_key)
