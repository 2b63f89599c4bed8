"""Predicates of a module that temporal formulas are made of: functions of one state, or of two.

Invariant: a predicate is evaluated by its definition in the states that it is given. Nothing here enumerates steps,
but for ENABLED, which TLA+ defines by them.
"""

from __future__ import annotations

from collections.abc import Hashable
from dataclasses import dataclass, field

from kmc.errors import EvaluationError
from kmc.tla.resolved.nodes import Expression
from kmc.tla.run.program import ModuleProgram, State


@dataclass(frozen=True, slots=True)
class ModulePredicate:
    """A formula without names around it; two are equal if they are the same text with the same values of its names."""

    key: Hashable
    text: str = field(compare=False)
    expression: Expression = field(compare=False)
    program: ModuleProgram = field(compare=False)

    @property
    def __name__(self) -> str:
        """The formula as text, which is what people read of a function in a formula."""
        return self.text

    def _holds(self, state: State, successor: State) -> bool:
        try:
            return self.program.holds_in_step(self.expression, state, successor)
        except EvaluationError as error:
            raise error.noting("while evaluating a temporal formula") from error


@dataclass(frozen=True, slots=True)
class ModuleStatePredicate(ModulePredicate):
    """A predicate of a state."""

    def __call__(self, state: State) -> bool:
        """Return whether it holds in a state."""
        return self._holds(state, state)


@dataclass(frozen=True, slots=True)
class ModuleStepPredicate(ModulePredicate):
    """A predicate of a state and its successor.

    `enabled`, if there is one, is false in a state from which no such step leads, so a graph need not try its steps.
    """

    enabled: ModuleStatePredicate | None = field(default=None, compare=False)

    def __call__(self, state: State, successor: State) -> bool:
        """Return whether it holds in a step."""
        return self._holds(state, successor)
