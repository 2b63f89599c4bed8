"""Laziness: whether an expression may be evaluated where TLA+ might not evaluate it.

LET and arguments are lazy in TLA+, a local of the generated code is not. An expression becomes a local only if nothing
in it is partial outside of a branch of IF or CASE and of a later conjunct, which guard it.
"""

from __future__ import annotations

from kmc.tla.resolved.nodes import (
    ApplyExpr,
    Argument,
    BuiltinExpr,
    CaseExpr,
    ChooseExpr,
    ConjunctionExpr,
    DisjunctionExpr,
    ExceptExpr,
    Expression,
    FieldAccessExpr,
    FunctionApplicationExpr,
    FunctionConstructorExpr,
    IfExpr,
    LambdaExpr,
    LetExpr,
    OperatorDefinition,
    OperatorReferenceExpr,
    PrimeExpr,
    RecursiveFunctionExpr,
)
from kmc.tla.shapes.shape import MapShape, RecordShape, alternatives_of
from kmc.tla.translate.facts import children
from kmc.tla.translate.logic import are_incomparable
from kmc.tla.translate.scope import TranslationScope, head
from kmc.tla.translate.translation import Translation

_PARTIAL = frozenset(("Head", "Tail", "SubSeq", "%", "\\div", "^", "@@", "Assert"))


def is_total(t: Translation, node: Expression, scope: TranslationScope) -> bool:
    """Return whether an expression has a value in every state in which its names have one."""
    return _total(t, node, scope, is_guarded=False)


def _total(t: Translation, node: Argument, scope: TranslationScope, *, is_guarded: bool) -> bool:
    if isinstance(node, LambdaExpr | OperatorReferenceExpr):
        return False  # the operator may be applied to anything
    inner, scope = head(node, scope)
    match inner:
        case PrimeExpr() | LetExpr() | ApplyExpr(operator=OperatorDefinition(recursive=True)):
            return False
        case IfExpr():
            return _total(t, inner.condition, scope, is_guarded=is_guarded)
        case CaseExpr(other=None):
            return False
        case CaseExpr():
            return _total(t, inner.arms[0][0], scope, is_guarded=is_guarded)
        case ConjunctionExpr() | DisjunctionExpr():
            return _total(t, inner.items[0], scope, is_guarded=is_guarded)
        case BuiltinExpr(operator="=>"):
            return _total(t, inner.arguments[0], scope, is_guarded=is_guarded)
        case ChooseExpr() | ExceptExpr():
            return is_guarded or (isinstance(inner, ExceptExpr) and _parts_total(t, inner, scope))
        case BuiltinExpr() if inner.operator in _PARTIAL:
            return False
        case BuiltinExpr(operator="=" | "#") if not _compares(t, inner, scope):
            return False
        case FunctionApplicationExpr() if not _is_defined(t, inner, scope):
            return False
        case FieldAccessExpr() if not _has_field(t, inner, scope):
            return False
        case _:
            return _parts_total(t, inner, scope)


def _parts_total(t: Translation, node: Expression, scope: TranslationScope) -> bool:
    return all(_total_part(t, child, scope) for child in children(node))


def _total_part(t: Translation, node: Argument, scope: TranslationScope) -> bool:
    unbound = [name for name in t.facts.of(node).free if name not in scope.entries]
    if unbound:  # a name of a loop inside of the expression: its value is not known here
        return not any(isinstance(part, FunctionApplicationExpr | ChooseExpr) for part in _all_parts(node))
    return _total(t, node, scope, is_guarded=False)


def _all_parts(node: Argument) -> list[Argument]:
    return [node, *(part for child in children(node) for part in _all_parts(child))]


def _is_defined(t: Translation, node: FunctionApplicationExpr, scope: TranslationScope) -> bool:
    if isinstance(head(node.function, scope)[0], FunctionConstructorExpr | RecursiveFunctionExpr):
        return False  # the argument may be outside of its domain
    shape = t.value(node.function, scope).shape
    is_map = isinstance(shape, MapShape) and shape.domain is not None and not t.is_bag(shape)
    return is_map or isinstance(shape, RecordShape)


def _compares(t: Translation, node: BuiltinExpr, scope: TranslationScope) -> bool:
    left, right = node.arguments
    return not are_incomparable(t.value(left, scope).shape, t.value(right, scope).shape)


def _has_field(t: Translation, node: FieldAccessExpr, scope: TranslationScope) -> bool:
    shape = t.value(node.record, scope).shape
    plain = alternatives_of(shape)
    return all(isinstance(one, RecordShape) and all(node.field in key.fields for key in one.classes) for one in plain)
