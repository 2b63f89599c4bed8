"""Columns of values that are one of several: shapes of a record, unions, and the messages of a network."""

from __future__ import annotations

import itertools
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, replace

import numpy as np
import pyarrow as pa

from kmc.lang.domains import members
from kmc.lang.types import (
    BoolType,
    EnumType,
    IdentType,
    IntType,
    MapType,
    PairType,
    RecordType,
    SeqType,
    SetType,
    Type,
    UnionType,
)
from kmc.runtime.state_layout import (
    Layout,
    NetworkLayout,
    Place,
    UnionLayout,
    layout_of,
    record_layout,
    scalar_count,
    shape_type,
)
from kmc.tables.arrow_arrays import lists, structs
from kmc.tables.cells import Bits, Cells, Indices, Mask, Narrow, Wide
from kmc.tables.columns import Column, NameColumn, RecordColumn, bits_of

_WHOLE = Place(0, 0)


@dataclass(frozen=True, slots=True)
class FieldSource:
    """The location of a field's values if alternative `index` is there: at a place in it.

    `codes` gives, for each cell of that place, the cell that the field has, where these differ.
    """

    index: int
    place: Place
    layout: Layout
    codes: tuple[int, ...] = ()


@dataclass(frozen=True, slots=True)
class ChoiceField:
    """A field of one or several alternatives."""

    name: str
    declared: Type
    sources: tuple[FieldSource, ...]


@dataclass(frozen=True, slots=True)
class Choice:
    """The alternatives by name, and the fields of all of them."""

    names: tuple[str, ...]
    fields: tuple[ChoiceField, ...]


def choice_of(alternatives: Sequence[Type]) -> Choice:
    """Divide the fields of alternatives into common ones and others.

    A field has one column if it has one type wherever it occurs, or only types of names, or of numbers. Else it has one
    for each type, the others with the name of an alternative behind its own. An alternative that is not a record is a
    field too.
    """
    names = tuple(map(_name_of, alternatives))
    parts: dict[str, dict[Type, list[FieldSource]]] = {}
    for index, declared in enumerate(alternatives):
        if isinstance(declared, RecordType):
            places = record_layout(declared.cls).fields
            for name, kind in declared.cls.fields.items():
                parts.setdefault(name, {}).setdefault(kind, []).append(
                    FieldSource(index, places[name], layout_of(kind))
                )
        else:
            source = FieldSource(index, _WHOLE, layout_of(declared))
            parts.setdefault(names[index], {}).setdefault(declared, []).append(source)
    taken = {"type"}
    fields = []
    for name, kinds in parts.items():
        for kind, sources in (_as_one_union(kinds) or kinds).items():
            unique = name
            while unique in taken:
                unique = f"{unique}_{names[sources[0].index]}" if unique != "type" else "type_"
            taken.add(unique)
            fields.append(ChoiceField(unique, kind, tuple(sources)))
    return Choice(names, tuple(fields))


def _as_one_union(kinds: Mapping[Type, list[FieldSource]]) -> dict[Type, list[FieldSource]] | None:
    """Several types of a field as one optional union, if that has one column; None if not."""
    scalars = list(dict.fromkeys(scalar for kind in kinds for scalar in _scalars_in(kind)))
    if len(kinds) == 1 or not is_one_column(scalars):
        return None
    begins = dict(zip(scalars, itertools.accumulate(map(scalar_count, scalars), initial=1), strict=False))
    joined: list[FieldSource] = []
    for kind, sources in kinds.items():
        codes = [0] if isinstance(kind, UnionType) and kind.optional else []
        codes += [begins[scalar] + index for scalar in _scalars_in(kind) for index in range(scalar_count(scalar))]
        joined += [replace(source, codes=tuple(codes)) for source in sources]
    return {UnionType(tuple(scalars), optional=True): joined}


def _scalars_in(declared: Type) -> tuple[Type, ...]:
    return declared.alternatives if isinstance(declared, UnionType) else (declared,)


def is_one_column(alternatives: Sequence[Type]) -> bool:
    """Whether values of these types make one column of names, or of numbers."""
    titles = [member.title for one in alternatives if isinstance(one, EnumType | IdentType) for member in members(one)]
    are_names = all(isinstance(one, EnumType | IdentType) for one in alternatives) and len(titles) == len(set(titles))
    return are_names or all(isinstance(one, IntType) for one in alternatives)


