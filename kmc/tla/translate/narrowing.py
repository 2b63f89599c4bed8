"""Narrowing: what a condition says about the classes of records.

After `m.type = Vote`, m is of the classes whose `type` may be Vote. The test of the class is written before that
comparison, since compiled code needs it to read fields that other classes lack.
"""

from __future__ import annotations

from kmc.tla.resolved.nodes import (
    BuiltinExpr,
    ConjunctionExpr,
    Expression,
    FieldAccessExpr,
    StringExpr,
)
from kmc.tla.shapes.shape import AtomShape, BooleanShape, RecordKey, RecordShape, alternatives_of
from kmc.tla.translate.scope import TranslationScope, head
from kmc.tla.translate.translation import Translation
from kmc.tla.values.kinds import TlaModelValue

Found = dict[str, RecordShape]
"""The classes that are left of a value, by its source."""


def operand(node: BuiltinExpr, index: int) -> Expression:
    """Return an operand of an operator that takes values only."""
    return node.arguments[index]  # type: ignore[return-value]  # an operator of the language takes no operators


def guard(t: Translation, node: Expression, scope: TranslationScope) -> tuple[str, Found]:
    """Translate a condition, and find what it says about the classes of records."""
    test, found = guard_or_never(t, node, scope)
    return test, found or {}


def guard_or_never(t: Translation, node: Expression, scope: TranslationScope) -> tuple[str, Found | None]:
    """Translate a condition as `guard` does; None where it leaves no class of a record, so that it is never true."""
    tests, found = narrowing(t, node, scope)
    if _is_impossible(found):
        return t.source(node, scope), None
    if isinstance(head(node, scope)[0], ConjunctionExpr):
        # Each conjunct has its own tests, behind those before it: `q # <<>> /\ Head(q).type = Vote` reads no empty q.
        return t.source(node, scope), found
    with t.narrowed(found):
        source = _truth(t, node, scope) if not _is_test_of(t, node, scope, tests) else ""
    return " and ".join([*tests, source] if source else tests) or "True", found


def _truth(t: Translation, node: Expression, scope: TranslationScope) -> str:
    """Translate a formula; TLC stops at other values than Booleans, as at a tuple that lacks its UNCHANGED."""
    code = t.value(node, scope)
    plain = alternatives_of(code.shape)
    is_wrong = bool(plain) and not any(isinstance(one, BooleanShape) for one in plain)
    return "checked(False, False)" if is_wrong else code.source


def _is_impossible(found: Found) -> bool:
    return any(not shape.classes for shape in found.values())


def _is_test_of(t: Translation, node: Expression, scope: TranslationScope, tests: list[str]) -> bool:
    """Return whether the test of a class is all that the condition says: it is `"f" \\in DOMAIN m`."""
    inner, _ = head(node, scope)
    return bool(tests) and isinstance(inner, BuiltinExpr) and _field_in_domain(t, inner, scope) is not None


def narrowing(t: Translation, node: Expression, scope: TranslationScope) -> tuple[list[str], Found]:
    """Find tests of classes that a condition implies, and the classes that are left: none if it is never true."""
    inner, scope = head(node, scope)
    match inner:
        case ConjunctionExpr():
            tests: list[str] = []
            found: Found = {}
            for item in inner.items:
                with t.narrowed(found):
                    more, classes = narrowing(t, item, scope)
                tests, found = [*tests, *more], {**found, **classes}
                if _is_impossible(found):
                    break  # what follows is never evaluated
            return tests, found
        case BuiltinExpr(operator="="):
            return _narrowed_by_field(t, inner, scope)
        case BuiltinExpr(operator="\\in"):
            return _narrowed_by_membership(t, inner, scope)
        case _:
            return [], {}


def _narrowed_by_field(t: Translation, node: BuiltinExpr, scope: TranslationScope) -> tuple[list[str], Found]:
    for index in (0, 1):
        access, inner = head(operand(node, index), scope)
        if not isinstance(access, FieldAccessExpr):
            continue
        value = t.constant(*head(operand(node, 1 - index), scope))
        if isinstance(value, str | TlaModelValue):
            return _narrowed_to(t, access, inner, frozenset((value,)))
    return [], {}


def _narrowed_by_membership(t: Translation, node: BuiltinExpr, scope: TranslationScope) -> tuple[list[str], Found]:
    field = _field_in_domain(t, node, scope)
    if field is not None:
        record, classes = field
        name = t.constant(*head(operand(node, 0), scope))
        return _tests(t, record, classes, {key for key in classes if name in key.fields})
    access, inner = head(operand(node, 0), scope)
    if not isinstance(access, FieldAccessExpr):
        return [], {}
    values = t.constant(*head(operand(node, 1), scope))
    if isinstance(values, frozenset) and all(isinstance(value, str | TlaModelValue) for value in values):
        return _narrowed_to(t, access, inner, values)
    return [], {}


def _field_in_domain(
    t: Translation, node: BuiltinExpr, scope: TranslationScope
) -> tuple[str, frozenset[RecordKey]] | None:
    """Return the record and its classes in `"field" \\in DOMAIN record`."""
    if node.operator != "\\in" or not isinstance(head(operand(node, 0), scope)[0], StringExpr):
        return None
    domain, inner = head(operand(node, 1), scope)
    if not isinstance(domain, BuiltinExpr) or domain.operator != "DOMAIN":
        return None
    record = t.value(operand(domain, 0), inner)
    return (record.source, record.shape.classes) if isinstance(record.shape, RecordShape) else None


def _narrowed_to(
    t: Translation, access: FieldAccessExpr, scope: TranslationScope, values: frozenset[object]
) -> tuple[list[str], Found]:
    record = t.value(access.record, scope)
    if not isinstance(record.shape, RecordShape):
        return [], {}
    left = {key for key in record.shape.classes if _may_have(t, key, access.field, values)}
    return _tests(t, record.source, record.shape.classes, left)


def _may_have(t: Translation, key: RecordKey, field: str, values: frozenset[object]) -> bool:
    if field not in key.fields:
        return False
    shape = t.records.fields[key][field]
    plain = alternatives_of(shape)
    return any(isinstance(one, AtomShape) and one.atoms & values for one in plain) or not plain


def _tests(t: Translation, source: str, classes: frozenset[RecordKey], left: set[RecordKey]) -> tuple[list[str], Found]:
    if classes and not left:
        return [], {source: RecordShape(frozenset())}
    if not left or left == classes:
        return [], {}
    return [t.class_test(source, frozenset(left))], {source: RecordShape(frozenset(left))}
