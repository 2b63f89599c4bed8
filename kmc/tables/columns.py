"""Columns: for every type of the spec language its Arrow type, and the decoder of many values at once.

| type of the spec | column |
| --- | --- |
| Bool, Int | bool, the smallest signed integer that holds the domain |
| enum, identifiers | dictionary of names |
| Opt[T] | the column of T, with null for None |
| record | struct of its fields |
| Set, Seq, Pair | list |
| Map, PartialMap | map |
| record of several shapes, union | struct: `type`, and the fields of all alternatives, null where one has no such |
| MessageSet, MessageBag | list of messages, in a bag with `count` |

Invariant: if a value is valid, its column holds what `kmc.runtime.codec` decodes. The data under a null is any value of
the type, or an empty list.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Protocol

import numpy as np
import pyarrow as pa

from kmc.runtime.state_layout import ArrayLayout, Layout, Place, mask_words
from kmc.tables.arrow_arrays import lists, numbers, structs, truths, words_of
from kmc.tables.cells import Bits, Cells, Indices, Mask, Narrow


class Column(Protocol):
    """Decodes values of one type. Values that are not `valid` become null; None: all are."""

    kind: pa.DataType

    def decode(self, cells: Cells, valid: Mask | None) -> pa.Array:
        """The column of these values."""


def bits_of(cells: Cells) -> Bits:
    """The bits of narrow values."""
    assert isinstance(cells, Narrow), "a narrow type has narrow cells"
    return cells.bits


class BoolColumn:
    """TRUE and FALSE."""

    kind = pa.bool_()

    def decode(self, cells: Cells, valid: Mask | None) -> pa.Array:
        """See `Column`."""
        return truths(bits_of(cells), valid)


class IntColumn:
    """Integers from `low` to `high`: a cell holds the distance from `low`."""

    def __init__(self, low: int, high: int) -> None:
        self._low = low
        sizes = (bits for bits in (8, 16, 32, 64) if -(1 << bits - 1) <= low and high < 1 << bits - 1)
        self._dtype = np.dtype(f"int{next(sizes)}")
        self.kind = pa.from_numpy_dtype(self._dtype)

    def decode(self, cells: Cells, valid: Mask | None) -> pa.Array:
        """See `Column`."""
        values = bits_of(cells).astype(self._dtype)
        if self._low:
            values += self._dtype.type(self._low)
        return numbers(values, self.kind, valid)


class NameColumn:
    """Members of an enumeration or of identifiers: a cell holds their number."""

    def __init__(self, titles: Sequence[str]) -> None:
        index = next(kind for most, kind in _INDICES if len(titles) <= most)
        self.kind = pa.dictionary(index, pa.string())
        self._titles = pa.array(titles, pa.string())

    def decode(self, cells: Cells, valid: Mask | None) -> pa.Array:
        """See `Column`."""
        return words_of(bits_of(cells), self.kind, self._titles, valid)


class NumberColumn:
    """Integers of several domains: a cell holds the number of one of `values`."""

    def __init__(self, values: Sequence[int]) -> None:
        whole = IntColumn(min(values), max(values))
        self.kind = whole.kind
        self._values = np.array(values, whole.kind.to_pandas_dtype())

    def decode(self, cells: Cells, valid: Mask | None) -> pa.Array:
        """See `Column`."""
        return numbers(self._values.take(bits_of(cells).astype(np.int64), mode="clip"), self.kind, valid)


_INDICES = ((1 << 7, pa.int8()), (1 << 15, pa.int16()), (1 << 31, pa.int32()))


@dataclass(frozen=True, slots=True)
class RecordField:
    """A field of a record: its column, and where it lies."""

    name: str
    column: Column
    place: Place
    layout: Layout


class RecordColumn:
    """Records of one shape."""

    def __init__(self, fields: Sequence[RecordField]) -> None:
        self._parts = tuple(fields)
        self.kind = pa.struct([(field.name, field.column.kind) for field in fields])

    def decode(self, cells: Cells, valid: Mask | None) -> pa.Array:
        """See `Column`."""
        return structs(len(cells), self.fields_of(cells, valid), self.kind, valid)

    def fields_of(self, cells: Cells, valid: Mask | None = None) -> list[pa.Array]:
        """The columns of the fields alone."""
        return [part.column.decode(cells.part(part.place, part.layout), valid) for part in self._parts]


def counted(lengths: Indices) -> tuple[Indices, Indices]:
    """The list that each element of lists of these lengths belongs to, and the number of the element there."""
    owners = np.repeat(np.arange(len(lengths)), lengths)
    before = np.cumsum(lengths) - lengths
    return owners, np.arange(len(owners)) - before[owners]


def _members_in(masks: Bits, count: int, valid: Mask | None) -> tuple[Indices, Indices, Indices]:
    """For masks of `count` bits: the number of bits set in each, and for each of these its mask and its number
    there.
    """
    if valid is not None:
        masks = np.where(valid, masks, np.uint64(0))
    if not count:
        return np.zeros(len(masks), np.int64), np.zeros(0, np.int64), np.zeros(0, np.int64)
    member_bits = (masks[:, None] >> np.arange(count, dtype=np.uint64)) & np.uint64(1)
    owners, chosen = np.nonzero(member_bits)
    return np.bitwise_count(masks).astype(np.int64), owners, chosen


def _members_in_words(words: Sequence[Bits], count: int, valid: Mask | None) -> tuple[Indices, Indices, Indices]:
    """The same for masks of several words."""
    found = [_members_in(word, min(count - _WORD * place, _WORD), valid) for place, word in enumerate(words)]
    owners = np.concatenate([mine for _, mine, _ in found])
    chosen = np.concatenate([numbers + _WORD * place for place, (_, _, numbers) in enumerate(found)])
    by_owner = np.argsort(owners, kind="stable")
    return np.sum([lengths for lengths, _, _ in found], axis=0), owners[by_owner], chosen[by_owner]


_WORD = 64


def _chosen(cells: Cells, count: int, valid: Mask | None) -> tuple[Indices, Indices, Indices]:
    """The same for cells that are masks, of one word or of several."""
    if isinstance(cells, Narrow):
        return _members_in(cells.bits, count, valid)
    return _members_in_words([cells.word(place) for place in range(mask_words(count))], count, valid)


class MemberColumn:
    """Values of a type that has few, by number: the elements of sets and the keys of maps.

    `codes` are the cells of all values of the type.
    """

    def __init__(self, column: Column, codes: Sequence[int], *, has_none: bool = False) -> None:
        self._column, self._codes = column, np.array(codes, np.uint64)
        self.has_none = has_none
        self.kind = column.kind
        self.count = len(codes)

    def of_numbers(self, chosen: Indices) -> pa.Array:
        """The values of these numbers."""
        return self._column.decode(Narrow(self._codes[chosen]), None)


class SetColumn:
    """Sets, and pairs, which are sets of two: a cell holds a mask."""

    def __init__(self, element: MemberColumn) -> None:
        self._element = element
        self.kind = pa.list_(element.kind)

    def decode(self, cells: Cells, valid: Mask | None) -> pa.Array:
        """See `Column`."""
        lengths, _, chosen = _chosen(cells, self._element.count, valid)
        return lists(lengths, self._element.of_numbers(chosen), self.kind, valid)


class SeqColumn:
    """Sequences: a length, and the elements behind it."""

    def __init__(self, element: Column, array: ArrayLayout) -> None:
        self._element, self._array = element, array
        self.kind = pa.list_(element.kind)

    def decode(self, cells: Cells, valid: Mask | None) -> pa.Array:
        """See `Column`."""
        lengths = _head(cells, self._array).astype(np.int64)
        if valid is not None:
            lengths[~valid] = 0
        values = self._element.decode(cells.elements(self._array, *counted(lengths)), None)
        return lists(lengths, values, self.kind, valid)


def _head(cells: Cells, array: ArrayLayout) -> Bits:
    return bits_of(cells.part(Place(0, 0), Layout(array.head_bits)))


class MapColumn:
    """Maps: the values of all keys, behind the mask of the keys that are there unless the map is total."""

    def __init__(self, key: MemberColumn, value: Column, array: ArrayLayout) -> None:
        self._key, self._value, self._array = key, value, array
        if key.has_none:  # no key of a map of Arrow may be null
            self._entry = pa.struct([("key", key.kind), ("value", value.kind)])
            self.kind = pa.list_(self._entry)
        else:
            self.kind = pa.map_(key.kind, value.kind)
            self._entry = pa.struct([self.kind.key_field, self.kind.item_field])

    def decode(self, cells: Cells, valid: Mask | None) -> pa.Array:
        """See `Column`."""
        lengths, owners, chosen = self._entries(cells, valid)
        values = self._value.decode(cells.elements(self._array, owners, chosen), None)
        entries = structs(len(chosen), [self._key.of_numbers(chosen), values], self._entry, None)
        return lists(lengths, entries, self.kind, valid)

    def _entries(self, cells: Cells, valid: Mask | None) -> tuple[Indices, Indices, Indices]:
        """The number of entries of each map, and for each entry its map and its key."""
        count, is_total = self._key.count, not self._array.head_bits
        if not is_total:
            head = cells if self._array.head_words > 1 else cells.part(Place(0, 0), Layout(self._array.head_bits))
            return _chosen(head, count, valid)
        lengths = np.full(len(cells), count, np.int64)
        if valid is not None:
            lengths[~valid] = 0
        return lengths, *counted(lengths)
