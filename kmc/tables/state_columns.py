"""The columns of a spec's states, from its types: how a block of rows becomes one batch of a table."""

from __future__ import annotations

from collections.abc import Collection, Sequence
from typing import Any, assert_never

import numpy as np
import pyarrow as pa

from kmc.engine.loops.compiled_loops import value_loop
from kmc.engine.loops.distinct_values import RowEntries
from kmc.engine.native.memory import Memory
from kmc.lang.domains import members
from kmc.lang.types import (
    BoolType,
    EnumType,
    IdentType,
    IntType,
    MapType,
    MessageBagType,
    MessageSetType,
    NetworkType,
    PairType,
    RecordMeta,
    RecordType,
    SeqType,
    SetType,
    Type,
    UnionType,
)
from kmc.runtime.blocks import RowBatch
from kmc.runtime.codec import value_words
from kmc.runtime.state_layout import (
    UnionLayout,
    array_layout,
    bits_for,
    is_listed,
    is_scalar,
    key_count,
    layout_of,
    list_type,
    network_layout,
    record_layout,
    row_layout,
    shape_type,
    union_layout,
)
from kmc.tables.alternatives import (
    Alternatives,
    ChoiceColumn,
    EntryColumn,
    NetworkColumn,
    OptionalColumn,
    ScalarsColumn,
    choice_of,
    is_one_column,
)
from kmc.tables.cells import Bits, Wide
from kmc.tables.columns import (
    BoolColumn,
    Column,
    IntColumn,
    MapColumn,
    MemberColumn,
    NameColumn,
    NumberColumn,
    RecordColumn,
    RecordField,
    SeqColumn,
    SetColumn,
)
from kmc.tables.interned import InternedColumn


def column_of(declared: Type) -> Column:
    """The column of a type that is not a network."""
    match declared:
        case BoolType():
            return BoolColumn()
        case IntType(low, high):
            return IntColumn(low, high)
        case EnumType() | IdentType():
            return NameColumn(tuple(member.title for member in members(declared)))
        case SetType() if is_listed(declared):
            return column_of(list_type(declared))
        case SetType(element) | PairType(element):
            return SetColumn(_members_of(element))
        case SeqType(element, capacity):
            return SeqColumn(column_of(element), array_layout(element, capacity, bits_for(capacity + 1)))
        case MapType(key, value, total):
            array = array_layout(value, key_count(key), 0 if total else key_count(key))
            return MapColumn(_members_of(key), column_of(value), array)
        case RecordType(cls) if len(cls.shapes) == 1:
            return _record(cls.shapes[0])
        case RecordType() | UnionType():
            return _union(union_layout(declared))
        case MessageSetType() | MessageBagType():
            raise AssertionError("a network is a field of a state")
        case _:
            assert_never(declared)


def _record(shape: Any) -> RecordColumn:
    places = record_layout(shape).fields
    return RecordColumn(
        [RecordField(name, column_of(t), places[name], layout_of(t)) for name, t in shape.fields.items()]
    )


def _members_of(declared: Type) -> MemberColumn:
    if not is_scalar(declared):
        codes = [value_words(one, declared)[0] for one in members(declared)]
        return MemberColumn(column_of(declared), codes, has_none=isinstance(declared, UnionType) and declared.optional)
    return MemberColumn(column_of(declared), range(key_count(declared)))


def _union(union: UnionLayout) -> Column:
    scalars = union.alternatives
    if len(scalars) > 1 and union.coded and is_one_column(scalars):
        listed = [member for scalar in scalars for member in members(scalar)]
        is_int = isinstance(scalars[0], IntType)
        return ScalarsColumn(union, NumberColumn(listed) if is_int else NameColumn([one.title for one in listed]))
    if len(union.alternatives) == 1:
        return OptionalColumn(union, column_of(union.alternatives[0]))
    return ChoiceColumn(union, _alternatives(union.alternatives))


