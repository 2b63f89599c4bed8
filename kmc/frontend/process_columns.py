"""The columns that a spec declares for views of a trace: the current state of each process.

A column shows a TLA+ variable that has a value for each process, or a part of it: a path such as `node.epoch` leads
into records, by the names that the spec's source gives to their fields.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping

from kmc.errors import Span, SpecError, did_you_mean
from kmc.lang.types import MapType, RecordMeta, RecordType, SeqType, Type, UnionType
from kmc.spec.variables import VariableTable


def check_columns(columns: Mapping[str, str], table: VariableTable, state_class: RecordMeta, span: Span | None) -> None:
    """SpecError unless each column names a variable that is a function, or a field of a record in such a variable."""
    functions = {variable.name: _value_type(variable.name, table, state_class) for variable in table.variables}
    known = [name for name, declared in functions.items() if declared is not None]
    for title, path in columns.items():
        name, *inside = path.split(".")
        declared = functions.get(name)
        if declared is None:
            message = f"the column '{title}' shows '{name}', which is not a variable with a value for each process"
            raise SpecError("KMC190", message, span, did_you_mean(name, known))
        at = name
        for field in inside:
            fields = dict(_fields(declared))
            if field not in fields:
                message = f"the column '{title}' shows '{path}', but {_without(at, field, bool(fields))}"
                raise SpecError("KMC190", message, span, did_you_mean(field, fields) if fields else f'write "{at}"')
            at, declared = f"{at}.{field}", fields[field]


def _without(path: str, field: str, is_record: bool) -> str:
    return f"'{path}' has no field '{field}'" if is_record else f"'{path}' holds no records"


def fields_at(path: str, table: VariableTable, state_class: RecordMeta) -> tuple[str, ...]:
    """The fields of the record that a process has at a path; none where it is not a record."""
    declared = _type_at(path, table, state_class)
    return tuple(declared.cls.fields) if isinstance(declared, RecordType) else ()


def holds_sequence(path: str, table: VariableTable, state_class: RecordMeta) -> bool:
    """Whether a process has a sequence at a path."""
    return isinstance(_type_at(path, table, state_class), SeqType)


def _type_at(path: str, table: VariableTable, state_class: RecordMeta) -> Type | None:
    name, *inside = path.split(".")
    declared = _value_type(name, table, state_class)
    for field in inside:
        declared = dict(_fields(declared)).get(field) if declared is not None else None
    return declared


def _value_type(name: str, table: VariableTable, state_class: RecordMeta) -> Type | None:
    """The type of a variable at one process; None for a variable that is not a function."""
    variable = next(variable for variable in table.variables if variable.name == name)
    declared = state_class.fields[variable.field]
    if not isinstance(declared, MapType):
        return None
    if variable.inner is None:
        return declared.value
    return dict(_fields(declared.value)).get(variable.inner)


def _fields(declared: Type) -> Iterator[tuple[str, Type]]:
    """The fields of a record, or of the records that an optional value or a union may be."""
    match declared:
        case RecordType(cls):
            for shape in cls.shapes:
                yield from shape.fields.items()
        case UnionType(alternatives):
            for alternative in alternatives:
                yield from _fields(alternative)
