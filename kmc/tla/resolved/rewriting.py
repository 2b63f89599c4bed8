"""Rewriting of resolved expressions: some built-in operators replaced, through the definitions that are applied.

A node or a definition with nothing to replace stays the same object, so that it keeps its identity.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import fields, replace
from typing import Any, TypeAlias

from kmc.tla.resolved.nodes import BuiltinExpr, Expression, Node, OperatorDefinition

Replacement: TypeAlias = Callable[[BuiltinExpr], Expression | None]
"""Gives what takes the place of a built-in operator that is applied; None keeps it."""


class Rewriting:
    """One rewriting. Every definition and every node is rewritten once, so recursion ends and sharing is kept."""

    def __init__(self, replacement: Replacement) -> None:
        self._replacement = replacement
        self._definitions: dict[OperatorDefinition, OperatorDefinition] = {}
        self._nodes: dict[Node, Any] = {}

    def of(self, value: Any) -> Any:
        """Return a node, a definition, or a tuple of them, rewritten; the same object if nothing is replaced."""
        match value:
            case OperatorDefinition():
                return self._copy(value)
            case tuple():
                items = tuple(map(self.of, value))
                return value if all(new is old for new, old in zip(items, value, strict=True)) else items
            case Node():
                if value not in self._nodes:
                    self._nodes[value] = self._rewritten(value)
                return self._nodes[value]
            case _:
                return value

    def affects(self, value: Any) -> bool:
        """Return whether something below a node, a definition or a tuple is replaced, through what it applies."""
        waiting, seen = [value], set[int]()
        while waiting:
            item = waiting.pop()
            if isinstance(item, BuiltinExpr) and self._replacement(item) is not None:
                return True
            if isinstance(item, tuple):
                waiting.extend(item)
            elif isinstance(item, Node):
                waiting.extend(getattr(item, field.name) for field in fields(item))
            elif isinstance(item, OperatorDefinition) and id(item) not in seen:
                seen.add(id(item))
                waiting.append(item.body)
        return False

    def _rewritten(self, node: Any) -> Any:
        if isinstance(node, BuiltinExpr) and (replaced := self._replacement(node)) is not None:
            return replaced
        old = {field.name: getattr(node, field.name) for field in fields(node)}
        new = {name: self.of(part) for name, part in old.items()}
        return node if all(new[name] is old[name] for name in old) else replace(node, **new)

    def _copy(self, definition: OperatorDefinition) -> OperatorDefinition:
        copy = self._definitions.get(definition)
        if copy is None:
            copy = definition if not self.affects(definition) else replace(definition)
            self._definitions[definition] = copy
            if copy is not definition:
                copy.body = self.of(definition.body)
        return copy

    @property
    def copies(self) -> tuple[OperatorDefinition, ...]:
        """The definitions that were rewritten so far."""
        return tuple(copy for definition, copy in self._definitions.items() if copy is not definition)
