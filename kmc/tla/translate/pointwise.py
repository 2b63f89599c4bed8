r"""Functions compared point by point: `[x \in S |-> e] = g` as a comparison of values for each element of S.

A refinement compares functions that are computed from variables. Compiled code need not make a map of them, which may
have values that no type of the spec declares. All values are compared, as TLC evaluates both functions whole.
"""

from __future__ import annotations

from dataclasses import dataclass

from kmc.tla.resolved.nodes import (
    BoundExpr,
    ExceptExpr,
    Expression,
    FunctionApplicationExpr,
    FunctionConstructorExpr,
    NameBinding,
    PrimeExpr,
)
from kmc.tla.shapes.shape import MapShape, SetShape
from kmc.tla.translate.scope import SpecLocal, TranslationScope, TypedSource, head
from kmc.tla.translate.translation import Translation
from kmc.tla.values.kinds import Value

_EVERY_KEY = "<key>"  # no identifier has this text

Side = tuple[Expression, TranslationScope]
"""An expression in its scope."""


@dataclass(frozen=True, slots=True)
class Points:
    """The comparison of two functions at each element of their domain: both sides there, and the loop over it."""

    left: Side
    right: Side
    clause: str


def points_of(t: Translation, left: Side, right: Side) -> Points | None:
    """Return the values of two functions to compare, if one is computed and both have one constant domain."""
    if not (_is_computed(t, *left) or _is_computed(t, *right)):
        return None
    keys = _domain(t, *left)
    if not keys or keys != _domain(t, *right):
        return None
    (one, other), clause = _sides_at(t, keys, left, right)
    return Points(one, other, clause)


def images_of(t: Translation, function: Side, keys: frozenset[Value] | None) -> tuple[Side, str] | None:
    """Return the value of a computed function at each element of its domain, and the loop; None for another domain."""
    if not keys or not _is_computed(t, *function) or keys != _domain(t, *function):
        return None
    (image,), clause = _sides_at(t, keys, function)
    return image, clause


def _sides_at(t: Translation, keys: frozenset[Value], *sides: Side) -> tuple[list[Side], str]:
    known = t.literal(keys)
    assert isinstance(known.shape, SetShape)
    key = NameBinding(_EVERY_KEY, sides[0][0].place)
    local = SpecLocal(TypedSource(t.names.fresh("key"), known.shape.element))
    return [_at(side, key, local) for side in sides], f"for {local.code.source} in {known.source}"


def _is_computed(t: Translation, node: Expression, scope: TranslationScope) -> bool:
    node, scope = head(node, scope)
    match node:
        case PrimeExpr(body=body):
            return _is_computed(t, body, scope)
        case FunctionConstructorExpr():
            return _has_one_argument(node) and t.constant(node, scope) is None
        case ExceptExpr():
            return is_computed_update(t, node, scope)
        case _:
            return False


def is_computed_update(t: Translation, node: ExceptExpr, scope: TranslationScope) -> bool:
    """Return whether a function is a computed one that differs at single arguments."""
    return all(len(update.path) == 1 for update in node.updates) and _is_computed(t, node.function, scope)


def is_key_of_all(node: Expression, scope: TranslationScope) -> bool:
    """Return whether an argument is the local of a loop over the whole domain, as `points_of` and `images_of` write."""
    node, _ = head(node, scope)
    return isinstance(node, BoundExpr) and node.binding.name == _EVERY_KEY


def _has_one_argument(node: FunctionConstructorExpr) -> bool:
    return len(node.ranges) == 1 and len(node.ranges[0].bindings) == 1 and not node.ranges[0].is_pattern


def _domain(t: Translation, node: Expression, scope: TranslationScope) -> frozenset[Value] | None:
    """Return the domain of a function, if that is the same in all states."""
    node, scope = head(node, scope)
    match node:
        case PrimeExpr(body=body):
            return _domain(t, body, scope)
        case FunctionConstructorExpr() if _has_one_argument(node):
            return t.listed(node.ranges[0].domain, scope)
        case ExceptExpr(function=function):
            return _domain(t, function, scope)
    shape = t.value(node, scope).shape
    return shape.domain if isinstance(shape, MapShape) else None  # type: ignore[return-value]  # keys are values


def _at(side: Side, key: NameBinding, local: SpecLocal) -> Side:
    """Return a function applied to an element of its domain; a prime stays around the whole."""
    node, scope = head(*side)
    read = BoundExpr(place=node.place, binding=key)
    inside = scope.bind(((key, local),))
    if isinstance(node, PrimeExpr):
        applied = FunctionApplicationExpr(place=node.place, function=node.body, argument=read)
        return PrimeExpr(place=node.place, body=applied), inside
    return FunctionApplicationExpr(place=node.place, function=node, argument=read), inside