def _name_of(declared: Type) -> str:
    match declared:
        case RecordType(cls) | EnumType(cls) | IdentType(cls):
            return str(cls.__name__)
        case BoolType():
            return "bool"
        case IntType():
            return "int"
        case SetType() | PairType():
            return "set"
        case SeqType():
            return "seq"
        case MapType():
            return "map"
        case _:
            raise AssertionError(f"{declared} is not an alternative")


class Alternatives:
    """The struct of a choice: which alternative is there, and the fields that it has."""

    def __init__(self, choice: Choice, columns: Sequence[Column]) -> None:
        """`columns` are those of the fields of the choice."""
        self._choice, self._columns = choice, tuple(columns)
        self._type = NameColumn(choice.names)
        named = [(field.name, column.kind) for field, column in zip(choice.fields, columns, strict=True)]
        self.fields = [("type", self._type.kind), *named]

    def decode(self, codes: Bits, chosen: Sequence[Mask], read: Callable[[int, Indices], Cells]) -> list[pa.Array]:
        """Columns for the fields of values; `codes` are their alternatives.

        `chosen` has a mask for each alternative: which values are of it. The fields of a value of no alternative become
        null. `read(k, places)` returns some values of alternative k.
        """
        arrays = [self._type.decode(Narrow(codes), all_or_some(chosen))]
        rows = [np.flatnonzero(mask) for mask in chosen]
        values = [read(index, some) for index, some in enumerate(rows)]
        for field, column in zip(self._choice.fields, self._columns, strict=True):
            layout = layout_of(field.declared)
            cells = [_read(values[source.index], source) for source in field.sources]
            where = [rows[source.index] for source in field.sources]
            valid = all_or_some([chosen[source.index] for source in field.sources])
            arrays.append(column.decode(_scattered(len(codes), where, cells, layout), valid))
        return arrays


def _read(cells: Cells, source: FieldSource) -> Cells:
    part_cells = cells.part(source.place, source.layout)
    return Narrow(np.array(source.codes, np.uint64)[bits_of(part_cells)]) if source.codes else part_cells


def all_or_some(masks: Sequence[Mask]) -> Mask | None:
    """The union of the masks; None if it has all values."""
    any_mask: Mask = np.logical_or.reduce(masks)
    return None if any_mask.all() else any_mask


def _scattered(length: int, where: Sequence[Indices], cells: Sequence[Cells], layout: Layout) -> Cells:
    """Values brought together: `cells[k]` at the places `where[k]`, anything elsewhere."""
    if layout.narrow:
        bits = np.zeros(length, np.uint64)
        for rows, source_cells in zip(where, cells, strict=True):
            bits[rows] = bits_of(source_cells)
        return Narrow(bits)
    first = np.zeros(length, np.int64)
    words = np.zeros(0, np.uint64)
    for rows, source_cells in zip(where, cells, strict=True):
        assert isinstance(source_cells, Wide), "a wide type has wide cells"
        words = source_cells.words
        first[rows] = source_cells.first
    return Wide(words, first)


class OptionalColumn:
    """Values of one type, or None."""

    def __init__(self, union: UnionLayout, column: Column) -> None:
        self._union, self._column = union, column
        self.kind = column.kind

    def decode(self, cells: Cells, valid: Mask | None) -> pa.Array:
        """See `Column`."""
        choice = _Chosen(self._union, cells, valid)
        every = np.arange(len(cells))
        return self._column.decode(choice.read(0, every), all_or_some(choice.masks))


class ScalarsColumn:
    """Values of several scalar types, or None: `values` has the column of all of them by code."""

    def __init__(self, union: UnionLayout, values: Column) -> None:
        self._optional, self._values = union.optional, values
        self.kind = values.kind

    def decode(self, cells: Cells, valid: Mask | None) -> pa.Array:
        """See `Column`."""
        codes = bits_of(cells)
        if self._optional:
            there = codes != 0 if valid is None else (codes != 0) & valid
            valid = None if there.all() else there
            codes = codes - np.uint64(1)
        return self._values.decode(Narrow(codes), valid)


