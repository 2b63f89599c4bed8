r"""The parts of a PROPERTY that a search of states and steps can check, and the rest.

A temporal formula is divided at its conjunctions, through definitions and bounded \A. The parts are: a predicate of
initial states, an invariant (`[]P`), a formula of every step (`[][A]_v`), and everything else, which is temporal. So
the refinement `Abstract!Spec` has an initial predicate, a formula of steps and perhaps fairness.
"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass, replace
from enum import Enum

from kmc.tla.resolved.levels import ACTION, CONSTANT, STATE, TEMPORAL, level_of
from kmc.tla.resolved.model import ResolvedModel
from kmc.tla.resolved.nodes import (
    AlwaysExpr,
    ApplyExpr,
    BoundRange,
    BoxActionExpr,
    ConjunctionExpr,
    DisjunctionExpr,
    Expression,
    LambdaExpr,
    LetExpr,
    OperatorDefinition,
    OperatorReferenceExpr,
    QuantifiedExpr,
    SetEnumerationExpr,
    UnchangedExpr,
)


class PartKind(Enum):
    """The kind of a part; the value distinguishes the parts of one property for people."""

    INITIAL = "initial"
    INVARIANT = "invariant"
    STEP = "steps"
    TEMPORAL = "temporal"


_LEVELS = {
    PartKind.INITIAL: STATE,
    PartKind.INVARIANT: STATE,
    PartKind.STEP: ACTION,
    PartKind.TEMPORAL: TEMPORAL,
}


@dataclass(frozen=True, slots=True)
class PropertyPart:
    """A part of a property: `title` is the property's name, with the kind where the property has other parts too.

    `formula` is a definition without parameters. A formula of steps is true of every step that leaves its subscript
    unchanged.
    """

    kind: PartKind
    property_name: str
    title: str
    formula: OperatorDefinition


def property_parts(model: ResolvedModel) -> tuple[PropertyPart, ...]:
    """Return all invariants of a model, and the parts of all its properties."""
    invariants = (PropertyPart(PartKind.INVARIANT, one.name, one.name, one) for one in model.invariants)
    divided = (part for one in model.properties for part in _divided(one))
    return (*invariants, *divided)


def _divided(definition: OperatorDefinition) -> Iterator[PropertyPart]:
    """Yield one part for each kind: conjuncts of one kind are one formula."""
    assert definition.body is not None, "the model is resolved"
    formulas: dict[PartKind, list[Expression]] = {}
    for kind, formula in _parts(definition.body):
        formulas.setdefault(kind, []).append(formula)
    for kind in PartKind:
        items = formulas.get(kind)
        if items:
            body = items[0] if len(items) == 1 else ConjunctionExpr(tuple(items), place=definition.place)
            title = definition.name if len(formulas) == 1 else f"{definition.name} ({kind.value})"
            part = replace(definition, name=title, body=body, level=_LEVELS[kind])
            yield PropertyPart(kind, definition.name, title, part)


def _parts(formula: Expression) -> Iterator[tuple[PartKind, Expression]]:
    if level_of(formula) <= STATE:
        yield PartKind.INITIAL, formula
        return
    match formula:
        case ConjunctionExpr(items=items):
            for item in items:
                yield from _parts(item)
        case ApplyExpr() if (inner := _unfolded(formula)) is not None:
            yield from _parts(inner)
        case AlwaysExpr(body=body):
            yield from _always(body)
        case LetExpr():
            for kind, part in _parts(formula.body):
                yield kind, replace(formula, body=part)
        case QuantifiedExpr(kind="\\A") if _is_over_constants(formula):
            for kind, part in _parts(formula.body):
                yield kind, replace(formula, body=part)
        case _:
            yield PartKind.TEMPORAL, formula


def _always(body: Expression) -> Iterator[tuple[PartKind, Expression]]:
    """Yield the parts of `[]body`."""
    level = level_of(body)
    if level <= STATE:
        yield PartKind.INVARIANT, body
        return
    match body:
        case BoxActionExpr(action=action, subscript=subscript):
            # Stuttering first: a step that changes nothing needs no evaluation of the action.
            unchanged = UnchangedExpr(subscript, place=body.place)
            yield PartKind.STEP, DisjunctionExpr((unchanged, action), place=body.place)
        case ConjunctionExpr(items=items):
            for item in items:
                yield from _always(item)
        case AlwaysExpr(body=inner):
            yield from _always(inner)
        case ApplyExpr() if (applied := _unfolded(body)) is not None:
            yield from _always(applied)
        case LetExpr():
            for kind, part in _always(body.body):
                yield kind, replace(body, body=part)
        case QuantifiedExpr(kind="\\A") if _is_over_constants(body):
            for kind, part in _always(body.body):
                yield kind, replace(body, body=part)
        case _:
            yield PartKind.TEMPORAL, AlwaysExpr(body, place=body.place)


def _is_over_constants(formula: QuantifiedExpr) -> bool:
    """Return whether the sets of a quantifier are the same in all states, so that it commutes with `[]`."""
    return all(level_of(one.domain) == CONSTANT for one in formula.ranges)


def _unfolded(applied: ApplyExpr) -> Expression | None:
    r"""Return the body of a definition that is applied to constants, which `\A parameter \in {constant}` binds."""
    operator, arguments = applied.operator, applied.arguments
    if not isinstance(operator, OperatorDefinition) or operator.body is None or operator.recursive:
        return None
    if not arguments:
        return operator.body
    ranges: list[BoundRange] = []
    for parameter, argument in zip(operator.parameters, arguments, strict=True):
        if parameter.arity or isinstance(argument, OperatorReferenceExpr | LambdaExpr):
            return None
        if level_of(argument) != CONSTANT:
            return None
        only = SetEnumerationExpr((argument,), place=argument.place)
        ranges.append(BoundRange((parameter,), only, place=argument.place))
    return QuantifiedExpr("\\A", tuple(ranges), operator.body, place=applied.place)
