"""Short names for nodes of resolved TLA+, all at one place of a module that does not exist."""

from __future__ import annotations

from kmc.errors import Span
from kmc.tla.resolved.model import BehaviourParts, ResolvedModel
from kmc.tla.resolved.nodes import (
    ApplyExpr,
    Argument,
    BooleanExpr,
    BoundExpr,
    BoundRange,
    BuiltinExpr,
    ConjunctionExpr,
    DisjunctionExpr,
    Expression,
    NameBinding,
    NumberExpr,
    OperatorDefinition,
    PrimeExpr,
    QuantifiedExpr,
    SetEnumerationExpr,
    StringExpr,
    VariableExpr,
)

HERE = Span("Toy.tla", 1, 1)


def num(value: int) -> NumberExpr:
    return NumberExpr(place=HERE, value=value)


def text(value: str) -> StringExpr:
    return StringExpr(place=HERE, value=value)


def boolean(value: bool) -> BooleanExpr:
    return BooleanExpr(place=HERE, value=value)


def var(index: int) -> VariableExpr:
    return VariableExpr(place=HERE, name=f"v{index}", index=index)


def prime(body: Expression) -> PrimeExpr:
    return PrimeExpr(place=HERE, body=body)


def op(operator: str, *arguments: Argument) -> BuiltinExpr:
    return BuiltinExpr(place=HERE, operator=operator, arguments=arguments)


def conj(*items: Expression) -> ConjunctionExpr:
    return ConjunctionExpr(place=HERE, items=items)


def disj(*items: Expression) -> DisjunctionExpr:
    return DisjunctionExpr(place=HERE, items=items)


def set_of(*items: Expression) -> SetEnumerationExpr:
    return SetEnumerationExpr(place=HERE, items=items)


def name(binding: NameBinding) -> BoundExpr:
    return BoundExpr(place=HERE, binding=binding)


def binding(word: str, arity: int = 0) -> NameBinding:
    return NameBinding(word, HERE, arity)


def over(bound: NameBinding, domain: Expression) -> BoundRange:
    return BoundRange(place=HERE, bindings=(bound,), domain=domain)


def exists(bound: NameBinding, domain: Expression, body: Expression) -> QuantifiedExpr:
    return QuantifiedExpr(place=HERE, kind="\\E", ranges=(over(bound, domain),), body=body)


def for_all(bound: NameBinding, domain: Expression, body: Expression) -> QuantifiedExpr:
    return QuantifiedExpr(place=HERE, kind="\\A", ranges=(over(bound, domain),), body=body)


def defined(word: str, body: Expression, *parameters: NameBinding, level: int = 0) -> OperatorDefinition:
    return OperatorDefinition(word, parameters, body, HERE, "Toy", level)


def call(definition: OperatorDefinition, *arguments: Argument) -> ApplyExpr:
    return ApplyExpr(place=HERE, operator=definition, arguments=arguments)


def model_of(variables: int, initial: Expression, following: Expression | None) -> ResolvedModel:
    """Return a model with variables `v0`, `v1`, ..."""
    names = tuple(f"v{index}" for index in range(variables))
    behaviour = BehaviourParts((initial,), following, None, ())
    return ResolvedModel("Toy", "Toy.tla", None, names, (), (), behaviour)
