r"""Records whose field is computed, as a function on strings is a record: `pc[self]`, `[stock EXCEPT ![item] = @ - 1]`.

Each field is compared with the argument in turn. An argument that is the name of no field has no value, as in TLC, and
changes nothing in EXCEPT.
"""

from __future__ import annotations

from collections.abc import Callable

from kmc.tla.resolved.nodes import BuiltinExpr, Expression, NumberExpr, StringExpr
from kmc.tla.shapes.shape import NOTHING, AtomShape, RecordShape, Shape, alternatives_of
from kmc.tla.translate.logic import either
from kmc.tla.translate.narrowing import guard
from kmc.tla.translate.scope import TranslationScope, TypedSource
from kmc.tla.translate.translation import Translation

Field = StringExpr | NumberExpr


def value_at(
    t: Translation,
    record: Shape,
    argument: Expression,
    scope: TranslationScope,
    read: Callable[[Field], TypedSource],
) -> TypedSource:
    """Return the value of the field that an argument names; `read` returns the value of a field."""
    fields, are_all = _fields(t, record, argument, scope)
    if not fields:
        return TypedSource("checked(0, False)", NOTHING)  # TLC stops here
    code = read(fields[-1])
    if not are_all:
        code = TypedSource(f"checked({code.source}, {_test(t, argument, fields[-1], scope)})", code.shape)
    for field in reversed(fields[:-1]):
        code = either(_test(t, argument, field, scope), read(field), code)
    return code


def changed_at(
    t: Translation,
    record: TypedSource,
    argument: Expression,
    scope: TranslationScope,
    change: Callable[[Field], TypedSource],
) -> TypedSource:
    """Return a record with a change of the field that an argument names; `change` returns it for a field."""
    fields, _ = _fields(t, record.shape, argument, scope)
    code = record
    for field in reversed(fields):
        code = either(_test(t, argument, field, scope), change(field), code)
    return code


def _fields(t: Translation, record: Shape, argument: Expression, scope: TranslationScope) -> tuple[list[Field], bool]:
    """Return the fields that an argument may name, and whether it names one of them in any case."""
    keys = [key for one in alternatives_of(record) if isinstance(one, RecordShape) for key in one.classes]
    place, shape = argument.place, t.value(argument, scope).shape
    fields: list[Field] = []
    for key in sorted(keys, key=str):
        known = {field.value for field in fields}
        if key.is_tuple:
            numbers = (number for number in range(1, len(key.fields) + 1) if number not in known)
            fields.extend(NumberExpr(place=place, value=number) for number in numbers)
        else:
            names = (name for name in key.fields if name not in known)
            fields.extend(StringExpr(place=place, value=name) for name in names)
    if not isinstance(shape, AtomShape):
        return fields, False
    return [field for field in fields if field.value in shape.atoms], shape.atoms <= {field.value for field in fields}


def _test(t: Translation, argument: Expression, field: Field, scope: TranslationScope) -> str:
    same = BuiltinExpr(place=argument.place, operator="=", arguments=(argument, field))
    return guard(t, same, scope)[0]
