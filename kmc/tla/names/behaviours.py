r"""The behaviour specification of a model, divided into its initial predicate, its next-state relation and fairness.

`Init /\ [][Next]_v /\ L` is divided through definitions and their parameters, whatever the order of its parts.
"""

from __future__ import annotations

from collections.abc import Iterator
from typing import TypeAlias

from kmc.errors import ModelError
from kmc.tla.resolved.levels import STATE, level_of
from kmc.tla.resolved.model import BehaviourParts
from kmc.tla.resolved.nodes import (
    AlwaysExpr,
    ApplyExpr,
    BoundExpr,
    BoxActionExpr,
    ConjunctionExpr,
    Expression,
    LambdaExpr,
    LetExpr,
    NameBinding,
    OperatorDefinition,
    OperatorReferenceExpr,
    UnboundedExpr,
)

_Around: TypeAlias = tuple[ApplyExpr | LetExpr, ...]
"""The LETs and applications with arguments around a part of a formula, the outermost first."""


def divide_behaviour(specification: OperatorDefinition) -> BehaviourParts:
    """Divide a specification; raises ModelError KMC370 if its behaviours are not those of one next-state relation."""
    assert specification.body is not None
    initial: list[Expression] = []
    fairness: list[Expression] = []
    steps: list[tuple[BoxActionExpr, _Around]] = []
    for part, around in _conjuncts(specification.body, ()):
        if isinstance(part, AlwaysExpr) and isinstance(part.body, BoxActionExpr):
            steps.append((part.body, around))
        elif level_of(part) <= STATE:
            initial.append(_within(part, around))
        else:
            fairness.append(_within(part, around))
    if len(steps) > 1:
        message = f"'{specification.name}' has two next-state relations"
        help_line = "write one: [][A /\\ B]_v, or check one of the two as a PROPERTY"
        raise ModelError("KMC370", message, steps[1][0].place, help_line)
    hidden = next((part for part in fairness if isinstance(part, UnboundedExpr)), None)
    if hidden is not None:
        message = f"'{specification.name}' hides variables by {hidden.kind}"
        raise ModelError("KMC370", message, hidden.place, "name the specification inside, without the quantifier")
    if not initial:
        message = f"'{specification.name}' has no initial predicate"
        raise ModelError("KMC370", message, specification.place, "write it as Init /\\ [][Next]_vars")
    if not steps:
        message = f"'{specification.name}' has no next-state relation"
        raise ModelError("KMC370", message, specification.place, "write it as Init /\\ [][Next]_vars")
    box, around = steps[0]
    return BehaviourParts(tuple(initial), _within(box.action, around), _within(box.subscript, around), tuple(fairness))


def _conjuncts(part: Expression, around: _Around) -> Iterator[tuple[Expression, _Around]]:
    """Yield the conjuncts of a formula, each with what binds names around it."""
    match part:
        case ConjunctionExpr(items=items):
            for item in items:
                yield from _conjuncts(item, around)
        case LetExpr(body=body) if level_of(part) > STATE:
            yield from _conjuncts(body, (*around, part))
        case ApplyExpr(operator=OperatorDefinition(body=body)) if body is not None and level_of(part) > STATE:
            yield from _conjuncts(body, (*around, part) if part.arguments else around)
        case BoundExpr(binding=binding):
            yield from _argument(part, binding, around)
        case _:
            yield part, around


def _argument(part: Expression, binding: NameBinding, around: _Around) -> Iterator[tuple[Expression, _Around]]:
    """Yield the conjuncts of a formula that is passed to an operator, where the body has its parameter.

    An argument without steps stays a part of the body.
    """
    for at in reversed(range(len(around))):
        outer = around[at]
        if not isinstance(outer, ApplyExpr) or not isinstance(outer.operator, OperatorDefinition):
            continue
        for parameter, argument in zip(outer.operator.parameters, outer.arguments, strict=True):
            if isinstance(argument, OperatorReferenceExpr | LambdaExpr):
                continue
            if parameter is binding and level_of(argument) > STATE:
                yield from _conjuncts(argument, around[:at])
                return
    yield part, around


def _within(part: Expression, around: _Around) -> Expression:
    """Return a part of a formula with the LETs and the applications around it, so that its names stay bound."""
    for outer in reversed(around):
        if isinstance(outer, LetExpr):
            part = LetExpr(outer.definitions, part, place=part.place)
        elif isinstance(outer.operator, OperatorDefinition):
            whole = outer.operator
            piece = OperatorDefinition(
                whole.name, whole.parameters, part, whole.place, whole.module, level_of(part), is_local=whole.is_local
            )
            part = ApplyExpr(piece, outer.arguments, place=part.place)
    return part
