"""Facts about resolved expressions that do not depend on where they are used: level, bindings, conjuncts.

Invariant: a fact holds in every scope. Levels here leave out what bindings bring in, so the level of an expression in a
scope is the largest of its own level and those of its free bindings (`kmc.tla.run.scopes`).
"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass, fields, is_dataclass
from functools import cache
from typing import Any

from kmc.errors import Span
from kmc.tla.resolved.nodes import (
    AlwaysExpr,
    AngleActionExpr,
    ApplyExpr,
    Argument,
    BoundExpr,
    BoundRange,
    BoxActionExpr,
    BuiltinExpr,
    CaseExpr,
    ConjunctionExpr,
    DisjunctionExpr,
    EnabledExpr,
    EventuallyExpr,
    ExceptUpdate,
    Expression,
    FairnessExpr,
    FieldAccessExpr,
    FunctionApplicationExpr,
    IfExpr,
    LambdaExpr,
    LeadsToExpr,
    LetExpr,
    NameBinding,
    Node,
    OperatorDefinition,
    OperatorReferenceExpr,
    OwnVariableExpr,
    PrimeExpr,
    QuantifiedExpr,
    UnchangedExpr,
    VariableExpr,
)

_TEMPORAL = (AlwaysExpr, EventuallyExpr, LeadsToExpr, FairnessExpr)
ENDLESS_WEIGHT = 1_000_000
_NOTHING: frozenset[NameBinding] = frozenset()


@dataclass(frozen=True, slots=True)
class Facts:
    """The level of an expression without its bindings, its free bindings, and those that it reads in another state.

    A binding is `shifted` where it is under a prime, UNCHANGED, ENABLED or a subscript: an argument for it cannot be
    evaluated before, unless it is constant.
    """

    level: int = 0
    free: frozenset[NameBinding] = _NOTHING
    shifted: frozenset[NameBinding] = _NOTHING

    def joined(self, other: Facts) -> Facts:
        """Return the facts of an expression that has both parts."""
        if other is _EMPTY:
            return self
        return Facts(max(self.level, other.level), self.free | other.free, self.shifted | other.shifted)

    def under_shift(self, level: int) -> Facts:
        """Return the facts of the expression under a prime or the like."""
        return Facts(level, self.free, self.shifted | self.free)


_EMPTY = Facts()


@cache
def _field_names(kind: type[Any]) -> tuple[str, ...]:
    return tuple(field.name for field in fields(kind))


def parts(node: object) -> Iterator[Any]:
    """Enumerate the expressions right below a node, those of ranges and updates included."""
    if isinstance(node, tuple):
        for item in node:
            yield from _part(item)
    elif is_dataclass(node) and not isinstance(node, type):
        for name in _field_names(type(node)):
            yield from _part(getattr(node, name))


def _part(item: object) -> Iterator[Any]:
    if isinstance(item, (Node,)) and not isinstance(item, BoundRange):
        yield item
    elif isinstance(item, tuple) or (
        is_dataclass(item) and not isinstance(item, (Span, NameBinding, OperatorDefinition))
    ):
        yield from parts(item)


def bound_names(node: object) -> Iterator[NameBinding]:
    """Enumerate the names that a node binds, such as those of a quantifier."""
    if isinstance(node, NameBinding):
        yield node
    elif isinstance(node, tuple):
        for item in node:
            yield from bound_names(item)
    elif is_dataclass(node) and not isinstance(node, (type, Span, OperatorDefinition)):
        for name in _field_names(type(node)):
            item = getattr(node, name)
            if isinstance(item, (NameBinding, tuple, BoundRange)) or not isinstance(item, Node):
                yield from _names_beside(item)


def _names_beside(item: object) -> Iterator[NameBinding]:
    if isinstance(item, tuple):
        for inner in item:
            yield from _names_beside(inner)
    elif isinstance(item, (NameBinding, BoundRange, ExceptUpdate)):
        yield from bound_names(item)


class Analysis:
    """The facts of the expressions and definitions of a model, each found once."""

    def __init__(self) -> None:
        self._facts: dict[int, Facts] = {}
        self._kept: list[object] = []
        self._of_definitions: dict[OperatorDefinition, Facts] = {}
        self._open: dict[OperatorDefinition, bool] = {}
        self._formulas: dict[OperatorDefinition, frozenset[NameBinding]] = {}
        self._applied: dict[OperatorDefinition, frozenset[NameBinding]] = {}
        self._weights: dict[OperatorDefinition, int] = {}

    def facts(self, node: Argument) -> Facts:
        """Return the facts of an expression."""
        found = self._facts.get(id(node))
        if found is None:
            found = self._find(node)
            if not self._open:
                self._facts[id(node)] = found
                self._kept.append(node)
        return found

    def _find(self, node: Argument) -> Facts:
        match node:
            case VariableExpr():
                return Facts(1)
            case OwnVariableExpr(current=current):
                return Facts(1).joined(self.facts(current))
            case BoundExpr(binding=binding):
                return Facts(0, frozenset((binding,)))
            case ApplyExpr():
                return self._of_application(node)
            case OperatorReferenceExpr(operator=operator):
                if isinstance(operator, OperatorDefinition):
                    return self.of_definition(operator)
                return Facts(0, frozenset((operator,))) if isinstance(operator, NameBinding) else _EMPTY
            case PrimeExpr(body=body):
                inner = self.facts(body)
                return inner.under_shift(2 if inner.level else 0)
            case UnchangedExpr(body=body):
                return self.facts(body).under_shift(2)
            case EnabledExpr(action=action):
                return self.facts(action).under_shift(1)
            case BoxActionExpr(action=action, subscript=subscript):
                return self.facts(action).joined(self.facts(subscript).under_shift(2))
            case AngleActionExpr(action=action, subscript=subscript):
                return self.facts(action).joined(self.facts(subscript).under_shift(2))
            case LetExpr(body=body):
                return self.facts(body)
            case _:
                found = Facts(3) if isinstance(node, _TEMPORAL) else _EMPTY
                for part in parts(node):
                    found = found.joined(self.facts(part))
                bound = frozenset(bound_names(node))
                return Facts(found.level, found.free - bound, found.shifted - bound) if bound else found

    def _of_application(self, node: ApplyExpr) -> Facts:
        if isinstance(node.operator, NameBinding):
            found = Facts(0, frozenset((node.operator,)))
            for argument in node.arguments:
                found = found.joined(self.facts(argument))
            return found
        operator = self.of_definition(node.operator)
        # The parameters go first: in a recursive call, the arguments may read parameters of the same names.
        own = frozenset(node.operator.parameters)
        found = Facts(operator.level, operator.free - own, operator.shifted - own)
        # An operator among the arguments may read the others, which the operator applies it to, in another state.
        passes_on = any(map(self.is_shifting, node.arguments))
        for parameter, argument in zip(node.operator.parameters, node.arguments, strict=True):
            inner = self.facts(argument)
            is_shifted = passes_on or parameter in operator.shifted
            found = found.joined(inner.under_shift(2 if inner.level else 0) if is_shifted else inner)
        return found

    def is_shifting(self, argument: Argument) -> bool:
        """Return whether an argument is an operator that reads its own arguments in another state."""
        match argument:
            case LambdaExpr(parameters=parameters, body=body):
                return not self.facts(body).shifted.isdisjoint(parameters)
            case OperatorReferenceExpr(operator=OperatorDefinition() as definition):
                return not self.of_definition(definition).shifted.isdisjoint(definition.parameters)
            case _:
                return False

    def of_definition(self, definition: OperatorDefinition) -> Facts:
        """Return the facts of the body of a definition; its parameters are among the bindings."""
        found = self._of_definitions.get(definition)
        if found is not None:
            return found
        if definition in self._open:
            return Facts(definition.level)
        self._open[definition] = True
        assert definition.body is not None
        found = self.facts(definition.body)
        del self._open[definition]
        if not self._open:
            self._of_definitions[definition] = found
        return found

    def weight(self, definition: OperatorDefinition) -> int:
        """Return the number of expressions in a body and in those of its operators; ENDLESS_WEIGHT if recursive."""
        found = self._weights.get(definition)
        if found is None:
            self._weights[definition] = ENDLESS_WEIGHT
            found = self._weights[definition] = min(ENDLESS_WEIGHT, self._weight_of(definition.body))
        return found

    def _weight_of(self, node: object) -> int:
        weight = 1 + sum(map(self._weight_of, parts(node)))
        if isinstance(node, (ApplyExpr, OperatorReferenceExpr)) and isinstance(node.operator, OperatorDefinition):
            weight += ENDLESS_WEIGHT if node.operator.recursive else self.weight(node.operator)
        return weight

    def formula_parameters(self, definition: OperatorDefinition) -> frozenset[NameBinding]:
        """Return the parameters that are conjuncts of the body, through operators: TLC enumerates their arguments."""
        found = self._formulas.get(definition)
        if found is None:
            self._formulas[definition] = _NOTHING
            assert definition.body is not None
            found = self._formulas[definition] = frozenset(self._formulas_of(definition.body))
        return found

    def _formulas_of(self, node: Argument) -> Iterator[NameBinding]:
        for conjunct in _conjuncts(node):
            if isinstance(conjunct, BoundExpr):
                yield conjunct.binding
            elif isinstance(conjunct, ApplyExpr) and isinstance(conjunct.operator, OperatorDefinition):
                wanted = self.formula_parameters(conjunct.operator)
                for parameter, argument in zip(conjunct.operator.parameters, conjunct.arguments, strict=True):
                    if parameter in wanted:
                        yield from self._formulas_of(argument)
                yield from wanted - frozenset(conjunct.operator.parameters)

    def applied_parameters(self, definition: OperatorDefinition) -> frozenset[NameBinding]:
        """Return the parameters whose applications are conjuncts of the body, through operators."""
        found = self._applied.get(definition)
        if found is None:
            self._applied[definition] = _NOTHING
            assert definition.body is not None
            found = self._applied[definition] = frozenset(self._applied_of(definition.body))
        return found

    def _applied_of(self, node: Argument) -> Iterator[NameBinding]:
        for conjunct in _conjuncts(node):
            if isinstance(conjunct, FunctionApplicationExpr):
                yield from _base(conjunct.function)
            elif isinstance(conjunct, ApplyExpr) and isinstance(conjunct.operator, OperatorDefinition):
                wanted = self.applied_parameters(conjunct.operator)
                formulas = self.formula_parameters(conjunct.operator)
                for parameter, argument in zip(conjunct.operator.parameters, conjunct.arguments, strict=True):
                    if parameter in wanted:
                        yield from _base(argument)
                    if parameter in formulas:
                        yield from self._applied_of(argument)
                yield from wanted - frozenset(conjunct.operator.parameters)

    def reads_value(self, definition: OperatorDefinition, parameter: NameBinding) -> bool:
        """Return whether a body reads a parameter beside its conjuncts."""
        assert definition.body is not None
        conjuncts = sum(name is parameter for name in self._formulas_of(definition.body))
        return _occurrences(definition.body, parameter) > conjuncts

    def reads_whole(self, definition: OperatorDefinition, parameter: NameBinding) -> bool:
        """Return whether a body does more with a parameter than to apply it, through operators."""
        return self._reads_whole(definition.body, parameter, frozenset((definition,)))

    def _reads_whole(self, node: Any, name: NameBinding, seen: frozenset[OperatorDefinition]) -> bool:
        if isinstance(node, BoundExpr):
            return node.binding is name
        below = tuple(parts(node))
        if isinstance(node, FunctionApplicationExpr) and isinstance(node.function, BoundExpr):
            below = (node.argument,)
        elif isinstance(node, ApplyExpr) and isinstance(node.operator, OperatorDefinition):
            operator = node.operator
            passed = [
                parameter
                for parameter, argument in zip(operator.parameters, node.arguments, strict=True)
                if isinstance(argument, BoundExpr) and argument.binding is name
            ]
            if passed and operator in seen:
                return True
            if operator not in seen and (passed or operator.is_local):
                within = seen | {operator}
                if any(self._reads_whole(operator.body, one, within) for one in (*passed, name)):
                    return True
            below = tuple(argument for argument in node.arguments if not isinstance(argument, BoundExpr))
        return any(self._reads_whole(part, name, seen) for part in below)


def _occurrences(node: object, name: NameBinding) -> int:
    if isinstance(node, BoundExpr):
        return int(node.binding is name)
    return sum(_occurrences(part, name) for part in parts(node))


def _base(node: Argument) -> Iterator[NameBinding]:
    """Yield the name whose value, or a part of whose value, an expression is."""
    while isinstance(node, (FunctionApplicationExpr, FieldAccessExpr)):
        node = node.function if isinstance(node, FunctionApplicationExpr) else node.record
    if isinstance(node, BoundExpr):
        yield node.binding


def _conjuncts(node: Argument) -> Iterator[Argument]:
    """Enumerate the formulas that TLC may enumerate when it enumerates `node`."""
    below: tuple[Expression, ...]
    match node:
        case ConjunctionExpr(items=items) | DisjunctionExpr(items=items):
            below = items
        case QuantifiedExpr(body=body) | LetExpr(body=body):
            below = (body,)
        case IfExpr(then=then, otherwise=otherwise):
            below = (then, otherwise)
        case CaseExpr(arms=arms, other=other):
            below = tuple(value for _, value in arms) + ((other,) if other is not None else ())
        case BoxActionExpr(action=action) | AngleActionExpr(action=action):
            below = (action,)
        case BuiltinExpr(operator="=>", arguments=(_, conclusion)):
            yield from _conjuncts(conclusion)
            return
        case _:
            yield node
            return
    for part in below:
        yield from _conjuncts(part)
