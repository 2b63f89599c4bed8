"""EXCEPT: changed functions, by the representation of each; a function without the key stays as it is."""

from __future__ import annotations

from dataclasses import replace

from kmc.tla.resolved.nodes import BoundExpr, BuiltinExpr, ExceptExpr, ExceptUpdate, Expression, NumberExpr
from kmc.tla.shapes.refusal import refusal
from kmc.tla.shapes.shape import (
    AtomShape,
    MapShape,
    NumberShape,
    RecordKey,
    RecordShape,
    SequenceShape,
    Shape,
    alternatives_of,
    join,
)
from kmc.tla.translate.computed_fields import changed_at
from kmc.tla.translate.functions import applied
from kmc.tla.translate.literals import class_placeholder
from kmc.tla.translate.names import field_name
from kmc.tla.translate.scope import SpecLocal, TranslationScope, TypedSource, head
from kmc.tla.translate.several_kinds import only_function
from kmc.tla.translate.translation import Translation
from kmc.tla.translate.tuples import record_of


def except_(t: Translation, node: ExceptExpr, scope: TranslationScope, want: Shape) -> TypedSource:
    """Translate EXCEPT, one update after the other."""
    code = t.value(node.function, scope, want)
    for update in node.updates:
        code = _updated(t, code, update, 0, scope)
    return code


def _updated(
    t: Translation, code: TypedSource, update: ExceptUpdate, depth: int, scope: TranslationScope
) -> TypedSource:
    code = only_function(t, code)
    shape, step = code.shape, update.path[depth]
    if isinstance(shape, SequenceShape) and shape.longest == 0 and isinstance(head(step, scope)[0], BoundExpr):
        return code  # EXCEPT changes nothing at a key that the function does not have
    if t.is_bag(shape):
        return _bag_updated(t, code, update, scope)
    records = _record_of(shape)
    if records is not None and t.constant(*head(step, scope)) is None:

        def with_field(field: Expression) -> TypedSource:
            path = (*update.path[:depth], field, *update.path[depth + 1 :])
            return _updated(t, code, replace(update, path=path), depth, scope)

        return changed_at(t, code, step, scope, with_field)
    old = applied(t, code, step, scope)
    if depth + 1 < len(update.path):
        new = _updated(t, old, update, depth + 1, scope)
    else:
        new = t.value(update.value, scope.bind(((update.previous, SpecLocal(old)),)), old.shape)
    if records is not None:
        field = _field_name(t, step, scope)
        for key in records.classes:
            if field in key.fields:
                t.records.grow_field(key, field, new.shape)
        return TypedSource(_with_field(t, code, records, field, new.source), shape)
    match shape:
        case MapShape():
            changed = MapShape(shape.key, join(shape.value, new.shape), shape.domain)
            return TypedSource(_with_key(t, TypedSource(code.source, shape), step, scope, new.source), changed)
        case SequenceShape():
            local = t.names.fresh("offset")
            source = f"[{new.source} if {local} == {t.source(step, scope)} else {code.source}.at({local}) "
            return TypedSource(
                f"{source}for {local} in {code.source}.offsets()]", SequenceShape(join(shape.element, new.shape))
            )
        case _:
            raise refusal("EXCEPT of what is not known to be a function", step.place)


def _with_key(t: Translation, code: TypedSource, step: Expression, scope: TranslationScope, new: str) -> str:
    """Return a map with a new value at a key; TLC leaves a function without that key as it is."""
    shape = code.shape
    assert isinstance(shape, MapShape)
    at = t.value(step, scope, shape.key)
    as_record = record_of(t.records, at, shape.key)
    key, test = (at.source, "") if as_record is None else (as_record[0].source, f"{as_record[1]} and ")
    source = f"{code.source}.set({key}, {new})"
    return (
        source if _is_key(t, shape, step, scope) else f"({source} if {test}{key} in {code.source} else {code.source})"
    )


def _with_field(t: Translation, code: TypedSource, shape: RecordShape, field: str, new: str) -> str:
    """Return a record with a new value of a field; TLC leaves a record without that field as it is."""
    having = sorted((key for key in shape.classes if field in key.fields), key=str)
    is_sure = isinstance(code.shape, RecordShape)
    if is_sure and len(having) == len(shape.classes) and not t.is_narrowed(code.source):
        return f"{code.source}.set({field_name(field)}={new})"

    def changed(key: RecordKey) -> str:
        # Compiled code sets no field of a value that may be of a class without it.
        items = [(field_name(name), new if name == field else "") for name in key.fields]
        fields = ", ".join(f"{name}={value or f'{code.source}.{name}'}" for name, value in items)
        return f"{class_placeholder(t.records, key)}({fields})"

    if is_sure and len(having) == len(shape.classes) == 1:
        return changed(having[0])
    tests = [f"{changed(key)} if {t.class_test(code.source, frozenset((key,)))} else" for key in having]
    others = shape.classes - frozenset(having)
    if is_sure:
        return f"({' '.join([*tests, code.source])})"
    is_other = t.class_test(code.source, others) if others else "False"
    return f"({' '.join(tests)} checked({code.source}, {is_other}))"


def _record_of(shape: Shape) -> RecordShape | None:
    """Return the records among values of which no other kind is a function: TLC stops at EXCEPT of those."""
    plain = alternatives_of(shape)
    records = [one for one in plain if isinstance(one, RecordShape)]
    has_functions = any(isinstance(one, MapShape | SequenceShape) for one in plain)
    return records[0] if len(records) == 1 and not has_functions else None


def _is_key(t: Translation, shape: MapShape, step: Expression, scope: TranslationScope) -> bool:
    """Return whether a step is known to be in the domain of a function."""
    if shape.domain is None:
        return False
    constant = t.constant(*head(step, scope))
    if constant is not None:
        return constant in shape.domain
    key = t.value(step, scope, shape.key)
    match key.shape:
        case AtomShape(atoms):
            return atoms <= shape.domain
        case NumberShape(int() as least, int() as greatest) if t.is_of_range(key.source):
            return shape.domain.issuperset(range(least, greatest + 1))
        case _:
            return False


def _field_name(t: Translation, step: Expression, scope: TranslationScope) -> str:
    index = t.constant(*head(step, scope))
    return f"item{index}" if isinstance(index, int) else str(index)


def _bag_updated(t: Translation, code: TypedSource, update: ExceptUpdate, scope: TranslationScope) -> TypedSource:
    r"""Translate `![m] = @ + 1` and `![m] = @ - 1`, the only changes that a bag has words for."""
    change, _ = head(update.value, scope)
    if isinstance(change, BuiltinExpr) and change.operator in ("+", "-") and len(update.path) == 1:
        old, one = change.arguments
        is_old = isinstance(old, BoundExpr) and old.binding is update.previous
        if is_old and isinstance(one, NumberExpr) and one.value == 1:
            assert isinstance(code.shape, MapShape)
            message = t.source(update.path[0], scope, code.shape.key)
            if change.operator == "-":
                return TypedSource(f"{code.source}.take({message})", code.shape)
            if t.is_element(message, code.source):
                return TypedSource(f"{code.source}.add({message})", code.shape)
            return TypedSource(f"one_more({code.source}, {message})", code.shape)
    raise refusal("a change of a function of records other than by one", update.value.place)
