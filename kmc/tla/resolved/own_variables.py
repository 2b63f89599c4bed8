r"""ENABLED in an instance: the next values of the variables of its module are values of their own.

ENABLED A says that some values of the primed variables make A true, so these are bound, and nothing is substituted for
them. In an instance with `x <- e`, ENABLED (x' = x + 1) says that there is a number c with c = e + 1, and not that e
has that value in some state (Specifying Systems, section 17.8). TLC binds the variables of the module too.
"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import fields, is_dataclass, replace
from typing import Any

from kmc.tla.resolved.nodes import (
    AngleActionExpr,
    ApplyExpr,
    BoxActionExpr,
    BuiltinExpr,
    ConjunctionExpr,
    DisjunctionExpr,
    EnabledExpr,
    Expression,
    LetExpr,
    NameBinding,
    Node,
    OperatorDefinition,
    OperatorReferenceExpr,
    PrimeExpr,
    TupleExpr,
    UnchangedExpr,
    VariableExpr,
)


def with_own_variables(node: EnabledExpr, variables: int) -> tuple[Expression, tuple[str, ...]]:
    """Return the action of ENABLED with variables of its own, numbered from `variables` on, and their names."""
    if not node.stand_ins or not _Mentions(frozenset(node.stand_ins)).some_of(node.action):
        return node.action, ()
    rewriting = _Rewriting(node.stand_ins, variables)
    return rewriting.of(node.action, False), tuple(definition.name for definition in node.stand_ins)


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
    """Rewrites an action; `of` an expression below a prime reads the variables that are its own."""

    def __init__(self, stand_ins: tuple[OperatorDefinition, ...], first: int) -> None:
        self._index = {definition: first + at for at, definition in enumerate(stand_ins)}
        self._mentions = _Mentions(frozenset(stand_ins))
        self._copies: dict[tuple[OperatorDefinition, bool], OperatorDefinition] = {}

    def of(self, value: Any, is_primed: bool) -> Any:
        """Return an expression, or a part of one, rewritten."""
        if not self._mentions.some_of(value):
            return value
        match value:
            case PrimeExpr(body=body) if not is_primed:
                return replace(value, body=self.of(body, True))
            case ApplyExpr(operator=OperatorDefinition() as definition) if is_primed and definition in self._index:
                return VariableExpr(definition.name, self._index[definition], place=value.place)
            case ApplyExpr(operator=OperatorDefinition() as definition, arguments=arguments):
                operator = self._definition(definition, is_primed)
                return replace(value, operator=operator, arguments=self.of(arguments, is_primed))
            case OperatorReferenceExpr(operator=OperatorDefinition() as definition):
                return replace(value, operator=self._definition(definition, is_primed))
            case UnchangedExpr(body=body) if not is_primed:
                return self._unchanged(body)
            case AngleActionExpr(action=action, subscript=subscript):
                differs = BuiltinExpr("~", (self._unchanged(subscript),), place=value.place)
                return ConjunctionExpr((self.of(action, is_primed), differs), place=value.place)
            case BoxActionExpr(action=action, subscript=subscript):
                return DisjunctionExpr((self.of(action, is_primed), self._unchanged(subscript)), place=value.place)
            case EnabledExpr():
                return value  # it has variables of its own
            case tuple():
                return tuple(self.of(item, is_primed) for item in value)
            case LetExpr(definitions=definitions, body=body):
                changed_body = self.of(body, is_primed)
                copies = [self._copies.get((one, at)) for one in definitions for at in (False, True)]
                more = tuple(copy for copy in copies if copy is not None)
                return replace(value, definitions=(*definitions, *more), body=changed_body)
            case _:
                changed = {item.name: self.of(getattr(value, item.name), is_primed) for item in fields(value)}
                return replace(value, **changed)

    def _unchanged(self, node: Expression) -> Expression:
        """Return UNCHANGED as equations of the next and the current value, item by item."""
        if isinstance(node, TupleExpr):
            return ConjunctionExpr(tuple(self._unchanged(item) for item in node.items), place=node.place)
        if not self._mentions.some_of(node):
            return UnchangedExpr(node, place=node.place)
        match node:
            case ApplyExpr(operator=OperatorDefinition(recursive=False, is_local=False) as definition, arguments=given):
                is_variable = definition in self._index or self._mentions.some_of(given)
                if not is_variable and isinstance(definition.body, TupleExpr | ApplyExpr):
                    # Equations of its items, with the parameters that an instance with parameters adds.
                    operator = replace(definition, body=self._unchanged(definition.body), level=2)
                    return replace(node, operator=operator)
        after = PrimeExpr(self.of(node, True), place=node.place)
        return BuiltinExpr("=", (after, node), place=node.place)

    def _definition(self, definition: OperatorDefinition, is_primed: bool) -> OperatorDefinition:
        if definition in self._index or not self._mentions.some_of(definition):
            return definition
        known = self._copies.get((definition, is_primed))
        if known is None:
            known = self._copies[definition, is_primed] = replace(definition, body=None)
            known.body = self.of(definition.body, is_primed)
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
