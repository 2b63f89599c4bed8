"""The parts of a PROPERTY: what a search of states and steps can check of it."""

from __future__ import annotations

import pytest

from kmc.errors import Span
from kmc.tla.resolved.model import ResolvedModel
from kmc.tla.resolved.nodes import (
    AlwaysExpr,
    ApplyExpr,
    BoundExpr,
    BoundRange,
    BoxActionExpr,
    BuiltinExpr,
    ConjunctionExpr,
    DisjunctionExpr,
    EventuallyExpr,
    Expression,
    FairnessExpr,
    NameBinding,
    NumberExpr,
    OperatorDefinition,
    PrimeExpr,
    QuantifiedExpr,
    SetEnumerationExpr,
    VariableExpr,
)
from kmc.tla.resolved.property_parts import PartKind, property_parts

AT = Span("M.tla", 1)
X = VariableExpr("x", 0, place=AT)
ONE = NumberExpr(1, place=AT)
LOW = BuiltinExpr("<", (X, ONE), place=AT)
RISES = BuiltinExpr(">", (PrimeExpr(X, place=AT), X), place=AT)
STEPS = AlwaysExpr(BoxActionExpr(RISES, X, place=AT), place=AT)
FAIR = FairnessExpr("WF", X, RISES, place=AT)
P = NameBinding("p", AT)
SET = BoundRange((P,), SetEnumerationExpr((ONE,), place=AT), place=AT)
OVER_VARIABLE = BoundRange((P,), X, place=AT)


def always(body: Expression) -> Expression:
    """Return `[]body`."""
    return AlwaysExpr(body, place=AT)


def both(*items: Expression) -> Expression:
    """Return a conjunction."""
    return ConjunctionExpr(items, place=AT)


def applied(body: Expression, *arguments: Expression) -> Expression:
    """Return a definition of this body, applied to arguments."""
    parameters = (P,) if arguments else ()
    return ApplyExpr(OperatorDefinition("D", parameters, body, AT, "M", 3), arguments, place=AT)


BELOW_P = always(BuiltinExpr("<", (X, BoundExpr(P, place=AT)), place=AT))


@pytest.mark.parametrize(
    ("formula", "kinds"),
    [
        (LOW, ["initial"]),
        (always(LOW), ["invariant"]),
        (STEPS, ["steps"]),
        (both(LOW, STEPS, FAIR), ["initial", "steps", "temporal"]),
        (applied(both(LOW, STEPS)), ["initial", "steps"]),
        (always(both(LOW, BoxActionExpr(RISES, X, place=AT))), ["invariant", "steps"]),
        (always(always(LOW)), ["invariant"]),
        (QuantifiedExpr("\\A", (SET,), BELOW_P, place=AT), ["invariant"]),
        (applied(BELOW_P, ONE), ["invariant"]),
        # What a search of states cannot check.
        (EventuallyExpr(LOW, place=AT), ["temporal"]),
        (always(EventuallyExpr(LOW, place=AT)), ["temporal"]),
        (DisjunctionExpr((always(LOW), STEPS), place=AT), ["temporal"]),
        (QuantifiedExpr("\\E", (SET,), BELOW_P, place=AT), ["temporal"]),
        (QuantifiedExpr("\\A", (OVER_VARIABLE,), BELOW_P, place=AT), ["temporal"]),
        (applied(BELOW_P, X), ["temporal"]),
        (RISES, ["temporal"]),
    ],
)
def test_a_property_is_divided_into_what_can_be_checked_and_the_rest(formula: Expression, kinds: list[str]) -> None:
    prop = OperatorDefinition("Prop", (), formula, AT, "M", 3)
    model = ResolvedModel("M", "M.tla", None, ("x",), (), (), None, properties=(prop,))
    parts = property_parts(model)
    assert [part.kind.value for part in parts] == kinds
    titles = ["Prop"] if len(kinds) == 1 else [f"Prop ({kind})" for kind in kinds]
    assert [part.title for part in parts] == titles
    assert {part.property_name for part in parts} == {"Prop"}


def test_a_formula_of_steps_is_true_of_stuttering_first() -> None:
    prop = OperatorDefinition("Prop", (), STEPS, AT, "M", 3)
    (part,) = property_parts(ResolvedModel("M", "M.tla", None, ("x",), (), (), None, properties=(prop,)))
    assert part.kind is PartKind.STEP
    body = part.formula.body
    assert isinstance(body, DisjunctionExpr)
    assert [type(item).__name__ for item in body.items] == ["UnchangedExpr", "BuiltinExpr"]
