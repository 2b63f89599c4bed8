"""Literals: constant values of a model as source of kmc's language, in the representation of the place they go to."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from math import comb

from kmc.tla.shapes.shape import (
    BOOLEAN,
    NOTHING,
    AtomShape,
    MapShape,
    NumberShape,
    PlainShape,
    RecordKey,
    RecordShape,
    RecordTable,
    SequenceShape,
    SetShape,
    Shape,
    alternatives_of,
    join_all,
)
from kmc.tla.translate.names import NameTable, field_name
from kmc.tla.translate.scope import TypedSource
from kmc.tla.values.kinds import FunctionValue, SymbolicSet, TlaBoolean, TlaModelValue, Value
from kmc.tla.values.order import items_in_order, sorted_values


def literal(names: NameTable, records: RecordTable, value: Value, want: Shape = NOTHING) -> TypedSource:
    """Return the source of a value; `want` chooses between the representations of a tuple or a function."""
    return _Writer(names, records).write(value, want)


def wanted(want: Shape, kind: type[PlainShape]) -> PlainShape | None:
    """Return the alternative of a kind in a shape that is wanted."""
    return next((plain for plain in alternatives_of(want) if isinstance(plain, kind)), None)


def record_source(records: RecordTable, key: RecordKey, items: Sequence[TypedSource]) -> TypedSource:
    """Return a record of a class, in the order of its fields, and join the shapes of its fields."""
    shape = records.grow(key, [item.shape for item in items])
    fields = ", ".join(f"{field_name(name)}={item.source}" for name, item in zip(key.fields, items, strict=True))
    return TypedSource(f"{class_placeholder(records, key)}({fields})", shape)


def have_several_lengths(values: Iterable[object]) -> bool:
    """Return whether tuples of several lengths are among some values: they are sequences then."""
    return len({len(value) for value in values if isinstance(value, tuple)}) > 1


def class_placeholder(records: RecordTable, key: RecordKey) -> str:
    """Return the name of a record class until the end of the translation, when its fields are known."""
    return f"RecordClass{list(records.fields).index(key)}_"


class _Writer:
    def __init__(self, names: NameTable, records: RecordTable) -> None:
        self._names = names
        self._records = records

    def write(self, value: Value, want: Shape) -> TypedSource:
        match value:
            case TlaBoolean():
                return TypedSource(str(value.holds), BOOLEAN)
            case int():
                return TypedSource(str(value) if value >= 0 else f"({value})", NumberShape(value, value))
            case str() | TlaModelValue():
                return TypedSource(self._names.source_of(value), AtomShape(frozenset((value,))))
            case frozenset():
                return self._set(value, want)
            case tuple():
                return self._tuple(value, want)
            case FunctionValue():
                return self._function(value, want)
            case SymbolicSet():
                return self._set(frozenset(value.elements()), want)

    def _set(self, value: frozenset[Value], want: Shape) -> TypedSource:
        group = self._names.group_of(value)
        if group is not None:
            return TypedSource(f"set({group.name})", SetShape(AtomShape(frozenset(group.atoms))))
        permuted = self._closed_sets(value) or self._with_groups(value, want)
        if permuted is not None:
            return permuted
        known = wanted(want, SetShape)
        element = known.element if isinstance(known, SetShape) else NOTHING
        if element == NOTHING and have_several_lengths(value):
            element = SequenceShape(NOTHING)
        items = [self._element(item, element) for item in sorted_values(value)]
        shape = SetShape(join_all(item.shape for item in items))
        if not items:
            return TypedSource("set()", shape)
        numbers = [item for item in value if type(item) is int]
        if len(numbers) == len(value) > 1 and max(numbers) - min(numbers) == len(numbers) - 1:
            return TypedSource(f"set(range({min(numbers)}, {max(numbers) + 1}))", shape)
        return TypedSource("{" + ", ".join(item.source for item in items) + "}", shape)

    def _closed_sets(self, value: frozenset[Value]) -> TypedSource | None:
        """Return all sets of some sizes of a type whose members SYMMETRY permutes, without naming a member."""
        sets = [one for one in value if isinstance(one, frozenset)]
        for group in self._names.groups:
            if not group.is_symmetric or len(sets) != len(value) or not any(sets):
                continue
            sizes = sorted({len(one) for one in sets})
            if all(one <= set(group.atoms) for one in sets) and len(sets) == sum(
                comb(len(group.atoms), size) for size in sizes
            ):
                test = " or ".join(f"len(members) == {size}" for size in sizes)
                shape = SetShape(SetShape(AtomShape(frozenset(group.atoms))))
                return TypedSource(f"{{members for members in subsets({group.name}) if {test}}}", shape)
        return None

    def _with_groups(self, value: frozenset[Value], want: Shape) -> TypedSource | None:
        """Return a set that has all values of some types whose members SYMMETRY permutes, without naming a member."""
        groups = [group for group in self._names.groups if group.is_symmetric and value.issuperset(group.atoms)]
        if not groups:
            return None
        parts = [self._set(frozenset(group.atoms), want) for group in groups]
        others = value.difference(*(group.atoms for group in groups))
        parts.extend([self._set(others, want)] if others else [])
        return TypedSource(f"({' | '.join(part.source for part in parts)})", join_all(part.shape for part in parts))

    def _element(self, value: Value, want: Shape) -> TypedSource:
        if (
            isinstance(value, tuple)
            and value
            and wanted(want, MapShape) is None
            and wanted(want, SequenceShape) is None
        ):
            return self._tuple_record(value)
        return self.write(value, want)

    def _tuple_record(self, value: tuple[Value, ...]) -> TypedSource:
        wants = self._records.item_shapes(len(value))
        items = [self.write(item, want) for item, want in zip(value, wants, strict=True)]
        key = self._records.tuple_class([item.shape for item in items])
        if self._records.are_apart:
            wants = self._records.items_of(key)
            items = [self.write(item, want) for item, want in zip(value, wants, strict=True)]
        return record_source(self._records, key, items)

    def _tuple(self, value: tuple[Value, ...], want: Shape) -> TypedSource:
        as_map, as_sequence = wanted(want, MapShape), wanted(want, SequenceShape)
        if isinstance(as_map, MapShape):
            return self._map(list(enumerate(value, start=1)), as_map)
        element = as_sequence.element if isinstance(as_sequence, SequenceShape) else NOTHING
        items = [self.write(item, element) for item in value]
        if as_sequence is not None or not value:
            sources = ", ".join(item.source for item in items)
            return TypedSource(
                f"[{sources}]", SequenceShape(join_all(item.shape for item in items), len(items), len(items))
            )
        if wanted(want, RecordShape) is not None or len({type(item.shape) for item in items}) > 1:
            return self._tuple_record(value)
        return self._map(list(enumerate(value, start=1)), None)

    def _function(self, value: FunctionValue, want: Shape) -> TypedSource:
        as_map = wanted(want, MapShape)
        names = tuple(key for key in value.domain.keys if isinstance(key, str))
        key = RecordKey(tuple(sorted(names)))
        if isinstance(as_map, MapShape) or not self._records.is_record(value.domain.keys):
            return self._map(items_in_order(value), as_map if isinstance(as_map, MapShape) else None)
        by_name = dict(value.items())
        known = self._records.fields.get(key, {})
        items = [self.write(by_name[name], known.get(name, NOTHING)) for name in key.fields]
        return record_source(self._records, key, items)

    def _map(self, pairs: Sequence[tuple[Value, Value]], want: MapShape | None) -> TypedSource:
        keys = [self._element(key, want.key if want else NOTHING) for key, _ in pairs]
        values = [self.write(value, want.value if want else NOTHING) for _, value in pairs]
        source = ", ".join(f"{key.source}: {value.source}" for key, value in zip(keys, values, strict=True))
        shape = MapShape(
            join_all(key.shape for key in keys),
            join_all(value.shape for value in values),
            frozenset(key for key, _ in pairs),
        )
        return TypedSource("{" + source + "}", shape)