def _alternatives(declared: Sequence[Type]) -> Alternatives:
    choice = choice_of(declared)
    return Alternatives(choice, [column_of(field.declared) for field in choice.fields])


def _network(declared: NetworkType) -> NetworkColumn:
    layout = network_layout(declared)
    shapes = [shape_type(shape) for shape in layout.shapes]
    message = _record(shapes[0].cls.shapes[0]) if len(shapes) == 1 else _alternatives(shapes)
    count = IntColumn(0, declared.count_max) if isinstance(declared, MessageBagType) else None
    return NetworkColumn(layout, InternedColumn(EntryColumn(layout, message, count), layout.words))


def _field_column(declared: Type) -> Column:
    """The column of a field of a state. Maps hardly ever repeat as a whole, but the records in them do."""
    if isinstance(declared, MapType):
        count = key_count(declared.key)
        array = array_layout(declared.value, count, 0 if declared.total else count)
        return MapColumn(_members_of(declared.key), _interned(declared.value), array)
    return _interned(declared)


def _interned(declared: Type) -> Column:
    column = column_of(declared)
    is_flat = not isinstance(column.kind, pa.StructType | pa.ListType | pa.MapType)
    return column if is_flat else InternedColumn(column, layout_of(declared).words)


class StateColumns:
    """The columns of the states of one spec, a column for each field of its State."""

    def __init__(self, state_class: RecordMeta, words_before: int) -> None:
        """`words_before` is the number of words of a row before those that `kmc.runtime.codec` knows."""
        self._row = row_layout(state_class)
        self._before = words_before
        networks = {name: t for name, t in state_class.fields.items() if isinstance(t, NetworkType)}
        places = self._row.fixed.fields
        self._parts = [
            RecordField(name, _field_column(declared), places[name], layout_of(declared))
            for name, declared in state_class.fields.items()
            if name not in networks
        ]
        self._networks = {name: _network(declared) for name, declared in networks.items()}
        kinds = {field.name: field.column.kind for field in self._parts}
        kinds |= {name: column.kind for name, column in self._networks.items()}
        self.fields = [(name, kinds[name]) for name in state_class.fields]

    def decode(self, rows: RowBatch, wanted: Sequence[bool] | None = None) -> list[pa.Array]:
        """The columns of these rows, all or those of the wanted fields.

        Entries of networks are sorted, in place, so that equal states look alike.
        """
        self._sort_entries(rows)
        words = rows.words.view(np.uint64)
        begins = rows.starts[:-1] + self._before
        fixed = Wide(words, begins + 1)
        names = [name for k, (name, _) in enumerate(self.fields) if wanted is None or wanted[k]]
        fields = [field for field in self._parts if field.name in names]
        arrays = {field.name: field.column.decode(fixed.part(field.place, field.layout), None) for field in fields}
        arrays |= self._decoded_networks(words, Wide(words, begins), names)
        return [arrays[name] for name in names]

    def _decoded_networks(self, words: Bits, rows: Wide, names: Collection[str]) -> dict[str, pa.Array]:
        first = rows.first + self._row.entries
        arrays = {}
        for index, (name, layout) in enumerate(self._row.networks):
            lengths = rows.word(self._row.counts + index).astype(np.int64)
            if name in names:
                arrays[name] = self._networks[name].decode(words, lengths, first)
            first = first + lengths * layout.words
        return arrays

    def _sort_entries(self, rows: RowBatch) -> None:
        networks = [layout.words for _, layout in self._row.networks]
        if not networks or not len(rows):
            return
        first = rows.words[rows.starts[0] :]
        widths, ends = np.array(networks, np.int64), rows.starts[1:] - rows.starts[0]
        told = RowEntries.of(Memory(RowEntries.WORDS))
        told.words, told.ends, told.rows = first.ctypes.data, ends.ctypes.data, len(rows)
        told.counts, told.networks, told.widths = self._before + self._row.counts, len(networks), widths.ctypes.data
        value_loop("sort_entries")(told, 0)
