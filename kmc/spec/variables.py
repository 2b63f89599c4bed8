"""The TLA+ variables of a spec: one table from which traces, ITF, TLC's JSON and conformance are read and written.

Invariant: the table covers every field of the state exactly once, so no variable is ever dropped. A field of the state
is a variable of its own, or, for a map of records, each field of the records is a variable: a map of records is
equivalent to a record of maps. The exception is a variable that the author marks with `?`: where its integer has one
value, the part of the spec that it belongs to is off, and it is neither written nor read.
"""

from __future__ import annotations

from collections.abc import Callable, Container, Iterable, Mapping
from dataclasses import dataclass, replace
from typing import Any

from kmc.errors import Span, SpecError, TraceError, did_you_mean
from kmc.lang.domains import describe, members
from kmc.lang.maps import MapValue
from kmc.lang.naming import lower_camel_case
from kmc.lang.order import ordered
from kmc.lang.records import State
from kmc.lang.tla import Naming, Tla, TlaMap, TlaSeq, decode, encode, function, shortened, text
from kmc.lang.types import IntType, MapType, RecordMeta, RecordType


@dataclass(frozen=True, slots=True)
class Variable:
    """A TLA+ variable: a field of the state or, if `inner` is given, that field of the records in a map.

    An `optional` one is left out where it has one value.
    """

    name: str
    field: str
    inner: str | None
    optional: bool = False


@dataclass(frozen=True, slots=True)
class VariableTable:
    """The variables in the order they are shown, and the naming of everything inside them."""

    variables: tuple[Variable, ...]
    naming: Naming
    span: Span | None


def variable_table(table: Mapping[str, str], fields: str, message_tag: str, span: Span) -> VariableTable:
    """Read the author's table; SpecError when a path is not `field` or `map[].field`, with `?` behind it or without."""
    styles: dict[str, Callable[[str], str]] = {"snake_case": str, "camelCase": lower_camel_case}
    if fields not in styles:
        raise SpecError("KMC181", f"fields cannot be written as '{fields}'", span, did_you_mean(fields, styles))
    variables = []
    for name, path in table.items():
        head, separator, inner = path.removesuffix("?").partition("[].")
        if not head.isidentifier() or (separator and not inner.isidentifier()):
            raise SpecError("KMC182", f"'{path}' is not a path", span, help='write "field" or "map[].field"')
        variables.append(Variable(name, head, inner if separator else None, path.endswith("?")))
    return VariableTable(tuple(variables), Naming(styles[fields], message_tag), span)


def default_table(state_class: RecordMeta) -> VariableTable:
    """Every field of the state as a variable of the same name."""
    return VariableTable(tuple(Variable(field, field, None) for field in state_class.fields), Naming(), None)


def checked_table(table: VariableTable, state_class: RecordMeta) -> VariableTable:
    """The table without the variables of parts that are off; SpecError unless it covers every field exactly once."""
    wanted: list[tuple[str, str | None]] = []
    for field, declared in state_class.fields.items():
        split = any(variable.field == field and variable.inner for variable in table.variables)
        wanted.extend((field, inner) for inner in _inner_fields(field, declared, table)) if split else wanted.append(
            (field, None)
        )
    given = [(variable.field, variable.inner) for variable in table.variables]
    for place in given:
        shown = _path(place)
        if place not in wanted:
            message = f"'{shown}' is not a field of {state_class.__name__}"
            raise SpecError("KMC183", message, table.span, did_you_mean(shown, map(_path, wanted)))
        if given.count(place) > 1:
            names = [f"'{variable.name}'" for variable in table.variables if (variable.field, variable.inner) == place]
            message = f"'{shown}' occurs twice in the table: as {' and '.join(names)}"
            raise SpecError("KMC183", message, table.span, "one TLA+ variable holds a field: remove the others")
    missing = [place for place in wanted if place not in given]
    if missing:
        raise SpecError(
            "KMC184", f"no TLA+ variable holds '{_path(missing[0])}'", table.span, help="add it to the table"
        )
    return replace(table, variables=tuple(v for v in table.variables if not _is_off(v, table, state_class)))


def _is_off(variable: Variable, table: VariableTable, state_class: RecordMeta) -> bool:
    """Whether it is optional and has one value. SpecError KMC182 where an optional one is not an integer."""
    if not variable.optional:
        return False
    declared: Any = state_class.fields[variable.field]
    if variable.inner is not None:
        declared = declared.value.cls.fields[variable.inner]
    if not isinstance(declared, IntType):
        message = f"'{variable.name}' is not an integer, so it cannot be left out"
        raise SpecError("KMC182", message, table.span, help="write its path without the question mark")
    return declared.low == declared.high


def _path(place: tuple[str, str | None]) -> str:
    field, inner = place
    return f"{field}[].{inner}" if inner else field


def _inner_fields(field: str, declared: object, table: VariableTable) -> Iterable[str]:
    if isinstance(declared, MapType) and isinstance(declared.value, RecordType):
        return declared.value.cls.fields
    raise SpecError("KMC185", f"'{field}' is not a map of records", table.span, help=f'write "{field}"')


