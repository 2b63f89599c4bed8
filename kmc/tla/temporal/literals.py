"""Values of TLA+ as expressions: the value of a quantified name, put where the name is used."""

from __future__ import annotations

from kmc.errors import Span
from kmc.tla.resolved.nodes import (
    BooleanExpr,
    BuiltinExpr,
    Expression,
    ModelValueExpr,
    NumberExpr,
    SetEnumerationExpr,
    StringExpr,
    TupleExpr,
)
from kmc.tla.values.kinds import FunctionValue, SymbolicSet, TlaBoolean, TlaModelValue, Value


def literal_of(value: Value, place: Span) -> Expression:
    """An expression with this value; a set that is described is listed first, so it has to be finite."""
    match value:
        case TlaBoolean():
            return BooleanExpr(value=value.holds, place=place)
        case int():
            return NumberExpr(value=value, place=place)
        case str():
            return StringExpr(value=value, place=place)
        case TlaModelValue():
            return ModelValueExpr(name=value.name, place=place)
        case frozenset():
            return SetEnumerationExpr(items=tuple(literal_of(each, place) for each in value), place=place)
        case tuple():
            return TupleExpr(items=tuple(literal_of(each, place) for each in value), place=place)
        case FunctionValue():
            return _function(value, place)
        case SymbolicSet():
            return SetEnumerationExpr(items=tuple(literal_of(each, place) for each in value.elements()), place=place)


def _function(value: FunctionValue, place: Span) -> Expression:
    r"""The function as `k :> v @@ ...`; one without keys is the empty sequence."""
    function: Expression | None = None
    for key, of_key in value.items():
        pair = (literal_of(key, place), literal_of(of_key, place))
        single = BuiltinExpr(operator=":>", arguments=pair, module="TLC", place=place)
        function = (
            single
            if function is None
            else BuiltinExpr(operator="@@", arguments=(function, single), module="TLC", place=place)
        )
    return function if function is not None else TupleExpr(items=(), place=place)
