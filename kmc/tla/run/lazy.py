"""Functions that are evaluated argument by argument: recursive ones, and those over sets without a list."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

from kmc.budget import polled
from kmc.tla.values.failures import endless_recursion, outside_domain
from kmc.tla.values.functions import function_of
from kmc.tla.values.kinds import SymbolicSet, Value
from kmc.tla.values.order import ordered
from kmc.tla.values.sets import AnySet, listed, member

DEPTH_MAX = 8_000
"""The deepest recursion of operators and functions of a module; TLC's stack ends sooner."""


class LazyFunction:
    """A function over `domain` whose results are found when they are needed, each once."""

    __slots__ = ("_depth", "_evaluate", "_known", "domain", "name")

    def __init__(self, name: str, domain: AnySet, evaluate: Callable[[Value], Any]) -> None:
        self.name = name
        self.domain = domain
        self._evaluate = evaluate
        self._known: dict[Value, Any] = {}
        self._depth = 0

    def result(self, argument: Any) -> Any:
        """Return the result for an argument, which may be lazy itself."""
        key = stored_value(argument)
        known = self._known.get(key)
        if known is not None:
            return known
        if not member(key, self.domain):
            raise outside_domain(f"the function '{self.name}'", key)
        if self._depth >= DEPTH_MAX:
            raise endless_recursion(self.name)
        self._depth += 1
        try:
            found = self._known[key] = self._evaluate(key)
        finally:
            self._depth -= 1
        return found

    def listed(self) -> Value:
        """Return the function with all its results."""
        return function_of({argument: stored_value(self.result(argument)) for argument in ordered(listed(self.domain))})


def stored_value(value: Any) -> Value:
    """Return a value as it is stored: symbolic sets and lazy functions as lists."""
    if isinstance(value, SymbolicSet):
        return frozenset(polled(value.elements()))
    if isinstance(value, LazyFunction):
        return value.listed()
    known: Value = value
    return known
