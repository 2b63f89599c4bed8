r"""ENABLED in an instance: the next values of the variables of its module are values of their own.

ENABLED A says that some values of the primed variables make A true, so these are bound, and nothing is substituted for
them. In an instance with `x <- e`, ENABLED (x' = x + 1) says that there is a number c with c = e + 1, and not that e
has that value in some state (Specifying Systems, section 17.8). TLC binds the variables of the module too.
"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import fields, is_dataclass, replace
from typing import Any

from kmc.tla.resolved.levels import STATE
from kmc.tla.resolved.nodes import (
    ApplyExpr,
    EnabledExpr,
    Expression,
    LetExpr,
    NameBinding,
    Node,
    OperatorDefinition,
    OperatorReferenceExpr,
    OwnVariableExpr,
)


def with_own_variables(node: EnabledExpr, variables: int) -> tuple[Expression, tuple[str, ...]]:
    """Return the action of ENABLED with variables of its own, numbered from `variables` on, and their names."""
    if not mentions_stand_ins(node):
        return node.action, ()
    rewriting = _Rewriting(node.stand_ins, variables)
    action = rewriting.of(node.action)
    if rewriting.local_copies:
        action = LetExpr(tuple(rewriting.local_copies), action, place=node.place)
    return action, tuple(definition.name for definition in node.stand_ins)


def mentions_stand_ins(node: EnabledExpr) -> bool:
    """Return whether the action of ENABLED mentions a variable of the instance in which it is written."""
    return bool(node.stand_ins) and _Mentions(frozenset(node.stand_ins)).some_of(node.action)


class _Mentions:
    """Finds expressions that apply the placeholder of a variable, directly or through definitions."""

    def __init__(self, stand_ins: frozenset[OperatorDefinition]) -> None:
        self._stand_ins = stand_ins
        self._known: dict[OperatorDefinition, bool] = {}

    def some_of(self, value: object) -> bool:
        """Return whether an expression, or a part of one, mentions the placeholder of a variable."""
        if isinstance(value, OperatorDefinition):
            return self._definition(value)
        return any(self.some_of(part) for part in _parts(value))

    def _definition(self, definition: OperatorDefinition) -> bool:
        if definition in self._stand_ins:
            return True
        if definition not in self._known:
            self._known[definition] = False  # where it is recursive
            self._known[definition] = self.some_of(definition.body)
        return self._known[definition]


class _Rewriting:
    """Rewrites an action and the definitions that it applies: placeholders of variables become variables of its own.

    `local_copies` are copies of the definitions of LETs around the action, each after those that it applies.
    """

    def __init__(self, stand_ins: tuple[OperatorDefinition, ...], first: int) -> None:
        self._index = {definition: first + at for at, definition in enumerate(stand_ins)}
        self._mentions = _Mentions(frozenset(stand_ins))
        self._copies: dict[OperatorDefinition, OperatorDefinition] = {}
        self._inside: set[OperatorDefinition] = set()
        self.local_copies: list[OperatorDefinition] = []

    def of(self, value: Any) -> Any:
        """Return an expression, or a part of one, rewritten."""
        if not self._mentions.some_of(value):
            return value
        match value:
            case ApplyExpr(operator=OperatorDefinition() as definition) if definition in self._index:
                return OwnVariableExpr(definition.name, self._index[definition], value, place=value.place)
            case ApplyExpr(operator=OperatorDefinition() as definition, arguments=arguments):
                return replace(value, operator=self._definition(definition), arguments=self.of(arguments))
            case OperatorReferenceExpr(operator=OperatorDefinition() as definition):
                return replace(value, operator=self._definition(definition))
            case EnabledExpr():
                return value  # it has variables of its own
            case tuple():
                return tuple(self.of(item) for item in value)
            case LetExpr(definitions=definitions, body=body):
                self._inside.update(definitions)
                return replace(value, definitions=tuple(map(self._definition, definitions)), body=self.of(body))
            case _:
                return replace(value, **{item.name: self.of(getattr(value, item.name)) for item in fields(value)})

    def _definition(self, definition: OperatorDefinition) -> OperatorDefinition:
        if definition in self._index or not self._mentions.some_of(definition):
            return definition
        known = self._copies.get(definition)
        if known is None:
            level = max(definition.level, STATE)
            known = self._copies[definition] = replace(definition, body=None, level=level)
            known.body = self.of(definition.body)
            if definition.is_local and definition not in self._inside:
                self.local_copies.append(known)
        return known


def _parts(value: object) -> Iterator[object]:
    """Enumerate what a node consists of: nodes, definitions that it applies, ranges, and items of tuples."""
    if isinstance(value, tuple):
        yield from value
    elif is_dataclass(value) and not isinstance(value, NameBinding | OperatorDefinition):
        for item in fields(value):
            part = getattr(value, item.name)
            if isinstance(part, Node | OperatorDefinition | tuple) or (is_dataclass(part) and item.name != "place"):
                yield part