def encode_state(
    state: State, table: VariableTable, before: tuple[Any, Mapping[str, Tla]] | None = None
) -> dict[str, Tla]:
    """The TLA+ variables of `state`; those that it shares with a state `before` are copied from there."""
    return {
        variable.name: before[1][variable.name]
        if before is not None and _is_shared(before[0], state, variable)
        else _encoded(getattr(state, variable.field), variable, table)
        for variable in table.variables
    }


def _encoded(value: Any, variable: Variable, table: VariableTable) -> Tla:
    if variable.inner is None:
        return encode(value, table.naming)
    return _function(((key, getattr(value[key], variable.inner)) for key in ordered(value)), table)


def _function(items: Iterable[tuple[Any, Any]], table: VariableTable) -> Tla:
    pairs = [(encode(key, table.naming), encode(value, table.naming)) for key, value in items]
    return function(pairs) if table.naming.as_sequences else TlaMap(tuple(pairs))


def _is_shared(before: Any, state: State, variable: Variable) -> bool:
    """Whether two states hold the same objects in a variable: a step copies only the values that it changes."""
    old, new = getattr(before, variable.field), getattr(state, variable.field)
    if old is new or variable.inner is None:
        return old is new
    if len(old) != len(new):
        return False
    inner = variable.inner
    return all(key in old and getattr(old[key], inner) is getattr(new[key], inner) for key in new)


def decode_state(variables: Mapping[str, Tla], state_class: RecordMeta, table: VariableTable) -> State:
    """The state with these TLA+ variables.

    Raises TraceError when a variable is missing, unknown or outside the domain of its field.
    """
    check_names(variables, table)
    parts = {v.name: decode_variable(variables[v.name], v, state_class, table) for v in table.variables}
    return state_of_parts(parts, state_class, table)


def check_names(names: Iterable[str], table: VariableTable) -> None:
    """Raise TraceError KMC412 or KMC413 unless these are the names of the variables."""
    expected = [variable.name for variable in table.variables]
    given = tuple(names)
    for name in given:
        if name not in expected:
            raise TraceError("KMC412", f"the spec has no variable '{name}'", help=did_you_mean(name, expected))
    for name in expected:
        if name not in given:
            raise TraceError("KMC413", f"variable '{name}' is missing", help="every variable must be given")


def decode_variable(tree: Tla, variable: Variable, state_class: RecordMeta, table: VariableTable) -> Any:
    """Decode a variable: return the value of its field or, for a field of the records in a map, the values by key.

    TraceError when it is outside the domain.
    """
    declared = state_class.fields[variable.field]
    try:
        if variable.inner is None:
            return decode(tree, declared, table.naming)
        return _column(tree, declared, variable.inner, table)
    except TraceError as error:
        raise error.noting(f"in variable '{variable.name}'") from None


def encode_variable(part: Any, variable: Variable, table: VariableTable) -> Tla:
    """The TLA+ value of what `decode_variable` returns."""
    if variable.inner is None:
        return encode(part, table.naming)
    return _function(((key, part[key]) for key in ordered(part)), table)


def state_of_parts(parts: Mapping[str, Any], state_class: RecordMeta, table: VariableTable) -> State:
    """The state of decoded variables by name; TraceError where those of one map are functions on different sets."""
    fields: dict[str, Any] = {}
    columns: dict[str, dict[str, dict[Any, Any]]] = {}
    for variable in table.variables:
        if variable.inner is None:
            fields[variable.field] = parts[variable.name]
        else:
            columns.setdefault(variable.field, {})[variable.inner] = parts[variable.name]
    for field, by_inner in columns.items():
        fields[field] = _records(field, state_class, by_inner)
    state: State = state_class(**_left_out(state_class, fields), **fields)
    return state


def _left_out(cls: RecordMeta, given: Container[str]) -> dict[str, int]:
    """The one value of each field that no variable holds: `checked_table` has seen to it that there is one."""
    types: Mapping[str, Any] = cls.fields
    return {field: declared.low for field, declared in types.items() if field not in given}


def _column(tree: Tla, declared: Any, inner: str, table: VariableTable) -> dict[Any, Any]:
    if not isinstance(tree, TlaMap | TlaSeq):
        raise TraceError(
            "KMC414",
            f"{shortened(text(tree))} is not a function on {describe(declared.key)}",
            help="this variable gives a value for every key of a map",
        )
    pairs = tree.pairs if isinstance(tree, TlaMap) else tuple(enumerate(tree.elements, start=1))
    value_type = declared.value.cls.fields[inner]
    return {decode(key, declared.key, table.naming): decode(item, value_type, table.naming) for key, item in pairs}


def _records(field: str, state_class: RecordMeta, by_inner: dict[str, dict[Any, Any]]) -> MapValue:
    declared: Any = state_class.fields[field]
    domains = [set(column) for column in by_inner.values()]
    if any(domain != domains[0] for domain in domains):
        raise TraceError(
            "KMC415",
            f"the variables of '{field}' are functions on different sets",
            help=f"together they are one map, so all must have the same keys: {', '.join(by_inner)}",
        )
    keys = [key for key in members(declared.key) if key in domains[0]]
    cls = declared.value.cls
    off = _left_out(cls, by_inner)
    return MapValue({key: cls(**off, **{inner: column[key] for inner, column in by_inner.items()}) for key in keys})
