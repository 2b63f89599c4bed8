"""The invariant of the resolved tree of a TLA+ model: whatever an expression refers to is bound around it."""

from __future__ import annotations

import dataclasses
from collections.abc import Iterator

from kmc.tla.resolved.model import ResolvedModel
from kmc.tla.resolved.nodes import (
    ApplyExpr,
    BoundExpr,
    BoundRange,
    BuiltinExpr,
    ExceptUpdate,
    LetExpr,
    NameBinding,
    Node,
    OperatorDefinition,
    OperatorReferenceExpr,
)

Bound = frozenset[NameBinding]


def breaches(model: ResolvedModel) -> list[str]:
    """What in the definitions of a model refers to something that is not bound there, or is applied wrongly."""
    return list(_Walk(model).breaches())


class _Walk:
    def __init__(self, model: ResolvedModel) -> None:
        self._model = model
        self._waiting = [
            *model.definitions.values(),
            *model.constants,
            *model.invariants,
            *model.properties,
            *model.constraints,
        ]
        self._seen: set[int] = set()

    def breaches(self) -> Iterator[str]:
        behaviour = self._model.behaviour
        if behaviour is not None:
            parts = (behaviour.next, behaviour.subscript, *behaviour.initial, *behaviour.fairness)
            for part in parts:
                yield from self._node(part, frozenset(), frozenset())
        for assumption in self._model.assumptions:
            yield from self._node(assumption.condition, frozenset(), frozenset())
        while self._waiting:
            definition = self._waiting.pop()
            if id(definition) not in self._seen:
                self._seen.add(id(definition))
                yield from self._definition(definition, frozenset(), frozenset())

    def _definition(self, definition: OperatorDefinition, bound: Bound, local: frozenset[int]) -> Iterator[str]:
        if definition.body is None:
            yield f"{definition.name} has no body"
        yield from self._node(definition.body, bound | frozenset(definition.parameters), local)

    def _node(self, part: object, bound: Bound, local: frozenset[int]) -> Iterator[str]:
        match part:
            case BoundExpr(binding=binding):
                if binding not in bound:
                    yield f"{binding.name} is not bound at {part.place}"
            case ApplyExpr(operator=operator, arguments=arguments):
                arity = operator.arity if isinstance(operator, NameBinding) else len(operator.parameters)
                if arity != len(arguments):
                    yield f"{operator.name} has {arity} parameters and {len(arguments)} arguments at {part.place}"
                yield from self._operator(operator, part, bound, local)
                yield from self._node(arguments, bound, local)
            case OperatorReferenceExpr(operator=operator):
                yield from self._operator(operator, part, bound, local)
            case LetExpr(definitions=definitions, body=body):
                known = local
                for definition in definitions:
                    known |= {id(definition)}
                    yield from self._definition(definition, bound, known)
                yield from self._node(body, bound, known)
            case BuiltinExpr(arguments=arguments):
                yield from self._node(arguments, bound, local)
            case Node():
                yield from self._fields(part, bound, local)
            case tuple():
                for item in part:
                    yield from self._node(item, bound, local)

    def _operator(
        self, operator: OperatorDefinition | NameBinding | str, part: Node, bound: Bound, local: frozenset[int]
    ) -> Iterator[str]:
        match operator:
            case NameBinding() if operator not in bound:
                yield f"{operator.name} is not bound at {part.place}"
            case OperatorDefinition(is_local=True):
                if id(operator) not in local and not operator.recursive:
                    yield f"{operator.name} is not defined by a LET around {part.place}"
            case OperatorDefinition():
                self._waiting.append(operator)

    def _fields(self, node: Node, bound: Bound, local: frozenset[int]) -> Iterator[str]:
        """Check a node: its ranges first, whose sets do not know what they bind."""
        values = [getattr(node, field.name) for field in dataclasses.fields(node) if field.name != "place"]
        inner = bound
        for value in values:
            for item in value if isinstance(value, tuple) else (value,):
                inner |= _bound_by(item)
        for value in values:
            for item in value if isinstance(value, tuple) else (value,):
                if isinstance(item, BoundRange):
                    yield from self._node(item.domain, bound, local)
                elif isinstance(item, ExceptUpdate):
                    yield from self._node(item.path, bound, local)
                    yield from self._node(item.value, bound | {item.previous}, local)
                else:
                    yield from self._node(item, inner, local)


def _bound_by(item: object) -> Bound:
    match item:
        case BoundRange(bindings=bindings):
            return frozenset(bindings)
        case NameBinding():
            return frozenset((item,))
        case _:
            return frozenset()
