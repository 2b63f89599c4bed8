"""The names that a resolved expression uses and does not bind at the top of a module."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import fields, is_dataclass
from functools import cache
from typing import Any, TypeAlias

from kmc.errors import Span
from kmc.tla.resolved.nodes import (
    ApplyExpr,
    Argument,
    BoundExpr,
    NameBinding,
    Node,
    OperatorDefinition,
    OperatorReferenceExpr,
)

LocalName: TypeAlias = NameBinding | OperatorDefinition
"""A binding, or a definition of a LET."""


@cache
def _fields_of_kind(kind: Any) -> tuple[str, ...]:
    return tuple(each.name for each in fields(kind))


def _fields_of(node: Any) -> tuple[str, ...]:
    kind: Any = type(node)
    return _fields_of_kind(kind)


def _nodes_in(value: Any) -> Iterator[Node]:
    """The nodes in the value of a field: in tuples, in the updates of an EXCEPT, in the definitions of a LET."""
    if isinstance(value, Node):
        yield value
    elif isinstance(value, tuple):
        for each in value:
            yield from _nodes_in(each)
    elif isinstance(value, OperatorDefinition):
        yield from _nodes_in(value.body)
    elif is_dataclass(value) and not isinstance(value, NameBinding | Span):
        for name in _fields_of(value):
            yield from _nodes_in(getattr(value, name))


def nodes_inside(node: Node) -> Iterator[Node]:
    """The nodes directly inside a node; a definition that is applied or referred to is not entered."""
    for name in _fields_of(node):
        if name != "operator":
            yield from _nodes_in(getattr(node, name))


class NamesUsed:
    """The local names that expressions use, also through definitions of a LET; each expression is read once."""

    def __init__(self) -> None:
        self._known: dict[Node, frozenset[LocalName]] = {}

    def of(self, node: Argument) -> frozenset[LocalName]:
        """The names that a node uses, with those that it binds itself."""
        if node not in self._known:
            used: set[LocalName] = set()
            self._add(node, used)
            self._known[node] = frozenset(used)
        return self._known[node]

    def _add(self, node: Node, used: set[LocalName]) -> None:
        waiting = [node]
        while waiting:
            one = waiting.pop()
            name: object = None
            if isinstance(one, BoundExpr):
                name = one.binding
            elif isinstance(one, ApplyExpr | OperatorReferenceExpr):
                name = one.operator
            if isinstance(name, NameBinding):
                used.add(name)
            elif isinstance(name, OperatorDefinition) and name.is_local and name not in used:
                used.add(name)
                waiting.extend(_nodes_in(name.body))
            waiting.extend(nodes_inside(one))