class ChoiceColumn:
    """Unions, and records of several shapes."""

    def __init__(self, union: UnionLayout, alternatives: Alternatives) -> None:
        self._union, self._alternatives = union, alternatives
        self.kind = pa.struct(alternatives.fields)

    def decode(self, cells: Cells, valid: Mask | None) -> pa.Array:
        """See `Column`."""
        choice = _Chosen(self._union, cells, valid)
        columns = self._alternatives.decode(choice.indices, choice.masks, choice.read)
        return structs(len(cells), columns, self.kind, all_or_some(choice.masks))


class _Chosen:
    """The alternative of each value of a union: by number, and as a mask for each alternative."""

    def __init__(self, union: UnionLayout, cells: Cells, valid: Mask | None) -> None:
        self._union, self._cells = union, cells
        if union.coded:
            self._codes = bits_of(cells).astype(np.int64) - union.optional
            ends = np.cumsum([scalar_count(one) for one in union.alternatives])
            self._begins = [0, *ends[:-1].tolist()]
            indices = np.searchsorted(ends, self._codes, side="right")
            indices[self._codes < 0] = -1
        else:
            tags = bits_of(cells.part(_WHOLE, Layout(union.tag_bits)))
            indices = tags.astype(np.int64) - union.optional
        self.masks: list[Mask] = [indices == index for index in range(len(union.alternatives))]
        if valid is not None:
            self.masks = [mask & valid for mask in self.masks]
        self.indices: Bits = indices.astype(np.uint64)

    def read(self, index: int, rows: Indices) -> Cells:
        """The values at these places as those of an alternative."""
        if self._union.coded:
            return Narrow((self._codes[rows] - self._begins[index]).astype(np.uint64))
        return self._cells.take(rows).part(self._union.payload, layout_of(self._union.alternatives[index]))


class EntryColumn:
    """Entries of networks: a message each, in a bag with its `count`."""

    def __init__(self, layout: NetworkLayout, message: Alternatives | RecordColumn, count: Column | None) -> None:
        """`message` is a record if there is one shape; `count` is the column of a bag's counts."""
        self._layout, self._message, self._count = layout, message, count
        fields = message.fields if isinstance(message, Alternatives) else list(message.kind)
        names = {field.name if isinstance(field, pa.Field) else field[0] for field in fields}
        counts = [("count_" if "count" in names else "count", count.kind)] if count is not None else []
        self.kind = pa.struct([*fields, *counts])
        self._shapes = [layout_of(shape_type(shape)) for shape in layout.shapes]

    def decode(self, cells: Cells, valid: Mask | None) -> pa.Array:
        """See `Column`; all entries are valid."""
        columns = self._messages(cells)
        if self._count is not None:
            columns.append(self._count.decode(cells.part(_WHOLE, Layout(self._layout.count_bits)), None))
        return structs(len(cells), columns, self.kind, None)

    def _messages(self, cells: Cells) -> list[pa.Array]:
        payload = self._layout.payload
        if isinstance(self._message, RecordColumn):
            return self._message.fields_of(cells.part(payload, self._shapes[0]))
        tags = bits_of(cells.part(Place(0, self._layout.count_bits), Layout(self._layout.tag_bits)))
        chosen = [tags == index for index in range(len(self._shapes))]
        return self._message.decode(
            tags, chosen, lambda index, rows: cells.take(rows).part(payload, self._shapes[index])
        )


class NetworkColumn:
    """Networks, as lists of their entries."""

    def __init__(self, layout: NetworkLayout, entry: Column) -> None:
        self._words, self._entry = layout.words, entry
        self.kind = pa.list_(entry.kind)

    def decode(self, words: Bits, lengths: Indices, first: Indices) -> pa.Array:
        """The networks of rows: `lengths` counts their entries, `first` is the word where those of each row begin."""
        before = np.cumsum(lengths) - lengths
        starts = np.repeat(first - before * self._words, lengths)
        starts += np.arange(len(starts)) * self._words
        entries = Wide(words, starts)
        cells: Cells = Narrow(entries.word(0)) if self._words == 1 else entries
        return lists(lengths, self._entry.decode(cells, None), self.kind, None)
