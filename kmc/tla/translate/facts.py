"""Facts about resolved expressions that do not depend on the scope: bindings that are free, variables, primes.

Each node is visited once, and facts of definitions are kept, so a module is analysed in time linear in its size.
"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass, fields, is_dataclass
from typing import TypeAlias

from kmc.tla.resolved.nodes import (
    AngleActionExpr,
    ApplyExpr,
    Argument,
    BoundExpr,
    BoundRange,
    BoxActionExpr,
    EnabledExpr,
    ExceptUpdate,
    LetExpr,
    NameBinding,
    Node,
    OperatorDefinition,
    OperatorReferenceExpr,
    OwnVariableExpr,
    PrimeExpr,
    UnchangedExpr,
    VariableExpr,
)

Name: TypeAlias = NameBinding | OperatorDefinition


@dataclass(frozen=True, slots=True)
class ExpressionFacts:
    """What an expression reads: free names (of LET definitions too), and whether variables and primes."""

    free: frozenset[Name]
    reads_state: bool
    has_primes: bool


_NONE = ExpressionFacts(frozenset(), False, False)


class FactTable:
    """The facts of all expressions of a model."""

    def __init__(self) -> None:
        self._known: dict[int, tuple[object, ExpressionFacts]] = {}
        self._of_definitions: dict[OperatorDefinition, ExpressionFacts] = {}

    def of(self, node: Argument) -> ExpressionFacts:
        """Return the facts of an expression or an argument."""
        known = self._known.get(id(node))
        if known is None:
            known = self._known[id(node)] = (node, self._facts(node))
        return known[1]

    def of_definition(self, definition: OperatorDefinition) -> ExpressionFacts:
        """Return the facts of a definition's body, without its parameters."""
        known = self._of_definitions.get(definition)
        if known is None:
            self._of_definitions[definition] = _of_recursive(definition)  # what its own calls, or those of others, read
            body = self.of(definition.body) if definition.body is not None else _NONE
            known = ExpressionFacts(body.free - set(definition.parameters), body.reads_state, body.has_primes)
            self._of_definitions[definition] = known
        return known

    def _facts(self, node: Argument) -> ExpressionFacts:
        found = _union([self.of(child) for child in children(node)])
        bound: set[Name] = set(_bindings(node))
        match node:
            case BoundExpr():
                return ExpressionFacts(frozenset((node.binding,)), False, False)
            case VariableExpr():
                return ExpressionFacts(frozenset(), True, False)
            case OwnVariableExpr():
                return ExpressionFacts(found.free, True, found.has_primes)
            case PrimeExpr() | UnchangedExpr() | BoxActionExpr() | AngleActionExpr():
                return ExpressionFacts(found.free, found.reads_state, True)
            case EnabledExpr():
                return ExpressionFacts(found.free, True, False)
            case ApplyExpr() | OperatorReferenceExpr() if isinstance(node.operator, OperatorDefinition):
                found = _union([found, self.of_definition(node.operator)])
                if node.operator.is_local:
                    found = ExpressionFacts(found.free | {node.operator}, found.reads_state, found.has_primes)
            case ApplyExpr() | OperatorReferenceExpr() if isinstance(node.operator, NameBinding):
                found = ExpressionFacts(found.free | {node.operator}, found.reads_state, found.has_primes)
            case LetExpr():
                found = _union([found, *map(self.of_definition, node.definitions)])
                bound.update(node.definitions)
        return ExpressionFacts(found.free - bound, found.reads_state, found.has_primes)


def _of_recursive(definition: OperatorDefinition) -> ExpressionFacts:
    """Return what the calls of a recursive definition read, through other definitions too; free names aside."""
    reads_state = has_primes = False
    known, waiting = {definition}, [definition] if definition.recursive else []
    while waiting:
        nodes: list[Argument] = [body] if (body := waiting.pop().body) is not None else []
        while nodes:
            node = nodes.pop()
            reads_state |= isinstance(node, VariableExpr | OwnVariableExpr | EnabledExpr)
            has_primes |= isinstance(node, PrimeExpr | UnchangedExpr | BoxActionExpr | AngleActionExpr)
            nodes.extend(children(node))
            waiting.extend(one for one in definitions_of(node) if one not in known)
            known.update(definitions_of(node))
    return ExpressionFacts(frozenset(), reads_state, has_primes)


def _union(facts: list[ExpressionFacts]) -> ExpressionFacts:
    return ExpressionFacts(
        frozenset().union(*(fact.free for fact in facts)),
        any(fact.reads_state for fact in facts),
        any(fact.has_primes for fact in facts),
    )


def children(node: object) -> Iterator[Argument]:
    """Enumerate the expressions directly inside a node, not those of definitions."""
    if not is_dataclass(node):
        return
    for item in fields(node):
        yield from _nodes(getattr(node, item.name))


def _nodes(value: object) -> Iterator[Argument]:
    match value:
        case BoundRange() | ExceptUpdate():
            yield from children(value)
        case OperatorDefinition() | NameBinding():
            return
        case Node():
            yield value  # type: ignore[misc]  # all nodes but ranges are expressions or arguments
        case tuple():
            for item in value:
                yield from _nodes(item)


def _bindings(node: object) -> Iterator[NameBinding]:
    """Enumerate the bindings that a node introduces, those of its ranges too."""
    if isinstance(node, BoundExpr | ApplyExpr | OperatorReferenceExpr) or not is_dataclass(node):
        return
    for item in fields(node):
        yield from _introduced(getattr(node, item.name))


def _introduced(value: object) -> Iterator[NameBinding]:
    match value:
        case NameBinding():
            yield value
        case BoundRange():
            yield from value.bindings
        case ExceptUpdate():
            yield value.previous
        case tuple():
            for item in value:
                yield from _introduced(item)


def definitions_of(node: Argument) -> tuple[OperatorDefinition, ...]:
    """Return the definitions that a node applies, passes on or declares."""
    match node:
        case ApplyExpr() | OperatorReferenceExpr() if isinstance(node.operator, OperatorDefinition):
            return (node.operator,)
        case LetExpr():
            return node.definitions
        case _:
            return ()
